"""BM25 by rank-bm25 over what the indexes on disk propose, with the statistics of the whole memory.

Left to itself rank-bm25 takes idf and average length from the texts at hand: zero or negative weights in tiny
collections, a division by zero in an empty one. Both come from outside here, and are never negative. A memory that is
held in a copy is scored by its postings (`lexical.py`), all rows at once; a test holds the two to the same scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from rank_bm25 import BM25Okapi

from memproxy.recall.lexical import K1, B


class CollectionBM25(BM25Okapi):  # type: ignore[misc]
    """BM25Okapi over passages, given as their terms separated by blanks, of a larger collection."""

    def __init__(self, documents: Sequence[str], weights: Mapping[str, float], average_length: float) -> None:
        self._weights = weights  # how much each term of the question tells
        self._average_length = average_length
        super().__init__(documents, k1=K1, b=B)

    def _initialize(self, corpus: Sequence[str]) -> Mapping[str, float]:
        words = [document.split() for document in corpus]
        self.corpus_size = len(corpus)
        self.doc_len = [len(of) for of in words]
        self.doc_freqs = [_counted(of, self._weights) for of in words]
        self.avgdl = max(self._average_length, 1.0)
        return self._weights

    def _calc_idf(self, nd: Mapping[str, float]) -> None:
        self.idf = dict(nd)


def _counted(words: Sequence[str], wanted: Collection[str]) -> Counter[str]:
    return Counter(word for word in words if word in wanted)
