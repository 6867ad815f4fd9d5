"""Which turns are worth a model call, and how they are cut into requests."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.extraction.gate import ignored, trivial, without_quotations
from memproxy.extraction.windows import halves, shorten, windows
from memproxy.model import Turn
from memproxy.prompts.extraction import Window
from tests.growth import MOST, growth

NOW = datetime(2026, 5, 6, tzinfo=UTC)


def turn(content: str, number: int = 1, **fields: Any) -> Turn:
    return replace(Turn(f"t{number}", "s", number, "user", None, content, NOW), **fields)


def answer(content: str, number: int = 0) -> Turn:
    return turn(content, number, id=f"a{number}", role="assistant")


# --- the gate ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", " \n", "...", "👍", "❤️🎉", "ok", "OK!", "Thanks!!", "hm, ok", "good morning", "Hallo", "  hi  ", "—"]
)
def test_greetings_acknowledgements_and_signs_are_trivial(text: str) -> None:
    assert trivial(text)


@pytest.mark.parametrize(
    "text",
    [
        "我对花生过敏",
        "yes",
        "no",
        "ok, I moved to Brask",
        "I ski",
        "7",
        "Bo",
        "मैं",
        "ฉัน",
        "أنا",
        "good morning, I am Bo",
    ],
)
def test_anything_that_may_say_something_is_not(text: str) -> None:
    assert not trivial(text)


def test_an_operators_pattern_ignores_a_turn() -> None:
    assert ignored("Health check. If idle answer IDLE_OK.", [re.compile("^Health")])
    assert not ignored("I feel healthy", [re.compile("^Health")])


def test_quoted_lines_of_the_assistant_are_left_out_and_other_quotations_stay() -> None:
    said = answer("I never learned to swim, deep water scares me.")
    text = (
        "> I never learned to swim, deep water scares me.\nThat made me laugh. I moved to Quillhaven.\n> something else"
    )
    assert without_quotations(turn(text), [said]) == "That made me laugh. I moved to Quillhaven.\n> something else"
    assert without_quotations(turn(">> i NEVER learned to  swim"), [said]) == ""
    assert (
        without_quotations(turn("> I never learned to swim"), [turn("I never learned to swim")])
        == "> I never learned to swim"
    )


@pytest.mark.parametrize("pump", [">", "> ", "\n>", " ", ">\n "])
def test_leaving_out_takes_time_in_proportion_to_the_text(pump: str) -> None:
    assert growth(lambda text: without_quotations(turn(text), [answer("x y")]), pump) < MOST


# --- windows -----------------------------------------------------------------------------------------------------


@given(st.text(max_size=200), st.integers(1, 100))
def test_a_shortened_text_fits_and_keeps_head_and_tail(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit or short == text
    assert len(short) <= max(limit, 0) or len(text) <= limit
    assert text.startswith(short[: max(0, (limit - 5) // 2)])
    if len(text) > limit > 10:
        assert text.endswith(short[-((limit - 5) // 2) :])


@given(
    st.lists(st.tuples(st.text(alphabet="ab \n", max_size=60), st.none() | st.integers(0, 5)), max_size=20),
    st.integers(1, 120),
)
def test_every_turn_is_in_one_window_in_order_and_no_window_is_over_its_size(
    parts: list[tuple[str, int | None]], size: int
) -> None:
    pending = [turn(text, i + 1) for i, (text, _) in enumerate(parts)]
    before = [None if n is None else answer("c" * (n * 10 + 1), n) for _, n in parts]
    found = windows(pending, before, size)
    assert [t.id for window in found for t in window.turns] == [t.id for t in pending]
    for window in found:
        assert window.turns
        assert sum(len(t.content) for t in (*window.turns, *window.context)) <= size
        assert len({t.id for t in window.context}) == len(window.context)


def test_many_short_turns_do_not_drag_a_book_of_context_along() -> None:
    pending = [turn(f"I saw heron {i}", i + 1) for i in range(300)]
    before: list[Turn | None] = [answer("About herons. " * 200, i) for i in range(300)]
    found = windows(pending, before, 12_000)
    assert all(sum(len(t.content) for t in (*w.turns, *w.context)) <= 12_000 for w in found)
    assert len(found) > 30


def test_the_turn_before_goes_along_once_as_context() -> None:
    asked = answer("What do you ride?")
    [window] = windows([turn("A kayak", 1), turn("And a raft", 2)], [asked, asked], 1000)
    assert [t.content for t in window.context] == ["What do you ride?"]


def test_a_line_quoted_from_an_earlier_answer_is_left_out_too() -> None:
    first, second = answer("I fear deep water.", 1), answer("Anything else?", 2)
    [window] = windows([turn("Hm", 1), turn("> I fear deep water.\nI ski", 2)], [first, second], 1000)
    assert [t.content for t in window.turns] == ["Hm", "I ski"]


def test_no_turns_make_no_window() -> None:
    assert windows([], [], 1000) == []


# --- halves ------------------------------------------------------------------------------------------------------


def test_several_turns_are_halved_by_turns_with_their_context() -> None:
    window = Window(tuple(turn("x", i) for i in range(5)), (answer("ctx"),))
    first, second = halves(window)
    assert [t.id for t in (*first.turns, *second.turns)] == [t.id for t in window.turns]
    assert first.context == second.context == window.context


@given(st.text(alphabet="ab \n你", max_size=3000))
def test_one_turn_is_halved_by_its_text_until_it_is_small(content: str) -> None:
    todo = [Window((turn(content),), ())]
    leaves = []
    steps = 0
    while todo:
        window = todo.pop(0)
        steps += 1
        parts = halves(window)
        todo += parts
        if not parts:
            leaves.append(window.turns[0].content)
            continue
        assert "".join(part.turns[0].content for part in parts) == window.turns[0].content
        assert all(len(part.turns[0].content) < len(window.turns[0].content) for part in parts)
    assert steps <= 40
    assert all(len(leaf) < 800 for leaf in leaves)
    assert sum(map(len, leaves)) == len(content)
