"""What speaks for each of the passages that the indexes propose for a question, as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from memproxy.lazy import Lazy
from memproxy.model import Candidate
from memproxy.recall.columns import NOWHERE, Columns, Mask, Table, places
from memproxy.recall.lexical import Column, Counts, Postings, Rows, bm25, idf, told
from memproxy.recall.tally import Tally

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

Scores: TypeAlias = "Callable[[Counts, Column, Column, float], Column]"


@dataclass(frozen=True, slots=True)
class Collection:
    """The passages that candidates are chosen from, and what is known of the whole memory they belong to."""

    candidates: Sequence[Candidate]
    columns: Columns
    postings: Postings | Tally
    passages: int  # how many the whole memory has
    average_length: float  # … and how many terms each
    frequency: Callable[[str], int]  # how many of them hold a term
    score: Scores = bm25


@dataclass(frozen=True, slots=True)
class Evidence:
    """A row for each passage proposed, what was stored last first."""

    of: Collection
    rows: Rows  # which of the collection they are
    columns: Table  # see the module of that name
    cosines: Column  # NaN: no vector (yet), or not among the nearest
    _lines: dict[str, Column] = field(default_factory=dict, repr=False, compare=False)  # of the terms counted so far

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def candidates(self) -> list[Candidate]:
        """The passages, whole."""
        return [self.of.candidates[row] for row in self.rows.tolist()]

    @property
    def passages(self) -> int:
        """How many the whole memory has."""
        return self.of.passages

    def counts(self, terms: Sequence[str]) -> Counts:
        """How often each passage holds each term: a line a term."""
        new = [term for term in terms if term not in self._lines]
        if new:
            found = self.of.postings.counts(new, self.rows)
            self._lines.update(zip(new, found, strict=True))
            if len(new) == len(terms):
                return found
        return np.array([self._lines[term] for term in terms]).reshape(len(terms), len(self))

    def weights(self, terms: Sequence[str]) -> Column:
        """How much each term tells, in the whole memory."""
        return np.array([idf(self.of.passages, self.of.frequency(term)) for term in terms], np.float64)

    def score(self, counts: Counts, weights: Column) -> Column:
        """BM25 of each passage."""
        return self.of.score(counts, weights, self.of.postings.lengths(self.rows), self.of.average_length)

    def coverage(self, terms: Sequence[str]) -> Column:
        """The share of a question's terms, by what they tell, that each passage holds: 0..1."""
        weights = self.weights(terms)
        return told(weights, self.counts(terms) > 0) / (weights.sum() or 1.0)

    def at(self, present: Sequence[tuple[str, int]]) -> Mask:
        """For each passage whether it was said at one of these places (session, place)."""
        numbers = self.of.columns.sessions
        known = [(numbers[session], seq) for session, seq in present if session in numbers]
        if not known:
            return np.zeros(len(self), np.bool_)
        there = np.zeros(len(known), self.columns.dtype)
        there["session"], there["seq"] = np.array(known).T
        said: Mask = self.columns["session"] != NOWHERE
        return said & np.isin(places(self.columns), places(there))

    def only(self, kept: Sequence[int] | Rows) -> Evidence:
        """These rows alone."""
        rows = np.asarray(kept, np.intp)
        # `take` copies whole rows ten times as fast as an index does.
        return Evidence(self.of, self.rows[rows], self.columns.take(rows), self.cosines[rows])

    def by_rank_bm25(self) -> Evidence:
        """The same, scored by rank-bm25: for the ranking itself, not for what leads to it."""
        from memproxy.recall.bm25 import rank_bm25  # loads numpy

        return replace(self, of=replace(self.of, score=rank_bm25))


def gather(
    candidates: Sequence[Candidate],
    *,
    passages: int,
    document_frequencies: Mapping[str, int],
    average_length: float,
) -> Evidence:
    """Read candidates that the indexes on disk propose.

    `passages`, `document_frequencies` (of the question's terms, and of those that are put there later) and
    `average_length` (in terms) describe the whole memory the candidates come from.
    """
    candidates = sorted(candidates, key=lambda candidate: -candidate.passage_id)
    columns = Columns()
    columns.add(candidates)
    of = Collection(
        candidates,
        columns,
        Tally([candidate.terms for candidate in candidates]),
        passages,
        average_length,
        lambda term: document_frequencies.get(term, 0),
    )
    cosines = np.array([candidate.cosine for candidate in candidates], np.float64)  # None becomes NaN
    return Evidence(of, np.arange(len(candidates)), columns.rows, cosines)
