"""Drafts applied to the store: looked up, decided, written, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memproxy.extraction.lifetimes import counted
from memproxy.extraction.reconcile import (
    Dispute,
    FactChange,
    Insert,
    Policy,
    Reinforce,
    Verdicts,
    among,
    reconcile,
    said_at,
)
from memproxy.folding import content_key
from memproxy.interfaces import Connection, Vectors
from memproxy.lifecycle.indexing import fact_passages, reindex_repetitions, reindex_turn
from memproxy.lifecycle.known import Known
from memproxy.lifecycle.neighbours import Neighbours, neighbours
from memproxy.lifecycle.overtaking import overtake
from memproxy.lifecycle.profile import note
from memproxy.model import EmbedderInfo, Entity, Fact, FactDraft
from memproxy.store import contradictions, receipts, turns
from memproxy.store import facts as fact_rows
from memproxy.store import passages as passage_rows
from memproxy.store import vectors as vectors_rows


@dataclass(frozen=True, slots=True)
class Learned:
    """A draft and what became of it; `fact` is the row that now says it, where there is one."""

    draft: FactDraft
    change: FactChange
    fact: Fact | None


@dataclass(frozen=True, slots=True)
class Grounds:
    """What drafts are judged by: the operator's policy, what the merge gate said, the embedder if any."""

    info: EmbedderInfo | None = None
    policy: Policy = field(default_factory=Policy)
    verdicts: Verdicts = field(default_factory=dict)

    @property
    def duplicate(self) -> float:
        """The cosine from which short statements may be the same one."""
        return self.info.duplicate if self.info else 1.0

    @property
    def band(self) -> float:
        """The cosine from which two statements are worth comparing: midway between unrelated and alike (.75 of bge)."""
        return (self.info.floor + self.info.duplicate) / 2 if self.info else 1.0


async def learn(
    conn: Connection,
    entity: Entity,
    drafts: Sequence[FactDraft],
    vectors: Vectors | None,
    grounds: Grounds,
    session_id: str | None,
    now: datetime,
    nearby: Sequence[Neighbours] | None = None,
) -> list[Learned]:
    """Reconcile drafts one after the other, each against what the ones before it left.

    `vectors` has one row a draft, or is None where no embedder is at hand: then words alone decide. `nearby` is what
    `neighbours` found for them, where it has been looked up already and no text has changed since. The facts themselves
    are always read here: an attribute, an end or a pin may have.
    """
    if nearby is None:
        nearby = await neighbours(conn, entity, drafts, vectors, grounds.info)
    known = await Known.read(conn, entity, drafts, nearby, grounds.policy)
    out: list[Learned] = []
    fresh: dict[str, Vectors | None] = {}  # facts that came from the drafts before, which nobody has looked up
    for index, draft in enumerate(drafts):
        vector = vectors[index] if vectors is not None else None
        cosines = dict(nearby[index])
        for fact_id, other in fresh.items():
            cosines[fact_id] = float(vector @ other) if vector is not None and other is not None else None
        same_key, near = known.same_key(content_key(draft.text)), known.near(draft, cosines)
        change = reconcile(draft, same_key, near, grounds.duplicate, now, grounds.policy, grounds.verdicts)
        if isinstance(change, Insert) and change.fact.status == "historical" and change.fact.slot_key is not None:
            change, moved = await _into_history(conn, entity, change, now)
            await known.refresh(conn, moved)
        fact = await _apply(conn, entity, draft, change, vector, grounds, session_id, now)
        await known.refresh(conn, _written(change, fact))
        if isinstance(change, Insert) and fact is not None:
            fresh[fact.id] = vector
        out.append(Learned(draft, change, fact))
    return out


def _written(change: FactChange, fact: Fact | None) -> set[str]:
    """The facts that a change has written."""
    written = {fact.id} if fact is not None else set()
    if isinstance(change, Insert):
        written.update(change.supersedes)
    if isinstance(change, Insert | Reinforce):
        written.update(change.resolves)
    return written


async def _apply(
    conn: Connection,
    entity: Entity,
    draft: FactDraft,
    change: FactChange,
    vector: Vectors | None,
    grounds: Grounds,
    session_id: str | None,
    now: datetime,
) -> Fact | None:
    if isinstance(change, Reinforce):
        await _resolve(conn, entity, change.resolves, now)
        return await _reinforce(conn, entity, draft, change.fact_id, grounds, session_id, now)
    if isinstance(change, Dispute):
        return await _dispute(conn, entity, change, draft, now)
    if isinstance(change, Insert):
        await _resolve(conn, entity, change.resolves, now)
        return await _insert(conn, entity, change, vector, grounds, now)
    return None


