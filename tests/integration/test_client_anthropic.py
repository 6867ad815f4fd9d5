"""The `anthropic` client against the proxy: memory appears upstream, and the client notices nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anyio import to_thread

from memproxy.testing import Answer
from tests.clients import block, both_ways, one_body
from tests.world import World

pytestmark = pytest.mark.anyio

PRICE = "The bakery on the corner of Ostgata sells rye for 42 kroner"
QUESTION = "How much is the rye at the bakery?"
ANSWER = "It is 42 kroner, naïvely ✅."
TOOLS = [{"name": "prices", "input_schema": {"type": "object", "properties": {"of": {"type": "string"}}}}]
CALL = {"type": "tool_use", "id": "toolu_1", "name": "prices", "input": {"of": "rye"}}
streamed = pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streamed"])

# --- what the upstream says ----------------------------------------------------------------------------------


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text, "citations": None}


def answer(*blocks: dict[str, Any], streaming: bool = False, stop: str = "end_turn") -> Answer:
    """A message of these blocks, in one body or as a stream."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "usage": usage}
    if not streaming:
        return one_body({**message, "content": list(blocks), "stop_reason": stop, "stop_sequence": None})
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "stop_sequence": None}},
        {"type": "ping"},
    ]
    empty: dict[str, dict[str, Any]] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"input": {}},
    }
    for index, one in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": {**one, **empty[one["type"]]}})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas(one)]
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage})
    events.append({"type": "message_stop"})
    pieces = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]
    return Answer(200, [("content-type", "text/event-stream; charset=utf-8")], pieces)


def deltas(one: dict[str, Any]) -> list[dict[str, Any]]:
    if one["type"] == "text":
        pieces = [one["text"][at : at + 3] for at in range(0, len(one["text"]), 3)]
        return [{"type": "text_delta", "text": piece} for piece in pieces]
    if one["type"] == "thinking":
        signature = {"type": "signature_delta", "signature": one["signature"]}
        return [{"type": "thinking_delta", "thinking": one["thinking"]}, signature]
    written = json.dumps(one["input"])
    return [{"type": "input_json_delta", "partial_json": piece} for piece in (written[:5], written[5:])]


# --- what an app does ----------------------------------------------------------------------------------------


def options(url: str, who: str) -> dict[str, Any]:
    return {
        "base_url": url,
        "api_key": "client-key",
        "default_headers": {"X-MemG-Entity": who},
        "max_retries": 0,
    }


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


async def ask(url: str, who: str, messages: list[dict[str, Any]], streaming: bool = False, **more: Any) -> Any:
    """What the client sees of an answer, field by field."""
    request: Any = {"model": "claude", "max_tokens": 100, "messages": messages, **more}
    async with anthropic.AsyncAnthropic(**options(url, who)) as speaking:
        if not streaming:
            return (await speaking.messages.create(**request)).model_dump()
        async with speaking.messages.stream(**request) as stream:
            events = [event.model_dump(warnings=False) async for event in stream]
            return [*events, (await stream.get_final_message()).model_dump(warnings=False)]


def ask_in_a_thread(url: str, who: str, messages: list[dict[str, Any]], streaming: bool = False) -> Any:
    """The same with the client that is not asynchronous."""
    request: Any = {"model": "claude", "max_tokens": 100, "messages": messages}
    with anthropic.Anthropic(**options(url, who)) as speaking:
        if not streaming:
            return speaking.messages.create(**request).model_dump()
        with speaking.messages.create(**request, stream=True) as stream:
            return [event.model_dump() for event in stream]


# --- tests ---------------------------------------------------------------------------------------------------


@streamed
async def test_what_was_told_once_is_there_later_for_the_same_person_only(tmp_path: Path, streaming: bool) -> None:
    async with World.open(tmp_path, embed__provider="local") as world:
        world.up.default = lambda request: answer(words("Noted."), streaming=streaming)
        await ask(world.url, "ilse", [user(PRICE)], streaming)
        await world.drain()
        turns = [(turn["role"], turn["content"]) for turn in await world.turns("ilse")]
        assert sorted(turns) == [("assistant", "Noted."), ("user", PRICE)]
        await ask(world.url, "ilse", [user(QUESTION)], streaming, system="Be kind.")
        assert "42 kroner" in block(world.sent)
        assert json.loads(world.sent)["system"] == f"Be kind.\n\n{block(world.sent)}"
        await ask(world.url, "bo", [user(QUESTION)], streaming)
        assert block(world.sent) == ""
        assert b"42 kroner" not in world.sent


@streamed
@pytest.mark.parametrize("threaded", [False, True], ids=["async", "sync"])
async def test_the_clients_view_is_the_same_as_without_a_proxy(world: World, streaming: bool, threaded: bool) -> None:
    await world.seed("ilse", PRICE)
    thinking = {"type": "thinking", "thinking": "Rye, rye …", "signature": "c2ln"}
    given = answer(thinking, words(ANSWER), CALL, streaming=streaming, stop="tool_use")

    async def asking(url: str) -> Any:
        if threaded:
            return await to_thread.run_sync(ask_in_a_thread, url, "ilse", [user(QUESTION)], streaming)
        return await ask(url, "ilse", [user(QUESTION)], streaming)

    direct, proxied = await both_ways(world, given, asking)
    assert direct == proxied
    alone, injected = (request.json() for request in world.up.requests)
    assert injected == {**alone, "system": block(world.sent)}
    assert [turn["content"] for turn in await world.turns("ilse") if turn["role"] == "assistant"] == [ANSWER]


