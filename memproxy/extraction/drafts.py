"""From a model's reply to drafts: validated, checked against the words that were really said, or rejected by reason."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any, TypeVar, get_args

from memproxy.extraction import dates
from memproxy.folding import fold
from memproxy.model import FactDraft, FactType, Turn
from memproxy.prompts.extraction import EXAMPLES
from memproxy.recall.terms import terms
from memproxy.recall.words import SMALL_TALK
from memproxy.trust import cut_blocks, looks_like_instruction, mask_secrets

TAGS = frozenset(
    "skill preference relationship medical location work hobby personal financial prediction other".split()
)
VALENCES = frozenset("grief joy anxiety hope love anger fear pride neutral".split())
T = TypeVar("T")

MAX_TEXT = 500


@dataclass(frozen=True, slots=True)
class Drafts:
    """What a reply gave: facts to reconcile, and how many were rejected for which reason."""

    accepted: tuple[FactDraft, ...]
    rejected: Mapping[str, int]


def drafts(facts: Sequence[Mapping[str, Any]], turns: Sequence[Turn], zone: tzinfo = UTC) -> Drafts:
    """Validate the facts of one reply against the turns they were to be taken from; `zone` is where these were said."""
    accepted: list[FactDraft] = []
    rejected: dict[str, int] = {}
    said = [(turn, fold(turn.content)) for turn in turns if turn.role == "user"]
    for fact in facts:
        outcome = _draft(fact, said, zone)
        if isinstance(outcome, FactDraft):
            accepted.append(outcome)
        else:
            rejected[outcome] = rejected.get(outcome, 0) + 1
    return Drafts(tuple(accepted), rejected)


def _draft(fact: Mapping[str, Any], said: Sequence[tuple[Turn, str]], zone: tzinfo) -> FactDraft | str:
    text = mask_secrets(" ".join(cut_blocks(_readable(str(fact["text"]))).split()))
    quote = fact.get("quote")
    quote = _readable(quote).strip() if isinstance(quote, str) else None
    if not text:
        return "empty"
    if len(text) > MAX_TEXT:
        return "too-long"
    if str(fact.get("speaker") or "user").strip().casefold() != "user":
        return "not-the-user"
    if _META.match(text):
        return "meta"
    turn = _source(quote or text, said)
    if turn is None or _is_example(text, turn):
        return "example" if fold(text) in map(fold, EXAMPLES) else "not-said"
    if looks_like_instruction(text):
        return "instruction"
    return replace(
        _fields(fact, turn.time, zone), text=text, quote=mask_secrets(quote) if quote else None, turn_id=turn.id
    )


def _readable(text: str) -> str:
    """The text without what no person writes and no database takes: control characters and halves of characters."""
    return "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs"))


def _is_example(text: str, turn: Turn) -> bool:
    """Whether a fact is the prompt's own example, quoting some words but sharing none with the turn."""
    return fold(text) in map(fold, EXAMPLES) and not set(terms(text)) & set(terms(turn.content))


def _source(words: str, said: Sequence[tuple[Turn, str]]) -> Turn | None:
    """The newest turn in which the words stand (case, Unicode form and white space folded).

    A word without content ("I", "the") stands everywhere and proves nothing; a "yes" or "no" only where it is all that
    was said.
    """
    needle = fold(mask_secrets(words)).strip(_EDGES)
    if not _has_content(needle):
        return None
    spoken = re.findall(r"\w+", needle)
    stands = _is_all_of if spoken and _AN_ANSWER.issuperset(spoken) else _stands_in
    return next((turn for turn, text in reversed(said) if stands(needle, text)), None)


_EDGES = " .,;:!?\"'()[]{}…。、，；：！？「」『』*_`>-"
_AN_ANSWER = SMALL_TALK | {"not", "never", "none", "always", "often", "maybe", "perhaps"}


def _has_content(needle: str) -> bool:
    """Whether there is a content word (in scripts without blanks: more than one character) or a symbol."""
    if any(len(term) > 1 or term.isdigit() for term in terms(needle)):
        return True
    return re.search(r"\w[+#]", needle) is not None or any(unicodedata.category(c) == "So" for c in needle)


def _is_all_of(needle: str, text: str) -> bool:
    return text.strip(_EDGES) == needle


def _stands_in(needle: str, text: str) -> bool:
    """As whole words: "art" does not stand in "start", nor "I can" in "I can't"."""
    start = text.find(needle)
    while start >= 0:
        end = start + len(needle)
        if not (_joins(text, start - 1, needle[0]) or _joins(text, end, needle[-1]) or text.startswith("'t", end)):
            return True
        start = text.find(needle, start + 1)
    return False


def _joins(text: str, index: int, edge: str) -> bool:
    """Whether the character at an edge continues the word there (scripts without blanks never count as joined)."""
    if not 0 <= index < len(text):
        return False
    other = text[index]
    return _of_a_word(other) and _of_a_word(edge) and not (_spaceless(other) or _spaceless(edge))


def _of_a_word(char: str) -> bool:
    return unicodedata.category(char)[0] in "LMN"


def _spaceless(char: str) -> bool:
    """Thai, Lao, Myanmar, Khmer, and everything from the CJK blocks on."""
    return char >= "\u2e80" or any(low <= char <= high for low, high in _SPACELESS)


_SPACELESS = (("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"))


# Remarks of the extractor about the material, not facts of a person ("I cannot eat nuts", "The user does not drive").
_META = re.compile(
    r"""(?ix)
    (?: i\ (?:cannot|can't|could\ not|couldn't|am\ unable\ to|found\ no|find\ no|did\ not\ find) | unable\ to
      | no\ (?:lasting\ |relevant\ |new\ |personal\ |specific\ |notable\ )*(?:facts?|information|details?|data)\b
      | nothing\ to )
    (?=.*\b(?:extract|find|identify|determine|note|record|report|remember|store|provided|given|mentioned|stated|found
      |shared|available|facts?|information)\b)
    | the\ (?:conversation|text|message|transcript|input)s?
      \ (?:is|are|does|do|contains?|holds?|has|have|only|provides?|shows?)\b
    | (?:the\ )?user
      \ (?:asked|asks|is\ asking|wants\ to\ know|inquire[sd]?|greet(?:s|ed)|thank(?:s|ed)\ the\ assistant)\b
    | (?:the\ )?user
      \ (?:did\ not|didn't|does\ not|doesn't|has\ not|hasn't|provides?\ no|provided\ no|shares?\ no|shared\ no)
      .{0,20}\b(?:mention|state|share|provide|reveal|give|disclose|information|details|facts)\b
    """
)


def _fields(fact: Mapping[str, Any], said_at: datetime, zone: tzinfo) -> FactDraft:
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
        reference_time=dates.reference(fact.get("reference_time"), said_at, zone),
        started_at=dates.since(fact.get("started_at"), said_at),
        thread_status=status if status in ("open", "resolved") else None,
        emotional_weight=_number(fact.get("emotional_weight"), lambda n: min(1.0, max(0.0, n)), None),
        emotional_valence=valence if valence in VALENCES else None,
    )


def _number(value: object, shape: Callable[[float], T], default: T) -> T:
    """A number of the reply put into shape; the default for anything that is none (a number in quotes is one)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return default
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return default
    return shape(number) if math.isfinite(number) else default


def _slot(value: object) -> str | None:
    slot = re.sub(r"[^\w]+", "_", str(value).strip().casefold()).strip("_") if isinstance(value, str) else ""
    return slot[:64] or None
