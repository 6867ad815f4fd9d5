"""What is worth taking up unasked, at the beginning of a conversation: one thing, seldom, with its reason. Pure.

Only where it is switched on (`memory.proactive`). What a person wrote down themselves never prompts anything, and on
one day in three nothing does, always the same for one person and day.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta

from memproxy.model import Entity, Fact

_HEAVY = frozenset(("grief", "anxiety", "anger", "fear", "sadness", "loneliness", "negative"))
_SOON, _LATE = timedelta(days=3), timedelta(days=30)
_SETTLING = timedelta(days=7)
_CARE = (timedelta(days=1), timedelta(days=14))
_LONG_AGO, _UNTOUCHED = timedelta(days=30), timedelta(days=14)
_MUCH_FELT = 0.5
_MUCH_MEANT = 7


def suggest(entity: Entity, facts: Sequence[Fact], now: datetime) -> tuple[tuple[Fact, str], ...]:
    """At most one of the facts, with the words that introduce it."""
    if not _today(entity, now):
        return ()
    for reason in (_expected, _felt, _unsettled, _remembered):
        found = [(fact, why) for fact in facts if fact.source_role == "user" and (why := reason(fact, now))]
        if found:
            best = max(found, key=lambda pair: (pair[0].significance, pair[0].engagement or 0.0, pair[0].id))
            return (best,)
    return ()


def _today(entity: Entity, now: datetime) -> bool:
    """Two days in three, by a hash: the same all day, and other days for other people."""
    said = f"{entity.tenant}\0{entity.name}\0{now.date().isoformat()}"
    return hashlib.sha256(said.encode()).digest()[0] % 3 != 0


def _expected(fact: Fact, now: datetime) -> str | None:
    if "prediction" not in (fact.tag, fact.slot) or fact.reference_time is None or fact.thread_status == "resolved":
        return None
    if not now - _LATE <= fact.reference_time <= now + _SOON:
        return None
    return f"Expected for {fact.reference_time.date().isoformat()}"


def _felt(fact: Fact, now: datetime) -> str | None:
    age = now - (fact.said_at or fact.recorded_at)
    heavy = fact.emotional_valence in _HEAVY and (fact.emotional_weight or 0.0) >= _MUCH_FELT
    return "Said with feeling not long ago" if heavy and _CARE[0] <= age <= _CARE[1] else None


def _unsettled(fact: Fact, now: datetime) -> str | None:
    open_for = now - (fact.said_at or fact.recorded_at)
    return "Not settled when last heard of" if fact.thread_status == "open" and open_for >= _SETTLING else None


def _remembered(fact: Fact, now: datetime) -> str | None:
    if fact.significance < _MUCH_MEANT or now - (fact.said_at or fact.recorded_at) < _LONG_AGO:
        return None
    untouched = fact.recalled_at is None or now - fact.recalled_at >= _UNTOUCHED
    return "Mattered a while ago" if untouched and fact.type == "event" else None
