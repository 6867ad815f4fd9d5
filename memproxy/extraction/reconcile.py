"""Drafts against what is already known: pure decisions, taken before anything is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memproxy.extraction.sameness import people, reverses, says_the_same
from memproxy.folding import content_key
from memproxy.model import Fact, FactDraft, FactStatus, new_id
from memproxy.trust import looks_like_instruction

# Attributes of which a person has one value at a time; a new value makes the old one historical.
SINGLE_SLOTS = frozenset(
    "name first_name last_name nickname age birthday birthdate location city country home address residence employer "
    "company job job_title profession occupation email phone diet marital_status relationship_status spouse "
    "timezone".split()
)
_CANONICAL_SLOTS = {
    "city": "location",
    "residence": "location",
    "home": "location",
    "company": "employer",
    "job_title": "job",
    "profession": "job",
    "occupation": "job",
    "birthdate": "birthday",
    "relationship_status": "marital_status",
    "town": "location",
    "workplace": "employer",
    "partner": "spouse",
    "husband": "spouse",
    "wife": "spouse",
}


AHEAD = timedelta(days=1)  # a statement about a later time is one about the future


@dataclass(frozen=True, slots=True)
class Near:
    """A current fact that may say the same, with its cosine to the draft (None: not known)."""

    fact: Fact
    cosine: float | None


@dataclass(frozen=True, slots=True)
class Insert:
    """A new fact; the facts it supersedes become historical."""

    fact: Fact
    supersedes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reinforce:
    """The draft says what is known already."""

    fact_id: str


@dataclass(frozen=True, slots=True)
class Reject:
    """The draft is not stored."""

    reason: str


FactChange = Insert | Reinforce | Reject


def canonical_slot(slot: str | None) -> str | None:
    """One name for slots that mean the same attribute."""
    if not slot:
        return None
    slot = re.sub(r"[\W_]+", "_", slot.casefold()).strip("_").removeprefix("current_")
    return _CANONICAL_SLOTS.get(slot, slot) or None


def reconcile(
    draft: FactDraft, same_key: Sequence[Fact], near: Sequence[Near], duplicate: float, now: datetime
) -> FactChange:
    """What a draft means for the store.

    `same_key` are facts of any status with the draft's content key, `near` the current facts closest in meaning or
    sharing its slot, `duplicate` the cosine from which the embedder's short statements may be the same one.
    """
    if any(fact.status == "forgotten" and fact.turn_id == draft.turn_id is not None for fact in same_key):
        return Reject("forgotten")
    current = next((fact for fact in same_key if fact.status == "current"), None)
    if current is not None:
        return Reinforce(current.id)
    twin = next((n.fact for n in near if says_the_same(draft.text, n.fact.text, n.cosine, duplicate)), None)
    if twin is not None:
        return Reinforce(twin.id)
    fact = as_fact(draft, now)
    if fact.status == "quarantined":
        held = next((other for other in same_key if other.status == "quarantined"), None)
        return Reinforce(held.id) if held is not None else Insert(fact)
    if fact.reference_time is not None and fact.reference_time > now + AHEAD:
        return Insert(fact)  # what will be is no reason to drop what is
    rivals = [n.fact for n in near if _takes_the_place_of(fact, n.fact)]
    newer = next((other for other in rivals if _said(other) > _said(fact)), None)
    if newer is None:
        return Insert(fact, tuple(other.id for other in rivals))
    # Told later, about an earlier time: an import or a retry must not overrule what was said since.
    known = next((f for f in same_key if f.status == "historical" and f.reference_time == fact.reference_time), None)
    return Reinforce(known.id) if known is not None else Insert(_historical(fact, newer, now))


def _takes_the_place_of(fact: Fact, other: Fact) -> bool:
    """Whether two facts cannot both be current: another value of the same person's attribute, or a change of liking."""
    if fact.slot in SINGLE_SLOTS and canonical_slot(other.slot) == fact.slot:
        return fact.slot == "spouse" or people(fact.text) == people(other.text)
    return reverses(fact.text, other.text)


def as_fact(draft: FactDraft, now: datetime) -> Fact:
    """The draft as a row. Text shaped like an instruction is kept, but in quarantine: never recalled, never shown."""
    status: FactStatus = "quarantined" if looks_like_instruction(draft.text) else "current"
    return Fact(
        id=new_id(),
        text=draft.text,
        type=draft.type,
        tag=draft.tag,
        slot=canonical_slot(draft.slot),
        significance=draft.significance,
        confidence=draft.confidence,
        source_role=draft.source_role,
        quote=draft.quote,
        turn_id=draft.turn_id,
        status=status,
        valid_from=draft.valid_from or draft.reference_time,
        valid_until=draft.valid_until,
        recorded_at=now,
        updated_at=now,
        superseded_at=None,
        superseded_by=None,
        reference_time=draft.reference_time,
        started_at=draft.started_at,
        reinforced_count=0,
        recall_count=0,
        pinned=draft.pinned,
        thread_status=draft.thread_status,
        emotional_weight=draft.emotional_weight,
        emotional_valence=draft.emotional_valence,
        embedding_model=None,
        content_key=content_key(draft.text),
    )


def _historical(fact: Fact, newer: Fact, now: datetime) -> Fact:
    return replace(
        fact, status="historical", superseded_at=now, superseded_by=newer.id, valid_until=newer.valid_from or now
    )


def _said(fact: Fact) -> datetime:
    """When it was said, as far as is known; what is said about the future is said now."""
    return min(fact.reference_time or fact.recorded_at, fact.recorded_at)
