"""Lexical scores: those of BM25 as rank-bm25 has it, with the statistics of the whole memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from memproxy.recall.bm25 import rank_bm25
from memproxy.recall.lexical import K1, B, Column, Counts, Postings, bm25
from memproxy.recall.tally import Tally

DOCUMENTS = ["otter river otter", "river boat on the river", "a boat", "", "kayak " * 30 + "otter"]
WEIGHTS = {"otter": 1.2, "river": 0.7, "absent": 3.0}
AVERAGE = 6.5


def posted(documents: list[str]) -> Postings:
    postings = Postings()
    for document in documents:
        postings.add(document)
    return postings


def counted(documents: list[str], weights: dict[str, float]) -> tuple[Counts, Column, Column]:
    postings, rows = posted(documents), np.arange(len(documents))
    return postings.counts(list(weights), rows), np.array(list(weights.values())), postings.lengths(rows)


class Reference(BM25Okapi):  # type: ignore[misc]
    """rank-bm25 with given weights and average length."""

    def _calc_idf(self, nd: object) -> None:
        self.idf, self.avgdl = WEIGHTS, AVERAGE


@pytest.mark.parametrize("score", [bm25, rank_bm25])
def test_scores_are_those_of_bm25(score: Any) -> None:
    reference = Reference([document.split() for document in DOCUMENTS], k1=K1, b=B)
    found = score(*counted(DOCUMENTS, WEIGHTS), AVERAGE)
    assert found.tolist() == pytest.approx(reference.get_scores(list(WEIGHTS)).tolist())


def test_words_of_neighbours_count_in_part_from_memory_as_from_disk() -> None:
    counts, weights, lengths = counted(DOCUMENTS, WEIGHTS)
    found = [score(counts + 0.3, weights, lengths, AVERAGE).tolist() for score in (bm25, rank_bm25)]
    assert found[0] == pytest.approx(found[1])


def test_what_is_held_is_what_its_terms_tell() -> None:
    assert posted(DOCUMENTS).held(WEIGHTS).tolist() == pytest.approx([1.9, 0.7, 0, 0, 1.2])


@pytest.mark.parametrize("score", [bm25, rank_bm25])
def test_l10_no_memory_and_no_question_divide_by_nothing(score: Any) -> None:
    assert score(*counted([], WEIGHTS), 0.0).tolist() == []
    assert score(*counted(["otter"], {}), 0.0).tolist() == [0.0]


@settings(max_examples=50)
@given(st.lists(st.lists(st.sampled_from("otter river boat kayak".split()), max_size=6).map(" ".join), max_size=5))
def test_words_counted_when_they_are_asked_for_are_those_that_postings_hold(documents: list[str]) -> None:
    asked, rows = ["river", "absent", "otter"], np.arange(len(documents))[::-1]
    tally, postings = Tally(documents), posted(documents)
    assert tally.counts(asked, rows).tolist() == postings.counts(asked, rows).tolist()
    assert tally.lengths(rows).tolist() == postings.lengths(rows).tolist()
