"""One deadline: where recall cannot end in time, a request still says who the person is; where not even that is known,
nothing. And what somebody wrote into their profile by hand is part of who they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memproxy.assembly.parts import Parts, open_parts
from memproxy.embedders.hashing import HashEmbedder
from memproxy.embedders.live import Embedders
from memproxy.interfaces import Vectors
from memproxy.lifecycle.extractor import plan_extraction
from memproxy.memory import Conversation, Memory, Prepared
from memproxy.model import ChatRequest, Entity, FactDraft, Message, Placement
from memproxy.recall.recall import Recaller
from memproxy.settings import Settings
from memproxy.settings_sources import load
from tests.world import World, assistant, user

BO = Entity("Bo")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DEADLINE = 400  # milliseconds


class Never(HashEmbedder):
    """An embedder whose answer to a question does not come."""

    async def embed_query(self, text: str) -> Vectors:
        await asyncio.Event().wait()
        raise AssertionError


def settings(folder: Path, deadline: int) -> Settings:
    config = folder / "memg.json"
    config.write_text("{}")
    flags = {"db": str(folder / "memory.db"), "embed.provider": "off", "memory.deadline_ms": deadline}
    return load(str(config), flags, {}).settings


def hasty(parts: Parts, folder: Path) -> Memory:
    """A memory whose embedder keeps it waiting beyond its deadline."""
    patient = Recaller(parts.db, Embedders(Never()), settings(folder, 60_000), parts.metrics)
    plan = plan_extraction(parts.settings, b"secret")
    return Memory(parts.db, patient, None, parts.worker, parts.settings, b"secret", parts.clock, parts.metrics, plan)


async def prepared(memory: Memory, *texts: str, placement: Placement = "system") -> Prepared:
    messages = tuple(Message("user", text) for text in texts)
    heard = memory.hear(ChatRequest(messages[: len(texts)]))
    return await memory.prepare(Conversation(BO, None, "full", NOW, "UTC"), heard, "r1", placement)


@pytest.mark.parametrize("placement", ["system", "user", "split"])
async def test_past_the_deadline_a_request_says_who_the_person_is(tmp_path: Path, placement: Placement) -> None:
    async with open_parts(settings(tmp_path, DEADLINE)) as parts:
        drafts = [
            FactDraft("Is called Bo", significance=9, stated=True),
            FactDraft("Has a boat", type="event", significance=5, stated=True),
        ]
        for draft in drafts:
            await parts.curator.add(BO, draft)
        memory = hasty(parts, tmp_path)
        got = await prepared(memory, "Where is my boat moored?", placement=placement)
        assert got.skip is None
        assert got.block is not None
        assert "Is called Bo" in got.block.text
        assert "Has a boat" not in got.block.text
        assert [addition.text for addition in got.additions] == [got.block.text]
        await memory.drain()


async def test_past_the_deadline_nothing_is_said_of_whom_nothing_stands_and_nothing_to_a_greeting(
    tmp_path: Path,
) -> None:
    async with open_parts(settings(tmp_path, DEADLINE)) as parts:
        await parts.curator.add(BO, FactDraft("Has a boat", type="event", significance=5, stated=True))
        memory = hasty(parts, tmp_path)
        assert (await prepared(memory, "Where is my boat moored?")).skip == "deadline"
        assert (await prepared(memory, "hello")).skip == "small-talk"


async def test_what_was_written_into_a_profile_by_hand_says_who_the_person_is(world: World) -> None:
    await world.say("Bo", [], "My boat lies in Tolm harbour.")
    await world.heard("Bo", 1)
    await world.drain()

    async def change(**changes: Mapping[str, Sequence[Any]]) -> None:
        response = await world.client.patch(world.of("Bo", "/profile"), json=changes)
        assert response.status_code == 200, response.text

    await change(set={"allergies": ["walnuts"], "medications": [{"name": "metformin", "dose": "850 mg"}]})
    block = await world.ask("Bo", "Where does my boat lie?")
    assert "[IDENTITY]\nAllergies:\n- walnuts\nMedications:\n- metformin (dose 850 mg)" in block
    assert "walnuts" not in await world.ask("Bo", "How do I centre a div?")  # only along with what was found

    await change(remove={"allergies": ["walnuts"]})
    assert "walnuts" not in await world.ask("Bo", "Where does my boat lie?")


async def test_a_removed_profile_entry_is_gone_from_a_conversation_that_goes_on(tmp_path: Path) -> None:
    async with World.open(tmp_path, memory__placement="split") as world:
        await world.say("Bo", [], "My boat lies in Tolm harbour.")
        await world.drain()
        await world.client.patch(world.of("Bo", "/profile"), json={"set": {"allergies": ["walnuts"]}})
        talk = [user("Where does my boat lie?")]
        await world.chat("Bo", talk)
        assert b"walnuts" in world.sent
        talk += [assistant("In Tolm."), user("And what harbour is that boat in?")]
        await world.chat("Bo", talk)
        assert b"walnuts" in world.sent
        await world.client.patch(world.of("Bo", "/profile"), json={"remove": {"allergies": ["walnuts"]}})
        talk += [assistant("Tolm."), user("What was the name of my boat?")]
        await world.chat("Bo", talk)
        assert b"walnuts" not in world.sent


async def test_a_model_known_to_have_a_small_window_gets_a_quarter_of_it_at_most(world: World) -> None:
    said = [
        f"I own a kayak, number {n} of my boats, and it lies in the harbour of Tolm near the old crane."
        for n in range(60)
    ]
    for text in said:
        await world.say("Bo", [], text)
    await world.heard("Bo", 60)
    await world.drain()
    question = [user("Which kayak of mine lies in Tolm?")]
    sizes = {}
    for model in ("tinyllama", "llama-2-7b", "something-new"):
        await world.chat("Bo", question, {"X-MemG-Memory": "read"}, model=model)
        sizes[model] = len(world.block()) / 4
    assert 100 < sizes["tinyllama"] <= 512 < sizes["llama-2-7b"] <= 1024 < sizes["something-new"] <= 2000
