"""Passages kept in memory: whoever speaks now is recalled without asking the database for more than what is new.

What is held is a copy. Each recall compares it, inside its own snapshot of the database, with the entity's revision,
which grows with every change and removal in any process; what was added since is added to the copy, and a copy whose
revision is past is not used: the indexes on disk answer (`store/search.py`), and a new one is made behind the scenes.
Both answer alike, as a test holds them to.
"""

from __future__ import annotations

import asyncio
import math
from array import array
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from memproxy.errors import StoreError
from memproxy.interfaces import Connection, Database, Vectors
from memproxy.lazy import Lazy
from memproxy.model import Candidate, EmbedderInfo, Entity, ItemKind
from memproxy.recall.lexical import TermCounts, idf
from memproxy.recall.query import Query, is_standing_wish
from memproxy.recall.ranking import Reading
from memproxy.store import search, vectors
from memproxy.store.search import Extent, Proposal

STEP = 200  # passages read at a time: about two milliseconds of work between one look at the event loop and the next

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows: TypeAlias = NDArray[np.intp]
else:
    np = Lazy("numpy")

Postings = Mapping[str, tuple["array[int]", "array[int]"]]  # a term's rows, and how often each has it


@dataclass(frozen=True, slots=True)
class Match:
    """The rows that hold words of a query, of as many passages as there were then."""

    query: Query
    limit: int
    postings: Postings
    frequencies: Mapping[str, int]
    may: NDArray[np.bool_]  # for each row whether it may be proposed
    average_length: float
    rows: Rows  # best first
    readings: dict[int, Reading]  # by passage id


