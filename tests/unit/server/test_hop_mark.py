"""The mark by which proxies of one memory know each other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.assembly.hop_mark import HopMark
from memproxy.testing import FrozenClock

SECRET = bytes(range(32))
NOON = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def mark(secret: bytes = SECRET, now: datetime = NOON) -> HopMark:
    return HopMark(secret, FrozenClock(now))


def knows(receiver: HopMark, sent: bytes | None) -> bool:
    return receiver.made_here(None if sent is None else sent.decode("utf-8", "surrogateescape"))


def test_a_mark_is_known_by_whoever_has_the_same_secret_only() -> None:
    sent = mark().for_target("http://127.0.0.1:8787")
    assert knows(mark(), sent)
    assert not knows(mark(bytes(32)), sent)
    assert not knows(mark(), None)


@pytest.mark.parametrize(("later", "known"), [(-2, False), (-1, True), (0, True), (1, True), (2, False), (24, False)])
def test_a_mark_is_good_for_an_hour_or_so_and_clocks_may_differ(later: int, known: bool) -> None:
    sent = mark().for_target("http://127.0.0.1:8787")
    assert knows(mark(now=NOON + timedelta(hours=later)), sent) is known


def test_a_proxy_that_runs_on_changes_its_mark() -> None:
    clock = FrozenClock(NOON)
    running = HopMark(SECRET, clock)
    first = running.for_target("http://b")
    clock.advance(hours=3)
    assert running.for_target("http://b") != first


@given(st.binary(max_size=80))
def test_nothing_else_is_a_mark(sent: bytes) -> None:
    assert not knows(mark(), sent)


def test_a_mark_shows_nothing_of_the_secret() -> None:
    sent = mark().for_target("http://127.0.0.1:8787")
    assert sent is not None
    assert len(sent) == 64
    assert SECRET.hex().encode()[:8] not in sent


@pytest.mark.parametrize(
    ("target", "marked"),
    [
        ("https://api.openai.com", False),
        ("https://api.openai.com/v1", False),
        ("https://api.anthropic.com", False),
        ("https://generativelanguage.googleapis.com", False),
        ("http://localhost:11434", True),
        ("http://memproxy:8787/memproxy/as/bo", True),
        ("https://llm.example", True),
    ],
)
def test_vendors_own_hosts_get_no_mark(target: str, marked: bool) -> None:
    assert (mark().for_target(target) is not None) is marked
    assert bool(mark().headers(target)) is marked
