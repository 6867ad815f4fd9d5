"""Passages kept in memory: whoever speaks now is recalled without asking the database for more than what is new.

What is held is a copy. Each recall compares it, inside its own snapshot of the database, with the entity's revision,
which grows with every change and removal in any process; what was added since is added to the copy, and a copy whose
revision is past is not used: the indexes on disk answer (`store/search.py`), and a new one is made behind the scenes.
Both answer alike, as a test holds them to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from memproxy.interfaces import Connection, Vectors
from memproxy.lazy import Lazy
from memproxy.model import Candidate, EmbedderInfo, Entity, FactStatus, ItemKind
from memproxy.recall.beside import Places
from memproxy.recall.columns import Columns, Mask
from memproxy.recall.evidence import Collection, Evidence
from memproxy.recall.lexical import Postings, Rows, idf
from memproxy.store import search, vectors
from memproxy.store.search import Extent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")

STATUSES = get_args(FactStatus)  # "current" first: all but facts are that
STEP = 100  # passages read at a time: about two milliseconds of work between one look at the event loop and the next

Note: TypeAlias = Callable[[Candidate, dict[int, Any]], object]  # see `Resident`


@dataclass(frozen=True, slots=True)
class Match:
    """What the words of as many passages as there were then say to a question."""

    limit: int
    may: Mask  # for each row whether it may be proposed
    rows: Rows  # those that hold the question's terms, best first


class Resident:
    """The passages of one entity: their words by term, their vectors by row, all else in columns.

    `note` works out of each passage what whoever recalls it will want (`Found.notes`), before anybody waits for it.
    Products are taken row by row (`vecdot`), not as one of a matrix: for that the library of linear algebra would share
    the work among threads, and wait for the one whose core is busy, several times as long as all of it takes.
    """

    def __init__(self, entity: Entity, revision: int, embedder: EmbedderInfo | None, note: Note | None = None) -> None:
        self.revision = revision
        self.notes: dict[int, Any] = {}  # see `Found`
        self._note = note
        self.embedder = embedder  # the model of whose vectors this is a copy
        self._entity = entity
        self._vectors_changed = -1  # what of the vectors has been read, as the entity's row counts it
        self._candidates: list[Candidate] = []
        self._columns = Columns()
        self._postings = Postings()
        self._touching = Places(self._columns.rows)
        self._status: NDArray[np.int8] = np.zeros(0, np.int8)  # which facts may be proposed: by their place in STATUSES
        self._unseen: dict[int, int] = {}  # passages without a vector so far, NaN in the matrix: id to row
        self._matrix: Vectors = np.zeros((0, embedder.dimensions if embedder else 0), np.float32)
        self._catching_up = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._candidates)

    async def catch_up(self, conn: Connection, extent: Extent) -> bool:
        """Add what is new; False where this copy cannot be what the database holds. Raises StoreError."""
        async with self._catching_up:
            if extent.revision != self.revision or extent.passages < len(self):
                return False
            embedder = self.embedder if extent.vectors_changed != self._vectors_changed else None
            unseen = list(self._unseen) if embedder is not None else []
            while unseen or len(self) < extent.passages:
                lacking, last = extent.passages - len(self), self._candidates[-1].passage_id if self._candidates else 0
                read = partial(_news, self._entity, last, min(lacking, STEP), unseen[:STEP], embedder)
                found, seen = await conn.in_one_go(read)
                if lacking and not found:
                    return False
                unseen = unseen[STEP:]
                self._add(found)
                if seen:
                    self._see(seen)
            self._vectors_changed = extent.vectors_changed
            return True

    def _add(self, found: Sequence[tuple[Candidate, FactStatus]]) -> None:
        candidates = [candidate for candidate, _ in found]
        self._status = np.append(self._status, np.array([STATUSES.index(status) for _, status in found], np.int8))
        self._unseen |= {candidate.passage_id: row for row, candidate in enumerate(candidates, len(self))}
        self._candidates += candidates
        self._columns.add(candidates)
        for candidate in candidates:
            self._postings.add(candidate.terms)
            if self._note is not None:
                self._note(candidate, self.notes)

    def _see(self, seen: Mapping[int, Vectors]) -> None:
        if len(self) > len(self._matrix):
            length = max(len(self), 3 * len(self._matrix) // 2)
            grown = np.full((length, self._matrix.shape[1]), np.nan, np.float32)
            grown[: len(self._matrix)] = self._matrix
            self._matrix = grown
        for passage_id, vector in seen.items():
            self._matrix[self._unseen.pop(passage_id)] = vector

    def match(
        self,
        terms: Sequence[str],
        limit: int,
        kinds: Sequence[ItemKind] | None = None,
        statuses: Sequence[FactStatus] = ("current",),
    ) -> Match:
        """The lexical half of `propose`, which needs no vector: it can be done while the query is being embedded."""
        total = len(self)
        held = self._postings.held({term: idf(total, self._postings.frequency(term)) for term in terms})
        may = self._status == 0 if len(statuses) == 1 else np.isin(self._status, list(map(STATUSES.index, statuses)))
        if kinds:
            may &= self._columns.of_kinds(kinds)
        rows = _largest(held, np.flatnonzero((held > 0) & may), limit)
        return Match(limit, may, rows[np.lexsort((-rows, -held[rows]))[:limit]])

    def also(self, match: Match, terms: Sequence[str], limit: int) -> Match:
        """With up to `limit` further passages that hold other terms."""
        held = self._postings.held({term: idf(len(match.may), self._postings.frequency(term)) for term in terms})
        held = held[: len(match.may)]
        held[match.rows] = 0.0
        rows = _largest(held, np.flatnonzero((held > 0) & match.may), limit)
        more = rows[np.lexsort((-rows, -held[rows]))[:limit]]
        return replace(match, rows=np.concatenate([match.rows, more]))

    @property
    def speakers(self) -> frozenset[str]:
        """The names used in the conversations."""
        return frozenset(name for name in self._columns.speakers if name is not None)

    def frequency(self, term: str) -> int:
        """How many passages hold a term."""
        return self._postings.frequency(term)

    def matched(self, match: Match) -> list[Candidate]:
        """The passages that hold the question's terms, best first."""
        return [self._candidates[row] for row in match.rows.tolist()]

    def propose(self, match: Match, vector: Vectors | None) -> Evidence:
        """What `search.propose` would propose, and the turns beside it, read for the question."""
        total = len(match.may)
        cosines, near = self._near(match, vector)
        proposed = np.zeros(total, np.bool_)
        proposed[match.rows] = proposed[near] = True
        proposed |= self._places(total).beside(np.flatnonzero(proposed)) & match.may
        rows = np.flatnonzero(proposed)[::-1]
        of = Collection(
            self._candidates,
            self._columns,
            self._postings,
            total,
            self._postings.terms / total if total else 0.0,
            self._postings.frequency,
        )
        return Evidence(of, rows, self._columns.rows.take(rows), cosines[rows].astype(np.float64))

    def _places(self, total: int) -> Places:
        """Which turns touch, among the first so many rows."""
        if len(self._touching) != total:
            self._touching = Places(self._columns.rows[:total], self._touching)
        return self._touching

    def _near(self, match: Match, vector: Vectors | None) -> tuple[Vectors, Rows]:
        """Every row's cosine (NaN without a vector), and the rows that are nearest."""
        total = len(match.may)
        cosines = np.full(total, np.nan, np.float32)
        if vector is None or not total:
            return cosines, np.zeros(0, np.intp)
        there = min(len(self._matrix), total)  # without any vector so far there is no matrix
        np.vecdot(self._matrix[:there], vector, out=cosines[:there])
        return cosines, _nearest(cosines, match.may, min(match.limit, total))


