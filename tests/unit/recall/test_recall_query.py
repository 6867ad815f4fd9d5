"""Reading a message: small talk, names, dates, and a question at the end of a pasted document."""

from __future__ import annotations

from datetime import UTC, date, datetime

import numpy as np
import pytest

from memproxy.recall.dates import When, dates_named
from memproxy.recall.query import QUERY_CHARS, Query, is_small_talk, is_standing_wish, read_query
from memproxy.recall.speakers import addressed, named, without_names
from tests.growth import MOST, growth

NOW = datetime(2024, 5, 10, 12, tzinfo=UTC)


def read(text: str, *speakers: str) -> Query:
    query = read_query(text, now=NOW)
    return addressed(query, speakers)


@pytest.mark.parametrize(
    "text",
    [
        *("hello", "Hi there!", "fix it", "thanks a lot", "ok, go on", "Continue.", "👍", "...", "yes please"),
        *("Merci !", "你好", "谢谢！", "can you explain that?", "try again", "I'm back", "Спасибо"),
    ],
)
def test_c12_greetings_thanks_and_bare_commands_ask_for_nothing(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        *("who am I?", "where do I live?", "Moss", "what should I do?", "我对花生过敏", "où est-ce que j'habite ?"),
        *("чай", "fix the login form", "otters?", "42"),
    ],
)
def test_what_asks_for_something_is_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)


def test_c19_a_question_after_a_long_diff_is_kept() -> None:
    diff = "\n".join(f"+    value_{i} = compute({i})" for i in range(1000))
    query = read(f"Look at this:\n{diff}\nWhy does the harbour module need otters?")
    assert query.shortened
    assert len(query.text) <= QUERY_CHARS + 10
    assert query.text.startswith("Look at this:")
    assert query.text.endswith("Why does the harbour module need otters?")
    assert {"harbour", "otter"} <= set(query.terms)


def test_c19_a_question_before_or_between_pasted_text_is_kept_too() -> None:
    filler = "some filler text without an end " * 200
    assert "Which ferry did I book?" in read(f"{filler}. Which ferry did I book? {filler}").text
    assert "Which ferry did I book?" in read(f"Which ferry did I book? {filler}").text


@pytest.mark.parametrize("lines", [4, 20, 1000])
@pytest.mark.parametrize("order", ["before", "after", "around"])
def test_c19_a_question_beside_fenced_code_is_asked_alone(lines: int, order: str) -> None:
    question = "Why does the harbour module need otters?"
    diff = "```diff\n" + "".join(f"+    value_{i} = compute({i})\n" for i in range(lines)) + "```"
    text = {"before": f"{question}\n{diff}", "after": f"{diff}\n{question}", "around": f"{diff}\n{question}\n{diff}"}
    query = read(text[order])
    assert query.text == question
    assert query.shortened


@pytest.mark.parametrize("text", ["```py\nlaunch(otter)\n```", "fix it\n```\nlaunch(otter)\n```", "```\nlaunch(otter)"])
def test_code_with_nothing_to_speak_of_beside_it_is_the_question(text: str) -> None:
    assert "launch(otter)" in read(text).text


@pytest.mark.parametrize("pump", ["```\n", "```", "~~~\n```\n", "``` x\n", "otter ", "otter, ", "?", "x? "])
def test_reading_a_question_takes_time_in_proportion_to_the_text(pump: str) -> None:
    assert growth(lambda text: read("What is otter? " + text), pump) < MOST


def test_a_short_message_is_read_as_it_is() -> None:
    assert read("Which ferry did I book?") == read("  Which ferry did I book?\n")
    assert not read("Which ferry did I book?").shortened


def test_participants_are_named_by_first_or_full_name() -> None:
    assert read("What did Ágnes paint?", "Ágnes Nagy", "Bo").named == {"Ágnes Nagy"}
    assert read("What is bo's dog called?", "Ágnes Nagy", "Bo").named == {"Bo"}
    assert read("What is the user called?", "user", "assistant").named == frozenset()


def test_whom_a_question_names_goes_by_those_who_are_known_now() -> None:
    query = read("When did Bo see the sea?", "Bo")
    assert query.named == {"Bo"}
    assert query.embedded == "When did they see the sea?"
    assert addressed(query, ()) == read("When did Bo see the sea?")
    assert addressed(query, ("Bo", "Ines")) is query


@pytest.mark.parametrize(
    ("text", "embedded"),
    [
        ("When did Ágnes see Bo's dog?", "When did they see their dog?"),
        ("What is Ágnes Nagy's dog called?", "What is their dog called?"),
        ("What would Agnes like?", "What would they like?"),
        ("Did Mark mark the day?", "Did they mark the day?"),
        ("could you mark the day?", "could you mark the day?"),
        ("Where did Nagy's aunt live?", "Where did Nagy's aunt live?"),
        ("Wann hat Bo seinen Hund gekauft?", "Wann hat Bo seinen Hund gekauft?"),
        ("Bo", "Bo"),
        ("Where do I live?", "Where do I live?"),
    ],
)
def test_an_english_question_is_embedded_without_the_names_of_participants(text: str, embedded: str) -> None:
    assert without_names(text, named(text, ("Ágnes Nagy", "Bo", "Mark", "user"))) == embedded


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("what happened on 7 May 2023?", When(2023, 5, 7)),
        ("on May 7th, 2023", When(2023, 5, 7)),
        ("2023-05-07", When(2023, 5, 7)),
        ("in June", When(month=6)),
        ("what did we do in May?", When(month=5)),
        ("the 2022 trip", When(year=2022)),
        ("since March 2024", When(2024, 3)),
    ],
)
def test_dates_are_read(text: str, when: When) -> None:
    assert dates_named(text, NOW) == (when,)


@pytest.mark.parametrize(
    "text", ["may I march in?", "March on!", "You may.", "version 2.2022", "it costs $2023", "item 2023-7"]
)
def test_l59_verbs_are_no_months(text: str) -> None:
    assert dates_named(text, NOW) == ()


def test_relative_dates_are_spans_in_the_past() -> None:
    (when,) = dates_named("what did I say yesterday?", NOW)
    assert covered(when, date(2024, 5, 9), NOW.date()) == [True, False]
    (ago,) = dates_named("two weeks ago", NOW)
    assert covered(ago, date(2024, 4, 26)) == [True]


@pytest.mark.parametrize(
    ("when", "covers"),
    [
        (When(year=1969), [True, False, False]),
        (When(month=12), [True, True, False]),
        (When(2023, 12), [False, True, False]),
        (When(day=31), [True, False, True]),
        (When(2024, 5, 31), [False, False, True]),
        (When(), [True, True, True]),
    ],
)
def test_a_date_covers_the_days_that_fit_all_it_names(when: When, covers: list[bool]) -> None:
    assert covered(when, date(1969, 12, 31), date(2023, 12, 1), date(2024, 5, 31)) == covers


def covered(when: When, *days: date) -> list[bool]:
    found: list[bool] = when.covers(np.array([day.toordinal() for day in days])).tolist()
    return found


def test_it_is_noticed_what_a_question_is_about() -> None:
    assert read("What did you recommend for the garden?").assistant
    assert not read("What did I recommend?").assistant
    assert read("Where did I live before?").past
    assert read("what is my job?").personal
    assert not read("how do vaccines work?").personal


def test_standing_wishes_are_recognised() -> None:
    assert is_standing_wish("Always include version numbers when I ask about libraries.")
    assert is_standing_wish("From now on put the conclusion first")
    assert not is_standing_wish("We always went to the lake together")
