"""Candidates with their scores, by columns: ranking adds up parts, and each part stays known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memproxy.lazy import Lazy
from memproxy.model import Scored
from memproxy.recall.evidence import Evidence
from memproxy.recall.lexical import Column, Rows

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
        return np.lexsort((-self.evidence.columns["passage"], -self.score))

    def scored(self, limit: int) -> list[Scored]:
        """The best rows, with the parts that count for each."""
        best = self.order()[:limit]
        candidates, rows = self.evidence.of.candidates, self.evidence.rows[best].tolist()
        parts = np.array([column[best] for column in self._parts.values()], np.float64).T.tolist()
        return [
            Scored(
                candidates[row],
                score,
                {part: value for part, value in zip(self._parts, values, strict=True) if value},
            )
            for row, score, values in zip(rows, self.score[best].tolist(), parts, strict=True)
        ]
