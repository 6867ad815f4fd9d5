"""Vectors of passages: float32 rows, the truth; and vec0 tables, an accelerator made from them.

All vectors of an entity are of one model (`model_of`): those of another are made beside them, and take their place once
they are complete (`reembedding.py`).

A program that cannot load the vector extension finds the nearest by an exact scan of the entity's rows. When such a
program changes vectors for which vec0 tables exist, it empties those and marks them stale; the next program that has
the extension makes them again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from memproxy.errors import StoreError
from memproxy.interfaces import Connection, Row, Vectors
from memproxy.lazy import Lazy
from memproxy.model import Entity
from memproxy.store.rows import scope_token, scoped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids: TypeAlias = NDArray[np.int64]
else:
    np = Lazy("numpy")

_MOST_NEAREST = 4096  # the extension's own limit for k
_REBUILD_STEP = 1000
_SCAN_STEP = 4000  # vectors that are read at a time: 6 MB of them


def to_blob(vector: Vectors) -> bytes:
    """A vector as it is stored: unit length, float32, little-endian. Raises StoreError for zero, NaN and infinity."""
    flat = np.asarray(vector, dtype=np.float64).reshape(-1)
    length = float(np.linalg.norm(flat))
    if not np.isfinite(length) or length == 0.0:
        raise StoreError("a vector must be finite and not zero")
    return (flat / length).astype("<f4").tobytes()


def from_blob(blob: bytes) -> Vectors:
    """The stored bytes as a float32 array."""
    return np.frombuffer(blob, dtype="<f4")


async def model_of(conn: Connection, entity: Entity) -> str | None:
    """The model whose vectors an entity is searched by; None where it has none yet."""
    row = await conn.one("vectors_model", **scoped(entity))
    return None if row is None else str(row["model"])


async def add_vectors(conn: Connection, entity: Entity, model: str, rows: Sequence[tuple[int, Vectors]]) -> int:
    """Store one vector a passage (replacing an older one); how many.

    Passages that are gone by now are left out; all of them, where the entity is searched by another model by now.
    """
    if await model_of(conn, entity) not in (None, model):
        return 0
    blobs = {passage_id: to_blob(vector) for passage_id, vector in rows}
    ids = json.dumps(list(blobs))
    there = {int(row["id"]) for row in await conn.all("passages_set_model", **scoped(entity), ids=ids, model=model)}
    stored = [passage_id for passage_id in blobs if passage_id in there]
    if not stored:
        return 0
    dimensions = len(blobs[stored[0]]) // 4
    if any(len(blob) != 4 * dimensions for blob in blobs.values()):
        raise StoreError("the vectors of one model differ in dimensions")
    replaced = await conn.all("vectors_there", **scoped(entity), ids=ids)
    await drop_from_indexes(conn, [int(row["passage_id"]) for row in replaced])
    fresh = [
        {**scoped(entity), "passage_id": i, "model": model, "dimensions": dimensions, "vector": blobs[i]}
        for i in stored
    ]
    await conn.many("vectors_put", fresh)
    await conn.run("entities_vectors_changed", **scoped(entity))
    await add_to_index(conn, entity, model, dimensions, {i: blobs[i] for i in stored})
    return len(stored)


async def remove_vectors(conn: Connection, entity: Entity, passage_ids: Sequence[int]) -> int:
    """Remove the vectors of passages from rows and indexes; how many there were."""
    await drop_from_indexes(conn, passage_ids)
    removed = 0
    for passage_id in passage_ids:
        removed += await conn.run("vectors_delete", **scoped(entity), passage_id=passage_id)
    if removed:
        await conn.run("entities_vectors_changed", **scoped(entity))
    return removed


async def remove_all_vectors(conn: Connection, entity: Entity) -> int:
    """Remove all vectors of an entity from rows and indexes; how many there were."""
    await clear_indexes(conn, entity)
    removed = await conn.run("vectors_delete_all", **scoped(entity))
    if removed:
        await conn.run("entities_vectors_changed", **scoped(entity))
    return removed


async def nearest(conn: Connection, entity: Entity, vector: Vectors, model: str, k: int) -> dict[int, float]:
    """The k passages of the entity with the greatest cosine by this model: id to cosine, nearest first."""
    query = to_blob(vector)
    table = await _usable_index(conn, model, len(query) // 4)
    if table is not None and k <= _MOST_NEAREST:
        rows = await conn.all("vec0_nearest", table=table, scope=scope_token(entity), vector=query, k=k)
        return {int(row["passage_id"]): 1.0 - float(row["distance"]) for row in rows}
    ids, cosines = await _every_cosine(conn, entity, query, model)
    if k < len(ids):
        best = np.argpartition(-cosines, k - 1)[:k]
        ids, cosines = ids[best], cosines[best]
    order = np.argsort(-cosines, kind="stable")
    return dict(zip(ids[order].tolist(), cosines[order].tolist(), strict=True))


async def _every_cosine(conn: Connection, entity: Entity, query: bytes, model: str) -> tuple[Ids, Vectors]:
    """The passages of an entity and the cosine of each."""
    found: list[tuple[Ids, Vectors]] = []
    scope = {**scoped(entity), "model": model, "dimensions": len(query) // 4, "limit": _SCAN_STEP}
    last = 0
    while (row := await conn.one("vectors_of_model", **scope, after=last)) and row["vectors"]:
        ids, matrix = _unpacked(row)
        found.append((ids, np.vecdot(matrix, from_blob(query))))
        last = int(ids.max())
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    return np.concatenate([ids for ids, _ in found]), np.concatenate([cosines for _, cosines in found])


async def of_passages(
    conn: Connection, entity: Entity, model: str, dimensions: int, passage_ids: Sequence[int]
) -> dict[int, Vectors]:
    """The stored vectors of given passages; those without one of this model are left out."""
    ids, matrix = await _of_passages(conn, entity, model, dimensions, passage_ids)
    return dict(zip(ids.tolist(), matrix, strict=True))


async def of_facts(conn: Connection, entity: Entity, model: str, dimensions: int) -> tuple[list[str], Vectors, bool]:
    """The vectors of the indexed facts, shape (n, dimensions), whose they are, in the same order, and whether a fact
    has none (yet)."""
    rows = await conn.all("vectors_of_facts", **scoped(entity), model=model)
    seen = [row for row in rows if row["vector"] is not None]
    matrix = np.frombuffer(b"".join(row["vector"] for row in seen), "<f4").reshape(len(seen), dimensions)
    return [row["owner_id"] for row in seen], matrix, len(seen) < len(rows)


async def cosines_of(
    conn: Connection, entity: Entity, vector: Vectors, model: str, passage_ids: Sequence[int]
) -> dict[int, float]:
    """The cosines of given passages; those without a vector of this model are left out."""
    ids, matrix = await _of_passages(conn, entity, model, vector.size, passage_ids)
    return dict(zip(ids.tolist(), np.vecdot(matrix, from_blob(to_blob(vector))).tolist(), strict=True))


async def _of_passages(
    conn: Connection, entity: Entity, model: str, dimensions: int, passage_ids: Sequence[int]
) -> tuple[Ids, Vectors]:
    """The same as a matrix, with whose each row is."""
    ids = json.dumps(list(passage_ids))
    row = await conn.one("vectors_of_passages", **scoped(entity), ids=ids, model=model, dimensions=dimensions)
    return _unpacked(row) if row and row["vectors"] else (np.zeros(0, np.int64), np.zeros((0, dimensions), np.float32))


def _unpacked(row: Row) -> tuple[Ids, Vectors]:
    """Ids of passages, and a matrix of their vectors: a value each, since a row a vector takes twice as long."""
    ids = np.array(json.loads(row["ids"]), np.int64)
    return ids, from_blob(row["vectors"]).reshape(len(ids), -1)


# --- vec0 tables ---


async def sample(conn: Connection, model: str, dimensions: int, dice: Random, ids: int) -> Vectors:
    """Vectors that a model made of anybody's passages: those of so many ids, drawn with repetition."""
    row = await conn.one("passages_extent")
    first, last = (row["first"], row["last"]) if row is not None and row["first"] is not None else (0, 0)
    drawn = sorted({dice.randint(first, last) for _ in range(ids)})
    rows = await conn.all("vectors_sample", model=model, dimensions=dimensions, ids=json.dumps(drawn))
    return np.array([from_blob(row["vector"]) for row in rows], np.float32).reshape(-1, dimensions)