@streamed
async def test_a_tool_loop_carries_the_same_block_and_is_one_turn(world: World, streaming: bool) -> None:
    await world.seed("ilse", PRICE)
    said = [user(QUESTION)]
    world.up.reply_answer(answer(words("I will look."), CALL, streaming=streaming, stop="tool_use"))
    await ask(world.url, "ilse", said, streaming, tools=TOOLS)
    first = block(world.sent)
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "42"}
    said += [assistant([words("I will look."), CALL]), user([result])]
    direct, proxied = await both_ways(
        world,
        answer(words(ANSWER), streaming=streaming),
        lambda url: ask(url, "ilse", said, streaming, tools=TOOLS),
    )
    assert direct == proxied
    assert block(world.sent) == first != ""
    assert json.loads(world.sent)["messages"] == json.loads(world.up.requests[-2].body)["messages"]
    turns = [(turn["role"], turn["content"]) for turn in await world.turns("ilse")]
    assert sorted(turns) == sorted([("user", QUESTION), ("assistant", "I will look."), ("assistant", ANSWER)])


async def test_in_the_users_message_a_block_stands_after_results_and_breakpoints(tmp_path: Path) -> None:
    async with World.open(tmp_path, memory__placement="user") as world:
        await world.seed("ilse", PRICE)
        world.up.reply_answer(answer(words(ANSWER)))
        cached = {"type": "text", "text": QUESTION, "cache_control": {"type": "ephemeral"}}
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "none"}
        await ask(world.url, "ilse", [user("Look."), assistant([CALL]), user([result, cached])])
        assert json.loads(world.sent)["messages"][-1]["content"] == [
            result,
            cached,
            {"type": "text", "text": block(world.sent)},
        ]
        assert block(world.sent) != ""


async def test_cached_system_blocks_stay_first_and_no_breakpoint_is_added(world: World) -> None:
    await world.seed("ilse", PRICE)
    world.up.reply_answer(answer(words(ANSWER)))
    cached = [{"type": "text", "text": str(n), "cache_control": {"type": "ephemeral"}} for n in range(4)]
    await ask(world.url, "ilse", [user(QUESTION)], system=cached)
    added = {"type": "text", "text": block(world.sent)}
    assert block(world.sent) != ""
    assert json.loads(world.sent)["system"] == [*cached, added]


async def test_counting_tokens_counts_the_block_and_is_no_turn(world: World) -> None:
    await world.seed("ilse", PRICE)

    async def count(url: str) -> Any:
        async with anthropic.AsyncAnthropic(**options(url, "ilse")) as speaking:
            asked: Any = [user(QUESTION)]
            return (await speaking.messages.count_tokens(model="claude", messages=asked)).model_dump()

    direct, proxied = await both_ways(world, one_body({"input_tokens": 7}), count)
    assert direct == proxied
    assert direct["input_tokens"] == 7
    assert world.up.requests[-1].target.startswith(b"/v1/messages/count_tokens")
    assert "42 kroner" in block(world.sent)
    assert await world.turns("ilse") == []


async def test_errors_of_the_upstream_are_the_clients_usual_errors(world: World) -> None:
    error = b'{"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}'
    world.up.reply_raw(429, [("content-type", "application/json"), ("retry-after", "7")], [error])
    with pytest.raises(anthropic.RateLimitError) as caught:
        await ask(world.url, "ilse", [user(QUESTION)])
    assert caught.value.response.headers["retry-after"] == "7"


async def test_an_error_in_a_stream_is_the_clients_usual_error_and_nothing_is_kept(world: World) -> None:
    begun = answer(words(ANSWER), streaming=True)
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    pieces = [*begun.pieces[:5], f"event: error\ndata: {json.dumps(error)}\n\n".encode()]
    world.up.reply_raw(200, begun.headers, pieces)
    with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
        await ask(world.url, "ilse", [user(QUESTION)], True)
    assert await world.turns("ilse") == []


async def test_an_upstream_that_is_gone_is_told_in_anthropics_words(world: World) -> None:
    await world.up.__aexit__(None, None, None)
    with pytest.raises(anthropic.InternalServerError) as caught:
        await ask(world.url, "ilse", [user(QUESTION)])
    body: Any = caught.value.body
    assert (body["type"], body["error"]["type"]) == ("error", "api_error")


async def test_batches_pass_through(world: World) -> None:
    await world.seed("ilse", PRICE)
    world.up.reply_answer(one_body({"id": "msgbatch_1", "type": "message_batch", "processing_status": "in_progress"}))
    inner: Any = {"model": "claude", "max_tokens": 5, "messages": [user(QUESTION)]}
    async with anthropic.AsyncAnthropic(**options(world.url, "ilse")) as speaking:
        batch = await speaking.messages.batches.create(requests=[{"custom_id": "1", "params": inner}])
    assert batch.id == "msgbatch_1"
    assert block(world.sent) == ""
    assert world.up.requests[-1].header("x-memg-entity") is None
