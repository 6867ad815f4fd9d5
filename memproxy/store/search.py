"""What the indexes propose for a query. Everything about how good a match is belongs to recall."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import itemgetter
from typing import get_args

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
    "beside",
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

_MOST_POSTINGS = 5000  # read for one query; the rarest terms go first, and words that are everywhere may be left out
_KINDS: tuple[ItemKind, ...] = ("turn", "fact", "summary")


@dataclass(frozen=True, slots=True)
class Proposal:
    """The candidates for a query, with the numbers a lexical score needs."""

    candidates: tuple[Candidate, ...]
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


@dataclass(frozen=True, slots=True)
class Matched:
    """The lexical half of a proposal."""

    wanted: _Wanted
    candidates: Mapping[int, Candidate]  # the passages that hold a query term, by id; their cosines are still unknown
    passages: int
    document_frequencies: Mapping[str, int]
    average_length: float


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
    by_id = {int(row["id"]): (_candidate(row), row["status"]) for row in rows}
    return [by_id[i] for i in ids if i in by_id]


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
    wanted = _Wanted(entity, tuple(kinds or _KINDS), tuple(statuses), limit)
    total = extent.passages
    if total == 0:
        return Matched(wanted, {}, 0, dict.fromkeys(terms, 0), 0.0)
    frequencies = await index.frequencies(conn, entity, dict.fromkeys(terms))
    ids = await _lexical(conn, wanted, frequencies, total)
    candidates = {c.passage_id: c for c in await _candidates(conn, wanted, ids)}
    return Matched(wanted, candidates, total, frequencies, extent.terms / total)


async def also(conn: Connection, matched: Matched, frequencies: Mapping[str, int], limit: int) -> Matched:
    """With up to `limit` further passages that hold other terms, given with how many passages hold each."""
    if not frequencies:
        return matched
    known = matched.candidates
    wanted = replace(matched.wanted, limit=limit + len(known))
    ids = [i for i in await _lexical(conn, wanted, frequencies, matched.passages) if i not in known][:limit]
    more = await _candidates(conn, wanted, ids)
    return replace(matched, candidates={**known, **{c.passage_id: c for c in more}})


async def with_nearest(conn: Connection, matched: Matched, vector: Vectors | None, model: str | None) -> Proposal:
    """The second half of `propose`: what is near in meaning, and everything ranking needs of both."""
    wanted = matched.wanted
    known = matched.candidates
    cosines: dict[int, float] = {}
    if vector is not None and model is not None and matched.passages:
        cosines = await _nearest(conn, wanted, vector, model)
        cosines |= await vectors.cosines_of(conn, wanted.entity, vector, model, [i for i in known if i not in cosines])
    more = await _candidates(conn, wanted, [i for i in cosines if i not in known])
    candidates = [c.at(cosines.get(c.passage_id)) for c in (*known.values(), *more)]
    return Proposal(tuple(candidates), matched.passages, matched.document_frequencies, matched.average_length)


async def beside(
    conn: Connection,
    entity: Entity,
    proposal: Proposal,
    vector: Vectors | None,
    model: str | None,
) -> list[Candidate]:
    """The passages of the turns beside the proposed ones that are not proposed themselves."""
    places = {(c.session_id, c.seq) for c in proposal.candidates if c.kind == "turn" and c.session_id is not None}
    found = await neighbours(conn, entity, sorted(places), vector=vector, model=model)
    known = {candidate.passage_id for candidate in proposal.candidates}
    return [candidate for candidate in found if candidate.passage_id not in known]


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
    around = {(session, seq + step) for session, seq in places for step in (-1, 1)}
    width = len(vector) if vector is not None else 0
    rows = await conn.all(
        "search_said_at", **scoped(entity), places=json.dumps(sorted(around)), model=model, dimensions=width
    )
    cosines = vectors.compared(rows, vector) if vector is not None else {}
    return sorted(_candidate(row, cosines.get(int(row["id"]))) for row in rows)


async def gone(conn: Connection, entity: Entity, candidates: Sequence[Candidate]) -> set[tuple[ItemKind, str]]:
    """Whose passages (kind and owner) are not there any more as they were when these candidates were read."""
    wanted = _Wanted(entity, _KINDS, ("current", "historical"), len(candidates))
    now = await _candidates(conn, wanted, [candidate.passage_id for candidate in candidates])
    there = {(candidate.passage_id, candidate.owner_id, candidate.text) for candidate in now}
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


async def _lexical(conn: Connection, wanted: _Wanted, frequencies: Mapping[str, int], total: int) -> list[int]:
    # The inverse document frequency of BM25, in the form that stays positive in small collections.
    weights: dict[str, float] = {}
    postings = 0
    for term, n in sorted(frequencies.items(), key=lambda item: item[1]):
        if n and (not weights or postings + n <= _MOST_POSTINGS):
            weights[term] = math.log(1 + (total - n + 0.5) / (n + 0.5))
            postings += n
    if not weights:
        return []

    async def best(k: int) -> list[int]:
        return await index.matches(conn, wanted.entity, weights, limit=k)

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
        if wanted.kinds == _KINDS:  # hardly any that may not, and those are left out when they are read
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


async def _candidates(conn: Connection, wanted: _Wanted, ids: Sequence[int]) -> list[Candidate]:
    """The passages that may be proposed, in the order of the ids."""
    if not ids:
        return []
    rows = await conn.all(
        "search_candidates",
        **scoped(wanted.entity),
        ids=json.dumps(list(ids)),
        kinds=json.dumps(wanted.kinds),
        statuses=json.dumps(wanted.statuses),
    )
    by_id = {int(row["id"]): _candidate(row) for row in rows}
    return [by_id[i] for i in ids if i in by_id]


_AS_IT_IS = itemgetter(
    "id", "kind", "owner_id", "ordinal", "text", "terms", "session_id", "seq", "role", "speaker"
)  # the fields of a candidate, in their order, up to its time


def _candidate(row: Row, cosine: float | None = None) -> Candidate:
    return Candidate._make((*_AS_IT_IS(row), to_time(row["time"]), row["confidence"], row["turn_id"], cosine))
