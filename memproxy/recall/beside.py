"""Turns beside one another: what is said before and after a turn says what it is about.

A question and its answer, a story over several turns: the words of the one often stand in the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memproxy.lazy import Lazy
from memproxy.recall.columns import TURN, Mask, Table, places
from memproxy.recall.lexical import Column, Counts, Rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")


class Places:
    """Of each of some rows the turn it is a passage of, and the turns that touch that one, by number."""

    def __init__(self, rows: Table) -> None:
        turns = np.flatnonzero(rows["kind"] == TURN)
        found, where = np.unique(places(rows[turns]), return_inverse=True)
        none = len(found)  # the number of no turn
        follows = found[1:] - found[:-1] == 1
        before, after = np.full(none + 1, none, np.intp), np.full(none + 1, none, np.intp)
        before[1:none] = np.where(follows, np.arange(none)[:-1], none)
        after[: max(none - 1, 0)] = np.where(follows, np.arange(none)[1:], none)
        self._none, self._before, self._after = none, before, after
        self._turn = np.full(len(rows), none, np.intp)
        self._turn[turns] = where

    def __len__(self) -> int:
        return len(self._turn)

    def beside(self, rows: Rows) -> Mask:
        """For each row whether it is a passage of a turn before or after the turns of some rows."""
        turns = self._turn[rows]
        touched = np.zeros(self._none + 1, np.bool_)
        touched[self._before[turns]] = touched[self._after[turns]] = True
        touched[self._none] = False
        found: Mask = touched[self._turn]
        return found


class Turns:
    """Which of some rows are passages of which turn, and which of these turns touch."""

    def __init__(self, rows: Table) -> None:
        self._count = len(rows)
        self._turns = np.flatnonzero(rows["kind"] == TURN)
        where = places(rows[self._turns])
        order = np.argsort(where, kind="stable")
        ordered = where[order]
        begins = np.ones(len(ordered), np.bool_)
        begins[1:] = ordered[1:] != ordered[:-1]
        self._by_turn = self._turns[order]
        self._begins = np.flatnonzero(begins)
        self._where = np.empty_like(order)
        self._where[order] = np.cumsum(begins) - 1
        found = ordered[begins]
        self._follows = found[1:] - found[:-1] == 1

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
