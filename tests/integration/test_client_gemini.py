"""The `google-genai` client against the proxy: memory appears upstream, and the client notices nothing."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from google import genai
from google.genai import errors, types

from memproxy.testing import Answer
from tests.clients import block, both_ways, one_body
from tests.world import World

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:Inheritance class Aiohttp:DeprecationWarning"),  # the client's own
]

PRICE = "The bakery on the corner of Ostgata sells rye for 42 kroner"
QUESTION = "How much is the rye at the bakery?"
ANSWER = "It is 42 kroner, naïvely ✅."
CALL = {"functionCall": {"name": "prices", "args": {"of": "rye"}}}
TOOLS: Any = [{"function_declarations": [{"name": "prices", "parameters": {"type": "OBJECT", "properties": {}}}]}]
streamed = pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streamed"])

# --- what the upstream says ----------------------------------------------------------------------------------


def chunk(*parts: dict[str, Any], reason: str | None = "STOP") -> dict[str, Any]:
    ending = {} if reason is None else {"finishReason": reason}
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **ending}
    return {"candidates": [candidate], "responseId": "r1", "modelVersion": "gemini"}


def chunks(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of an answer, one a chunk, the words three characters a chunk."""
    pieces: list[dict[str, Any]] = []
    for part in parts:
        if "thought" in part or "text" not in part:
            pieces.append(part)
        else:
            pieces += [{"text": part["text"][at : at + 3]} for at in range(0, len(part["text"]), 3)]
    last = len(pieces) - 1
    return [chunk(piece, reason="STOP" if at == last else None) for at, piece in enumerate(pieces)]


def answer(*parts: dict[str, Any], streaming: bool = False) -> Answer:
    """An answer of these parts, in one body or as a stream of events."""
    if not streaming:
        return one_body(chunk(*parts))
    pieces = [b"data: " + json.dumps(one).encode() + b"\r\n\r\n" for one in chunks(*parts)]
    return Answer(200, [("content-type", "text/event-stream")], pieces)


def array(*parts: dict[str, Any]) -> Answer:
    """The same as a stream that is a JSON array: what is sent to those who ask for a stream and for no events."""
    written = [json.dumps(one, indent=2).encode() for one in chunks(*parts)]
    pieces = [b"[" + written[0], *(b"\n,\r\n" + one for one in written[1:]), b"\n]\n"]
    return Answer(200, [("content-type", "application/json; charset=UTF-8")], pieces)


def words(text: str) -> dict[str, Any]:
    return {"text": text}


# --- what an app does ----------------------------------------------------------------------------------------


def client(url: str, who: str) -> genai.Client:
    options = types.HttpOptions(base_url=url, headers={"X-MemG-Entity": who})
    return genai.Client(api_key="client-key", vertexai=False, http_options=options)


@contextlib.asynccontextmanager
async def speaking(url: str, who: str) -> AsyncIterator[Any]:
    made = client(url, who)
    try:
        yield made.aio
    finally:
        await made.aio.aclose()
        made.close()


def seen(response: types.GenerateContentResponse) -> dict[str, Any]:
    return response.model_dump(exclude={"sdk_http_response"})


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


async def ask(url: str, who: str, contents: Any, streaming: bool = False, **config: Any) -> Any:
    """What the client sees of an answer, field by field."""
    request = {"model": "gemini-2.5-flash", "contents": contents, "config": config or None}
    async with speaking(url, who) as gemini:
        if not streaming:
            return seen(await gemini.models.generate_content(**request))
        return [seen(one) async for one in await gemini.models.generate_content_stream(**request)]


def ask_in_a_thread(url: str, who: str, contents: Any, streaming: bool = False) -> Any:
    """The same with the client that is not asynchronous."""
    with client(url, who) as gemini:
        request: Any = {"model": "gemini-2.5-flash", "contents": contents}
        if not streaming:
            return seen(gemini.models.generate_content(**request))
        return [seen(one) for one in gemini.models.generate_content_stream(**request)]


# --- tests ---------------------------------------------------------------------------------------------------


@streamed
async def test_what_was_told_once_is_there_later_for_the_same_person_only(tmp_path: Path, streaming: bool) -> None:
    async with World.open(tmp_path, embed__provider="local") as world:
        world.up.default = lambda request: answer(words("Noted."), streaming=streaming)
        await ask(world.url, "ilse", PRICE, streaming)
        await world.drain()
        turns = [(turn["role"], turn["content"]) for turn in await world.turns("ilse")]
        assert sorted(turns) == [("assistant", "Noted."), ("user", PRICE)]
        await ask(world.url, "ilse", QUESTION, streaming, system_instruction="Be kind.")
        assert "42 kroner" in block(world.sent)
        instruction = json.loads(world.sent)["systemInstruction"]
        assert instruction["parts"] == [words("Be kind."), words(block(world.sent))]
        await ask(world.url, "bo", QUESTION, streaming)
        assert block(world.sent) == ""
        assert b"42 kroner" not in world.sent


@streamed
@pytest.mark.parametrize("threaded", [False, True], ids=["async", "sync"])
async def test_the_clients_view_is_the_same_as_without_a_proxy(world: World, streaming: bool, threaded: bool) -> None:
    await world.seed("ilse", PRICE)
    thought = {"text": "Rye, rye …", "thought": True, "thoughtSignature": "c2ln"}
    given = answer(thought, words(ANSWER), CALL, streaming=streaming)

    async def asking(url: str) -> Any:
        if threaded:
            return await to_thread.run_sync(ask_in_a_thread, url, "ilse", QUESTION, streaming)
        return await ask(url, "ilse", QUESTION, streaming)

    direct, proxied = await both_ways(world, given, asking)
    assert direct == proxied
    alone, injected = (request.json() for request in world.up.requests)
    assert injected == {**alone, "systemInstruction": {"parts": [words(block(world.sent))]}}
    assert world.up.requests[0].target == world.up.requests[1].target
    assert [turn["content"] for turn in await world.turns("ilse") if turn["role"] == "assistant"] == [ANSWER]


