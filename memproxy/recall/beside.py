"""Turns beside one another: what is said before and after a turn says what it is about.

A question and its answer, a story over several turns: the words of the one often stand in the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memproxy.lazy import Lazy
from memproxy.recall.columns import TURN, Mask, Table, places
from memproxy.recall.lexical import Column, Counts, Rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")


class Places:
    """Of each of some rows the turn it is a passage of, and the turns that touch that one, by number: 0 is no turn.

    `known` are those of the first of the rows. What was said since mostly stands behind them, and only that is sorted:
    somebody waits.
    """

    def __init__(self, rows: Table, known: Places | None = None) -> None:
        if known is not None and not known._precede(rows):
            known = None
        new = rows[len(known) :] if known is not None else rows
        turns = np.flatnonzero(new["kind"] == TURN)
        found, where = np.unique(places(new)[turns], return_inverse=True)
        so_far = len(known._found) if known is not None else 0
        turn = np.zeros(len(new), np.intp)
        turn[turns] = where + so_far + 1
        self._found: NDArray[np.int64] = np.concatenate([known._found, found]) if known is not None else found
        self._turn: Rows = np.concatenate([known._turn, turn]) if known is not None else turn
        self._before, self._after = _touching(self._found)

    def __len__(self) -> int:
        return len(self._turn)

    def beside(self, rows: Rows) -> Mask:
        """For each row whether it is a passage of a turn before or after the turns of some rows."""
        turns = self._turn[rows]
        touched = np.zeros(len(self._before), np.bool_)
        touched[self._before[turns]] = touched[self._after[turns]] = True
        touched[0] = False
        found: Mask = touched[self._turn]
        return found

    def _precede(self, rows: Table) -> bool:
        """Whether all that come after these rows were said later than these, as places go."""
        new = rows[len(self) :]
        there = places(new)[new["kind"] == TURN]
        return len(rows) >= len(self) and not (len(there) and len(self._found) and there.min() <= self._found[-1])


def _touching(found: NDArray[np.int64]) -> tuple[Rows, Rows]:
    """Of the turns at these places, in order, the numbers of the one before and the one after each; 0 where none is."""
    numbers, follows = np.arange(1, len(found) + 1), found[1:] - found[:-1] == 1
    before, after = np.zeros(len(found) + 1, np.intp), np.zeros(len(found) + 1, np.intp)
    before[2:] = np.where(follows, numbers[:-1], 0)
    after[1:-1] = np.where(follows, numbers[1:], 0)
    return before, after


class Turns:
    """Of some rows the turns that they are passages of, and what is there in the turns that touch these."""

    def __init__(self, rows: Table) -> None:
        turns = np.flatnonzero(rows["kind"] == TURN)
        where = places(rows)[turns]
        order = np.argsort(where, kind="stable")
        ordered = where[order]
        begins = np.ones(len(ordered), np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
        self._by_turn = turns[order]
        self._begins = np.flatnonzero(begins)
        before, after = _touching(ordered[self._begins])
        turn = np.zeros(len(rows), np.intp)
        turn[self._by_turn] = np.cumsum(begins)
        self._before, self._after = before[turn], after[turn]

    def counts_beside(self, counts: Counts) -> Counts:
        """For each row how often the turns before and after hold each term: of each the passage with most of them."""
        before, after = self._beside(counts, 0.0)
        return before + after

    def nearest_beside(self, cosines: Column) -> Column:
        """For each row the greatest cosine in the turns before and after; NaN where none is known."""
        before, after = self._beside(cosines[None, :], np.nan)
        nearest: Column = np.fmax(before[0], after[0])
        return nearest

    def _beside(self, values: Counts, nowhere: float) -> tuple[Counts, Counts]:
        """Line by line the greatest value in the turn before each row's own, and in the one after."""
        best = np.full((len(values), len(self._begins) + 1), nowhere)
        by_turn = values.take(self._by_turn, axis=1)
        if len(self._begins) < len(self._by_turn):
            by_turn = np.fmax.reduceat(by_turn, self._begins, axis=1)
        best[:, 1:] = by_turn
        return best.take(self._before, axis=1), best.take(self._after, axis=1)
