"""Dates resolved where and when they were said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memproxy.extraction.dates import mentioned, mentions, reference, since, until, when
from memproxy.extraction.transience import timed
from memproxy.model import FactDraft, FactType

SAID = datetime(2026, 5, 6, 9, 0, tzinfo=UTC)  # a Wednesday


moments = st.integers(0, 4_000_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("two weeks ago", "2026-04-22"),
        ("a fortnight ago", "2026-04-22"),
        ("yesterday", "2026-05-05"),
        ("the day before yesterday", "2026-05-04"),
        ("last Tuesday", "2026-05-05"),
        ("last Wednesday", "2026-04-29"),
        ("on Friday", "2026-05-01"),
        ("next Friday", "2026-05-08"),
        ("last weekend", "2026-05-02"),
        ("last summer", "2025-06-01"),
        ("last winter", "2025-12-01"),
        ("end of March", "2026-03-31"),
        ("end of May", "2026-05-31"),
        ("March 2020", "2020-03-01"),
        ("in three days", "2026-05-09"),
        ("tomorrow", "2026-05-07"),
        ("three years ago", "2023-05-01"),
        ("3 May", "2026-05-03"),
        ("vor zwei Wochen", "2026-04-22"),
        ("gestern", "2026-05-05"),
        ("letzten Dienstag", "2026-05-05"),
        ("il y a deux semaines", "2026-04-22"),
        ("avant-hier", "2026-05-04"),
        ("la semana pasada", "2026-04-29"),
        ("anteayer", "2026-05-04"),
        ("昨天", "2026-05-05"),
        ("上周", "2026-04-29"),
        ("3日前", "2026-05-03"),
        ("две недели назад", "2026-04-22"),
    ],
)
def test_relative_days_are_seen_from_the_day_of_speaking(expression: str, expected: str) -> None:
    assert when(expression, SAID, UTC) == day(expected)


@pytest.mark.parametrize(
    "nonsense", ["", "  ", "soon", "2026-02-30", "when I was young", "17", "x" * 200, "99 May 9999999"]
)
def test_m6_what_is_no_date_is_none(nonsense: str) -> None:
    assert when(nonsense, SAID, UTC) is None


@pytest.mark.parametrize("bad", ["last blursday", "2026-02-30", None, 7, {}, "soon"])
def test_m6_a_bad_date_loses_the_date_not_the_fact(bad: object) -> None:
    assert reference(bad, SAID, UTC) == SAID
    assert since(bad, SAID) is None


def test_m1_the_day_of_speaking_counts_not_the_day_of_learning() -> None:
    said = datetime(2022, 11, 9, 18, 0, tzinfo=UTC)
    assert reference("last weekend", said, UTC) == day("2022-11-05")
    assert reference(None, said, UTC, "We moved house last weekend") == day("2022-11-05")


def test_m5_what_the_person_said_counts_more_than_a_models_today() -> None:
    quote = "I had my tonsils out two weeks ago"
    for model in (None, "2026-05-06", "2024-06-01", "two weeks ago", "2026-04-22", "garbage"):
        assert reference(model, SAID, UTC, quote) == day("2026-04-22"), model


def test_a_model_that_is_nearly_right_is_left_alone() -> None:
    assert reference("2026-05-03", SAID, UTC, "We moved last weekend") == day("2026-05-03")  # the Sunday of it


def test_yesterday_is_the_persons_own() -> None:
    late = datetime(2026, 5, 6, 3, 0, tzinfo=UTC)  # still the fifth in Los Angeles
    assert reference("yesterday", late, ZoneInfo("America/Los_Angeles")) == day("2026-05-04")
    assert reference("yesterday", late, ZoneInfo("Pacific/Kiritimati")) == day("2026-05-05")


def test_today_is_the_moment_of_speaking() -> None:
    assert reference("2026-05-06", SAID, UTC) == SAID
    late = datetime(2026, 5, 6, 3, 0, tzinfo=UTC)
    assert reference("2026-05-05", late, ZoneInfo("America/Los_Angeles")) == late


def test_words_that_name_two_days_name_none() -> None:
    assert mentioned("I flew yesterday and come back tomorrow", SAID, UTC) is None
    assert mentions("the day before yesterday we met, two weeks ago we did not") == [
        "the day before yesterday",
        "two weeks ago",
    ]


@pytest.mark.parametrize(
    "quote", ["I may go", "I march on", "I am 17", "in two minds", "Sunday roasts are on Sundays here"]
)
def test_l59_words_that_only_look_like_times_are_none(quote: str) -> None:
    assert mentions(quote) == []


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("I have lived in Tolm for three years", "2023-05-01"),
        ("I've been a nurse since 2019", "2019-01-01"),
        ("been rowing for 2 months", "2026-03-01"),
        ("I have had this cough for a week now", "2026-04-29"),
        ("I live in Tolm since last summer", "2025-06-01"),
        ("I waited for three years and left", None),
        ("I live in Tolm", None),
    ],
)
def test_since_when_follows_from_how_long(quote: str, expected: str | None) -> None:
    assert since(None, SAID, UTC, quote) == expected


@pytest.mark.parametrize("value", ["1850-01-01", "2030-01-01", "2026-05-07", "0001-01-01"])
def test_a_beginning_before_anybody_lived_or_ahead_is_none(value: str) -> None:
    assert since(value, SAID) is None


@pytest.mark.parametrize(
    ("quote", "last"),
    [
        ("I am in Oslo until Friday", "2026-05-08"),
        ("I'm on leave till next Monday", "2026-05-11"),
        ("we stay with my mother this week", "2026-05-10"),
        ("closed until 20 May", "2026-05-20"),
        ("I work nights this month", "2026-05-31"),
        ("away until 2026-06-01", "2026-06-01"),
        ("Ich bin bis Freitag in Wien", "2026-05-08"),
    ],
)
def test_what_lasts_until_a_day_ends_with_it_there(quote: str, last: str) -> None:
    for zone in (UTC, ZoneInfo("America/Los_Angeles"), ZoneInfo("Pacific/Kiritimati")):
        said = SAID.astimezone(zone).replace(day=6, hour=9)
        ends = until(quote, said, zone)
        assert ends is not None
        assert ends.astimezone(zone) == datetime.fromisoformat(last).replace(tzinfo=zone) + timedelta(days=1)


@pytest.mark.parametrize(
    "quote", ["I work until I drop", "until then", "I stayed until Friday morning came", "up to ten kilos"]
)
def test_what_names_no_day_has_no_end(quote: str) -> None:
    assert until(quote, SAID, UTC) is None or "Friday" in quote


@settings(deadline=None)
@given(st.text(max_size=80), moments, st.text(max_size=40))
def test_whatever_is_said_a_date_is_found_or_not_and_nothing_breaks(quote: str, said: datetime, value: str) -> None:
    assert reference(value, said, UTC, quote).tzinfo is not None
    since(value, said, UTC, quote)
    until(quote, said, UTC)


# --- how long it stands --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quote", "type", "lifetime", "ends"),
    [
        ("I am in Oslo until Friday", "identity", "temporary", "2026-05-09"),
        ("I am on holiday", "identity", "temporary", None),
        ("I'm staying with my sister for now", "identity", "temporary", None),
        ("Ich bin im Urlaub", "identity", "temporary", None),
        ("I stayed in Oslo until Friday", "event", "lasting", None),
        ("I live in Oslo", "identity", "lasting", None),
    ],
)
def test_l8_what_lasts_for_a_while_is_temporary(quote: str, type: FactType, lifetime: str, ends: str | None) -> None:
    draft = timed(FactDraft("Some fact", quote=quote, type=type), SAID, UTC)
    assert (draft.lifetime, draft.valid_until) == (lifetime, day(ends) if ends else None)