def _nearest(cosines: Vectors, may: Mask, count: int) -> Rows:
    """The rows of the `count` greatest cosines among those that may be, best first; among equals in their order."""
    far = np.where(may, -cosines, np.nan)  # which comes last in any order, and is neither near nor far
    farthest = np.fmin(np.partition(far, count - 1)[count - 1], np.inf)
    rows = np.flatnonzero(far <= farthest)
    return rows[np.argsort(far[rows], kind="stable")[:count]]


async def _news(
    entity: Entity, after: int, limit: int, unseen: Sequence[int], embedder: EmbedderInfo | None, conn: Connection
) -> tuple[list[tuple[Candidate, FactStatus]], dict[int, Vectors]]:
    """Up to `limit` passages stored after the one with this id; and an embedder's vectors of those and the unseen."""
    found = await search.following(conn, entity, after, limit) if limit else []
    ids = [*unseen, *(candidate.passage_id for candidate, _ in found)]
    if embedder is None or not ids:
        return found, {}
    return found, await vectors.of_passages(conn, entity, embedder.model, embedder.dimensions, ids)


def _largest(values: NDArray[Any], rows: Rows, count: int) -> Rows:
    """The rows among which the `count` largest values are, in their order: without sorting the many others."""
    if len(rows) <= count:
        return rows
    found = values[rows]
    least = np.partition(found, len(found) - count)[len(found) - count]
    return np.asarray(rows[found >= least], np.intp)
