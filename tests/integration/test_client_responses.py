"""The `openai` client's Responses, and its Azure twin: memory appears upstream, and the client notices nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openai
import pytest

from memproxy.testing.upstream import completion, stream
from tests.clients import block, both_ways, response
from tests.world import World

pytestmark = pytest.mark.anyio

PRICE = "The bakery on the corner of Ostgata sells rye for 42 kroner"
QUESTION = "How much is the rye at the bakery?"
ANSWER = "It is 42 kroner, naïvely ✅."
streamed = pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streamed"])


def client(url: str, who: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url=f"{url}/v1", api_key="client-key", default_headers={"X-MemG-Entity": who}, max_retries=0
    )


def azure(url: str, who: str) -> openai.AsyncAzureOpenAI:
    return openai.AsyncAzureOpenAI(
        azure_endpoint=url,
        api_key="client-key",
        api_version="2025-04-01-preview",
        default_headers={"X-MemG-Entity": who},
        max_retries=0,
    )


async def ask(speaking: openai.AsyncOpenAI, given: Any, streaming: bool, **more: Any) -> Any:
    """What the client sees of an answer, field by field."""
    async with speaking:
        if not streaming:
            return (await speaking.responses.create(model="m", input=given, **more)).model_dump()
        events = await speaking.responses.create(model="m", input=given, stream=True, **more)
        return [event.model_dump() async for event in events]


@streamed
async def test_what_was_told_once_is_there_later_for_the_same_person_only(tmp_path: Path, streaming: bool) -> None:
    async with World.open(tmp_path, embed__provider="local") as world:
        world.up.default = lambda request: response("Noted.", streaming=streaming)
        await ask(client(world.url, "ilse"), PRICE, streaming)
        await world.drain()
        turns = [(turn["role"], turn["content"]) for turn in await world.turns("ilse")]
        assert sorted(turns) == [("assistant", "Noted."), ("user", PRICE)]
        await ask(client(world.url, "ilse"), [{"role": "user", "content": QUESTION}], streaming)
        assert "42 kroner" in block(world.sent)
        assert "42 kroner" in world.up.requests[-1].json()["instructions"]
        await ask(client(world.url, "bo"), QUESTION, streaming)
        assert block(world.sent) == ""
        assert b"42 kroner" not in world.sent


@streamed
@pytest.mark.parametrize("make", [client, azure])
async def test_the_clients_view_is_the_same_as_without_a_proxy(world: World, streaming: bool, make: Any) -> None:
    await world.seed("ilse", PRICE)

    async def view(url: str) -> Any:
        return await ask(make(url, "ilse"), QUESTION, streaming, instructions="Be brief.", store=False)

    direct, proxied = await both_ways(world, response(ANSWER, streaming=streaming), view)
    assert direct == proxied
    alone, injected = (request.json() for request in world.up.requests)
    assert world.up.requests[0].target == world.up.requests[1].target
    assert injected["instructions"] == f"Be brief.\n\n{block(world.sent)}"
    assert {**injected, "instructions": alone["instructions"]} == alone


async def test_the_clients_own_stream_helper_sees_the_same(world: World) -> None:
    await world.seed("ilse", PRICE)

    async def view(url: str) -> Any:
        async with client(url, "ilse") as speaking, speaking.responses.stream(model="m", input=QUESTION) as events:
            seen = [event.model_dump(warnings=False) async for event in events]
            return seen, (await events.get_final_response()).output_text

    direct, proxied = await both_ways(world, response(ANSWER, streaming=True), view)
    assert block(world.sent) != ""
    assert direct == proxied
    assert proxied[1] == ANSWER


@streamed
async def test_a_request_that_goes_on_from_an_answer_goes_up_with_its_block(world: World, streaming: bool) -> None:
    await world.seed("ilse", PRICE)
    world.up.reply_answer(response("Go on.", streaming=streaming))
    await ask(client(world.url, "ilse"), QUESTION, streaming, previous_response_id="resp_0")
    sent = world.up.requests[-1].json()
    assert (sent["input"], sent["previous_response_id"]) == (QUESTION, "resp_0")
    assert sent["instructions"] == block(world.sent) != ""


async def test_an_answer_that_was_cut_short_is_kept_as_one(world: World) -> None:
    whole = response("It is 42", streaming=True)
    world.up.reply_raw(200, whole.headers, whole.pieces[:-4])
    await ask(client(world.url, "ilse"), "How much is the rye?", True)
    assert [turn["content"] for turn in await world.turns("ilse") if turn["role"] == "assistant"] == ["It is 42"]


async def test_errors_of_the_upstream_are_the_clients_usual_errors(world: World) -> None:
    body = b'{"error": {"message": "slow down", "type": "rate_limit", "param": null, "code": "rate_limit"}}'
    world.up.reply_raw(429, [("content-type", "application/json"), ("retry-after", "7")], [body])
    with pytest.raises(openai.RateLimitError) as caught:
        await ask(client(world.url, "ilse"), "How much is the rye?", False)
    assert caught.value.response.headers["retry-after"] == "7"


async def test_other_calls_about_answers_pass_through(world: World) -> None:
    world.up.reply_answer(response(ANSWER))
    async with client(world.url, "ilse") as speaking:
        assert (await speaking.responses.retrieve("resp_scripted")).output_text == ANSWER
    assert world.up.requests[-1].target == b"/v1/responses/resp_scripted"
    assert world.up.requests[-1].header("x-memg-entity") is None


@streamed
async def test_azure_chats_are_chats(world: World, streaming: bool) -> None:
    await world.seed("ilse", PRICE)

    async def view(url: str) -> Any:
        async with azure(url, "ilse") as speaking:
            messages: Any = [{"role": "user", "content": QUESTION}]
            if not streaming:
                return (await speaking.chat.completions.create(model="gpt-x", messages=messages)).model_dump()
            chunks = await speaking.chat.completions.create(model="gpt-x", messages=messages, stream=True)
            return [chunk.model_dump() async for chunk in chunks]

    direct, proxied = await both_ways(world, stream(ANSWER, size=3) if streaming else completion(ANSWER), view)
    assert direct == proxied
    target = b"/openai/deployments/gpt-x/chat/completions?api-version=2025-04-01-preview"
    assert [request.target for request in world.up.requests] == [target, target]
    assert world.up.requests[-1].header("api-key") == "client-key"
    assert "42 kroner" in block(world.sent)
    assert await world.said("ilse") == [QUESTION]
