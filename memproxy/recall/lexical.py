"""BM25 over a bounded candidate set, with the statistics of the whole memory.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), as implemented by rank-bm25,
whose idf and average length are of the texts at hand: zero or negative in tiny collections, a division by zero in an
empty one. Both are replaced here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from rank_bm25 import BM25Okapi


class CollectionBM25(BM25Okapi):  # type: ignore[misc]
    """BM25Okapi with idf and average length given from outside."""

    def __init__(self, corpus: Sequence[Sequence[str]], *, idf: Mapping[str, float], average_length: float, k1: float, b: float) -> None:  # fmt: skip
        self._given_idf = dict(idf)
        self._given_length = average_length
        super().__init__(corpus, k1=k1, b=b)

    def _initialize(self, corpus: Sequence[Sequence[str]]) -> dict[str, int]:
        self.corpus_size = len(corpus)
        self.doc_len = [len(document) for document in corpus]
        self.doc_freqs = [Counter(document) for document in corpus]
        self.avgdl = max(self._given_length, 1.0)
        return {}

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        self.idf = self._given_idf

    def score(self, terms: Sequence[str]) -> list[float]:
        """One score >= 0 for each document."""
        if not terms or not self.corpus_size:
            return [0.0] * self.corpus_size
        found: list[float] = self.get_scores(terms).tolist()
        return found


def idf(passages: int, containing: int) -> float:
    """How much a term tells, from the number of passages and of those that contain it: ln(1 + (N-n+½)/(n+½)) ≥ 0."""
    containing = min(max(containing, 0), max(passages, 0))
    return math.log1p((passages - containing + 0.5) / (containing + 0.5))
