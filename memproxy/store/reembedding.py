"""Another model's vectors: made beside those that serve, put in their place at once when an entity's are complete.

What waits is rows like any other: a program that is stopped, or killed, goes on where it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from memproxy.interfaces import Connection, Vectors
from memproxy.model import Entity
from memproxy.store import search, vectors
from memproxy.store.rows import scoped
from memproxy.store.search import Unembedded


async def names(conn: Connection) -> list[str]:
    """The models whose vectors are stored."""
    return [row["model"] for row in await conn.all("vectors_models")]


async def models(conn: Connection) -> dict[str, int]:
    """How many passages each model's vectors are of, in the whole store."""
    return {row["model"]: int(row["passages"]) for row in await conn.all("reembedding_models")}


async def staged(conn: Connection, model: str) -> int:
    """How many vectors of a model wait to take their place, in the whole store."""
    row = await conn.one("reembedding_staged", model=model)
    return 0 if row is None else int(row["passages"])


async def staged_of(conn: Connection, entity: Entity, model: str) -> int:
    """How many of them wait for an entity."""
    row = await conn.one("reembedding_staged_of", **scoped(entity), model=model)
    return 0 if row is None else int(row["passages"])


async def left(conn: Connection, entity: Entity, model: str) -> int:
    """How many passages an entity has whose vector of a model is not in place."""
    row = await conn.one("reembedding_left", **scoped(entity), model=model)
    return 0 if row is None else int(row["passages"])


async def somebody(conn: Connection, old: Sequence[str]) -> Entity | None:
    """Somebody who is still searched by one of these models."""
    for model in old:
        if (row := await conn.one("reembedding_next", model=model)) is not None:
            return Entity(name=row["entity"], tenant=row["tenant"])
    return None


async def behind(conn: Connection, entity: Entity, model: str) -> bool:
    """Whether an entity has vectors of another model than this."""
    return await conn.one("reembedding_behind", **scoped(entity), model=model) is not None


async def unstaged(conn: Connection, entity: Entity, model: str, after: int, limit: int) -> list[Unembedded]:
    """Passages of an entity, after the one with this id, that have no vector of a model, in place or waiting."""
    rows = await conn.all("reembedding_unstaged", **scoped(entity), model=model, after=after, limit=limit)
    return await search.sources(conn, {int(row["id"]): model for row in rows})


async def stage(conn: Connection, entity: Entity, model: str, rows: Sequence[tuple[int, Vectors]]) -> None:
    """Keep vectors until all are there. Passages that are gone by now are left out. Raises StoreError."""
    blobs = [(passage_id, vectors.to_blob(vector)) for passage_id, vector in rows]
    await conn.many(
        "reembedding_stage",
        [
            {**scoped(entity), "passage_id": i, "model": model, "dimensions": len(blob) // 4, "vector": blob}
            for i, blob in blobs
        ],
    )


async def switch(conn: Connection, entity: Entity, model: str) -> bool:
    """Put the waiting vectors in the place of the old ones; False, and nothing done, where one is missing yet."""
    if await conn.all("reembedding_unstaged", **scoped(entity), model=model, after=0, limit=1):
        return False
    rows = await conn.all("reembedding_waiting", **scoped(entity), model=model)
    blobs = {int(row["passage_id"]): row["vector"] for row in rows}
    await vectors.clear_indexes(conn, entity)
    await conn.run("reembedding_put", **scoped(entity), model=model)
    await conn.run("reembedding_note", **scoped(entity), model=model)
    await conn.run("reembedding_forget", **scoped(entity))
    await conn.run("entities_vectors_changed", **scoped(entity))
    if rows:
        await vectors.add_to_index(conn, entity, model, int(rows[0]["dimensions"]), blobs)
    return True


async def sweep(conn: Connection) -> None:
    """Forget what waits of a change that was taken back."""
    await conn.run("reembedding_sweep")
