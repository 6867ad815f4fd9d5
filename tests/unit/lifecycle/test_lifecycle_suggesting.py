"""What is worth taking up: one thing, seldom, never what a person wrote down themselves."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from memproxy.lifecycle.suggesting import suggest
from memproxy.model import Entity, Fact
from tests.memories import START, fact

BO = Entity("Bo")


def said(days: float, text: str = "Expects the exam results", **fields: Any) -> Fact:
    """A fact said so many days ago."""
    return fact(text, **{"significance": 5, "said_at": NOW - timedelta(days=days), **fields})


def a_day_with_suggestions() -> datetime:
    due = fact("x", tag="prediction", reference_time=START)
    return next(day for i in range(30) if suggest(BO, [due], day := START + timedelta(days=i)))


NOW = a_day_with_suggestions()


def why(*facts: Fact) -> str | None:
    found = suggest(BO, facts, NOW)
    return found[0][1] if found else None


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (said(9, tag="prediction", reference_time=NOW + timedelta(days=2)), "Expected for"),
        (said(9, tag="prediction", reference_time=NOW - timedelta(days=20)), "Expected for"),
        (said(3, emotional_valence="grief", emotional_weight=0.8), "Said with feeling"),
        (said(8, thread_status="open"), "Not settled"),
        (said(60, type="event", significance=8), "Mattered a while ago"),
    ],
)
def test_pr1_something_due_felt_open_or_weighty_is_worth_taking_up(one: Fact, reason: str) -> None:
    assert (why(one) or "").startswith(reason)


@pytest.mark.parametrize(
    "one",
    [
        said(9, tag="prediction", reference_time=NOW + timedelta(days=9)),
        said(9, tag="prediction", reference_time=NOW - timedelta(days=40)),
        said(0.2, emotional_valence="grief", emotional_weight=0.8),
        said(20, emotional_valence="grief", emotional_weight=0.8),
        said(3, emotional_valence="joy", emotional_weight=0.9),
        said(3, thread_status="open"),
        said(60, type="event", significance=8, recalled_at=NOW - timedelta(days=2)),
        said(60, type="event", significance=5),
        said(8, thread_status="open", source_role="user_explicit"),
        said(8, thread_status="open", source_role="assistant"),
    ],
)
def test_pr4_what_is_not_due_and_what_was_written_down_prompts_nothing(one: Fact) -> None:
    assert why(one) is None


def test_what_is_due_goes_before_what_is_open_and_what_engaged_before_what_did_not() -> None:
    due = said(9, tag="prediction", reference_time=NOW)
    dull, dear = (said(8, text, thread_status="open", engagement=e) for text, e in (("Dull", 0.0), ("Dear", 0.6)))
    assert suggest(BO, [dull, dear, due], NOW)[0][0] is due
    assert suggest(BO, [dull, dear], NOW)[0][0] is dear


def test_on_one_day_in_three_nothing_is_the_same_all_day() -> None:
    days = [START + timedelta(days=i) for i in range(90)]
    due = [fact("x", tag="prediction", reference_time=day) for day in days]
    held = [bool(suggest(BO, [one], day)) for one, day in zip(due, days, strict=True)]
    assert 45 < sum(held) < 75
    again = [bool(suggest(BO, [one], day + timedelta(hours=9))) for one, day in zip(due, days, strict=True)]
    assert held == again
