"""Placement `split`: what was put in stays as it was, so that an upstream's prompt cache works as without memory."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memproxy.testing import FrozenClock, PrefixCache
from memproxy.trust import CLOSE, OPEN
from tests.world import Message, World, assistant, system, tool, user

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
RULES = "You are the assistant of a travel agency. " + " ".join(
    f"Rule {n}: answer in full sentences and name the source of every figure." for n in range(150)
)
CALL = assistant(None, tool_calls=[{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}])


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture
async def world(tmp_path: Path, clock: FrozenClock) -> AsyncIterator[World]:
    async with World.open(tmp_path, clock=clock, memory__placement="split") as world:
        yield world


def texts(message: Message) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])


def added(message: Message) -> str:
    """The block in a message, or nothing."""
    text = texts(message)
    return text[text.index(OPEN) : text.index(CLOSE) + len(CLOSE)] if OPEN in text else ""


async def turn(world: World, history: list[Message], text: str, who: str = "Bo", **more: Any) -> list[Message]:
    """One turn of a replayed conversation; the messages that went upstream."""
    history.append(user(text))
    world.up.reply("I see.")
    response = await world.chat(who, history, **more)
    assert response.status_code == 200, response.text
    history.append(assistant("I see."))
    return world.messages


async def test_what_is_always_true_stands_in_the_system_prompt_and_what_was_asked_for_in_its_message(
    world: World,
) -> None:
    await world.seed("Bo", "Is called Bo Tarn", pinned=True)
    await world.seed("Bo", "Is allergic to hazelnuts")
    sent = await turn(world, [system("Be kind.")], "Which nuts am I allergic to?")
    assert texts(sent[0]).startswith("Be kind.\n\n" + OPEN)
    assert "Bo Tarn" in added(sent[0])
    assert "hazelnuts" not in added(sent[0])
    assert texts(sent[1]).startswith("Which nuts am I allergic to?\n\n" + OPEN)
    assert "hazelnuts" in added(sent[1])
    assert "Bo Tarn" not in added(sent[1])


async def test_a_turn_that_comes_back_as_history_carries_what_it_carried(world: World) -> None:
    await world.seed("Bo", "Is called Bo Tarn", pinned=True)
    await world.seed("Bo", "Is allergic to hazelnuts")
    history: list[Message] = []
    first = await turn(world, history, "Which nuts am I allergic to?")
    await world.seed("Bo", "Has a boat called Puffin", "Lives in Tolm")
    await world.seed("Bo", "Is a carpenter", pinned=True)
    second = await turn(world, history, "What is my boat called, the allergic one?")
    assert second[: len(first)] == first
    assert "Puffin" in added(second[-1])
    assert "hazelnuts" not in added(second[-1])  # it stands in the conversation already
    third = await turn(world, history, "hello")
    assert third[: len(second)] == second
    assert added(third[-1]) == ""


async def test_another_answer_and_a_retry_get_the_same_bytes(world: World) -> None:
    await world.seed("Bo", "Is allergic to hazelnuts")
    asked = [user("Which nuts am I allergic to?")]
    await world.chat("Bo", asked)
    first = world.sent
    await world.seed("Bo", "Is allergic to walnuts, a nut too")
    await world.chat("Bo", asked)
    assert world.sent == first


@pytest.mark.parametrize("mode", ["full", "read"])
async def test_all_iterations_of_a_tool_loop_begin_with_the_same_bytes(world: World, mode: str) -> None:
    await world.seed("Bo", "Is called Bo Tarn", pinned=True)
    await world.seed("Bo", "Is allergic to hazelnuts")
    messages = [system("Be kind."), user("Which nuts am I allergic to?")]
    before: list[Message] = []
    for step in range(12):
        await world.chat("Bo", messages, headers={"X-MemG-Memory": mode})
        assert world.messages[: len(before)] == before
        assert "hazelnuts" in added(world.messages[1])
        before = world.messages
        messages = [*messages, CALL, tool("c", f"page {step}")]
        await world.seed("Bo", f"Nuts of kind {step} are fine")


async def test_that_nothing_is_always_true_stays_so_for_the_conversation(world: World) -> None:
    history = [system("Be kind.")]
    await turn(world, history, "hello")
    await world.seed("Bo", "Is called Bo Tarn", pinned=True)
    sent = await turn(world, history, "What is my name, is it Tarn?")
    assert texts(sent[0]) == "Be kind."
    assert "Bo Tarn" in added(sent[-1])


async def test_after_a_rest_the_stable_part_is_decided_anew(world: World, clock: FrozenClock) -> None:
    history = [system("Be kind.")]
    await turn(world, history, "hello")
    await world.seed("Bo", "Is called Bo Tarn", pinned=True)
    clock.advance(minutes=31)
    sent = await turn(world, history, "hello again")
    assert "Bo Tarn" in added(sent[0])


@pytest.mark.parametrize("how", ["forget", "correct", "erase"])
async def test_what_is_forgotten_corrected_or_erased_is_gone_at_the_next_request(world: World, how: str) -> None:
    [pinned] = await world.seed("Bo", "Is called Bo Tarn", pinned=True)
    [fact] = await world.seed("Bo", "Is allergic to hazelnuts")
    history: list[Message] = []
    await turn(world, history, "Which nuts am I allergic to?")
    assert b"hazelnuts" in world.sent
    assert b"Bo Tarn" in world.sent
    for fact_id in (pinned, fact):
        if how == "forget":
            await world.client.delete(world.of("Bo", f"/facts/{fact_id}"))
        elif how == "correct":
            await world.client.patch(world.of("Bo", f"/facts/{fact_id}"), json={"text": f"Something else {fact_id}"})
    if how == "erase":
        await world.client.delete(world.of("Bo"))
    sent = await turn(world, history, "And what else about allergic nuts?")
    assert b"hazelnuts" not in world.sent
    assert b"Bo Tarn" not in world.sent
    assert how != "correct" or "Something else" in added(sent[0])


async def test_all_parts_together_keep_to_three_budgets(tmp_path: Path) -> None:
    async with World.open(tmp_path, memory__placement="split", memory__token_budget=200) as world:
        await world.seed(
            "Bo", *(f"The garden has a tree with number {n} and a long story about it" for n in range(150))
        )
        history = [system("Be kind.")]
        together = []
        for n in range(14):
            sent = await turn(world, history, f"What story has the tree in the garden with number {n * 10}?")
            together.append(sum(len(added(message)) for message in sent) / 4)
        assert max(together) <= 3 * 400
        assert all(added(sent[2 * n + 1]) for n in range(11, 14))  # the newest turns still get something


async def test_a_receipt_says_all_that_went_in(world: World) -> None:
    await world.seed("Bo", "Is called Bo Tarn", pinned=True)
    await world.seed("Bo", "Is allergic to hazelnuts")
    history: list[Message] = []
    await turn(world, history, "Which nuts am I allergic to?")
    await world.seed("Bo", "Has a boat called Puffin")
    history.append(user("What is my boat called?"))
    response = await world.chat("Bo", history)
    receipt = (await world.client.get(world.own(f"receipts/{response.headers['x-memg-request-id']}"))).json()
    parts = [block for message in world.messages if (block := added(message))]
    assert receipt["block"] == "\n".join(parts)
    assert {item["text"] for item in receipt["items"]} == {
        "Is called Bo Tarn", "Is allergic to hazelnuts", "Has a boat called Puffin",
    }  # fmt: skip
    assert response.headers["x-memg-memory"].startswith("injected; items=3;")


async def test_a_target_can_have_its_own_placement(tmp_path: Path) -> None:
    async with World.open(tmp_path, placements__openai="user") as world:
        await world.seed("Bo", "Is allergic to hazelnuts")
        sent = await turn(world, [], "Which nuts am I allergic to?")
        assert [message["role"] for message in sent] == ["user"]
        assert "hazelnuts" in added(sent[0])


# --- the prompt cache ----------------------------------------------------------------------------------------


async def cached_share(folder: Path, placement: str, memory: str) -> float:
    """The share of prompt tokens found in an upstream's cache, over a chat of 30 turns and a tool loop of 12 steps.

    The memory changes with every third turn, and every turn asks for something in it.
    """
    cache = PrefixCache()
    async with World.open(folder, memory__placement=placement) as world:
        await world.seed("Bo", "Is called Bo Tarn, born in Tolm", pinned=True)
        await world.seed("Bo", *(f"Visited the town number {n} with a friend and liked it" for n in range(40)))
        history = [system(RULES)]
        headers = {"X-MemG-Memory": memory}
        for n in range(30):
            if n % 3 == 2:
                await world.seed("Bo", f"Plans a journey to island {n} in spring")
                if n % 6 == 5:
                    await world.seed("Bo", f"Speaks the language of island {n}", pinned=True)
            await turn(world, history, f"What did I say about town {n} and island {n - 1}?", headers=headers)
            cache.read(json.loads(world.sent))
        history.append(user("Look up which island I plan to visit in spring"))
        for n in range(12):
            await world.chat("Bo", history, headers=headers)
            cache.read(json.loads(world.sent))
            history += [CALL, tool("c", f"Page {n} says nothing of it. " * 20)]
    return cache.share


async def test_split_leaves_an_upstreams_prompt_cache_as_warm_as_without_memory(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("off", "split", "system")]
    for folder in folders:
        folder.mkdir()
    without = await cached_share(folders[0], "system", "off")
    split = await cached_share(folders[1], "split", "full")
    one_block = await cached_share(folders[2], "system", "full")
    assert without > 0.9
    assert split >= without - 0.02
    assert one_block < split


# --- agents and front ends -----------------------------------------------------------------------------------

REMINDER = "<system-reminder>\nThe person once visited Brask and loves walnuts.\n</system-reminder>"


@pytest.mark.parametrize("placement", ["system", "split", "user"])
async def test_what_a_program_adds_to_a_turn_is_neither_asked_with_nor_stored(tmp_path: Path, placement: str) -> None:
    async with World.open(tmp_path, memory__placement=placement) as world:
        await world.seed("Bo", "Is allergic to hazelnuts", "Loves the harbour of Brask")
        await turn(world, [], f"{REMINDER}\nWhich nuts am I allergic to?\n{REMINDER}")
        block = "".join(map(added, world.messages))
        assert "hazelnuts" in block
        assert "harbour" not in block
        assert await world.said("Bo") == ["Which nuts am I allergic to?"]


@pytest.mark.parametrize("placement", ["system", "split", "user"])
async def test_where_a_program_alone_speaks_the_last_words_of_the_person_are_asked_with(
    tmp_path: Path, placement: str
) -> None:
    async with World.open(tmp_path, memory__placement=placement) as world:
        await world.seed("Bo", "Is allergic to hazelnuts", "Loves the harbour of Brask")
        await world.chat("Bo", [user("Which nuts am I allergic to?"), assistant("Let me see."), user(REMINDER)])
        block = "".join(map(added, world.messages))
        assert "hazelnuts" in block
        assert "harbour" not in block
        assert "hazelnuts" not in texts(world.messages[2])


@pytest.mark.parametrize("placement", ["system", "split", "user"])
async def test_a_tool_loop_keeps_its_bytes_when_a_program_adds_reminders_to_it(tmp_path: Path, placement: str) -> None:
    async with World.open(tmp_path, memory__placement=placement) as world:
        await world.seed("Bo", "Is allergic to hazelnuts")
        messages = [system("Be kind."), user(f"{REMINDER}\nWhich nuts am I allergic to?")]
        before: list[Message] = []
        for step in range(4):
            await world.chat("Bo", messages)
            assert world.messages[: len(before)] == before
            assert "hazelnuts" in "".join(map(added, world.messages))
            before = world.messages
            messages = [*messages, CALL, tool("c", f"page {step}"), user(REMINDER)]


async def test_a_question_that_a_retrieval_front_end_wrapped_is_no_chore(world: World) -> None:
    await world.seed("Bo", "Is allergic to hazelnuts")
    wrapped = "### Task:\nRespond to the user query using the provided context.\n<context>\nwalnuts\n</context>\n\n"
    await turn(world, [], f"{wrapped}Which nuts am I allergic to?")
    assert "hazelnuts" in added(world.messages[-1])
    assert await world.said("Bo") == ["Which nuts am I allergic to?"]
