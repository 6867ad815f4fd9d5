"""Drafts against what is already known: pure decisions, taken before anything is written.

A change supersedes and never overwrites; what cannot be decided is kept beside and shown as a contradiction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta

from memproxy.extraction.lifetimes import Lifetimes
from memproxy.extraction.packs import Pack
from memproxy.extraction.sameness import Statement, reverses, says_of_the_same, says_the_same, shares_words
from memproxy.extraction.slots import DEFAULT, Filled, Slots
from memproxy.extraction.slots import canonical_slot as canonical_slot
from memproxy.extraction.standing import Standing
from memproxy.folding import content_key
from memproxy.model import Fact, FactDraft, FactStatus, Verdict, new_id
from memproxy.trust import looks_like_instruction

AHEAD = timedelta(days=1)  # a statement about a later time is one about the future
SECOND_LOOK = "reflection"  # the path of verdicts on facts that nobody has measured to be near
DOUBTFUL = 0.5  # a draft the extractor is less sure of does not take the place of a surer fact


@dataclass(frozen=True, slots=True)
class Policy:
    """What the operator decides: which attributes have one value, and how long facts stand."""

    slots: Slots = DEFAULT
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    packs: tuple[Pack, ...] = ()


@dataclass(frozen=True, slots=True)
class Near:
    """A current fact that may say the same, with its cosine to the draft (None: not known)."""

    fact: Fact
    cosine: float | None
    statement: Statement = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "statement", Statement(self.fact.text))


Verdicts = Mapping[tuple[str, str], Verdict]  # by the content keys of the draft and of the fact


@dataclass(frozen=True, slots=True)
class Insert:
    """A new fact; the facts it supersedes become historical, the open threads it closes resolved."""

    fact: Fact
    supersedes: tuple[str, ...] = ()
    resolves: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reinforce:
    """The draft says what is known already."""

    fact_id: str
    resolves: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dispute:
    """The draft contradicts a fact that it may not replace: it is kept beside, and a person decides."""

    fact: Fact  # historical, and true at no time until somebody says so
    against: Fact
    verdict: Verdict
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """The draft is not stored."""

    reason: str


FactChange = Insert | Reinforce | Dispute | Reject


def reconcile(
    draft: FactDraft,
    same_key: Sequence[Fact],
    near: Sequence[Near],
    duplicate: float,
    now: datetime,
    policy: Policy | None = None,
    verdicts: Verdicts | None = None,
) -> FactChange:
    """What a draft means for the store.

    `same_key` are facts of any status with the draft's content key, `near` the current facts closest in meaning or
    sharing its slot, `duplicate` the cosine from which the embedder's short statements may be the same one, `verdicts`
    what the merge gate said of pairs that rules cannot decide.
    """
    policy, verdicts = policy or Policy(), verdicts or {}
    if any(_was_forgotten(fact, draft, now) for fact in same_key):
        return Reject("forgotten")
    said = Statement(draft.text)
    resolves = _resolved(draft, said, near)
    current = next((fact for fact in same_key if fact.status == "current"), None)
    twin = current or _twin(said, near, duplicate, verdicts)
    if twin is not None and not _is_over(draft, now):
        return Reinforce(twin.id, resolves)
    overtaken = next((fact for fact in same_key if _is_known_for(fact, draft, now)), None)
    if overtaken is not None:
        return Reinforce(overtaken.id)
    fact = as_fact(draft, now, policy)
    if fact.status == "quarantined":
        held = next((other for other in same_key if other.status == "quarantined"), None)
        return Reinforce(held.id) if held is not None else Insert(fact)
    if _is_ahead(fact, now) or fact.status in ("expired", "historical"):
        return Insert(fact)  # what will be, or was for a while, is no reason to drop what is
    rivals = _rivals(said, fact, near, policy, verdicts)
    return _placed(draft, fact, same_key, rivals, resolves, _flag(fact, near, verdicts), now, policy)


def doubtful(draft: FactDraft, near: Sequence[Near], duplicate: float, band: float, policy: Policy) -> list[Near]:
    """The facts so near to a draft that they may be one with it, and rules cannot tell; the nearest first."""
    said, mine = Statement(draft.text), policy.slots.filled(policy.slots.canonical(draft.slot), draft.text)
    key = content_key(draft.text)
    unsure = [
        n
        for n in near
        if n.cosine is not None
        and n.cosine >= band
        and n.fact.content_key != key
        and not says_the_same(said, n.statement, n.cosine, duplicate)
        and not _takes_the_place_of(said, mine, draft.said_at, n, policy)
    ]
    return sorted(unsure, key=lambda n: n.cosine or 0.0, reverse=True)


def _placed(
    draft: FactDraft,
    fact: Fact,
    same_key: Sequence[Fact],
    rivals: Sequence[tuple[Near, Verdict]],
    resolves: tuple[str, ...],
    reason: str,
    now: datetime,
    policy: Policy,
) -> FactChange:
    """A fact that says something new, among those that cannot be current beside it."""
    newer = next((n.fact for n, _ in rivals if _said(n.fact) > _said(fact)), None)
    if newer is not None:
        # Told later, about an earlier time: an import or a retry must not overrule what was said since.
        known = next((f for f in same_key if _is_past_of(f, fact) or _is_beside(f, newer)), None)
        return Reinforce(known.id) if known is not None else Insert(_historical(fact, newer, now))
    if not draft.stated:
        for n, verdict in rivals:
            if _may_not_lose(n, draft, verdict, policy):
                if draft.volatile:
                    return Reject("overruled")
                beside = next((f for f in same_key if _is_beside(f, n.fact)), None)
                return Dispute(beside or disputed(fact, n.fact, now), n.fact, verdict, n.cosine)
    return Insert(fact, tuple(n.fact.id for n, _ in rivals), resolves, reason)


def _twin(said: Statement, near: Sequence[Near], duplicate: float, verdicts: Verdicts) -> Fact | None:
    key = content_key(said.text)
    for n in near:
        verdict = verdicts.get((key, n.fact.content_key))
        if says_the_same(said, n.statement, n.cosine, duplicate):
            return n.fact
        if verdict is not None and verdict.separation == "same":
            return n.fact
    return None


def _rivals(
    said: Statement, fact: Fact, near: Sequence[Near], policy: Policy, verdicts: Verdicts
) -> list[tuple[Near, Verdict]]:
    """The facts that cannot be current beside this one, and who says so."""
    mine = policy.slots.filled(fact.slot, fact.text)
    found = []
    for n in near:
        verdict = verdicts.get((fact.content_key, n.fact.content_key))
        if reason := _takes_the_place_of(said, mine, fact.said_at, n, policy):
            found.append((n, Verdict("conflicting_answer", "rules", reason)))
        elif verdict is not None and verdict.separation == "conflicting_answer":
            found.append((n, verdict))
    return found


def _flag(fact: Fact, near: Sequence[Near], verdicts: Verdicts) -> str:
    """What its history says of a fact that stands beside a near one because the gate could not tell."""
    for n in near:
        verdict = verdicts.get((fact.content_key, n.fact.content_key))
        if verdict is not None and verdict.separation == "unknown":
            return f"beside {n.fact.id}: {verdict.reason}"
    return ""


def _takes_the_place_of(said: Statement, mine: Filled | None, told: datetime | None, n: Near, policy: Policy) -> str:
    """Why two facts cannot both be current, or "": another value of the same attribute, what comes of a plan or ends
    a state, or a change of mind. `told`: when the newer one was said.
    """
    theirs = policy.slots.filled(policy.slots.canonical(n.fact.slot), n.fact.text)
    if mine is not None and theirs is not None and mine.attribute == theirs.attribute:
        planned = _planned(n.fact, told)
        if mine.standing == theirs.standing == "now" and not planned:
            return "slot"
        if _settles(mine, "open" if planned else theirs.standing, said, n.statement):
            return "settled"
    return "reversed" if reverses(said, n.statement) else ""


def _settles(mine: Filled, theirs: Standing, said: Statement, known: Statement) -> bool:
    """Whether a statement is what came of the one known: a plan came true or to nothing, a state ended or began."""
    if mine.standing not in ("now", "over") or mine.standing == theirs:
        return False
    if theirs == "over" and (known.tells.numbers or not known.names <= said.words):
        return False  # an account of the past stays one, unless it says no more than what is undone now
    return says_of_the_same(said, known, mine.attribute.partition("@")[0])


def _planned(fact: Fact, told: datetime | None) -> bool:
    """Whether a fact was a plan when it was said, and its time has not come yet."""
    begins = fact.reference_time
    if begins is None or begins <= fact.recorded_at + AHEAD:
        return False
    return told is not None and told < begins


def _may_not_lose(n: Near, draft: FactDraft, verdict: Verdict, policy: Policy) -> bool:
    """Whether a fact stays although an extracted draft says otherwise: the person put it in writing, it is surer, or
    nothing but the word of a second look says that the two have to do with each other.
    """
    if n.fact.source_role == "user_explicit" and draft.source_role != "user_explicit":
        return True
    if verdict.path == SECOND_LOOK and not shares_words(Statement(draft.text), n.statement):
        slot = policy.slots.canonical(draft.slot)
        if slot is None or slot != policy.slots.canonical(n.fact.slot):
            return True
    return draft.confidence < DOUBTFUL <= n.fact.confidence


def _resolved(draft: FactDraft, said: Statement, near: Sequence[Near]) -> tuple[str, ...]:
    """The open thread that a draft says is settled: the nearest about the same thing."""
    if draft.thread_status != "resolved":
        return ()
    threads = [n for n in near if n.fact.thread_status == "open" and shares_words(said, n.statement)]
    threads.sort(key=lambda n: n.cosine or 0.0, reverse=True)
    return tuple(n.fact.id for n in threads[:1])


def as_fact(draft: FactDraft, now: datetime, policy: Policy | None = None) -> Fact:
    """The draft as a row. Text shaped like an instruction is kept, but in quarantine: never recalled, never shown."""
    policy = policy or Policy()
    said = said_at(draft, now)
    slot = policy.slots.canonical(draft.slot)
    ahead = draft.reference_time is not None and draft.reference_time > now + AHEAD
    expires = policy.lifetimes.end(draft, said)
    status: FactStatus = "quarantined" if looks_like_instruction(draft.text) else "current"
    if status == "current" and expires is not None and expires <= now and not draft.pinned:
        status = "expired"
    if status == "current" and _is_over(draft, now):
        status = "historical"
    return Fact(
        id=new_id(),
        text=draft.text,
        type=draft.type,
        tag=draft.tag,
        slot=slot,
        significance=draft.significance,
        confidence=draft.confidence,
        source_role=draft.source_role,
        quote=draft.quote,
        turn_id=draft.turn_id,
        status=status,
        valid_from=draft.valid_from or _day(draft.started_at) or draft.reference_time,
        valid_until=draft.valid_until or (expires if status == "expired" else None),
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
        slot_key=None if ahead else policy.slots.key(slot, draft.text),
        lifetime=draft.lifetime,
        expires_at=expires,
        said_at=said,
    )


def said_at(draft: FactDraft, now: datetime) -> datetime:
    """When a draft was said. What tells only when it holds or happened was said then, or now where that lies ahead."""
    return min(draft.said_at or draft.reference_time or now, now)


def disputed(fact: Fact, other: Fact, now: datetime) -> Fact:
    """Beside a fact that stays: believed at no time, unless somebody decides for it."""
    begin = fact.valid_from or now
    return replace(
        fact, status="historical", superseded_at=now, superseded_by=other.id, valid_from=begin, valid_until=begin
    )


def _day(started_at: str | None) -> datetime | None:
    return datetime.combine(date.fromisoformat(started_at), time(), UTC) if started_at else None


def _is_over(draft: FactDraft, now: datetime) -> bool:
    """Whether a draft itself says that it held only until some time ago."""
    return draft.valid_until is not None and draft.valid_until <= now


def _is_ahead(fact: Fact, now: datetime) -> bool:
    return fact.reference_time is not None and fact.reference_time > now + AHEAD


def _is_beside(past: Fact, fact: Fact) -> bool:
    """Whether a fact is kept beside another, which stays."""
    return past.status == "historical" and past.superseded_by == fact.id


def _is_known_for(past: Fact, draft: FactDraft, now: datetime) -> bool:
    """Whether a draft was said no later than a fact of the past that says the same: it is that very statement, learned
    again, and what came after it stays. One that was put right, or is in dispute, was known until then.
    """
    if draft.stated or past.status not in ("historical", "expired") or past.recorded_at >= now:
        return (
            False  # what this very reply said before is no past of it: "in Austin, then Seattle, now in Austin again"
        )
    said = said_at(draft, now)
    if _never(past):
        return past.superseded_at is not None and said < past.superseded_at
    return past.said_at is not None and said <= past.said_at


def _was_forgotten(fact: Fact, draft: FactDraft, now: datetime) -> bool:
    """Whether a draft only repeats what was forgotten since it was said. Told anew, it is known again."""
    if fact.status != "forgotten":
        return False
    return fact.turn_id == draft.turn_id is not None or (not draft.stated and said_at(draft, now) < fact.updated_at)


def _is_past_of(known: Fact, fact: Fact) -> bool:
    """Whether a value of the past is one that is known for that time already."""
    if known.status != "historical":
        return False
    return known.reference_time == fact.reference_time or (
        fact.valid_from is not None and _covers(known, fact.valid_from)
    )


def among(fact: Fact, values: Sequence[Fact]) -> tuple[Fact, list[str]]:
    """A value of the past among the other values that an attribute ever had: until when it held (the next one began),
    and the ids of those that held until it began.
    """
    begin = fact.valid_from
    if begin is None:
        return fact, []
    held = [v for v in values if v.status in ("current", "historical", "expired") and not _never(v)]
    after = [v.valid_from for v in held if v.valid_from is not None and v.valid_from > begin]
    if fact.valid_until is not None:
        after.append(fact.valid_until)
    before = [v.id for v in held if v.status != "current" and v.valid_from != begin and _covers(v, begin)]
    return replace(fact, valid_until=min(after, default=None)), before


def _covers(fact: Fact, moment: datetime) -> bool:
    begins = fact.valid_from is None or fact.valid_from <= moment
    return begins and (fact.valid_until is None or moment < fact.valid_until)


def _never(fact: Fact) -> bool:
    """Whether it was true at no time: a wording that was corrected, a statement nobody decided for."""
    return fact.valid_until is not None and fact.valid_from is not None and fact.valid_until <= fact.valid_from


def _historical(fact: Fact, newer: Fact, now: datetime) -> Fact:
    until = newer.valid_from or now
    if fact.valid_from is not None:
        until = max(until, fact.valid_from)
    return replace(fact, status="historical", superseded_at=now, superseded_by=newer.id, valid_until=until)


def _said(fact: Fact) -> datetime:
    """When it was said, as far as is known; what is said about the future is said now."""
    return fact.said_at or min(fact.reference_time or fact.recorded_at, fact.recorded_at)
