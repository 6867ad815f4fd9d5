"""What passages say to a question by their words: BM25, with the statistics of the whole memory.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009). The weight of a term (idf) and
the average length come from outside, so that a few passages can be scored as part of the memory they are from; neither
makes a score negative or undefined, however small the memory.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from memproxy.lazy import Lazy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")

Column: TypeAlias = "NDArray[np.float64]"

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

    def add(self, document: str, only: Collection[str] | None = None) -> None:
        """Add a passage as its terms, separated by blanks; `only` names the terms that will be asked for."""
        row, words = len(self._lengths), document.split()
        self._lengths.append(len(words))
        self.terms += len(words)
        for term, count in Counter(words if only is None else filter(only.__contains__, words)).items():
            held = self._rows.get(term)
            if held is None:
                held = self._rows[term] = (array("q"), array("q"))
            held[0].append(row)
            held[1].append(count)

    def frequency(self, term: str) -> int:
        """How many rows hold a term."""
        return len(self._rows[term][0]) if term in self._rows else 0

    def weigh(self, weights: Mapping[str, float], average_length: float) -> Lexical:
        """Score every row for a question of these terms, given with how much each tells; lengths count in terms."""
        scores, held = np.zeros(len(self)), np.zeros(len(self))
        discounts = K1 * (1 - B + B * np.asarray(self._lengths) / max(average_length, 1.0))
        for term, weight in weights.items():
            if term in self._rows:
                rows, counts = map(np.asarray, self._rows[term])
                scores[rows] += weight * (counts * (K1 + 1) / (counts + discounts[rows]))
                held[rows] += weight
        return Lexical(scores, held, held / (sum(weights.values()) or 1.0))


@dataclass(frozen=True, slots=True)
class Lexical:
    """What the words of each row say to one question."""

    scores: Column  # BM25, 0 or more
    held: Column  # how much the terms tell that it contains, together
    coverage: Column  # their share of the question: 0..1


def idf(passages: int, containing: int) -> float:
    """How much a term tells, from the number of passages and of those that contain it: ln(1 + (N-n+½)/(n+½)) > 0."""
    passages = max(passages, containing, 1)
    return math.log1p((passages - containing + 0.5) / (containing + 0.5))
