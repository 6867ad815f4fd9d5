"""The fields of a fact as models fill them in, put into shape: what cannot be used becomes the default."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from typing import Any, TypeVar, get_args

from memproxy.extraction import dates
from memproxy.model import FactDraft, FactType

TAGS = frozenset(
    "skill preference relationship medical location work hobby personal financial prediction other".split()
)
VALENCES = frozenset("grief joy anxiety hope love anger fear pride neutral".split())
T = TypeVar("T")


def shaped(fact: Mapping[str, Any], words: str, said_at: datetime, zone: tzinfo) -> FactDraft:
    """A draft with everything but its text and where it was said; `words` are those of the person that say it."""
    kind: FactType = fact["type"] if fact.get("type") in get_args(FactType) else "identity"
    tag = str(fact.get("tag") or "other").strip().casefold()
    valence = str(fact.get("emotional_valence") or "").strip().casefold()
    status = fact.get("thread_status")
    return FactDraft(
        text="",
        type=kind,
        tag=tag if tag in TAGS else "other",
        slot=slot(fact.get("slot")),
        significance=_number(fact.get("significance"), lambda n: int(n) if 1 <= n <= 10 else 5, 5),
        confidence=_number(fact.get("confidence"), lambda n: min(1.0, max(0.0, n)), 0.8),
        reference_time=dates.reference(fact.get("reference_time"), said_at, zone, words),
        started_at=dates.since(fact.get("started_at"), said_at, zone, words),
        thread_status=status if status in ("open", "resolved") else None,
        emotional_weight=_number(fact.get("emotional_weight"), lambda n: min(1.0, max(0.0, n)), None),
        emotional_valence=valence if valence in VALENCES else None,
    )


def slot(value: object) -> str | None:
    """The name of an attribute as small words joined by underscores, or None."""
    name = re.sub(r"[^\w]+", "_", str(value).strip().casefold()).strip("_") if isinstance(value, str) else ""
    return name[:64] or None


def _number(value: object, shape: Callable[[float], T], default: T) -> T:
    """A number of the reply put into shape; the default for anything that is none (a number in quotes is one)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return default
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return default
    return shape(number) if math.isfinite(number) else default
