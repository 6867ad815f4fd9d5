"""What time does to facts that were found: unconfirmed ones weigh less with age, by how much they matter. Pure.

A fact loses half its weight in a span that depends on its significance, and keeps a share of it for good; what is said
again, or was said with feeling, lasts longer. Pinned facts, who the person is, and everything that was said verbatim
(turns) do not age: a conversation of long ago is as true as one of today.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from memproxy.model import Fact, Scored

HALF_LIVES = ((4, 30.0), (7, 90.0), (9, 180.0))  # days, up to this significance; above it there is none
KEPT = 0.3  # of its weight, however old
IDENTITY_SIGNIFICANCE = 8  # from which who somebody is does not age
_READ_AGAIN = 0.1  # that it was shown counts for a little, and only so often
_MOST_READ = 3


def half_life(fact: Fact) -> float:
    """Days in which a fact loses half its weight; infinite where it does not age."""
    if fact.pinned or (fact.type == "identity" and fact.significance >= IDENTITY_SIGNIFICANCE):
        return math.inf
    base = next((days for most, days in HALF_LIVES if fact.significance <= most), math.inf)
    again = 1 + 0.5 * math.log1p(fact.reinforced_count) + _READ_AGAIN * min(fact.recall_count, _MOST_READ) / _MOST_READ
    arousal = 1 + 1.5 * (fact.emotional_weight or 0.0)  # 1 to 2.5
    return base * again * arousal


def weight(fact: Fact, now: datetime) -> float:
    """The share of its weight that a fact has left: 1 when it is said, KEPT at last."""
    said = max(fact.reinforced_at or fact.recorded_at, min(fact.reference_time or fact.recorded_at, now))
    days = max(0.0, (now - said).total_seconds() / 86400)
    return max(KEPT, math.exp(-math.log(2) * days / half_life(fact)))


def aged(scored: Sequence[Scored], facts: Mapping[str, Fact], now: datetime) -> list[Scored]:
    """What was found, with the facts among it weighed by age, best first again."""
    out = []
    for item in scored:
        fact = facts.get(item.candidate.owner_id) if item.candidate.kind == "fact" else None
        lost = item.score * (1 - weight(fact, now)) if fact is not None and item.score > 0 else 0.0
        out.append(item._replace(score=item.score - lost, reasons={**item.reasons, "age": -lost}) if lost else item)
    return sorted(out, key=lambda item: item.score, reverse=True)
