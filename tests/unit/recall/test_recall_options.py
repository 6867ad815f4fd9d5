"""What can be set of the ranking: each setting does what it says, and as they stand they change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from memproxy.model import Candidate
from memproxy.recall.profiles import DEFAULT, GATHER, PINPOINT, profile_of
from memproxy.recall.query import read_query
from memproxy.recall.recall import manner_of
from memproxy.recall.weights import PLAIN, Manner
from memproxy.settings import Recall
from tests.memories import START, candidate, ranked


def found(question: str, candidates: Sequence[Candidate], **changed: Any) -> list[int]:
    """The numbers of what is found, best first."""
    floor = changed.pop("floor", None)
    return [s.candidate.passage_id for s in ranked(question, candidates, floor=floor, manner=Manner(**changed))]


def test_the_settings_as_they_stand_are_the_plain_manner() -> None:
    assert manner_of(Recall()) == PLAIN
    wanted = Manner("rrf", "gather", 0.3, 0.2, 30)
    assert manner_of(Recall(fusion="rrf", profile="gather", mmr=0.3, recency=0.2, recency_days=30)) == wanted


def test_rrf_goes_by_the_place_in_each_leg_and_linear_by_what_it_is() -> None:
    near = [
        candidate("the kayak lies on the shore", 1, cosine=0.61),
        candidate("we paddled all day", 2, cosine=0.60),
        candidate("the kayak, my kayak, a kayak", 3, cosine=0.2),
        candidate("paint for the hull", 4, cosine=0.1),
    ]
    legs = {
        fusion: {
            s.candidate.passage_id: s.reasons.get("dense", 0.0)
            for s in ranked("kayak", near, manner=Manner(fusion=fusion))
        }
        for fusion in ("weighted", "rrf", "linear")
    }
    assert legs["weighted"] == pytest.approx({1: 1.0, 2: 50 / 51, 3: 10 / 51, 4: 0.0})
    assert legs["rrf"] == pytest.approx({1: 1.0, 2: 61 / 62, 3: 61 / 63, 4: 61 / 64})
    assert legs["linear"] == pytest.approx({1: 0.61, 2: 0.6, 3: 0.2, 4: 0.1})


def test_mmr_prefers_what_says_something_else() -> None:
    said = [
        candidate("my kayak is red and lies in the boathouse", 1, cosine=0.8),
        candidate("my kayak is red and lies in that boathouse", 2, cosine=0.79),
        candidate("the kayak has a leak near the stern", 3, cosine=0.7),
    ]
    assert found("What about my kayak?", said) == [1, 2, 3]
    assert found("What about my kayak?", said, mmr=0.7) == [1, 3, 2]


def test_recency_lets_what_was_said_lately_come_first_within_its_window() -> None:
    old, new = candidate("I like sailing boats", 1, cosine=0.8), candidate("I like rowing boats", 95, cosine=0.7)
    assert found("Which boats do I like?", [old, new]) == [1, 95]
    assert found("Which boats do I like?", [old, new], recency=0.6) == [95, 1]
    assert found("Which boats do I like?", [old, new], recency=0.6, recency_days=2) == [1, 95]  # both are past it


def _conversations() -> list[Candidate]:
    """Eight turns of one conversation about kayaks, apart from each other, and one of another that is less near."""
    words = "red blue green white black brown grey pink".split()
    here = [
        candidate(f"my {word} kayak", n, session_id="s", seq=10 * n, cosine=0.8 - n / 100)
        for n, word in enumerate(words, 1)
    ]
    return [*here, candidate("a kayak was stolen", 50, session_id="t", cosine=0.6)]


def test_gather_takes_so_many_of_a_conversation_and_then_what_others_say_and_fills_up_with_the_rest() -> None:
    plain, gathered = found("kayak", _conversations()), found("kayak", _conversations(), profile="gather")
    assert plain.index(50) > 5
    assert gathered.index(50) == 5
    assert sorted(gathered) == sorted(plain)


def test_gather_brings_the_turns_beside_what_is_found() -> None:
    said = [
        candidate("where do you keep the kayak?", 1, session_id="s", seq=1, cosine=0.8),
        candidate("in the shed", 2, session_id="s", seq=2, role="assistant", cosine=0.1),
        *(candidate(f"a paddle, number {n}", n, session_id=f"s{n}", cosine=0.5) for n in range(3, 9)),
    ]
    asked, beside = (
        next(s for s in ranked("kayak", said, manner=Manner(profile=name)) if s.candidate.passage_id == 2)
        for name in ("default", "gather")
    )
    assert beside.score > asked.score
    assert beside.reasons["around"] > 0


def test_pinpoint_goes_less_deep_and_has_a_higher_bar() -> None:
    weak = [candidate("we talked about this and that", 1, cosine=0.57)]
    assert found("my own things", weak, floor=0.55) == [1]
    assert found("my own things", weak, floor=0.55, profile="pinpoint") == []
    assert PINPOINT.depth(100) == 25
    assert GATHER.depth(100) == 200
    assert DEFAULT.depth(100) == 100


@pytest.mark.parametrize(
    ("question", "profile"),
    [
        ("List all the books I read", GATHER),
        ("How many cities have I been to?", GATHER),
        ("Wie viele Bücher habe ich gelesen?", GATHER),
        ("我读过的所有书", GATHER),
        ("Where does my sister live?", PINPOINT),
        ("How many days passed between the move and the party?", PINPOINT),
        ("When did I start to row?", PINPOINT),
        ("I bought a kayak", DEFAULT),
    ],
)
def test_auto_goes_by_the_shape_of_the_question(question: str, profile: object) -> None:
    assert profile_of("auto", read_query(question, now=START)) == profile


def test_whom_the_best_passages_name_leads_to_what_else_is_said_of_them() -> None:
    said = [
        candidate("the boat I have is from old Quirin, who sold it cheaply", 1, cosine=0.7),
        candidate("this morning Quirin opened a bakery", 2, cosine=0.3),
        candidate("this morning somebody opened a brewery", 3, cosine=0.3),
        *(candidate(f"nothing of the sort, number {n}", n, cosine=0.25) for n in range(4, 12)),
    ]
    best, second, *_ = ranked("Who sold me the boat?", said)
    assert (best.candidate.passage_id, second.candidate.passage_id) == (1, 2)
    assert second.reasons["linked"] > 0


def test_a_question_of_whoever_is_named_tells_less_than_what_they_say() -> None:
    said = [
        candidate("Do you like the harbour, Ines?", 1, speaker="Bram", cosine=0.5),
        candidate("I like the harbour, Ines", 2, speaker="Bram", cosine=0.5),
    ]
    statement, question = ranked("What does Bram think of the harbour?", said, speakers=["Bram", "Ines"])
    assert statement.candidate.passage_id == 2
    assert question.reasons["asking"] < 0
    assert not any(s.reasons.get("asking") for s in ranked("What about the harbour?", said))
