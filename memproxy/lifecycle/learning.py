"""Drafts applied to the store: looked up, decided, written, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memproxy.extraction.reconcile import (
    SINGLE_SLOTS,
    FactChange,
    Insert,
    Near,
    Reinforce,
    canonical_slot,
    reconcile,
)
from memproxy.folding import content_key
from memproxy.interfaces import Connection, Vectors
from memproxy.lifecycle.indexing import fact_passages, reindex_repetitions, reindex_turn
from memproxy.model import EmbedderInfo, Entity, Fact, FactDraft
from memproxy.recall.terms import query_terms
from memproxy.store import facts as fact_rows
from memproxy.store import passages as passage_rows
from memproxy.store import receipts, search, turns
from memproxy.store import vectors as vectors_rows

NEAR_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Learned:
    """A draft and what became of it; `fact` is the row that now says it, where there is one."""

    draft: FactDraft
    change: FactChange
    fact: Fact | None


async def learn(
    conn: Connection,
    entity: Entity,
    drafts: Sequence[FactDraft],
    vectors: Vectors | None,
    info: EmbedderInfo | None,
    session_id: str | None,
    now: datetime,
) -> list[Learned]:
    """Reconcile drafts one after the other, each against what the ones before it left.

    `vectors` has one row a draft, or is None where no embedder is at hand: then words alone decide.
    """
    out = []
    for index, draft in enumerate(drafts):
        vector = vectors[index] if vectors is not None else None
        same_key = await fact_rows.with_content_key(conn, entity, content_key(draft.text))
        near = await _near(conn, entity, draft, vector, info)
        change = reconcile(draft, same_key, near, info.duplicate if info else 1.0, now)
        out.append(Learned(draft, change, await _apply(conn, entity, change, vector, info, session_id, now)))
    return out


async def _near(
    conn: Connection, entity: Entity, draft: FactDraft, vector: Vectors | None, info: EmbedderInfo | None
) -> list[Near]:
    proposal = await search.propose(
        conn,
        entity,
        terms=query_terms(draft.text),
        vector=vector,
        model=info.model if info else None,
        limit=NEAR_LIMIT,
        kinds=("fact",),
    )
    cosines = {candidate.owner_id: candidate.cosine for candidate in proposal.candidates}
    found = await fact_rows.get_many(conn, entity, list(cosines))
    slot = canonical_slot(draft.slot)
    if slot in SINGLE_SLOTS:
        found += [f for f in await fact_rows.with_slot(conn, entity, slot) if f.id not in cosines]
    return [Near(fact, cosines.get(fact.id)) for fact in found if fact.status == "current"]


async def _apply(
    conn: Connection,
    entity: Entity,
    change: FactChange,
    vector: Vectors | None,
    info: EmbedderInfo | None,
    session_id: str | None,
    now: datetime,
) -> Fact | None:
    if isinstance(change, Reinforce):
        await fact_rows.reinforce(conn, entity, change.fact_id, now, session_id)
        return await fact_rows.get(conn, entity, change.fact_id)
    if not isinstance(change, Insert):
        return None
    await fact_rows.insert(conn, entity, change.fact)
    for old in change.supersedes:
        await fact_rows.supersede(conn, entity, old, change.fact.id, now)
        await withdraw(conn, entity, old)
    ids = await passage_rows.add(conn, entity, fact_passages(change.fact))
    if vector is not None and info is not None and ids:
        await vectors_rows.add_vectors(conn, entity, info.model, [(ids[0], vector)])
    if change.fact.status == "quarantined" and change.fact.turn_id:
        await hide_quote(conn, entity, change.fact)
    return change.fact


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
