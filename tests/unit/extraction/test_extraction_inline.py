"""Noticing in passing: little, and only what was said."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memproxy.extraction.inline import MOST, says_otherwise
from memproxy.extraction.reconcile import as_fact
from memproxy.model import Fact, FactDraft

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def known(*pairs: tuple[str, str]) -> list[Fact]:
    return [as_fact(FactDraft(text, slot=slot), NOW) for slot, text in pairs]


ALL = known(
    ("location", "Lives in Tolm"),
    ("employer", "Works at Tarrow"),
    ("spouse", "Is married to Ada"),
    ("school", "Goes to the University of Brask"),
    ("sleep_time", "Sleeps at ten"),
)


@pytest.mark.parametrize(
    ("said", "against"),
    [
        ("I moved to Quillhaven last week", "Lives in Tolm"),
        ("well, I work at Brask Ltd now", "Works at Tarrow"),
        ("my wife is called Bea", "Is married to Ada"),
    ],
)
def test_a_clause_with_the_attribute_and_another_name_speaks_against_a_fact(said: str, against: str) -> None:
    [found] = says_otherwise(said, ALL)
    assert found.fact.text == against


@pytest.mark.parametrize(
    "said",
    [
        "I still live in Tolm",
        "Do I live in Quillhaven?",
        "Quillhaven is lovely, I live nearby",
        "If I lived in Quillhaven I would sail",
        "My sister lives far away. Quillhaven is not for me.",
        "She works at Brask",
        "I live happily on Mondays",
        "I am reading about Marie Curie",
        "I do not live in Quillhaven",
        "I sleep at Bo's",
    ],
)
def test_everything_else_is_silence(said: str) -> None:
    assert says_otherwise(said, ALL) == []


def test_l3_a_long_message_raises_at_most_three_each_attribute_once() -> None:
    said = " ".join(
        f"I live in {place}. I work at {place}. My wife is {place}. I study in {place}."
        for place in ("Quillhaven", "Oslo", "Bergen", "Narvik", "Tromso", "Molde", "Bodo", "Alta", "Vardo")
    )
    found = says_otherwise(said, ALL)
    assert len(found) == MOST
    assert len({one.fact.id for one in found}) == MOST
