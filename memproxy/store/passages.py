"""Pieces of turns, facts and summaries, with their index entries and vectors: written and removed together."""

from __future__ import annotations

import json
from collections.abc import Sequence

from memproxy.interfaces import Connection, Row
from memproxy.model import Entity, ItemKind, Passage
from memproxy.store import index, vectors
from memproxy.store.rows import column, scoped

_STEP = 1000


async def add(conn: Connection, entity: Entity, passages: Sequence[Passage]) -> list[int]:
    """Store passages and index their terms; their ids, in order. Their texts stay where they are, in their owners."""
    if not passages:
        return []
    ids = await _insert(conn, entity, passages)
    await index.add_text(conn, entity, {i: passage.terms for i, passage in zip(ids, passages, strict=True)})
    await _count(conn, entity, len(ids), sum(len(passage.terms.split()) for passage in passages))
    return ids


async def remove(conn: Connection, entity: Entity, kind: ItemKind, owner_id: str) -> int:
    """Remove all passages of a turn, fact or summary from rows, text index and vectors; how many there were."""
    return await _remove(conn, entity, await conn.all("passages_of", **scoped(entity), kind=kind, owner_id=owner_id))


async def remove_all(conn: Connection, entity: Entity) -> int:
    """Remove all passages of an entity; how many there were."""
    await vectors.remove_all_vectors(conn, entity)
    removed = 0
    while rows := await conn.all("passages_of_entity", **scoped(entity), after=0, limit=_STEP):
        await _forget(conn, entity, rows)
        # One statement: a trigger counts changes row by row, and the statement around it costs more than the row.
        removed += await conn.run("passages_delete_until", **scoped(entity), last=rows[-1]["id"])
    return removed


async def _insert(conn: Connection, entity: Entity, passages: Sequence[Passage]) -> list[int]:
    rows = [[p.kind, p.owner_id, p.ordinal, p.start, p.end, column(p.terms)] for p in passages]
    stored = await conn.all("passages_insert", **scoped(entity), rows=json.dumps(rows))
    ids = {(row["kind"], row["owner_id"], row["ordinal"]): int(row["id"]) for row in stored}
    return [ids[p.kind, p.owner_id, p.ordinal] for p in passages]


async def _remove(conn: Connection, entity: Entity, rows: Sequence[Row]) -> int:
    if not rows:
        return 0
    ids = [int(row["id"]) for row in rows]
    await vectors.remove_vectors(conn, entity, ids)
    await _forget(conn, entity, rows)
    await conn.many("passages_delete", [{**scoped(entity), "id": i} for i in ids])
    return len(ids)


async def _forget(conn: Connection, entity: Entity, rows: Sequence[Row]) -> None:
    """Take passages out of the text index and the counts, before their rows go."""
    await index.remove_text(conn, entity, {int(row["id"]): row["terms"] for row in rows})
    await _count(conn, entity, -len(rows), -sum(len(row["terms"].split()) for row in rows))


async def _count(conn: Connection, entity: Entity, passages: int, terms: int) -> None:
    if passages:
        await conn.run("entities_count_passages", **scoped(entity), passages=passages, terms=terms)
