"""The `openai` client against the proxy: memory appears upstream, and the client notices nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openai
import pytest

from memproxy.testing.upstream import completion, stream
from tests.world import World

pytestmark = pytest.mark.anyio

PRICE = "The bakery on the corner of Ostgata sells rye for 42 kroner"


def client(url: str, who: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url=f"{url}/v1", api_key="client-key", default_headers={"X-MemG-Entity": who}, max_retries=0
    )


async def ask(url: str, who: str, text: str, streaming: bool) -> Any:
    """What the client sees of an answer, field by field."""
    async with client(url, who) as speaking:
        messages: Any = [{"role": "user", "content": text}]
        if not streaming:
            return (await speaking.chat.completions.create(model="m", messages=messages)).model_dump()
        chunks = await speaking.chat.completions.create(model="m", messages=messages, stream=True)
        return [chunk.model_dump() async for chunk in chunks]


@pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streamed"])
async def test_what_was_told_in_one_conversation_is_there_in_a_later_one_for_the_same_person_only(
    tmp_path: Path, streaming: bool
) -> None:
    async with World.open(tmp_path, embed__provider="local") as world:
        await ask(world.url, "ilse", PRICE, streaming)
        await world.drain()
        await ask(world.url, "ilse", "How much is the rye at the bakery?", streaming)
        assert "42 kroner" in world.block()
        await ask(world.url, "bo", "How much is the rye at the bakery?", streaming)
        assert world.block() == ""
        assert b"42 kroner" not in world.sent


@pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streamed"])
async def test_the_clients_view_is_the_same_as_without_a_proxy(world: World, streaming: bool) -> None:
    await world.seed("ilse", PRICE)
    answer = stream("It is 42 kroner, naïvely ✅.", size=3) if streaming else completion("It is 42 kroner ✅.")
    seen = []
    for url in (world.up.url, world.url):
        world.up.reply_with(lambda request: answer)
        seen.append(await ask(url, "ilse", "How much is the rye at the bakery?", streaming))
    assert world.block() != ""
    assert seen[0] == seen[1]


async def test_errors_of_the_upstream_are_the_clients_usual_errors(world: World) -> None:
    body = b'{"error": {"message": "slow down", "type": "rate_limit", "param": null, "code": "rate_limit"}}'
    world.up.reply_raw(429, [("content-type", "application/json"), ("retry-after", "7")], [body])
    with pytest.raises(openai.RateLimitError) as caught:
        await ask(world.url, "ilse", "How much is the rye?", False)
    assert caught.value.response.headers["retry-after"] == "7"


async def test_other_endpoints_pass_through(world: World) -> None:
    world.up.reply_raw(
        200, [("content-type", "application/json")], [b'{"object":"list","data":[{"id":"m","object":"model"}]}']
    )
    async with client(world.url, "ilse") as speaking:
        models = [model.id async for model in await speaking.models.list()]
    assert models == ["m"]
    assert world.up.requests[-1].target == b"/v1/models"
    assert world.up.requests[-1].header("x-memg-entity") is None
