"""How facts age."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.extraction.reconcile import as_fact
from memproxy.model import Fact, FactDraft
from memproxy.recall.ageing import KEPT, half_life, weight

NOW = datetime(2026, 5, 6, tzinfo=UTC)


def fact(significance: int = 5, **fields: Any) -> Fact:
    return replace(as_fact(FactDraft("Rows", significance=significance, type="event"), NOW), **fields)


@pytest.mark.parametrize(("significance", "days"), [(1, 30), (4, 30), (5, 90), (7, 90), (8, 180), (9, 180)])
def test_half_of_the_weight_is_left_after_a_half_life(significance: int, days: int) -> None:
    assert half_life(fact(significance)) == days
    assert weight(fact(significance), NOW + timedelta(days=days)) == pytest.approx(0.5)


@pytest.mark.parametrize("fields", [{"pinned": True}, {"significance": 10}, {"significance": 8, "type": "identity"}])
def test_what_matters_most_does_not_age(fields: dict[str, Any]) -> None:
    assert half_life(fact(**fields)) == math.inf
    assert weight(fact(**fields), NOW + timedelta(days=9999)) == 1.0


def test_what_is_said_again_or_with_feeling_lasts_longer_and_reading_hardly_counts() -> None:
    plain = half_life(fact())
    assert half_life(fact(reinforced_count=5)) > 1.8 * plain
    assert half_life(fact(emotional_weight=1.0)) == 2.5 * plain
    assert plain < half_life(fact(recall_count=3)) == half_life(fact(recall_count=3000)) < 1.2 * plain


@given(st.integers(1, 10), st.integers(0, 100_000), st.integers(0, 1000))
def test_weight_falls_with_age_and_never_below_what_is_kept(significance: int, days: int, more: int) -> None:
    one = fact(significance)
    younger, older = (weight(one, NOW + timedelta(days=d)) for d in (days, days + more))
    assert KEPT <= older <= younger <= 1.0


def test_what_is_said_to_happen_later_has_not_aged() -> None:
    assert weight(fact(reference_time=NOW + timedelta(days=90)), NOW) == 1.0