async def rebuild_vector_indexes(conn: Connection) -> None:
    """Make every vec0 table again from the rows, where the extension is loaded."""
    if await _extension_loaded(conn):
        for row in await conn.all("vector_indexes"):
            await conn.run("vec0_drop", table=row["name"])
        await conn.run("vector_indexes_forget")
    await complete_vector_indexes(conn)


async def complete_vector_indexes(conn: Connection) -> None:
    """Make the vec0 tables that are missing or stale, where the extension is loaded."""
    if not await _extension_loaded(conn):
        return
    for row in await conn.all("vectors_models"):
        await _ensure_index(conn, row["model"], int(row["dimensions"]))


async def drop_unused_indexes(conn: Connection) -> None:
    """Remove the vec0 tables of models that no vector is of any more, where the extension is loaded."""
    if not await _extension_loaded(conn):
        return
    used = {(row["model"], row["dimensions"]) for row in await conn.all("vectors_models")}
    for row in await conn.all("vector_indexes"):
        if (row["model"], row["dimensions"]) not in used:
            await conn.run("vec0_drop", table=row["name"])
            await conn.run("vector_indexes_drop", model=row["model"], dimensions=row["dimensions"])


async def mend_vector_indexes(conn: Connection) -> None:
    """After VACUUM: make the vec0 tables again whose hidden row numbers it changed (they have no integer key)."""
    if not await _extension_loaded(conn):
        return
    for row in await conn.all("vector_indexes"):
        if not row["stale"] and await conn.one("vec0_misplaced", table=row["name"]) is not None:
            await rebuild_vector_indexes(conn)
            return


