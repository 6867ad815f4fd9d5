"""BM25 by rank-bm25 over what the indexes on disk propose, with the statistics of the whole memory.

Left to itself rank-bm25 takes idf and average length from the texts at hand: zero or negative weights in tiny
collections, a division by zero in an empty one. Both come from outside here, and are never negative. A memory that is
held in a copy is scored by `lexical.bm25`, all terms at once; a test holds the two to the same scores.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from rank_bm25 import BM25Okapi

from memproxy.recall.lexical import K1, B, Column, Counts


class CollectionBM25(BM25Okapi):  # type: ignore[misc]
    """BM25Okapi over passages of a larger collection: how often each holds each term, by the term's number.

    To BM25Okapi they are one document: where it looks up how often that holds a term, it gets the column of all, and so
    scores all at once. Passage by passage takes ten times as long.
    """

    def __init__(self, counts: Counts, weights: Column, lengths: Column, average_length: float) -> None:
        self._weights = weights
        self._lengths = lengths
        self._average_length = average_length
        super().__init__(counts, k1=K1, b=B)

    def _initialize(self, corpus: Counts) -> Mapping[int, float]:
        self.corpus_size = (1, len(self._lengths))  # the shape of the scores
        self.doc_len = self._lengths
        self.doc_freqs = [
            {term: column.data for term, column in enumerate(corpus)}
        ]  # an array is neither true nor false
        self.avgdl = max(self._average_length, 1.0)
        return dict(enumerate(self._weights.tolist()))

    def _calc_idf(self, nd: Mapping[int, float]) -> None:
        self.idf = dict(nd)


def rank_bm25(counts: Counts, weights: Column, lengths: Column, average_length: float) -> Column:
    """The same as `lexical.bm25`."""
    if not counts.size:
        return np.zeros(len(lengths))
    [scores] = CollectionBM25(counts, weights, lengths, average_length).get_scores(range(len(weights)))
    return np.asarray(scores)
