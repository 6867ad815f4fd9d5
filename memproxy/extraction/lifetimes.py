"""How long a fact stands: when it stops being current unless it is said again. Pure.

A lasting fact has no end unless the operator gives its significance one. Time to live is only ever extended, and a
pinned fact has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memproxy.model import Fact, FactDraft, Lifetime

PROMOTED_AT = 5  # said in so many sessions, a lasting fact is among those that matter most
PROMOTED_TO = 10
SURER = 0.1  # confidence gained each time a fact is said again
_LOW = 4  # significance up to which a fact is a small one
_MEDIUM = 9
_KEPT_TAGS = frozenset({"medical"})  # a slip in rating an allergy must not cost somebody's health


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Time to live by kind of fact; None: without end."""

    temporary: timedelta = timedelta(days=30)
    momentary: timedelta = timedelta(hours=12)
    low: timedelta | None = None
    medium: timedelta | None = None

    def end(self, draft: FactDraft, said: datetime) -> datetime | None:
        """When a draft that was said then stops being current."""
        span = self._span(draft.lifetime, draft.significance, draft.tag)
        if draft.lifetime == "lasting":
            return said + span if span is not None else None
        return draft.valid_until or (said + span if span is not None else None)

    def renewed(self, fact: Fact, draft: FactDraft, said: datetime) -> dict[str, Any]:
        """The fields that change when a draft says what a fact says already, but for the count."""
        if fact.expires_at is None:
            return {}
        end = self.end(draft, said)
        if end is None:  # it is said to last now
            return {"expires_at": None, "lifetime": "lasting"}
        return {"expires_at": end} if end > fact.expires_at else {}

    def _span(self, lifetime: Lifetime, significance: int, tag: str) -> timedelta | None:
        if lifetime != "lasting":
            return self.temporary if lifetime == "temporary" else self.momentary
        if tag in _KEPT_TAGS or significance > _MEDIUM:
            return None
        return self.low if significance <= _LOW else self.medium


def counted(fact: Fact, now: datetime) -> Mapping[str, Any]:
    """The fields that change when a fact is said in one more session."""
    count = fact.reinforced_count + 1
    changes: dict[str, Any] = {
        "reinforced_count": count,
        "reinforced_at": now,
        "confidence": min(1.0, round(fact.confidence + SURER, 6)),
    }
    if count >= PROMOTED_AT and fact.lifetime == "lasting":
        changes |= {"significance": max(fact.significance, PROMOTED_TO), "expires_at": None}
    return changes
