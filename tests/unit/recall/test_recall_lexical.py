"""Lexical scores: those of BM25 as rank-bm25 has it, with the statistics of the whole memory."""

from __future__ import annotations

import pytest
from rank_bm25 import BM25Okapi

from memproxy.recall.bm25 import CollectionBM25
from memproxy.recall.lexical import K1, B, Postings

DOCUMENTS = ["otter river otter", "river boat on the river", "a boat", "", "kayak " * 30 + "otter"]
WEIGHTS = {"otter": 1.2, "river": 0.7, "absent": 3.0}
AVERAGE = 6.5


def posted(documents: list[str], only: frozenset[str] | None = None) -> Postings:
    postings = Postings()
    for document in documents:
        postings.add(document, only)
    return postings


class Reference(BM25Okapi):  # type: ignore[misc]
    """rank-bm25 with given weights and average length."""

    def _calc_idf(self, nd: object) -> None:
        self.idf, self.avgdl = WEIGHTS, AVERAGE


@pytest.mark.parametrize("only", [None, frozenset(WEIGHTS)])
def test_scores_are_those_of_bm25(only: frozenset[str] | None) -> None:
    reference = Reference([document.split() for document in DOCUMENTS], k1=K1, b=B)
    found = posted(DOCUMENTS, only).weigh(WEIGHTS, AVERAGE)
    assert found.scores.tolist() == pytest.approx(reference.get_scores(list(WEIGHTS)).tolist())


def test_what_is_scored_from_disk_has_the_same_scores() -> None:
    found = CollectionBM25(DOCUMENTS, WEIGHTS, AVERAGE).get_scores(list(WEIGHTS))
    assert found.tolist() == pytest.approx(posted(DOCUMENTS).weigh(WEIGHTS, AVERAGE).scores.tolist())


def test_coverage_is_the_share_of_what_the_question_tells() -> None:
    found = posted(DOCUMENTS).weigh(WEIGHTS, AVERAGE)
    assert found.coverage.tolist() == pytest.approx([1.9 / 4.9, 0.7 / 4.9, 0, 0, 1.2 / 4.9])


def test_l10_no_memory_and_no_question_divide_by_nothing() -> None:
    assert posted([]).weigh(WEIGHTS, 0.0).scores.tolist() == []
    assert posted(["otter"]).weigh({}, 0.0).coverage.tolist() == [0.0]
