"""What the indexes propose for a query. Everything about how good a match is belongs to recall."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memproxy.interfaces import Connection, Row, Vectors
from memproxy.model import Candidate, Entity, ItemKind, Speaker
from memproxy.store import index, vectors
from memproxy.store.rows import scoped, to_time
from memproxy.store.vectors import add_vectors

__all__ = ["Proposal", "Unembedded", "add_vectors", "neighbours", "propose", "unembedded"]

_KINDS: tuple[ItemKind, ...] = ("turn", "fact", "summary")


@dataclass(frozen=True, slots=True)
class Proposal:
    """The candidates for a query, with the numbers a lexical score needs."""

    candidates: tuple[Candidate, ...]
    passages: int  # how many the entity has
    document_frequencies: Mapping[str, int]  # in how many of them each query term occurs
    average_length: float  # terms a passage


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A passage that has no vector of the model yet."""

    entity: Entity
    passage_id: int
    kind: ItemKind
    text: str
    speaker: str  # the name used in the conversation, else the role
    role: Speaker
    time: datetime


async def propose(
    conn: Connection,
    entity: Entity,
    *,
    terms: Sequence[str],
    vector: Vectors | None,
    model: str | None,
    limit: int,
    kinds: Sequence[ItemKind] | None = None,
    statuses: Sequence[str] = ("current",),
) -> Proposal:
    """Up to `limit` passages that hold a query term, and up to `limit` nearest to the vector, together.

    Of lexical matches, those with the rarest terms come first, then the newest. `vector` is a query vector of `model`;
    each candidate that has a vector of that model gets its cosine. Facts count only with one of the `statuses`.
    """
    stats = await conn.one("entities_get", **scoped(entity))
    if stats is None or stats["passages"] == 0:
        return Proposal((), 0, dict.fromkeys(terms, 0), 0.0)
    total = int(stats["passages"])
    wanted = _Wanted(entity, tuple(kinds or _KINDS), tuple(statuses), limit)
    frequencies = await index.frequencies(conn, entity, dict.fromkeys(terms))
    ids = await _lexical(conn, wanted, frequencies, total)
    if vector is not None and model is not None:
        ids += await _nearest(conn, wanted, vector, model)
    candidates = await _candidates(conn, entity, list(dict.fromkeys(ids)), vector, model)
    return Proposal(tuple(candidates), total, frequencies, int(stats["terms"]) / total)


async def neighbours(
    conn: Connection,
    entity: Entity,
    places: Sequence[tuple[str, int]],
    *,
    vector: Vectors | None = None,
    model: str | None = None,
) -> list[Candidate]:
    """Passages of the turns just before and just after the given ones (session id, place)."""
    if not places:
        return []
    rows = await conn.all("search_neighbours", **scoped(entity), places=json.dumps([list(p) for p in places]))
    return await _candidates(conn, entity, [int(row["id"]) for row in rows], vector, model)


async def unembedded(conn: Connection, model: str, limit: int) -> list[Unembedded]:
    """Passages of all entities without a vector of this model, the newest first."""
    rows = await conn.all("search_unembedded", model=model, limit=limit)
    return [
        Unembedded(
            entity=Entity(name=row["entity"], tenant=row["tenant"]),
            passage_id=int(row["id"]),
            kind=row["kind"],
            text=row["text"] or "",
            speaker=row["name"] or row["role"],
            role=row["role"],
            time=to_time(row["time"]),
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class _Wanted:
    entity: Entity
    kinds: tuple[ItemKind, ...]
    statuses: tuple[str, ...]
    limit: int


async def _lexical(conn: Connection, wanted: _Wanted, frequencies: Mapping[str, int], total: int) -> list[int]:
    # The inverse document frequency of BM25, in the form that stays positive in small collections.
    weights = {term: math.log(1 + (total - n + 0.5) / (n + 0.5)) for term, n in frequencies.items() if n}
    if not weights:
        return []
    return await index.matches(
        conn, wanted.entity, weights, limit=wanted.limit, kinds=wanted.kinds, statuses=wanted.statuses
    )


async def _nearest(conn: Connection, wanted: _Wanted, vector: Vectors, model: str) -> list[int]:
    """The nearest that may be proposed: asked for in growing numbers, since some of the nearest may not be."""
    k = wanted.limit
    while True:
        ids = await vectors.nearest(conn, wanted.entity, vector, model, k)
        eligible = await _eligible(conn, wanted, ids)
        found = [i for i in ids if i in eligible]
        if len(found) >= wanted.limit or len(ids) < k:
            return found[: wanted.limit]
        k *= 4


async def _eligible(conn: Connection, wanted: _Wanted, ids: Sequence[int]) -> set[int]:
    rows = await conn.all(
        "search_eligible",
        **scoped(wanted.entity),
        ids=json.dumps(list(ids)),
        kinds=json.dumps(wanted.kinds),
        statuses=json.dumps(wanted.statuses),
    )
    return {int(row["id"]) for row in rows}


async def _candidates(
    conn: Connection, entity: Entity, ids: Sequence[int], vector: Vectors | None, model: str | None
) -> list[Candidate]:
    if not ids:
        return []
    query = None if vector is None or model is None else vectors.from_blob(vectors.to_blob(vector))
    rows = await conn.all(
        "search_candidates",
        **scoped(entity),
        ids=json.dumps(list(ids)),
        model=model if query is not None else None,
        dimensions=0 if query is None else query.size,
    )
    return [_candidate(row, query) for row in rows]


def _candidate(row: Row, query: Vectors | None) -> Candidate:
    blob = row["vector"]
    cosine = None if query is None or blob is None else float(np.dot(vectors.from_blob(blob), query))
    return Candidate(
        passage_id=int(row["id"]),
        kind=row["kind"],
        owner_id=row["owner_id"],
        ordinal=row["ordinal"],
        text=row["text"],
        terms=row["terms"],
        session_id=row["session_id"],
        seq=row["seq"],
        role=row["role"],
        speaker=row["speaker"],
        time=to_time(row["time"]),
        confidence=row["confidence"],
        cosine=cosine,
        turn_id=row["turn_id"],
    )
