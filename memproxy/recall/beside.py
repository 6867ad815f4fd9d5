"""Turns beside one another: what is said before and after a turn says what it is about.

A question and its answer, a story over several turns: the words of the one often stand in the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memproxy.lazy import Lazy
from memproxy.recall.columns import TURN, Table, places
from memproxy.recall.lexical import Column, Counts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")


class Turns:
    """Which of some rows are passages of which turn, and which of these turns touch."""

    def __init__(self, rows: Table) -> None:
        self._count = len(rows)
        self._turns = np.flatnonzero(rows["kind"] == TURN)
        found, self._where, counts = np.unique(places(rows[self._turns]), return_inverse=True, return_counts=True)
        self._by_turn = self._turns[np.argsort(self._where, kind="stable")]
        self._begins = np.cumsum(counts) - counts
        self._follows = np.diff(found) == 1

    def counts_beside(self, counts: Counts) -> Counts:
        """For each row how often the turns before and after hold each term: of each the passage with most of them."""
        best = self._best(counts)
        around = np.zeros_like(best)
        around[:, 1:] += self._follows * best[:, :-1]
        around[:, :-1] += self._follows * best[:, 1:]
        return self._spread(around, 0.0)

    def nearest_beside(self, cosines: Column) -> Column:
        """For each row the greatest cosine in the turns before and after; NaN where none is known."""
        best = self._best(np.where(np.isnan(cosines), -np.inf, cosines)[None, :])[0]
        before, after = np.full(len(best), -np.inf), np.full(len(best), -np.inf)
        before[1:] = np.where(self._follows, best[:-1], -np.inf)
        after[:-1] = np.where(self._follows, best[1:], -np.inf)
        around = np.maximum(before, after)
        nearest: Column = self._spread(np.where(np.isinf(around), np.nan, around)[None, :], np.nan)[0]
        return nearest

    def _best(self, values: Counts) -> Counts:
        """The greatest value of each turn, line by line."""
        if not len(self._turns):
            return np.zeros((len(values), 0))
        best: Counts = np.maximum.reduceat(values[:, self._by_turn], self._begins, axis=1)
        return best

    def _spread(self, of_turns: NDArray[Any], otherwise: float) -> Counts:
        found = np.full((len(of_turns), self._count), otherwise)
        found[:, self._turns] = of_turns[:, self._where]
        return found
