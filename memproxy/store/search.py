"""What the indexes propose for a query. Everything about how good a match is belongs to recall."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import get_args

import msgspec

from memproxy.errors import SwitchedOff
from memproxy.interfaces import Connection, Row, Vectors
from memproxy.model import Candidate, Entity, FactStatus, ItemKind, Speaker
from memproxy.store import index, vectors
from memproxy.store.rows import scoped, to_time
from memproxy.store.vectors import add_vectors

__all__ = [
    "Extent",
    "Matched",
    "Proposal",
    "Unembedded",
    "add_vectors",
    "also",
    "extent",
    "following",
    "gone",
    "matching",
    "neighbours",
    "propose",
    "readable",
    "sources",
    "unembedded",
    "with_nearest",
]

_KINDS: tuple[ItemKind, ...] = ("turn", "fact", "summary")


@dataclass(frozen=True, slots=True)
class Proposal:
    """The candidates for a query, with the numbers a lexical score needs."""

    candidates: tuple[Candidate, ...]  # each with its cosine, where it has a vector
    passages: int  # how many the entity has
    document_frequencies: Mapping[str, int]  # in how many of them each query term occurs
    average_length: float  # terms a passage


@dataclass(frozen=True, slots=True)
class Extent:
    """How much an entity has that can be searched, and how often that changed."""

    passages: int = 0
    terms: int = 0  # of all passages together
    revision: int = -1  # grows with every change or removal, not with additions
    vectors_changed: int = 0  # grows with every change of its vectors, additions among them
    superseded: bool = False  # whether a fact is known that held once
    standing: bool = False  # whether there may be something that is always true of the person
    on: bool = True  # unless the person switched memory off
    model: str | None = None  # the one whose vectors serve; None: there are none yet


@dataclass(frozen=True, slots=True)
class _Wanted:
    entity: Entity
    kinds: tuple[ItemKind, ...]
    statuses: tuple[str, ...]
    limit: int
    sifted: bool  # whether many of the best may not be proposed


@dataclass(frozen=True, slots=True)
class Matched:
    """The lexical half of a proposal."""

    wanted: _Wanted
    candidates: Mapping[int, Candidate]  # the passages that hold a query term, by id, best first
    further: Sequence[int]  # ids of others that hold other terms, not read yet
    passages: int
    document_frequencies: Mapping[str, int]
    average_length: float

    def texts(self, count: int) -> list[str]:
        """What the best so many say."""
        return [candidate.text for candidate in islice(self.candidates.values(), count)]


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A passage that has no vector yet, and the model that is to make it."""

    entity: Entity
    passage_id: int
    kind: ItemKind
    text: str
    speaker: str  # the name used in the conversation, else the role
    role: Speaker
    time: datetime
    model: str


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
    matched = await matching(
        conn, entity, await extent(conn, entity), terms=terms, limit=limit, kinds=kinds, statuses=statuses
    )
    return await with_nearest(conn, matched, vector, model)


async def extent(conn: Connection, entity: Entity) -> Extent:
    """What an entity's row says of its passages; nothing of somebody who is not known."""
    row = await conn.one("search_extent", **scoped(entity))
    if row is None:
        return Extent()
    return Extent(
        row["passages"],
        row["terms"],
        row["revision"],
        row["vectors_changed"],
        bool(row["superseded"]),
        bool(row["standing"]),
        bool(row["memory"]),
        row["model"],
    )


async def readable(conn: Connection, entity: Entity) -> Extent:
    """The same, for whoever is going to recall. Raises SwitchedOff where the person wants none of it."""
    found = await extent(conn, entity)
    if not found.on:
        raise SwitchedOff
    return found


async def speakers(conn: Connection, entity: Entity) -> frozenset[str]:
    """The names used in an entity's conversations."""
    return frozenset(row["name"] for row in await conn.all("turns_names", **scoped(entity)))


