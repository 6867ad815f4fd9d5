"""What speaks for each of the passages that the indexes propose for a question, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from memproxy.lazy import Lazy
from memproxy.model import Candidate
from memproxy.recall.columns import Columns, Table
from memproxy.recall.lexical import Column, Postings, idf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")

Rows: TypeAlias = "NDArray[np.intp]"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A row for each passage proposed; `passages` is how many the whole memory has."""

    candidates: Sequence[Candidate]
    columns: Table  # see the module of that name
    lexical: Column  # BM25
    coverage: Column  # share of the question's terms, by weight, that it contains: 0..1
    cosines: Column  # NaN: no vector (yet), or not among the nearest
    passages: int

    def __len__(self) -> int:
        return len(self.candidates)

    def only(self, kept: Sequence[int] | Rows) -> Evidence:
        """These rows alone."""
        rows = np.asarray(kept, np.intp)
        return Evidence(
            [self.candidates[row] for row in rows.tolist()],
            self.columns[rows],
            self.lexical[rows],
            self.coverage[rows],
            self.cosines[rows],
            self.passages,
        )


def gather(
    terms: Sequence[str],
    candidates: Sequence[Candidate],
    *,
    passages: int,
    document_frequencies: Mapping[str, int],
    average_length: float,
) -> Evidence:
    """Read candidates for a question of these terms.

    `passages`, `document_frequencies` (of the terms) and `average_length` (in terms) describe the whole memory the
    candidates come from.
    """
    from memproxy.recall.bm25 import CollectionBM25  # loads numpy

    columns, postings, wanted = Columns(), Postings(), frozenset(terms)
    columns.add(candidates)
    for candidate in candidates:
        postings.add(candidate.terms, wanted)
    weights = {term: idf(passages, document_frequencies.get(term, 0)) for term in terms}
    coverage = postings.weigh(weights, average_length).coverage
    documents = [candidate.terms for candidate in candidates]
    scores = CollectionBM25(documents, weights, average_length).get_scores(list(weights)) if documents else np.zeros(0)
    cosines = np.array([candidate.cosine for candidate in candidates], np.float64)  # None becomes NaN
    return Evidence(candidates, columns.rows, scores, coverage, cosines, passages)
