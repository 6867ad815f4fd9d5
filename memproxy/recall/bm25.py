"""BM25 over a bounded candidate set, with the statistics of the whole memory.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), in rank-bm25's implementation.
Left to itself that takes idf and average length from the texts at hand: zero or negative weights in tiny collections, a
division by zero in an empty one. Both come from outside here, and are never negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rank_bm25 import BM25Okapi

from memproxy.recall.lexical import TermCounts


class CollectionBM25(BM25Okapi):  # type: ignore[misc]
    """BM25Okapi over documents whose terms have been counted already."""

    def __init__(
        self,
        documents: Sequence[TermCounts],
        weights: Mapping[str, float],
        *,
        average_length: float,
        k1: float,
        b: float,
    ) -> None:
        self._weights = weights  # a term's idf
        self._average_length = average_length
        super().__init__(documents, k1=k1, b=b)

    def _initialize(self, corpus: Sequence[TermCounts]) -> Mapping[str, float]:
        self.corpus_size = len(corpus)
        self.doc_len = [document.length for document in corpus]
        self.doc_freqs = [document.of for document in corpus]
        self.avgdl = max(self._average_length, 1.0)
        return self._weights

    def _calc_idf(self, nd: Mapping[str, float]) -> None:
        self.idf = dict(nd)

    def scores(self) -> list[float]:
        """One score ≥ 0 for each document."""
        if not self.corpus_size or not self._weights:
            return [0.0] * self.corpus_size
        found: list[float] = self.get_scores(list(self._weights)).tolist()
        return found

    def coverage(self) -> list[float]:
        """For each document the share of the question, by weight of its terms, that it contains: 0..1."""
        total = sum(self._weights.values())
        if not total:
            return [0.0] * self.corpus_size
        return [sum(map(self._weights.__getitem__, counts)) / total for counts in self.doc_freqs]
