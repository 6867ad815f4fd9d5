"""Found by attack: ways for what was forgotten or corrected to come back."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from memproxy.interfaces import Connection
from tests.world import World, facts, tool, user

pytestmark = pytest.mark.anyio

CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
}
ALLERGY = {"text": "Is allergic to hazelnuts", "quote": "allergic to hazelnuts"}


async def learn(world: World, text: str, fact: dict[str, Any], reply: str = "I see.") -> str:
    """Say something from which a fact is learned; the fact's id."""
    world.ext.reply(facts(fact))
    world.up.reply(reply)
    await world.chat("Bo", [user(text)])
    await world.drain()
    return str((await world.rows("Bo"))[0]["id"])


async def forget(world: World, fact_id: str) -> None:
    assert (await world.client.delete(world.of("Bo", f"/facts/{fact_id}"))).status_code == 200


async def found(world: World, query: str) -> str:
    """Everything that search and the dry run show."""
    shown = await world.client.get(world.of("Bo", "/search"), params={"query": query, "limit": "100"})
    block = await world.client.get(world.of("Bo", "/context"), params={"query": f"what about my {query}?"})
    return json.dumps([shown.json(), block.json()])


async def test_a_forgotten_fact_that_was_told_twice_is_gone_from_both_turns(world: World) -> None:
    await learn(world, "Listen, I am allergic to hazelnuts. I bake rye.", ALLERGY)
    fact_id = await learn(world, "As I said, I am allergic to hazelnuts. And I sail.", ALLERGY)
    await forget(world, fact_id)
    assert "hazelnut" not in await found(world, "hazelnuts")
    assert "rye" in await found(world, "rye")
    assert "sail" in await found(world, "sail")


async def test_a_forgotten_fact_is_not_told_by_the_assistants_echo(world: World) -> None:
    fact_id = await learn(
        world,
        "Listen, I am allergic to hazelnuts.",
        {**ALLERGY, "quote": "I am allergic to hazelnuts"},
        "Noted: you are allergic to hazelnuts! Rye is fine.",
    )
    await forget(world, fact_id)
    assert "hazelnut" not in await found(world, "hazelnuts")
    assert "Rye" in await found(world, "rye")


async def test_restoring_a_forgotten_fact_brings_back_every_place_where_it_was_said(world: World) -> None:
    await learn(world, "Listen, I am allergic to hazelnuts.", ALLERGY)
    fact_id = await learn(world, "As I said, I am allergic to hazelnuts. And I sail.", ALLERGY)
    await forget(world, fact_id)
    await world.client.patch(world.of("Bo", f"/facts/{fact_id}"), json={"status": "current"})
    shown = await found(world, "hazelnuts")
    assert "Listen, I am allergic to hazelnuts" in shown
    assert "As I said, I am allergic to hazelnuts" in shown


async def test_what_was_forgotten_and_is_told_anew_is_known_again(world: World) -> None:
    fact_id = await learn(world, "Listen, I am allergic to hazelnuts.", ALLERGY)
    await forget(world, fact_id)
    await learn(world, "It is true after all: I am allergic to hazelnuts.", ALLERGY)
    shown = await found(world, "hazelnuts")
    assert "It is true after all: I am allergic to hazelnuts" in shown
    assert "Listen, I am allergic" not in shown


@pytest.mark.parametrize("mode", ["full", "read"])
async def test_a_corrected_fact_ends_the_block_that_a_tool_loop_kept(world: World, mode: str) -> None:
    fact_id = await learn(world, "I live in Tolm now.", {"text": "Lives in Tolm", "quote": "live in Tolm"})
    asked = [user("Where do I live? Look it up")]
    await world.chat("Bo", asked, headers={"X-MemG-Memory": mode})
    assert "Tolm" in world.block()
    await world.client.patch(world.of("Bo", f"/facts/{fact_id}"), json={"text": "Lives in Brask"})
    await world.chat("Bo", [*asked, CALL, tool("c", "nothing")], headers={"X-MemG-Memory": mode})
    assert "Tolm" not in world.block()


async def _together(world: World, request: Any) -> str:
    """A request that changes the memory while a chat recalls from it; what the chat's receipt says afterwards."""
    gate = threading.Event()

    async def hold(conn: Connection) -> None:
        gate.wait(30)

    assert world.app is not None
    holding = asyncio.create_task(world.app.parts.db.write(hold))
    await asyncio.sleep(0.05)
    changing = asyncio.create_task(request)
    await asyncio.sleep(0.2)
    chatting = asyncio.create_task(world.chat("Bo", [user("Which nuts am I allergic to?")]))
    await world.up.wait_for(lambda up: b"Which nuts" in up.requests[-1].body if up.requests else False)
    assert "hazelnuts" in world.block()
    gate.set()
    await holding
    assert (await changing).status_code == 200
    request_id = (await chatting).headers["x-memg-request-id"]
    return (await world.client.get(world.own(f"receipts/{request_id}"))).text


async def test_a_receipt_written_while_its_fact_is_being_forgotten_does_not_keep_the_words(world: World) -> None:
    fact_id = await learn(world, "I am allergic to hazelnuts.", ALLERGY)
    receipt = await _together(world, world.client.delete(world.of("Bo", f"/facts/{fact_id}")))
    assert '"items":[{' in receipt
    assert "hazelnuts" not in receipt


async def test_a_receipt_written_while_everything_is_being_erased_leaves_nothing(world: World) -> None:
    await learn(world, "I am allergic to hazelnuts.", ALLERGY)
    receipt = await _together(world, world.client.delete(world.of("Bo")))
    assert "hazelnuts" not in receipt
    assert b"hazelnuts" not in world.files()
