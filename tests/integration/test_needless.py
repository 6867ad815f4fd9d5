"""Requests that need no memory get none, from a memory that is not empty; questions about what it holds get theirs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from itertools import islice

import pytest

from memproxy.bench import past
from memproxy.bench.dataset import Recorded, RecordedTurn
from memproxy.bench.needless import REQUESTS
from memproxy.bench.searched import SearchedMemory, searched_memory

NOW = datetime(2026, 11, 30, tzinfo=UTC)
TOLD = {
    "Where does my sister Wren work?": "My sister Wren works nights at a hospital in Tromsø.",
    "What am I allergic to?": "I am allergic to walnuts, so no cake for me.",
    "Wie heißt meine Katze?": "Meine Katze heißt Mokka und ist drei Jahre alt.",
    "who repaired the accordion?": "Old Linnet repaired the accordion for forty euros.",
}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def memory(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SearchedMemory]:
    said = [(turn["content"], turn["time"]) for turn in islice(past.turns(40), 40)]
    said += [(text, "2026-03-01T12:00:00Z") for text in TOLD.values()]
    turns = [
        RecordedTurn(str(n), str(n // 4), time.removesuffix("Z"), "user", text, "user")
        for n, (text, time) in enumerate(said)
    ]
    async with searched_memory(tmp_path_factory.mktemp("needless")) as memory:
        await memory.ingest(Recorded("ada", turns, []))
        yield memory


async def test_c12_two_hundred_requests_that_need_no_memory_get_next_to_none(memory: SearchedMemory) -> None:
    assert len(set(REQUESTS)) == 200
    empty = [not (await memory.search("ada", request, NOW)).items for request in REQUESTS]
    assert sum(empty) >= 0.9 * len(empty)


async def test_what_is_asked_about_the_person_is_found(memory: SearchedMemory) -> None:
    for question, told in TOLD.items():
        best = (await memory.search("ada", question, NOW)).items[0]
        assert told in best.text


async def test_every_candidate_is_explained_and_what_is_found_is_the_same(memory: SearchedMemory) -> None:
    question = "Where does my sister Wren work?"
    found = (await memory.search("ada", question, NOW)).found
    weighed = await memory.explain("ada", question, NOW)
    kept = [one for one in weighed if one.verdict == "found"]
    assert [one.candidate.owner_id for one in kept] == [scored.candidate.owner_id for scored in found.scored]
    # The first may be answered from disk and the second from memory: alike, but for the last digits.
    assert [one.score for one in kept] == pytest.approx([scored.score for scored in found.scored], abs=1e-5)
    assert {one.verdict for one in weighed} == {"found", "unrelated"}
    best = kept[0]
    assert best.score == pytest.approx(sum(best.reasons.values()))
    assert best.bm25 > 0
    assert best.coverage > 0.5
    assert best.cosine is not None
