"""What is said of a person unasked: which of the facts that always stand, in what order, and of which topics. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from memproxy.model import Candidate, Fact, Scored, speaker_of
from memproxy.recall.terms import index_terms

# Who somebody is weighs less the longer it was not said: nothing for a month, half of a full weight at most.
_FRESH_DAYS = 30
_STALE_DAYS = 90
_MOST_STALE = 0.5


def choose(facts: Sequence[Fact], count: int, topic_share: float, now: datetime | None = None) -> list[Fact]:
    """At most `count` of the facts, in the order in which they are to be said: pinned first, then the weightiest.

    Of one topic (a tag) no more than its share, as long as others are left; pinned facts are not counted.
    """
    pinned = [fact for fact in facts if fact.pinned]
    others = sorted((fact for fact in facts if not fact.pinned), key=lambda fact: -weight(fact, now))
    room = max(count - len(pinned), 0)
    most = max(1, math.ceil(topic_share * count))
    seen: Counter[str] = Counter()
    first: list[Fact] = []
    surplus: list[Fact] = []
    for fact in others:
        seen[fact.tag] += 1
        (first if seen[fact.tag] <= most else surplus).append(fact)
    return [*pinned, *first, *surplus][: len(pinned) + room]


def weight(fact: Fact, now: datetime | None) -> float:
    """How much it matters that this is said: 0 to 1, less what it lost by not being said again."""
    full = fact.significance / 10
    if now is None or fact.significance >= 10:
        return full
    said = max(moment for moment in (fact.recorded_at, fact.reinforced_at, fact.said_at) if moment is not None)
    days = (now - said).total_seconds() / 86400
    return full - min(max(days - _FRESH_DAYS, 0) / _STALE_DAYS, _MOST_STALE)


def as_found(fact: Fact) -> Scored:
    """A fact in the form of a candidate: no question found it, it is simply always there."""
    moment = fact.reference_time or fact.recorded_at
    return Scored(
        Candidate(
            passage_id=0,
            kind="fact",
            owner_id=fact.id,
            ordinal=0,
            text=fact.text,
            terms=index_terms(fact.text, "user", moment),
            session_id=None,
            seq=0,
            role=speaker_of(fact.source_role),
            speaker=None,
            time=moment,
            confidence=fact.confidence,
            cosine=None,
            turn_id=fact.turn_id,
        ),
        score=1.0,
        reasons={"pinned": 1.0} if fact.pinned else {"identity": fact.significance / 10},
    )
