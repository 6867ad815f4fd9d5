"""How long facts stand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memproxy.extraction.lifetimes import Lifetimes, counted
from memproxy.extraction.reconcile import Policy, as_fact
from memproxy.model import FactDraft

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ENDLESS = Lifetimes()
SHORT = Lifetimes(low=timedelta(days=7), medium=timedelta(days=30))


def test_l8_a_temporary_fact_without_an_end_ends_thirty_days_after_it_was_said() -> None:
    assert ENDLESS.end(FactDraft("Is on holiday", lifetime="temporary"), NOW) == NOW + timedelta(days=30)


def test_a_temporary_fact_with_an_end_ends_then() -> None:
    until = NOW + timedelta(days=3)
    assert ENDLESS.end(FactDraft("Is on holiday", lifetime="temporary", valid_until=until), NOW) == until


def test_a_moment_lasts_twelve_hours() -> None:
    assert ENDLESS.end(FactDraft("Is on the train", lifetime="momentary"), NOW) == NOW + timedelta(hours=12)


@pytest.mark.parametrize(("significance", "days"), [(1, 7), (4, 7), (5, 30), (9, 30), (10, None)])
def test_time_to_live_goes_by_significance_where_the_operator_wants_it(significance: int, days: int | None) -> None:
    draft = FactDraft("Rows", significance=significance)
    assert SHORT.end(draft, NOW) == (NOW + timedelta(days=days) if days else None)
    assert ENDLESS.end(draft, NOW) is None


def test_what_is_medical_has_no_end_whatever_a_model_thinks_it_matters() -> None:
    assert SHORT.end(FactDraft("Is allergic to penicillin", tag="medical", significance=1), NOW) is None


def test_l43_saying_it_again_extends_and_never_shortens() -> None:
    fact = as_fact(FactDraft("Rows", significance=5), NOW, Policy(lifetimes=SHORT))
    assert fact.expires_at == NOW + timedelta(days=30)
    assert SHORT.renewed(fact, FactDraft("Rows", significance=2), NOW) == {}
    later = NOW + timedelta(days=10)
    assert SHORT.renewed(fact, FactDraft("Rows", significance=5), later) == {"expires_at": later + timedelta(days=30)}
    lasting = replace(fact, expires_at=None)
    assert SHORT.renewed(lasting, FactDraft("Rows", significance=1), later) == {}


def test_what_is_said_to_last_after_all_has_no_end_any_more() -> None:
    fact = as_fact(FactDraft("Lives in Tolm", lifetime="temporary"), NOW)
    assert ENDLESS.renewed(fact, FactDraft("Lives in Tolm"), NOW) == {"expires_at": None, "lifetime": "lasting"}


def test_the_fifth_time_makes_a_fact_one_that_matters_most() -> None:
    fact = as_fact(FactDraft("Rows", significance=3, confidence=0.7), NOW, Policy(lifetimes=SHORT))
    for time in range(1, 5):
        fact = replace(fact, **counted(fact, NOW + timedelta(days=time)))
        assert fact.significance == 3
    fact = replace(fact, **counted(fact, NOW + timedelta(days=5)))
    assert (fact.reinforced_count, fact.significance, fact.expires_at, fact.confidence) == (5, 10, None, 1.0)


def test_a_holiday_said_five_times_is_still_a_holiday() -> None:
    fact = as_fact(FactDraft("Is on holiday", lifetime="temporary"), NOW)
    for _ in range(6):
        fact = replace(fact, **counted(fact, NOW))
    assert fact.expires_at == NOW + timedelta(days=30)


def test_a_temporary_fact_of_long_ago_was_over_before_it_was_learned() -> None:
    old = NOW - timedelta(days=400)
    fact = as_fact(FactDraft("Is on holiday", lifetime="temporary", reference_time=old), NOW)
    assert (fact.status, fact.valid_until) == ("expired", old + timedelta(days=30))
