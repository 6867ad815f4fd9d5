"""Ranking: related before unrelated, nothing where nothing bears on the question, and the same order every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from memproxy.model import Candidate
from memproxy.recall.lexical import idf
from memproxy.recall.ranking import Weights
from tests.memories import candidate, ranked

FLOOR = 0.6


def owners(question: str, candidates: Sequence[Candidate], **options: Any) -> list[str]:
    return [s.candidate.owner_id for s in ranked(question, candidates, **options)]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_l10_a_match_in_a_tiny_memory_ranks_first_with_a_positive_score(count: int) -> None:
    memories = [candidate("I like otters" if i < max(count // 2, 1) else "I row", i) for i in range(count)]
    best = ranked("otters", memories, floor=FLOOR)[0]
    assert "otters" in best.candidate.text
    assert best.score > 0


def test_l10_an_empty_memory_gives_nothing() -> None:
    assert ranked("otters", [], floor=FLOOR) == []


def test_the_weight_of_a_term_is_never_negative() -> None:
    assert all(idf(n, k) > 0 for n in range(20) for k in range(n + 2))


def test_c12_the_best_of_unrelated_memories_is_still_unrelated() -> None:
    memories = [candidate(f"Statement number {i} about gardening", i, cosine=0.4 + i / 100) for i in range(8)]
    assert ranked("what's the weather", memories, floor=FLOOR) == []
    assert len(ranked("what's the weather", memories, floor=None)) == 8


def test_one_clear_match_does_not_drag_in_the_unrelated() -> None:
    memories = [candidate("Has a dog, Moss", 0, cosine=0.66)] + [
        candidate(f"Filler {i}", i, cosine=0.4) for i in (1, 2)
    ]
    assert owners("what food for Moss?", memories, floor=FLOOR) == ["id0000"]


def test_k3_without_vectors_words_alone_decide() -> None:
    memories = [candidate("My sister Jorun trains falcons", 0), candidate("The rent went up", 1)]
    assert owners("what does Jorun train?", memories, floor=FLOOR) == ["id0000"]
    assert ranked("what's the weather", memories, floor=FLOOR) == []


def test_a_turn_that_has_no_vector_yet_is_found_by_its_words() -> None:
    memories = [candidate("I live in Tolm", 0), candidate("The rent went up", 1, cosine=0.45)]
    assert "id0000" in owners("where do I live?", memories, floor=FLOOR)


def test_the_persons_own_words_come_before_the_assistants() -> None:
    memories = [
        candidate("Otters live in rivers", 0, role="assistant", cosine=0.8),
        candidate("Otters live in rivers", 1, cosine=0.8),
    ]
    assert owners("otters in rivers", memories)[0] == "id0001"
    assert ranked("what did you say about otters?", memories)[0].reasons.get("own") is None


def test_a_named_participants_words_come_first() -> None:
    memories = [
        candidate("I paint rivers", 0, speaker="Mel", role="assistant", cosine=0.7),
        candidate("I paint rivers", 1, speaker="Caro", cosine=0.7),
    ]
    assert owners("What does Mel paint?", memories, speakers=["Mel", "Caro"])[0] == "id0000"


def test_a_fact_lifts_the_turn_it_was_taken_from() -> None:
    turn = candidate("We moved into the flat by the harbour, Pia and I", 0, cosine=0.5)
    other = candidate("The bakery by the station closed", 1, cosine=0.55)
    about = candidate(
        "Lives in Tolm", 2, kind="fact", owner_id="f1", turn_id="id0000", session_id="s0", seq=0, cosine=0.8
    )
    with_fact = owners("where do I live?", [turn, other, about])
    assert with_fact.index("id0000") < with_fact.index("id0001")
    assert "f1" in with_fact  # it says more than the turn does


def test_a_fact_whose_words_the_turn_says_is_not_said_twice() -> None:
    turn = candidate("By the way, I have a dog called Moss", 0, cosine=0.7)
    about = candidate("Has a dog called Moss", 1, kind="fact", owner_id="f1", turn_id="id0000", cosine=0.8)
    found = ranked("my dog Moss", [turn, about])
    assert [s.candidate.owner_id for s in found] == ["id0000"]
    assert found[0].reasons["fact"] > 0


def test_a_fact_whose_turn_was_not_found_stands_alone() -> None:
    about = candidate("Has a dog called Moss", 1, kind="fact", owner_id="f1", turn_id="gone", cosine=0.8)
    assert owners("my dog Moss", [about], floor=FLOOR) == ["f1"]


def test_turns_beside_a_good_one_gain() -> None:
    def conversation(seq: int, text: str) -> Candidate:
        return candidate(text, seq, session_id="one", seq=seq, cosine=0.5)

    memories = [
        conversation(1, "It was foggy"),
        conversation(2, "The ferry to Brask sank"),
        candidate("It was foggy", 9, cosine=0.5),
    ]
    found = ranked("what happened to the ferry to Brask?", memories, weights=replace(Weights(), session=0.0))
    assert [s.candidate.owner_id for s in found] == ["id0002", "id0001", "id0009"]
    assert found[1].reasons["lexical"] > 0


def test_the_order_does_not_depend_on_the_order_of_candidates() -> None:
    memories = [candidate(f"otters and rivers {i % 3}", i, cosine=0.6 + (i % 4) / 100) for i in range(30)]
    assert owners("otters", memories) == owners("otters", list(reversed(memories)))


def test_at_most_limit_are_returned() -> None:
    assert len(ranked("otters", [candidate("otters", i) for i in range(30)], limit=7)) == 7


def test_l14_many_passages_are_offered_whole_and_only_near_ones() -> None:
    long = "otters " + "and what they eat in the river, " * 14
    near = [candidate(f"{long}{i}", i, cosine=0.7) for i in range(40)]
    far = [candidate(f"Rent, number {i}", 100 + i, cosine=0.3) for i in range(40)]
    found = ranked("what do my otters eat?", [*near, *far], floor=FLOOR)
    assert {s.candidate.passage_id for s in found} == set(range(40))
    assert all(s.candidate.text.startswith(long) for s in found)


def test_l21_a_common_word_brings_up_nothing_by_itself() -> None:
    memories = [candidate(f"I went to the town on day {i}", i) for i in range(30)]
    memories.append(candidate("I keep a falcon called Jorun", 99))
    assert owners("which town has my falcon Jorun seen?", memories, floor=FLOOR) == ["id0099"]


def test_l22_a_long_conversation_does_not_crowd_out_the_others() -> None:
    one = [candidate(f"My kayak, part {i}", i, session_id="one", seq=i + 1, cosine=0.66) for i in range(40)]
    other = candidate("My kayak is called Petrel", 90, session_id="other", cosine=0.72)
    found = owners("what is my kayak called?", [*one, other], floor=FLOOR)
    assert found[0] == "id0090"
    assert len(found) == 41


@pytest.mark.parametrize("question", ["", "?!…", "🦦🦦🦦", '"otters" OR (*)', "x" * 1_000_000, "otters " * 100_000])
def test_any_question_gives_a_sensible_answer(question: str) -> None:
    memories = [candidate("I like otters", 0), candidate("The rent went up", 1)]
    found = ranked(question, memories, floor=FLOOR)
    assert {s.candidate.owner_id for s in found} <= {"id0000"}
    assert found or "otters" not in question
