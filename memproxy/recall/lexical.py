"""What passages say to a question by their words: BM25, with the statistics of the whole memory.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009). The weight of a term (idf) and
the average length come from outside, so that a few passages can be scored as part of the memory they are from; neither
makes a score negative or undefined, however small the memory.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from memproxy.lazy import Lazy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")

Column: TypeAlias = "NDArray[np.float64]"
Counts: TypeAlias = "NDArray[np.float64]"  # shape (terms, rows)
Rows: TypeAlias = "NDArray[np.intp]"

K1 = 0.9  # how soon repetitions of a term stop counting
B = 0.75  # how much longer passages are discounted


class Postings:
    """Passages by their terms: which rows hold a term, and how often each. Rows are numbered as they are added."""

    def __init__(self) -> None:
        self.terms = 0  # of all rows together
        self._lengths = array("q")
        self._rows: dict[str, tuple[array[int], array[int]]] = {}

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, document: str) -> None:
        """Add a passage as its terms, separated by blanks."""
        row, words = len(self._lengths), document.split()
        self._lengths.append(len(words))
        self.terms += len(words)
        for term, count in Counter(words).items():
            held = self._rows.get(term)
            if held is None:
                held = self._rows[term] = (array("q"), array("q"))
            held[0].append(row)
            held[1].append(count)

    def frequency(self, term: str) -> int:
        """How many rows hold a term."""
        held = self._rows.get(term)
        return len(held[0]) if held is not None else 0

    def counts(self, terms: Sequence[str], rows: Rows) -> Counts:
        """How often each row holds each term: a line a term."""
        found = np.zeros((len(terms), 1 + len(rows)))
        place = np.zeros(len(self), np.intp)  # of each row that is asked for; all others share the first
        place[rows] = np.arange(1, 1 + len(rows))
        for line, term in zip(found, terms, strict=True):
            held = self._rows.get(term)
            if held is not None:
                line[place.take(held[0])] = held[1]
        return found[:, 1:]

    def lengths(self, rows: Rows) -> Column:
        """How many terms each row has."""
        return np.asarray(self._lengths)[rows].astype(np.float64)

    def held(self, weights: Mapping[str, float]) -> Column:
        """For every row how much the terms tell that it holds, together."""
        held = np.zeros(len(self))
        for term, weight in weights.items():
            if term in self._rows:
                held[np.asarray(self._rows[term][0])] += weight
        return held


def telling(
    found: Mapping[str, int], frequency: Callable[[str], int], passages: int, most: float, count: int
) -> list[str]:
    """Of terms found so many times those that tell most, `count` at most: that more than one passage holds, and no more
    than `most`, which `frequency` tells of all `passages`.

    After Robertson, "On Term Selection for Query Expansion" (1990): by how many times it was found, and how rare it is.
    """
    worth = {
        term: times * idf(passages, held) for term, times in found.items() if 1 < (held := frequency(term)) <= most
    }
    return sorted(worth, key=lambda term: (-worth[term], term))[:count]


def foremost(scores: Column, count: int) -> Rows:
    """The rows of the `count` best scores, best first; among equals in their order. The many others are not sorted."""
    if len(scores) <= count:
        return np.argsort(-scores, kind="stable")
    rows = np.flatnonzero(scores >= np.partition(scores, len(scores) - count)[len(scores) - count])
    return rows[np.argsort(-scores[rows], kind="stable")[:count]]


def bm25(counts: Counts, weights: Column, lengths: Column, average_length: float) -> Column:
    """The score of each row by the terms it holds, a line a term, and by how much each term tells; lengths in terms."""
    discounts = K1 * (1 - B + B * lengths / max(average_length, 1.0))
    return told(weights, counts * (K1 + 1) / (counts + discounts))


def told(weights: Column, by_term: NDArray[Any]) -> Column:
    """What each row is told by all terms together; in this thread alone (see `resident.Resident`)."""
    return np.asarray(np.einsum("t,tr->r", weights, by_term), np.float64)


@lru_cache(maxsize=4096)
def idf(passages: int, containing: int) -> float:
    """How much a term tells, from the number of passages and of those that contain it: ln(1 + (N-n+½)/(n+½)) > 0."""
    passages = max(passages, containing, 1)
    return math.log1p((passages - containing + 0.5) / (containing + 0.5))
