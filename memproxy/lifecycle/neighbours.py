"""The facts nearest to new drafts: all drafts of a reply looked up at once, by meaning where there are vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memproxy.interfaces import Connection, Vectors
from memproxy.model import EmbedderInfo, Entity, FactDraft
from memproxy.recall.terms import query_terms
from memproxy.store import search
from memproxy.store import vectors as vector_rows

NEAR_LIMIT = 12

Neighbours = Mapping[str, float | None]  # by fact id: its cosine to the draft, where it is known


async def neighbours(
    conn: Connection, entity: Entity, drafts: Sequence[FactDraft], vectors: Vectors | None, info: EmbedderInfo | None
) -> list[Neighbours]:
    """For each draft the indexed facts nearest to it: those that hold, and some that held once.

    `vectors` has one row a draft. By words as well where there are none, or where some facts have none yet.
    """
    found: list[dict[str, float | None]] = [{} for _ in drafts]
    by_words = vectors is None or info is None
    if vectors is not None and info is not None:
        ids, matrix, by_words = await vector_rows.of_facts(conn, entity, info.model, info.dimensions)
        for index, row in enumerate(vectors @ matrix.T if ids else ()):
            few = row.argpartition(-NEAR_LIMIT)[-NEAR_LIMIT:] if len(ids) > NEAR_LIMIT else range(len(ids))
            found[index] = {ids[i]: float(row[i]) for i in few if row[i] >= info.floor}
    if by_words:
        for near, draft in zip(found, drafts, strict=True):
            proposal = await search.propose(
                conn,
                entity,
                terms=query_terms(draft.text),
                vector=None,
                model=None,
                limit=NEAR_LIMIT,
                kinds=("fact",),
            )
            near |= {c.owner_id: None for c in proposal.candidates if c.owner_id not in near}
    return list(found)
