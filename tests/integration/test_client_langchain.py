"""`langchain-openai` against the proxy, on both APIs it speaks: memory appears upstream, and it notices nothing."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from langchain_openai import ChatOpenAI

from memproxy.testing import Answer
from memproxy.testing.upstream import completion, stream
from tests.clients import block, both_ways, response
from tests.world import World

pytestmark = pytest.mark.anyio

PRICE = "The bakery on the corner of Ostgata sells rye for 42 kroner"
QUESTION = "How much is the rye at the bakery?"
ANSWER = "It is 42 kroner, naïvely ✅."
streamed = pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streamed"])
on_both_apis = pytest.mark.parametrize("responses", [False, True], ids=["chat completions", "responses"])


async def ask(url: str, who: str, streaming: bool, responses: bool) -> Any:
    """What a chain sees of an answer, field by field but for the ids that LangChain makes up."""
    async with httpx.AsyncClient(trust_env=False) as http:
        model = ChatOpenAI(
            model="m",
            base_url=f"{url}/v1",
            api_key="client-key",  # type: ignore[arg-type]
            default_headers={"X-MemG-Entity": who},
            use_responses_api=responses,
            http_async_client=http,
            max_retries=0,
        )
        prompt = [("system", "Be brief."), ("user", QUESTION)]
        if not streaming:
            return (await model.ainvoke(prompt)).model_dump(exclude={"id"})
        return [chunk.model_dump(exclude={"id"}) async for chunk in model.astream(prompt)]


def answer(streaming: bool, responses: bool) -> Answer:
    if responses:
        return response(ANSWER, streaming=streaming)
    return stream(ANSWER, size=3) if streaming else completion(ANSWER)


@streamed
@on_both_apis
async def test_the_chains_view_is_the_same_as_without_a_proxy(world: World, streaming: bool, responses: bool) -> None:
    await world.seed("ilse", PRICE)
    direct, proxied = await both_ways(
        world, answer(streaming, responses), lambda url: ask(url, "ilse", streaming, responses)
    )
    assert direct == proxied
    assert "42 kroner" in block(world.sent)
    assert [turn["content"] for turn in await world.turns("ilse")] == [QUESTION, ANSWER]


@streamed
@on_both_apis
async def test_what_one_person_told_is_not_there_for_another(world: World, streaming: bool, responses: bool) -> None:
    await world.seed("ilse", PRICE)
    world.up.reply_answer(answer(streaming, responses))
    await ask(world.url, "bo", streaming, responses)
    assert b"42 kroner" not in world.sent
