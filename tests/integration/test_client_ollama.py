"""The `ollama` client against the proxy: memory appears upstream, and the client notices nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ollama
import pytest

from tests.clients import block, both_ways, ollama_chat, one_body
from tests.world import World

pytestmark = pytest.mark.anyio

PRICE = "The bakery on the corner of Ostgata sells rye for 42 kroner"
QUESTION = "How much is the rye at the bakery?"
ANSWER = "It is 42 kroner, naïvely ✅."
streamed = pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streamed"])


async def ask(url: str, who: str, messages: list[dict[str, Any]], streaming: bool) -> Any:
    """What the client sees of an answer, field by field."""
    async with ollama.AsyncClient(host=url, headers={"X-MemG-Entity": who}) as speaking:
        if not streaming:
            return (await speaking.chat(model="m", messages=messages)).model_dump()
        chunks = await speaking.chat(model="m", messages=messages, stream=True)
        return [chunk.model_dump() async for chunk in chunks]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


@streamed
async def test_what_was_told_once_is_there_later_for_the_same_person_only(tmp_path: Path, streaming: bool) -> None:
    async with World.open(tmp_path, embed__provider="local") as world:
        world.up.default = lambda request: ollama_chat("Noted.", streaming=streaming)
        await ask(world.url, "ilse", [user(PRICE)], streaming)
        await world.drain()
        turns = [(turn["role"], turn["content"]) for turn in await world.turns("ilse")]
        assert sorted(turns) == [("assistant", "Noted."), ("user", PRICE)]
        await ask(world.url, "ilse", [{"role": "system", "content": "Be kind."}, user(QUESTION)], streaming)
        assert "42 kroner" in world.block()
        assert world.messages[0]["content"] == f"Be kind.\n\n{world.block()}"
        await ask(world.url, "bo", [user(QUESTION)], streaming)
        assert world.block() == ""
        assert b"42 kroner" not in world.sent


@streamed
async def test_the_clients_view_is_the_same_as_without_a_proxy(world: World, streaming: bool) -> None:
    await world.seed("ilse", PRICE)
    direct, proxied = await both_ways(
        world, ollama_chat(ANSWER, streaming=streaming), lambda url: ask(url, "ilse", [user(QUESTION)], streaming)
    )
    assert direct == proxied
    alone, injected = (request.json() for request in world.up.requests)
    assert injected["messages"] == [user(f"{QUESTION}\n\n{block(world.sent)}")]
    assert {**injected, "messages": alone["messages"]} == alone


async def test_errors_in_a_stream_are_the_clients_usual_errors_and_nothing_is_kept(world: World) -> None:
    begun = ollama_chat("It is", streaming=True)
    world.up.reply_raw(200, begun.headers, [begun.pieces[0], b'{"error":"the runner has stopped"}\n'])
    with pytest.raises(ollama.ResponseError, match="the runner has stopped"):
        await ask(world.url, "ilse", [user(QUESTION)], True)
    assert await world.turns("ilse") == []


async def test_other_calls_pass_through(world: World) -> None:
    world.up.reply_answer(one_body({"models": [{"model": "m", "size": 5}]}))
    async with ollama.AsyncClient(host=world.url, headers={"X-MemG-Entity": "ilse"}) as speaking:
        assert [model.model for model in (await speaking.list()).models] == ["m"]
    assert world.up.requests[-1].target == b"/api/tags"
    assert world.up.requests[-1].header("x-memg-entity") is None