async def _into_history(conn: Connection, entity: Entity, change: Insert, now: datetime) -> tuple[Insert, list[str]]:
    """A value told late, at its place among the values before and after it; the ids of those that now end earlier."""
    values = await fact_rows.with_attribute(conn, entity, change.fact.slot_key or "")
    fact, shortened = among(change.fact, values)
    for fact_id in shortened:
        told = {"valid_until": fact.valid_from}
        await fact_rows.update(conn, entity, fact_id, told, f"{fact.id} came after it", now)
    return replace(change, fact=fact), shortened


async def _insert(
    conn: Connection, entity: Entity, change: Insert, vector: Vectors | None, grounds: Grounds, now: datetime
) -> Fact:
    fact = change.fact
    for old in change.supersedes:  # first, so that one attribute never has two current values
        await supersede(conn, entity, old, fact, now)
    await fact_rows.insert(conn, entity, fact, change.reason)
    ids = await passage_rows.add(conn, entity, fact_passages(fact))
    if vector is not None and grounds.info is not None and ids:
        await vectors_rows.add_vectors(conn, entity, grounds.info.model, [(ids[0], vector)])
    if fact.status == "quarantined" and fact.turn_id:
        await hide_quote(conn, entity, fact)
    if fact.status == "current":
        await note(conn, entity, fact, grounds.policy.packs, now)
    return fact


async def supersede(conn: Connection, entity: Entity, old_id: str, by: Fact, now: datetime) -> None:
    """Let a fact take the place of another, which was true until then; a hold on the old value lapses.

    It stays in the indexes, for questions about the past; summaries of past conversations say it no more.
    """
    await fact_rows.supersede(conn, entity, old_id, by.id, now, until=by.valid_from)
    await contradictions.lapse(conn, entity, old_id, now)
    await contradictions.overtaken(conn, entity, old_id, now)
    old = await fact_rows.get(conn, entity, old_id)
    if old is not None:
        await overtake(conn, entity, old)


async def _reinforce(
    conn: Connection,
    entity: Entity,
    draft: FactDraft,
    fact_id: str,
    grounds: Grounds,
    session_id: str | None,
    now: datetime,
) -> Fact | None:
    fact = await fact_rows.get(conn, entity, fact_id)
    if fact is None:
        return None
    said = said_at(draft, now)
    await fact_rows.said_again(conn, entity, fact_id, said)
    longer = grounds.policy.lifetimes.renewed(fact, draft, said)
    if await fact_rows.counts_in(conn, entity, fact_id, session_id, now):
        return await fact_rows.update(conn, entity, fact_id, {**longer, **counted(fact, now)}, "", now, "reinforced")
    return await fact_rows.update(conn, entity, fact_id, longer, "said again", now) if longer else fact


async def _dispute(conn: Connection, entity: Entity, change: Dispute, draft: FactDraft, now: datetime) -> Fact:
    beside = await fact_rows.get(conn, entity, change.fact.id) or await fact_rows.insert(
        conn, entity, change.fact, "disputed"
    )
    await contradictions.signal(
        conn,
        entity,
        contradictions.Signal(
            fact=change.against,
            stated=beside,
            kind="correction" if change.against.source_role == "user_explicit" else "doubtful",
            gate_path=change.verdict.path,
            gate_similarity=change.cosine,
            gate_reason=change.verdict.reason,
        ),
        now,
    )
    return beside


async def _resolve(conn: Connection, entity: Entity, fact_ids: Sequence[str], now: datetime) -> None:
    for fact_id in fact_ids:
        await fact_rows.update(conn, entity, fact_id, {"thread_status": "resolved"}, "said to be settled", now)


async def withdraw(conn: Connection, entity: Entity, fact_id: str) -> None:
    """Take a fact out of search: it is no longer current."""
    await passage_rows.remove(conn, entity, "fact", fact_id)


async def hide_quote(conn: Connection, entity: Entity, fact: Fact) -> None:
    """Let the turn a fact came from be found only without the fact's words, and clear what was injected of it."""
    await passage_rows.remove(conn, entity, "fact", fact.id)
    await receipts.redact(conn, entity, "fact", fact.id)
    turn = await turns.get(conn, entity, fact.turn_id) if fact.turn_id else None
    if turn is not None:
        await reindex_turn(conn, entity, turn)
    if fact.status == "forgotten":
        await reindex_repetitions(conn, entity, fact)
