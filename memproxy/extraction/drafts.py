"""From a model's reply to drafts: validated, checked against the words that were really said, or rejected by reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, TypeVar, get_args

from memproxy.folding import fold
from memproxy.model import FactDraft, FactType, Turn
from memproxy.prompts.extraction import EXAMPLES
from memproxy.trust import cut_blocks, looks_like_instruction, mask_secrets

TAGS = frozenset(
    "skill preference relationship medical location work hobby personal financial prediction other".split()
)
VALENCES = frozenset("grief joy anxiety hope love anger fear pride neutral".split())
T = TypeVar("T")

MAX_TEXT = 500
MAX_QUOTE = 300


@dataclass(frozen=True, slots=True)
class Drafts:
    """What a reply gave: facts to reconcile, and how many were rejected for which reason."""

    accepted: tuple[FactDraft, ...]
    rejected: Mapping[str, int]


def drafts(facts: Sequence[Mapping[str, Any]], turns: Sequence[Turn]) -> Drafts:
    """Validate the facts of one reply against the turns they were to be taken from."""
    accepted: list[FactDraft] = []
    rejected: dict[str, int] = {}
    said = [(turn, fold(turn.content)) for turn in turns if turn.role == "user"]
    for fact in facts:
        outcome = _draft(fact, said)
        if isinstance(outcome, FactDraft):
            accepted.append(outcome)
        else:
            rejected[outcome] = rejected.get(outcome, 0) + 1
    return Drafts(tuple(accepted), rejected)


def _draft(fact: Mapping[str, Any], said: Sequence[tuple[Turn, str]]) -> FactDraft | str:
    text = mask_secrets(re.sub(r"\s+", " ", cut_blocks(str(fact["text"])))).strip()
    quote = fact.get("quote")
    quote = quote.strip() if isinstance(quote, str) and quote.strip() else None
    if not text:
        return "empty"
    if len(text) > MAX_TEXT:
        return "too-long"
    if fact.get("speaker", "user") != "user":
        return "not-the-user"
    if _meta(text):
        return "meta"
    turn = _source(quote or text, said)
    if turn is None:
        return "example" if fold(text) in map(fold, EXAMPLES) else "not-said"
    if looks_like_instruction(text):
        return "instruction"
    return replace(
        _fields(fact, turn.time),
        text=text,
        quote=mask_secrets(quote)[:MAX_QUOTE] if quote else None,
        turn_id=turn.id,
    )


def _source(words: str, said: Sequence[tuple[Turn, str]]) -> Turn | None:
    """The newest turn in which the words stand (case, Unicode form and white space folded)."""
    needle = fold(mask_secrets(words)).strip(" .,;:!?\"'")
    if not needle:
        return None
    return next((turn for turn, text in reversed(said) if _stands_in(needle, text)), None)


def _stands_in(needle: str, text: str) -> bool:
    """As whole words: "art" does not stand in "start"."""
    start = text.find(needle)
    while start >= 0:
        end = start + len(needle)
        if not (_joins(text, start - 1, needle[0]) or _joins(text, end, needle[-1])):
            return True
        start = text.find(needle, start + 1)
    return False


def _joins(text: str, index: int, edge: str) -> bool:
    """Whether the character at an edge continues the word there (scripts without spaces never count as joined)."""
    if not 0 <= index < len(text):
        return False
    other = text[index]
    return other.isalnum() and edge.isalnum() and other < "\u2e80" and edge < "\u2e80"


_META = re.compile(
    r"(?i)^(?:no (?:facts|personal|information|new|relevant)|nothing (?:to|was)|i cannot|i can't|unable to|"
    r"the (?:conversation|text|message|user) "
    r"(?:does not|doesn't|contains no|holds (?:only|no)|has no|asked|asks|is asking))"
)


def _meta(text: str) -> bool:
    """Remarks of the extractor about the material, not facts."""
    return _META.match(text) is not None


def _fields(fact: Mapping[str, Any], said_at: datetime) -> FactDraft:
    kind: FactType = fact["type"] if fact.get("type") in get_args(FactType) else "identity"
    tag = str(fact.get("tag") or "other").strip().casefold()
    valence = str(fact.get("emotional_valence") or "").strip().casefold()
    status = fact.get("thread_status")
    return FactDraft(
        text="",
        type=kind,
        tag=tag if tag in TAGS else "other",
        slot=_slot(fact.get("slot")),
        significance=_number(fact.get("significance"), lambda n: int(n) if 1 <= n <= 10 else 5, 5),
        confidence=_number(fact.get("confidence"), lambda n: min(1.0, max(0.0, n)), 0.8),
        reference_time=day(fact.get("reference_time")) or said_at,
        started_at=_since(fact.get("started_at"), said_at),
        thread_status=status if status in ("open", "resolved") else None,
        emotional_weight=_number(fact.get("emotional_weight"), lambda n: min(1.0, max(0.0, n)), None),
        emotional_valence=valence if valence in VALENCES else None,
    )


def _number(value: object, shape: Callable[[float], T], default: T) -> T:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return default
    return shape(float(value))


def _slot(value: object) -> str | None:
    slot = re.sub(r"[^\w]+", "_", str(value).strip().casefold()).strip("_") if isinstance(value, str) else ""
    return slot[:64] or None


def day(value: object) -> datetime | None:
    """A date or time in ISO form as UTC, or None: a bad date loses the date, not the fact."""
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def _since(value: object, said_at: datetime) -> str | None:
    parsed = day(value)
    if parsed is None or parsed.year < 1900 or parsed.date() > said_at.date():
        return None
    return date(parsed.year, parsed.month, parsed.day).isoformat()
