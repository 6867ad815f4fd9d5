"""Candidates with their scores, by columns: ranking adds up parts, and each part stays known."""

from __future__ import annotations

import math
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from itertools import count, repeat
from typing import TYPE_CHECKING, Any

from memproxy.lazy import Lazy
from memproxy.model import Scored
from memproxy.recall.evidence import Evidence
from memproxy.recall.lexical import Column, Rows, foremost

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")


class Table:
    """Candidates with their scores, and the parts the scores are made of: a column each."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.score: Column = np.zeros(len(evidence))
        self._parts: dict[str, Column] = {}

    def add(self, part: str, amounts: NDArray[Any]) -> None:
        """Add a part to every score."""
        self.score += amounts
        self._parts[part] = amounts

    def only(self, kept: Rows) -> Table:
        """The same table with these rows alone."""
        table = Table(self.evidence.only(kept))
        table.score = self.score[kept]
        table._parts = {part: column[kept] for part, column in self._parts.items()}
        return table

    def order(self) -> Rows:
        """Best first; among equals what was stored last, so that the order is always the same."""
        return np.argsort(-self.score, kind="stable")

    def best(self, count: int) -> Rows:
        """The first rows of that order."""
        return foremost(self.score, count)

    def scored(self, limit: int) -> list[Scored]:
        """The best rows, each as near as it is, with the parts that count for it."""
        best = self.best(limit)
        candidates, rows = self.evidence.of.candidates, self.evidence.rows[best].tolist()
        near = [None if math.isnan(cosine) else cosine for cosine in self.evidence.cosines[best].tolist()]
        parts, names = np.array([column[best] for column in self._parts.values()], np.float64), tuple(self._parts)
        reasons = map(Reasons, repeat(names), repeat(parts), count())  # all in one go: in half the time of a loop
        return list(map(Scored, map(candidates.__getitem__, rows), self.score[best].tolist(), reasons, near))


class Reasons(Mapping[str, float]):
    """The parts that count for one row, read off its columns once somebody asks: of most rows nobody does."""

    __slots__ = ("_amounts", "_names", "_place", "_read")

    def __init__(self, names: Sequence[str], amounts: NDArray[np.float64], place: int) -> None:
        """`amounts` has a line a part; the row is the one at this place of each."""
        self._names = names
        self._amounts = amounts
        self._place = place
        self._read: dict[str, float] | None = None

    def __getitem__(self, part: str) -> float:
        return self._parts()[part]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts())

    def __len__(self) -> int:
        return len(self._parts())

    def items(self) -> ItemsView[str, float]:
        """All of them, as what they were read into has them: one by one takes five times as long."""
        return self._parts().items()

    def __repr__(self) -> str:
        return repr(self._parts())

    def _parts(self) -> dict[str, float]:
        if self._read is None:
            parts = zip(self._names, self._amounts[:, self._place].tolist(), strict=True)
            self._read = {name: amount for name, amount in parts if amount}
        return self._read
