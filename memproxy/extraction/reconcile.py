"""Drafts against what is already known: pure decisions, taken before anything is written.

Cosine prunes, it never decides: a near statement is the same one only if no number, name, negation or opposite word
tells the two apart. (Measured in the field: paraphrase .80, negation .85, value swap .87.)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memproxy.folding import content_key, fold
from memproxy.model import Fact, FactDraft, FactStatus, new_id
from memproxy.recall.terms import terms
from memproxy.trust import looks_like_instruction

# Attributes of which a person has one value at a time; a new value makes the old one historical.
SINGLE_SLOTS = frozenset(
    "name first_name last_name nickname age birthday birthdate location city country home address residence employer "
    "company job job_title profession occupation email phone diet marital_status relationship_status timezone".split()
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
}


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
    return _CANONICAL_SLOTS.get(slot, slot) if slot else None


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
    twin = next((n.fact for n in near if _says_the_same(draft.text, n, duplicate)), None)
    if twin is not None:
        return Reinforce(twin.id)
    fact = as_fact(draft, now)
    if fact.status == "quarantined" or fact.slot not in SINGLE_SLOTS:
        return Insert(fact)
    rivals = [n.fact for n in near if canonical_slot(n.fact.slot) == fact.slot]
    newer = next((other for other in rivals if _said(other) > _said(fact)), None)
    if newer is not None:
        # Told later, about an earlier time: an import or a retry must not overrule what was said since.
        return Insert(_historical(fact, newer, now))
    return Insert(fact, tuple(other.id for other in rivals))


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
    return fact.reference_time or fact.recorded_at


# --- the same statement? -----------------------------------------------------------------------------------

_NEGATIONS = frozenset(
    "not no never nor none nothing nobody cannot without neither stopped quit longer hates hate dislikes dislike "
    "kein keine keinen nicht nie niemals ne pas jamais nunca non mai".split()
)
_OPPOSITES = frozenset("former formerly used ex before left previously anymore allergic afraid avoid avoids".split())
# Ways to say that somebody likes something; which one is used makes no difference to what is liked.
_LIKING = frozenset(terms("like likes love loves enjoy enjoys adore adores fond keen fan"))
_FILLER = frozenset(terms("user person really very much quite is of on the a an to be"))


def _says_the_same(text: str, near: Near, duplicate: float) -> bool:
    """Whether a known fact says all that the draft says: the same words, or near in meaning and no word missing."""
    if _tells(text) != _tells(near.fact.text):
        return False
    gist, known = _gist(text), _gist(near.fact.text)
    return gist == known or (near.cosine is not None and near.cosine >= duplicate and bool(gist) and gist <= known)


def _tells(text: str) -> tuple[frozenset[str], ...]:
    """What tells two near statements apart: numbers, negations, opposites and names."""
    words = re.findall(r"\w+", fold(text))
    numbers = frozenset(re.findall(r"\d+(?:[.,:]\d+)*", text))
    negations = frozenset(word for word in words if word in _NEGATIONS) | (
        frozenset({"not"}) if re.search(r"n['’]t\b", text) else frozenset()
    )
    opposites = frozenset(word for word in words if word in _OPPOSITES)
    names = frozenset(
        fold(name) for name in re.findall(r"(?<=\s)\w+", text) if name[0].isupper() and not name.isupper()
    )
    return numbers, negations, opposites, names


def _gist(text: str) -> frozenset[str]:
    words = frozenset(terms(text)) - _FILLER
    return (words - _LIKING) | ({"♥"} if words & _LIKING else frozenset())
