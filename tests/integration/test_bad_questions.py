"""Bad input gets a sensible block or none, and a counter, never an error."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.world import World, user

BOAT = "My boat Tern lies in Tolm harbour."


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with World.open(tmp_path_factory.mktemp("world"), recall__threshold=0.05) as world:
        await world.say("Bo", [], BOAT)
        await world.heard("Bo", 1)
        await world.drain()
        yield world


async def asked(world: World, question: str, who: str = "Bo") -> str:
    response = await world.chat(who, [user(question)], {"X-MemG-Memory": "read"})
    assert response.status_code == 200, response.text
    assert world.messages[-1] == user(question)
    return world.block()


async def test_a_question_of_a_million_characters_is_asked_by_its_beginning_and_its_end(world: World) -> None:
    before = await world.metric("memproxy_shortened_total", where="query")
    question = "and so on and on " * 60_000 + "\nWhere does my boat Tern lie?"
    assert BOAT in await asked(world, question)
    assert await world.metric("memproxy_shortened_total", where="query") == before + 1


async def test_an_empty_memory_gives_no_block(world: World) -> None:
    response = await world.chat("nobody", [user("Where does my boat lie?")], {"X-MemG-Memory": "read"})
    assert response.status_code == 200
    assert world.block() == ""
    assert "nothing-relevant" in response.headers["X-MemG-Memory"]


@pytest.mark.parametrize(
    "question", ["?!?!", "...", "👍🏽👨‍👩‍👧‍👦🎉", "—", "\u200b\u200d", "()[]{}<>", "'\"`", "\x00\x01", "  \n"]
)
async def test_only_marks_or_pictures_ask_for_nothing(world: World, question: str) -> None:
    assert await asked(world, question) == ""


@pytest.mark.parametrize(
    "question",
    [
        'boat AND NOT "Tern"', "boat* OR NEAR(tern, 5)", "terms:boat", '"boat', "boat') --", "^boat", "boat:*",
        "{a b}: boat", "%boat_", "NEAR(boat", "boat\x00tern",
    ],
)  # fmt: skip
async def test_the_syntax_of_search_engines_is_text(world: World, question: str) -> None:
    await asked(world, question)
    response = await world.client.get(world.of("Bo", "/search"), params={"query": question, "kind": "turn"})
    assert response.status_code == 200
    best = response.json()["items"][:1]
    assert [hit["text"] for hit in best] == [BOAT]


async def test_indexes_that_were_dropped_under_the_proxy_cost_no_request_and_are_made_again(tmp_path: Path) -> None:
    async with World.open(tmp_path, recall__threshold=0.2, recall__resident=0) as world:
        await world.say("Bo", [], BOAT)
        await world.heard("Bo", 1)
        await world.drain()
        database = sqlite3.connect(tmp_path / "store" / "memory.db")
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE name = 'passage_index'")]
        for table in tables:
            database.execute(f"DROP TABLE {table}")
        database.commit()
        database.close()
        assert tables
        assert await asked(world, "Where does my boat lie?") in ("", world.block())
        assert (await world.client.get(world.own("entities"))).status_code == 200
        await world.restart()
        assert BOAT in await asked(world, "Where does my boat lie?")


async def test_a_model_that_was_swapped_without_making_vectors_anew_leaves_the_words(tmp_path: Path) -> None:
    async with World.open(tmp_path, recall__threshold=0.2, embed__reembed="manual") as world:
        await world.say("Bo", [], BOAT)
        await world.heard("Bo", 1)
        await world.drain()
        database = sqlite3.connect(tmp_path / "store" / "memory.db")
        for table in ("vectors", "passages"):
            database.execute(f"UPDATE {table} SET model = 'another@64' WHERE model IS NOT NULL")
        database.commit()
        database.close()
        await world.restart()
        assert BOAT in await asked(world, "Where does my boat Tern lie?")
        assert await world.metric("memproxy_recall_lexical_only_total", reason="reembedding") == 1
