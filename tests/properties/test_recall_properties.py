"""Promises of passages and terms that hold for any text."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.model import ItemKind
from memproxy.recall.beside import Places
from memproxy.recall.columns import Columns
from memproxy.recall.passages import PASSAGE_CHARS, split
from memproxy.recall.terms import index_terms, query_terms, terms
from tests.memories import candidate, ranked

NOON = datetime(2024, 5, 7, 12, tzinfo=UTC)
prose = st.lists(
    st.text(max_size=80) | st.sampled_from(["word. ", "\n\n", "。", "A longer sentence that goes on! "])
).map("".join)


@given(prose)
def test_passages_cover_all_but_white_space_in_order_without_overlap(text: str) -> None:
    spans = split(text)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(0 < b - a <= PASSAGE_CHARS * 1.3 + 1 and text[a:b] == text[a:b].strip() for a, b in spans)


@given(st.text())
def test_terms_are_letters_and_digits_only(text: str) -> None:
    assert all(term.isalnum() for term in terms(text))


@given(st.text())
def test_what_is_asked_word_for_word_is_found(text: str) -> None:
    assert set(query_terms(text)) <= set(index_terms(text, "user", NOON).split())


@given(
    st.lists(st.builds(candidate, st.text(max_size=60), st.integers(0, 9), cosine=st.none() | st.floats(-1, 1))),
    st.text(max_size=60),
)
def test_ranking_takes_any_text_and_loses_or_invents_nothing(candidates: list, question: str) -> None:  # type: ignore[type-arg]
    found = ranked(question, candidates)
    assert sorted(s.candidate.passage_id for s in found) == sorted(c.passage_id for c in candidates)
    assert all(one.score >= other.score for one, other in pairwise(found))


@given(
    st.lists(
        st.builds(candidate, st.text(max_size=60), st.integers(0, 9), cosine=st.none() | st.floats(-1, 1)), max_size=12
    ),
    st.text(max_size=60),
    st.randoms(use_true_random=False),
)
def test_the_order_in_which_candidates_come_changes_nothing(candidates: list, question: str, dice: Random) -> None:  # type: ignore[type-arg]
    apart = [c._replace(passage_id=n, owner_id=f"id{n}", turn_id=f"id{n}", seq=n) for n, c in enumerate(candidates)]
    shuffled = dice.sample(apart, len(apart))
    one, other = ({s.candidate.passage_id: s.score for s in ranked(question, of)} for of in (apart, shuffled))
    assert one == pytest.approx(other)


@given(
    st.lists(st.tuples(st.sampled_from(["turn", "fact"]), st.integers(0, 2), st.integers(0, 5)), max_size=12), st.data()
)
def test_turns_touch_alike_whether_their_passages_came_at_once_or_one_by_one(
    said: list[tuple[ItemKind, int, int]], data: st.DataObject
) -> None:
    columns = Columns()
    columns.add(
        [
            candidate("x", number, kind=kind, session_id=str(session), seq=seq)
            for number, (kind, session, seq) in enumerate(said)
        ]
    )
    grown = Places(columns.rows[:0])
    for count in sorted(data.draw(st.lists(st.integers(0, len(said))))):
        grown = Places(columns.rows[:count], grown)
    grown = Places(columns.rows, grown)
    for row, (kind, session, seq) in enumerate(said):
        near = [k == kind == "turn" and s == session and abs(n - seq) == 1 for k, s, n in said]
        assert grown.beside(np.array([row])).tolist() == near