class Resident:
    """The passages of one entity: their words by term, their vectors by row."""

    def __init__(self, entity: Entity, revision: int, embedder: EmbedderInfo | None) -> None:
        self.revision = revision
        self._entity = entity
        self._embedder = embedder
        self._vectors_changed = -1  # what of the vectors has been read, as the entity's row counts it
        self._candidates: list[Candidate] = []
        self._current = np.zeros(0, np.bool_)  # False: counted, but not proposed (a fact that holds no more)
        self._wishes: list[bool] = []
        self._lengths: list[int] = []
        self._terms = 0
        self._postings: dict[str, tuple[array[int], array[int]]] = defaultdict(lambda: (array("q"), array("q")))
        self._unseen: dict[int, int] = {}  # passages without a vector so far: id to row
        self._matrix: Vectors = np.zeros((0, embedder.dimensions if embedder else 0), np.float32)
        self._seen: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._catching_up = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._candidates)

    async def catch_up(self, conn: Connection, extent: Extent) -> bool:
        """Add what is new; False where this copy cannot be what the database holds. Raises StoreError."""
        async with self._catching_up:
            if extent.revision != self.revision or extent.passages < len(self):
                return False
            while len(self) < extent.passages:
                last = self._candidates[-1].passage_id if self._candidates else 0
                found = await search.following(conn, self._entity, last, STEP)
                if not found:
                    return False
                self._add(found)
            if self._embedder is not None and extent.vectors_changed != self._vectors_changed:
                await self._see(conn, self._embedder)
                self._vectors_changed = extent.vectors_changed
            return True

    def _add(self, found: Sequence[tuple[Candidate, bool]]) -> None:
        self._current = np.append(self._current, [current for _, current in found])
        for candidate, _ in found:
            row = len(self._candidates)
            words = candidate.terms.split()
            self._candidates.append(candidate)
            self._wishes.append(candidate.role == "user" and is_standing_wish(candidate.text))
            self._lengths.append(len(words))
            self._terms += len(words)
            self._unseen[candidate.passage_id] = row
            for term, count in Counter(words).items():
                rows, counts = self._postings[term]
                rows.append(row)
                counts.append(count)

    async def _see(self, conn: Connection, embedder: EmbedderInfo) -> None:
        if len(self) > len(self._matrix):
            grown = np.zeros((max(len(self), 3 * len(self._matrix) // 2), embedder.dimensions), np.float32)
            grown[: len(self._matrix)] = self._matrix
            seen = np.zeros(len(grown), np.bool_)
            seen[: len(self._seen)] = self._seen
            self._matrix, self._seen = grown, seen
        missing = list(self._unseen)
        for start in range(0, len(missing), STEP):
            ids = missing[start : start + STEP]
            found = await vectors.of_passages(conn, self._entity, embedder.model, embedder.dimensions, ids)
            for passage_id, vector in found.items():
                row = self._unseen.pop(passage_id)
                self._matrix[row] = vector
                self._seen[row] = True

    def match(self, query: Query, limit: int, kinds: Sequence[ItemKind] | None = None) -> Match:
        """The lexical half of `propose`, which needs no vector: it can be done while the query is being embedded."""
        total = len(self)
        postings = {term: self._postings[term] for term in query.terms if term in self._postings}
        frequencies = {term: len(postings[term][0]) if term in postings else 0 for term in query.terms}
        may = self._current
        if kinds:
            may = may & np.array([candidate.kind in kinds for candidate in self._candidates], np.bool_)
        weights = np.zeros(total)
        for term, (holding, _) in postings.items():
            weights[np.asarray(holding)] += idf(total, frequencies[term])
        rows = _largest(weights, np.flatnonzero((weights > 0) & may), limit)
        rows = rows[np.lexsort((-rows, -weights[rows]))[:limit]]
        match = Match(query, limit, postings, frequencies, may, self._terms / total if total else 0.0, rows, {})
        match.readings.update(self._read(match, rows))
        return match

    def propose(self, match: Match, vector: Vectors | None) -> Proposal:
        """What `search.propose` would propose; the readings of all of it stand in the match then."""
        cosines, near = self._near(match, vector)
        more = near[~np.isin(near, match.rows)]
        match.readings.update(self._read(match, more))
        chosen = np.concatenate([match.rows, more])
        candidates = tuple(
            self._candidates[row].at(None if math.isnan(cosine) else cosine)
            for row, cosine in zip(chosen.tolist(), cosines[chosen].tolist(), strict=True)
        )
        return Proposal(candidates, len(match.may), match.frequencies, match.average_length)

    def _near(self, match: Match, vector: Vectors | None) -> tuple[Vectors, Rows]:
        """Every row's cosine (NaN without a vector), and the rows that are nearest."""
        total = len(match.may)
        cosines = np.full(total, np.nan, np.float32)
        if vector is None:
            return cosines, np.zeros(0, np.intp)
        there = min(len(self._matrix), total)  # without any vector so far there is no matrix
        cosines[:there] = np.where(self._seen[:there], self._matrix[:there] @ vector, np.nan)
        rows = _largest(cosines, np.flatnonzero(match.may & ~np.isnan(cosines)), match.limit)
        return cosines, rows[np.argsort(-cosines[rows], kind="stable")[: match.limit]]

    def _read(self, match: Match, chosen: Rows) -> dict[int, Reading]:
        places = np.full(len(match.may), -1, np.intp)
        places[chosen] = np.arange(len(chosen))
        counted: list[dict[str, int]] = [{} for _ in range(len(chosen))]
        for term, (rows, counts) in match.postings.items():
            known = np.asarray(rows)
            at = places[known[: np.searchsorted(known, len(places))]]  # others were added since the match was made
            hits = np.flatnonzero(at >= 0)
            for place, count in zip(at[hits].tolist(), np.asarray(counts)[hits].tolist(), strict=True):
                counted[place][term] = count
        readings = {}
        for row, of in zip(chosen.tolist(), counted, strict=True):
            candidate = self._candidates[row]
            dated = bool(match.query.dates) and any(when.covers(candidate.time) for when in match.query.dates)
            readings[candidate.passage_id] = Reading(TermCounts(of, self._lengths[row]), self._wishes[row], dated)
        return readings


def _largest(values: NDArray[Any], rows: Rows, count: int) -> Rows:
    """The rows among which the `count` largest values are, in their order: without sorting the many others."""
    if len(rows) <= count:
        return rows
    found = values[rows]
    least = np.partition(found, len(found) - count)[len(found) - count]
    return np.asarray(rows[found >= least], np.intp)


class Residents:
    """The copies held now, of those who spoke last, `room` passages in all."""

    def __init__(self, db: Database, embedder: EmbedderInfo | None, room: int) -> None:
        self._db = db
        self._embedder = embedder
        self._room = room
        self._held: OrderedDict[Entity, Resident] = OrderedDict()
        self._loading: dict[Entity, asyncio.Task[None]] = {}

    async def settled(self) -> None:
        """Wait until no copy is being made."""
        await asyncio.gather(*self._loading.values(), return_exceptions=True)

    async def in_step(self, conn: Connection, entity: Entity, extent: Extent) -> Resident | None:
        """The copy of an entity's passages that holds what this snapshot of the database holds, if there is one."""
        resident = self._held.get(entity)
        if resident is None:
            return None
        if await resident.catch_up(conn, extent):
            if entity in self._held:
                self._held.move_to_end(entity)
            return resident
        if self._held.get(entity) is resident:
            del self._held[entity]
        return None

    def load(self, entity: Entity, extent: Extent) -> None:
        """Make a copy, behind the scenes, of a memory that has room here."""
        if 0 < extent.passages <= self._room and entity not in self._held and entity not in self._loading:
            self._loading[entity] = asyncio.get_running_loop().create_task(self._load(entity))

    async def _load(self, entity: Entity) -> None:
        async def read(conn: Connection) -> Resident | None:
            extent = await search.extent(conn, entity)
            resident = Resident(entity, extent.revision, self._embedder)
            return resident if await resident.catch_up(conn, extent) else None

        try:
            resident = await self._db.read(read)
        except StoreError:
            return  # fail open: the indexes on disk answer, or say what is wrong
        finally:
            self._loading.pop(entity, None)
        if resident is not None:
            self._held[entity] = resident
            while sum(map(len, self._held.values())) > self._room:
                self._held.popitem(last=False)

    def drop(self, entity: Entity) -> None:
        """Let go of everything of an entity."""
        self._held.pop(entity, None)
        if loading := self._loading.pop(entity, None):
            loading.cancel()

    async def close(self) -> None:
        """Let go of everything."""
        for entity in [*self._held, *self._loading]:
            self.drop(entity)