async def _ensure_index(conn: Connection, model: str, dimensions: int) -> str:
    """The vec0 table of a model, made and filled if it is missing or stale."""
    name = f"vec_{hashlib.sha256(model.encode()).hexdigest()[:12]}_{dimensions}"
    row = await conn.one("vector_index", model=model, dimensions=dimensions)
    if row is not None and not row["stale"]:
        return name
    if row is not None:
        await conn.run("vec0_drop", table=name)
    await conn.run("vec0_create", table=name, dimensions=dimensions)
    # Inserts look for a chunk with room in the entity's partition; without this index they read every chunk.
    await conn.run("vec0_index_partitions", table=name)
    await conn.run("vector_indexes_put", model=model, dimensions=dimensions, name=name)
    after = 0
    while rows := await conn.all("vectors_from", model=model, dimensions=dimensions, after=after, limit=_REBUILD_STEP):
        await conn.many("vec0_add", [{**_indexed(row), "table": name} for row in rows])
        after = int(rows[-1]["passage_id"])
    return name


def _indexed(row: Row) -> dict[str, object]:
    scope = scope_token(Entity(name=row["entity"], tenant=row["tenant"]))
    return {"passage_id": row["passage_id"], "scope": scope, "vector": row["vector"]}


async def add_to_index(
    conn: Connection, entity: Entity, model: str, dimensions: int, blobs: Mapping[int, bytes]
) -> None:
    """Put vectors whose rows were just written into the vec0 table of their model."""
    if not await _extension_loaded(conn):
        return
    scope = scope_token(entity)
    if await conn.one("vector_index_usable", model=model, dimensions=dimensions) is None:
        await _ensure_index(conn, model, dimensions)  # reads the new rows too
        return
    name = await _ensure_index(conn, model, dimensions)
    await conn.many(
        "vec0_add", [{"table": name, "passage_id": i, "scope": scope, "vector": blob} for i, blob in blobs.items()]
    )


async def clear_indexes(conn: Connection, entity: Entity) -> None:
    """Take all of an entity's vectors out of whatever vec0 tables there are, before their rows change.

    One statement a table: row by row it takes some fifty times as long.
    """
    if not await _extension_loaded(conn):
        await drop_from_indexes(conn, [])
        return
    for row in await conn.all("vector_indexes"):
        if not row["stale"]:
            await conn.run("vec0_clear", table=row["name"], scope=scope_token(entity))


async def drop_from_indexes(conn: Connection, passage_ids: Sequence[int]) -> None:
    """Take vectors out of whatever vec0 tables there are, before their rows change."""
    indexes = [row["name"] for row in await conn.all("vector_indexes") if not row["stale"]]
    if not indexes:
        return
    if not await _extension_loaded(conn):
        for name in indexes:
            await conn.run("vec0_empty", table=name)
        await conn.run("vector_indexes_stale")
        return
    for name in indexes:
        await conn.many("vec0_remove", [{"table": name, "passage_id": i} for i in passage_ids])


async def _extension_loaded(conn: Connection) -> bool:
    return await conn.one("vec0_loaded") is not None


async def _usable_index(conn: Connection, model: str, dimensions: int) -> str | None:
    row = await conn.one("vector_index_usable", model=model, dimensions=dimensions)
    return None if row is None else str(row["name"])