async def following(conn: Connection, entity: Entity, after: int, limit: int) -> list[tuple[Candidate, FactStatus]]:
    """The passages stored after the one with this id, in order, and the status of each: of all but facts, current."""
    ids = [row["id"] for row in await conn.all("passages_after", **scoped(entity), after=after, limit=limit)]
    rows = await conn.all(
        "search_candidates",
        **scoped(entity),
        ids=json.dumps(ids),
        kinds=json.dumps(_KINDS),
        statuses=json.dumps(get_args(FactStatus)),
    )
    found = [pair for row in rows for pair in zip(_candidates(row), json.loads(row["statuses"]), strict=True)]
    return sorted(found, key=lambda pair: pair[0].passage_id)


async def matching(
    conn: Connection,
    entity: Entity,
    extent: Extent,
    *,
    terms: Sequence[str],
    limit: int,
    kinds: Sequence[ItemKind] | None = None,
    statuses: Sequence[str] = ("current",),
) -> Matched:
    """The first half of `propose`, which needs no vector: it can be read while the query is still being embedded."""
    kinds = tuple(kinds or _KINDS)
    sifted = kinds != _KINDS or (extent.superseded and "historical" not in statuses)
    wanted = _Wanted(entity, kinds, tuple(statuses), limit, sifted)
    total = extent.passages
    if total == 0:
        return Matched(wanted, {}, (), 0, dict.fromkeys(terms, 0), 0.0)
    posted = await index.postings(conn, entity, dict.fromkeys(terms))
    candidates = await _passages(conn, wanted, await _lexical(conn, wanted, posted, total))
    return Matched(wanted, candidates, (), total, posted.frequencies, extent.terms / total)


async def also(conn: Connection, matched: Matched, terms: Sequence[str], limit: int) -> Matched:
    """With up to `limit` further passages that hold other terms."""
    if not terms:
        return matched
    posted = await index.postings(conn, matched.wanted.entity, terms)
    wanted = replace(matched.wanted, limit=limit + len(matched.candidates))
    ids = [i for i in await _lexical(conn, wanted, posted, matched.passages) if i not in matched.candidates]
    return replace(matched, further=ids[:limit])


async def with_nearest(
    conn: Connection, matched: Matched, vector: Vectors | None, model: str | None, *, beside: bool = False
) -> Proposal:
    """The second half of `propose`: what is near in meaning, and everything ranking needs of both.

    With `beside` the passages of the turns just before and just after come with them.
    """
    wanted, found = matched.wanted, dict(matched.candidates)
    seen = (vector, model) if vector is not None and model is not None and matched.passages else None
    cosines = await _nearest(conn, wanted, *seen) if seen else {}
    found |= await _passages(conn, wanted, [i for i in dict.fromkeys((*matched.further, *cosines)) if i not in found])
    if beside:
        places = {(c.session_id, c.seq) for c in found.values() if c.kind == "turn" and c.session_id is not None}
        found |= {c.passage_id: c for c in await neighbours(conn, wanted.entity, places)}
    if seen:
        cosines |= await vectors.cosines_of(conn, wanted.entity, *seen, sorted(found.keys() - cosines.keys()))
    return Proposal(
        tuple(candidate.at(cosines.get(i)) for i, candidate in found.items()),
        matched.passages,
        matched.document_frequencies,
        matched.average_length,
    )


async def neighbours(conn: Connection, entity: Entity, places: Iterable[tuple[str, int]]) -> list[Candidate]:
    """Passages of the turns just before and just after the given ones (session id, place)."""
    around: defaultdict[str, set[int]] = defaultdict(set)
    for session, seq in places:
        around[session] |= {seq - 1, seq + 1}
    if not around:
        return []
    said = json.dumps({session: sorted(around[session]) for session in sorted(around)})
    return [c for row in await conn.all("search_said_at", **scoped(entity), places=said) for c in _candidates(row)]


