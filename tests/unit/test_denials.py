"""Known again by keyed hashes alone: in which words a denied statement is, and in which it is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.lifecycle.denials import LEAST, Denials
from memproxy.model import Entity

DENIALS = Denials(b"k" * 32, Entity("Bo"))
FALCONS = DENIALS.words("Keeps falcons in Brask", "I keep falcons in Brask")


@pytest.mark.parametrize(
    "text",
    [
        "Keeps falcons in Brask",
        "keeps  FALCONS in brask!",
        "User keeps falcons in Brask.",
        "In Brask I keep falcons",
        "I keep falcons in Brask",
        "Keeping falcons in Brask",
    ],
)
def test_a_denied_statement_is_known_in_any_order_and_inflection(text: str) -> None:
    assert DENIALS.says(text, FALCONS)


@pytest.mark.parametrize(
    "text",
    [
        "Keeps falcons in Tolm",
        "Keeps hawks in Brask",
        "Does not keep falcons in Brask",
        "Never keeps falcons in Brask",
        "Keeps falcons",
        "Keeps falcons and owls in Brask",
        "",
        "!!!",
    ],
)
def test_another_statement_is_none(text: str) -> None:
    assert not DENIALS.says(text, FALCONS)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Good news: I keep falcons in Brask. My sister paints boats.", " My sister paints boats."),
        ("My sister paints boats. And, well, in Brask I keep falcons, you know.", "My sister paints boats."),
        ("I bake bread.\nI keep falcons in Brask\nI ski.", "I bake bread.\n\nI ski."),
        ("I don't keep falcons in Brask. I ski.", "I don't keep falcons in Brask. I ski."),
        ("I like falcons. Brask is nice. I keep fit.", "I like falcons. Brask is nice. I keep fit."),
    ],
)
def test_in_a_turn_the_sentence_that_says_it_is_found(said: str, left: str) -> None:
    for start, end in reversed(DENIALS.spans(said, FALCONS)):
        said = said[:start] + said[end:]
    assert said == left


def test_one_content_word_is_known_as_a_statement_but_not_inside_others() -> None:
    words = DENIALS.words("Has diabetes")
    assert DENIALS.says("I have diabetes.", words)
    assert DENIALS.spans("I have diabetes. I ski.", words) == [(0, 16)]
    assert DENIALS.spans("My talk on diabetes care went well.", words) == []
    assert max(words.values()) < LEAST


def test_the_words_of_other_languages_are_known_again() -> None:
    words = DENIALS.words("我对花生过敏", "Ich wohne in Köln")
    assert DENIALS.spans("你好。我对花生过敏。", words) == [(3, 10)]
    assert DENIALS.says("Wohne in köln", words) is False  # another statement: whose home it is stays unsaid
    assert DENIALS.spans("Übrigens: ich wohne in Köln!", words) != []


def test_hashes_say_nothing_to_somebody_else() -> None:
    mine = set(FALCONS)
    for other in (
        Denials(b"j" * 32, Entity("Bo")),
        Denials(b"k" * 32, Entity("Ada")),
        Denials(b"k" * 32, Entity("Bo", "t")),
    ):
        assert mine.isdisjoint(other.words("Keeps falcons in Brask", "I keep falcons in Brask"))


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=200))
def test_any_text_can_be_denied_and_looked_for(text: str, quote: str, turn: str) -> None:
    words = DENIALS.words(text, quote)
    assert all(DENIALS.says(said, words) for said in (text, quote) if any(c.isalnum() for c in said))
    assert all(0 <= start < end <= len(turn) for start, end in DENIALS.spans(turn, words) if turn)
