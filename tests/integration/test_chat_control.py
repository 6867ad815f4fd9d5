"""Memory steered in a chat: done by the ordinary deeds, told in the block, and exact."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.world import World, assistant, user

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World.open(tmp_path, chat_control=True) as opened:
        yield opened


async def note(world: World, *texts: str) -> None:
    for text in texts:
        await world.client.post(world.of("Bo", "/notes"), json={"text": text})


def metric(text: str, outcome: str) -> float:
    line = f'memproxy_control_total{{outcome="{outcome}"}} '
    return next((float(row.removeprefix(line)) for row in text.splitlines() if row.startswith(line)), 0.0)


async def test_what_is_to_be_remembered_is_a_note_at_once_and_the_model_is_told(world: World) -> None:
    block = await world.ask("Bo", "Remember that I'm allergic to hazelnuts")
    assert "Just noted, as this person asked: I'm allergic to hazelnuts" in block
    [row] = await world.rows("Bo")
    assert (row["text"], row["source_role"], row["confidence"]) == (
        "I'm allergic to hazelnuts",
        "user_explicit",
        1.0,
    )
    await world.ask("Bo", "Remember that I'm allergic to hazelnuts")
    assert len(await world.rows("Bo")) == 1
    assert metric((await world.client.get(f"{world.url}/memproxy/metrics")).text, "remembered") == 2


async def test_the_one_fact_that_is_named_is_forgotten_and_can_be_restored(world: World) -> None:
    await note(world, "Keeps hens in Brask", "Keeps bees in Tolm", "Does not eat fish")
    block = await world.ask("Bo", "Please forget that I keep hens in Brask")
    assert "has been forgotten" in block
    assert "hens" not in block
    assert await world.mem("Bo") == ["Does not eat fish", "Keeps bees in Tolm"]
    assert "has been forgotten" in await world.ask("Bo", "Please forget that I keep hens in Brask")
    [gone] = await world.rows("Bo", status="forgotten")
    await world.client.post(world.of("Bo", f"/facts/{gone['id']}/restore"))
    assert "Keeps hens in Brask" in await world.mem("Bo")


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Forget that I keep animals in Brask", ["Keeps hens in Brask", "Keeps bees in Brask"]),
        ("Forget that I eat fish", ["Does not eat fish"]),
        ("Forget about my hens", ["Keeps hens in Brask"]),
    ],
    ids=["several", "negated", "one word"],
)
async def test_what_is_not_clearly_named_is_not_forgotten_and_can_be_asked_for(
    world: World, said: str, asked: list[str]
) -> None:
    await note(world, "Keeps hens in Brask", "Keeps bees in Brask", "Does not eat fish")
    block = await world.ask("Bo", said)
    assert "Nothing was forgotten yet" in block
    for text in asked:
        assert text in block.partition("[MEMORY CONTROL]")[2]
    assert len(await world.mem("Bo")) == 3


async def test_nothing_is_forgotten_of_somebody_who_named_nothing_that_is_known(world: World) -> None:
    await note(world, "Plays the harp")
    assert "Nothing was forgotten" in await world.ask("Bo", "Forget that I keep hens in Brask")
    assert await world.mem("Bo") == ["Plays the harp"]


async def test_who_asks_what_is_known_gets_all_of_it(world: World) -> None:
    await note(world, *(f"Owns boat number {n}" for n in range(9)), "Plays the harp")
    block = await world.ask("Bo", "What do you know about me?")
    assert all(f"Owns boat number {n}" in block for n in range(9))
    assert "Plays the harp" in block
    assert "harp" not in await world.ask("Ida", "What do you know about me?")


async def test_a_request_that_may_only_read_changes_nothing(world: World) -> None:
    body = {"model": "m", "messages": [user("Remember that I'm allergic to hazelnuts")]}
    headers = {"X-MemG-Entity": "Bo", "X-MemG-Memory": "read"}
    await world.client.post(f"{world.url}/v1/chat/completions", json=body, headers=headers)
    assert await world.rows("Bo") == []


async def test_a_wish_of_an_earlier_turn_is_not_carried_out_again(world: World) -> None:
    said = "Remember that I'm allergic to hazelnuts"
    await world.chat("Bo", [user(said)])
    [row] = await world.rows("Bo")
    await world.client.delete(world.of("Bo", f"/facts/{row['id']}?erase=true"))
    await world.chat("Bo", [user(said), assistant("This is a scripted answer."), user("And now a poem about rye")])
    assert await world.rows("Bo") == []


async def test_the_request_and_the_answer_stay_what_they_are(world: World) -> None:
    await world.ask("Bo", "Remember that I'm allergic to hazelnuts")
    sent = world.up.requests[-1].json()
    assert "tools" not in sent
    assert sent["messages"][-1]["content"].startswith("Remember that I'm allergic to hazelnuts")


@pytest.mark.parametrize("placement", ["user", "split"])
async def test_a_block_in_the_conversation_is_steered_as_well(tmp_path: Path, placement: str) -> None:
    async with World.open(tmp_path, chat_control=True, memory__placement=placement) as world:
        said = "Remember that I'm allergic to hazelnuts"
        await world.chat("Bo", [user(said)])
        assert b"Just noted" in world.sent
        history = [user(said), assistant("This is a scripted answer.")]
        await world.chat("Bo", [*history, user("Forget that I'm allergic to hazelnuts")])
        assert b"has been forgotten" in world.sent
        assert world.sent.count(b"allergic to hazelnuts") == 2  # in the person's own messages


async def test_without_the_setting_nothing_is_understood(tmp_path: Path) -> None:
    async with World.open(tmp_path) as world:
        assert await world.ask("Bo", "Remember that I'm allergic to hazelnuts") == ""
        assert await world.rows("Bo") == []