async def gone(conn: Connection, entity: Entity, candidates: Sequence[Candidate]) -> set[tuple[ItemKind, str]]:
    """Whose passages (kind and owner) are not there any more as they were when these candidates were read."""
    wanted = _Wanted(entity, _KINDS, ("current", "historical"), len(candidates), False)
    now = await _passages(conn, wanted, [candidate.passage_id for candidate in candidates])
    there = {(i, candidate.owner_id, candidate.text) for i, candidate in now.items()}
    return {(c.kind, c.owner_id) for c in candidates if (c.passage_id, c.owner_id, c.text) not in there}


async def unembedded(conn: Connection, model: str, limit: int, others: Sequence[str] = ()) -> list[Unembedded]:
    """Passages of all entities without a vector, the newest first, each with the model that is to make it.

    That is the one its entity is searched by, else `model`. Where it is neither that nor one of `others`, a passage is
    left out.
    """
    models = json.dumps([model, *others])
    rows = await conn.all("search_unembedded", model=model, models=models, limit=limit)
    return await sources(conn, {int(row["id"]): row["model"] for row in rows})


async def sources(conn: Connection, models: Mapping[int, str]) -> list[Unembedded]:
    """What the embedding texts of passages are made of, in order; `models` says by id which is to embed each."""
    rows = await conn.all("search_sources", ids=json.dumps(list(models)))
    return [
        Unembedded(
            entity=Entity(name=row["entity"], tenant=row["tenant"]),
            passage_id=int(row["id"]),
            kind=row["kind"],
            text=row["text"] or "",
            speaker=row["name"] or row["role"],
            role=row["role"],
            time=to_time(row["time"]),
            model=models[int(row["id"])],
        )
        for row in rows
    ]


async def _lexical(conn: Connection, wanted: _Wanted, posted: index.Posted, total: int) -> list[int]:
    # The inverse document frequency of BM25, in the form that stays positive in small collections.
    weights = {term: math.log1p((total - n + 0.5) / (n + 0.5)) for term, n in posted.frequencies.items() if n}

    async def best(k: int) -> list[int]:
        return posted.best(weights, k)

    return await _that_may(conn, wanted, best)


async def _nearest(conn: Connection, wanted: _Wanted, vector: Vectors, model: str) -> dict[int, float]:
    """The nearest that may be proposed, nearest first."""
    nearest: dict[int, float] = {}

    async def best(k: int) -> list[int]:
        nonlocal nearest
        nearest = await vectors.nearest(conn, wanted.entity, vector, model, k)
        return list(nearest)

    return {i: nearest[i] for i in await _that_may(conn, wanted, best)}


async def _that_may(conn: Connection, wanted: _Wanted, best: Callable[[int], Awaitable[list[int]]]) -> list[int]:
    """The best that may be proposed: asked for in growing numbers, since some of the best may not be."""
    k = wanted.limit
    while True:
        found = await best(k)
        if not wanted.sifted:  # hardly any that may not, and those are left out when they are read
            return found
        eligible = await _eligible(conn, wanted, found)
        may = [i for i in found if i in eligible]
        if len(may) >= wanted.limit or len(found) < k:
            return may[: wanted.limit]
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


async def _passages(conn: Connection, wanted: _Wanted, ids: Sequence[int]) -> dict[int, Candidate]:
    """The passages that may be proposed, by id, in the order of the ids."""
    if not ids:
        return {}
    rows = await conn.all(
        "search_candidates",
        **scoped(wanted.entity),
        ids=json.dumps(sorted(ids)),  # as they lie in the file
        kinds=json.dumps(wanted.kinds),
        statuses=json.dumps(wanted.statuses),
    )
    by_id = {candidate.passage_id: candidate for row in rows for candidate in _candidates(row)}
    return {i: by_id[i] for i in ids if i in by_id}


def _candidates(row: Row) -> list[Candidate]:
    """What comes as one value: a row a candidate, each value an object of its own, takes a third longer."""
    return msgspec.json.decode(row["candidates"], type=list[Candidate])