@streamed
async def test_a_tool_loop_carries_the_same_block_and_is_one_turn(world: World, streaming: bool) -> None:
    await world.seed("ilse", PRICE)
    said = [user(words(QUESTION))]
    world.up.reply_answer(answer(words("I will look."), CALL, streaming=streaming))
    await ask(world.url, "ilse", said, streaming, tools=TOOLS)
    first = block(world.sent)
    said += [{"role": "model", "parts": [words("I will look."), CALL]}]
    said += [user({"functionResponse": {"name": "prices", "response": {"result": 42}}})]
    direct, proxied = await both_ways(
        world,
        answer(words(ANSWER), streaming=streaming),
        lambda url: ask(url, "ilse", said, streaming, tools=TOOLS),
    )
    assert direct == proxied
    assert block(world.sent) == first != ""
    assert json.loads(world.sent)["contents"] == json.loads(world.up.requests[-2].body)["contents"]
    turns = [(turn["role"], turn["content"]) for turn in await world.turns("ilse")]
    assert sorted(turns) == sorted([("user", QUESTION), ("assistant", "I will look."), ("assistant", ANSWER)])


@streamed
async def test_the_clients_own_chat_is_one_conversation_that_is_kept_once(world: World, streaming: bool) -> None:
    async with speaking(world.url, "ilse") as gemini:
        chat = gemini.chats.create(model="gemini-2.5-flash")
        for text, reply in (("I live in Bergen now.", "Bergen is a lovely place."), ("And I row.", "On the fjord?")):
            world.up.reply_answer(answer(words(reply), streaming=streaming))
            if streaming:
                _ = [one async for one in await chat.send_message_stream(text)]
            else:
                await chat.send_message(text)
    turns = await world.turns("ilse")
    assert sorted(turn["content"] for turn in turns) == sorted(
        ["I live in Bergen now.", "Bergen is a lovely place.", "And I row.", "On the fjord?"]
    )
    assert len({turn["session_id"] for turn in turns}) == 1


async def test_beside_a_cached_prompt_the_block_goes_to_what_the_person_said(world: World) -> None:
    await world.seed("ilse", PRICE)
    world.up.reply_answer(answer(words(ANSWER)))
    await ask(world.url, "ilse", QUESTION, cached_content="cachedContents/1")
    sent = json.loads(world.sent)
    assert "systemInstruction" not in sent
    assert sent["contents"][-1]["parts"] == [words(QUESTION), words(block(world.sent))]
    assert block(world.sent) != ""


@pytest.mark.parametrize(
    "path",
    [
        "/v1beta/models/gemini-2.5-flash:streamGenerateContent",
        "/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-flash:streamGenerateContent",
    ],
)
async def test_a_stream_that_is_an_array_passes_as_it_is_and_is_kept(world: World, path: str) -> None:
    await world.seed("ilse", PRICE)
    given = array(words(ANSWER))

    async def asking(url: str) -> bytes:
        response = await world.client.post(
            url + path, json={"contents": [user(words(QUESTION))]}, headers={"X-MemG-Entity": "ilse"}
        )
        return response.content

    direct, proxied = await both_ways(world, given, asking)
    assert direct == proxied == b"".join(piece for piece in given.pieces if isinstance(piece, bytes))
    assert "42 kroner" in block(world.sent)
    assert [turn["content"] for turn in await world.turns("ilse") if turn["role"] == "assistant"] == [ANSWER]


async def test_errors_of_the_upstream_are_the_clients_usual_errors(world: World) -> None:
    error = {"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}
    world.up.reply_raw(429, [("content-type", "application/json")], [json.dumps(error).encode()])
    with pytest.raises(errors.ClientError, match="slow down") as caught:
        await ask(world.url, "ilse", QUESTION)
    assert (caught.value.code, caught.value.status) == (429, "RESOURCE_EXHAUSTED")


async def test_a_prompt_that_was_refused_leaves_the_persons_words_only(world: World) -> None:
    world.up.reply_answer(one_body({"promptFeedback": {"blockReason": "SAFETY"}, "responseId": "r1"}))
    await ask(world.url, "ilse", QUESTION)
    assert [(turn["role"], turn["content"]) for turn in await world.turns("ilse")] == [("user", QUESTION)]


async def test_an_upstream_that_is_gone_is_told_in_googles_words(world: World) -> None:
    await world.up.__aexit__(None, None, None)
    with pytest.raises(errors.ServerError) as caught:
        await ask(world.url, "ilse", QUESTION)
    assert (caught.value.code, caught.value.status) == (502, "UNAVAILABLE")


async def test_counting_tokens_passes_through(world: World) -> None:
    await world.seed("ilse", PRICE)
    world.up.reply_answer(one_body({"totalTokens": 7}))
    async with speaking(world.url, "ilse") as gemini:
        counted = await gemini.models.count_tokens(model="gemini-2.5-flash", contents=QUESTION)
    assert counted.total_tokens == 7
    assert block(world.sent) == ""
    assert world.up.requests[-1].header("x-memg-entity") is None
