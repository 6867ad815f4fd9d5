"""From a model's reply to drafts: validated, checked against the words that were really said, or rejected by reason."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import Any

from memproxy.events import Rejection
from memproxy.extraction.fields import shaped
from memproxy.extraction.guards import Claim, objection
from memproxy.extraction.guards.claim import overlap
from memproxy.extraction.guards.subject import whose
from memproxy.extraction.quotes import Said
from memproxy.extraction.scripts import translated
from memproxy.extraction.slots import canonical_slot
from memproxy.extraction.transience import timed
from memproxy.folding import fold
from memproxy.model import FactDraft, Turn
from memproxy.prompts.extraction import EXAMPLES
from memproxy.recall.terms import terms
from memproxy.settings import zone
from memproxy.trust import cut_blocks, looks_like_instruction, mask_secrets

MAX_TEXT = 500
_SHARED = frozenset({"spouse", "marital_status", "manager"})  # attributes of the person that tell of somebody else
_OPERATIONS = ("op", "operation", "event", "action")
_NO_ADDING = frozenset({"delete", "remove", "none", "noop", "no-op", "ignore", "skip", "keep"})


@dataclass(frozen=True, slots=True)
class Drafts:
    """What a reply gave: facts to reconcile, how many were rejected for which reason, and how many were translated by
    the model and are kept in the person's own words instead."""

    accepted: tuple[FactDraft, ...]
    rejected: Mapping[str, int]
    translated: int = 0


def drafts(
    facts: Sequence[Mapping[str, Any]],
    turns: Sequence[Turn],
    default_zone: tzinfo = UTC,
    context: Sequence[Turn] = (),
) -> Drafts:
    """Validate the facts of one reply against the turns they were to be taken from.

    `default_zone` is where those were said that do not tell, `context` the assistant's turns that were sent along.
    """
    check = _Check(turns, default_zone, context)
    accepted: list[FactDraft] = []
    rejected: dict[str, int] = {}
    translations = 0
    for fact in facts:
        outcome = check.draft(fact)
        if isinstance(outcome, Rejection):
            rejected[outcome] = rejected.get(outcome, 0) + 1
            continue
        theirs = translated(outcome)
        translations += theirs is not outcome
        accepted.append(theirs)
    return Drafts(tuple(accepted), rejected, translations)


class _Check:
    """The turns of one request, ready for looking up what was said where."""

    def __init__(self, turns: Sequence[Turn], default_zone: tzinfo, context: Sequence[Turn]) -> None:
        self._turns = [turn for turn in turns if turn.role == "user"]
        self._said = [(turn, Said(turn.content)) for turn in reversed(self._turns)]
        self._zone = default_zone
        self._context = context

    def draft(self, fact: Mapping[str, Any]) -> FactDraft | Rejection:
        """The draft of one entry, or why there is none."""
        text = mask_secrets(" ".join(cut_blocks(readable(str(fact["text"]))).split()))
        quote = fact.get("quote")
        quote = readable(quote).strip() if isinstance(quote, str) else None
        if reason := _malformed(fact, text):
            return reason
        claims = self._claims(text, quote or text, fact.get("slot"))
        first = next(claims, None)
        if first is None or _is_example(text, first.turn):
            return Rejection.EXAMPLE if _equals_example(text) else Rejection.NOT_SAID
        claim = _unobjectionable(first, claims)
        if isinstance(claim, Rejection):
            return claim
        said_at, there = claim.turn.time, zone(claim.turn.timezone or "") or self._zone
        draft = shaped(fact, quote or text, said_at, there)
        masked = mask_secrets(quote) if quote else None
        if draft.slot is not None and canonical_slot(draft.slot) not in _SHARED and (name := whose(claim)):
            draft = replace(draft, slot=f"{draft.slot}@{name}")  # not the person's own home
        draft = replace(draft, text=text, quote=masked, turn_id=claim.turn.id, said_at=said_at)
        return timed(draft, said_at, there)

    def _claims(self, text: str, words: str, slot: object) -> Iterator[Claim]:
        """The text beside each place where the words were said, the newest turn first."""
        name = slot if isinstance(slot, str) else None
        for turn, said in self._said:
            for start, end in said.places(words):
                yield Claim(text, name, turn, start, end, self._turns, self._context)


def readable(text: str) -> str:
    """The text without what no person writes and no database takes: control characters and halves of characters."""
    return "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs"))


def _malformed(fact: Mapping[str, Any], text: str) -> Rejection | None:
    if not text:
        return Rejection.EMPTY
    if len(text) > MAX_TEXT:
        return Rejection.TOO_LONG
    if any(str(fact.get(name, "")).strip().casefold() in _NO_ADDING for name in _OPERATIONS):
        return Rejection.OPERATION
    if str(fact.get("speaker") or "user").strip().casefold() != "user":
        return Rejection.NOT_THE_USER
    return None


def _unobjectionable(first: Claim, others: Iterable[Claim]) -> Claim | Rejection:
    """The first place where nothing speaks against the fact, or what speaks against it at the newest one.

    A text shaped like an instruction that was really said goes on: reconciling holds it in quarantine, where it is
    seen and never used.
    """
    if looks_like_instruction(first.text):
        return first if overlap(first.text, first.turn.content) >= 0.5 else Rejection.NOT_SAID
    reason = objection(first)
    if reason is None:
        return first
    return next((claim for claim in others if objection(claim) is None), reason)


def _is_example(text: str, turn: Turn) -> bool:
    """Whether a fact is the prompt's own example, quoting some words but sharing none with the turn."""
    return _equals_example(text) and not set(terms(text)) & set(terms(turn.content))


def _equals_example(text: str) -> bool:
    return fold(text) in map(fold, EXAMPLES)
