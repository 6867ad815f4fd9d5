"""Conversations summed up when they have rested: once each, of what was said, and gone with what they tell of."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memproxy.assembly.parts import Parts
from memproxy.model import Entity
from memproxy.store import summaries, usage
from memproxy.testing import FrozenClock
from tests.memories import START
from tests.world import Message, World, facts

pytestmark = pytest.mark.anyio

BO = Entity("Bo")
SAID = "My sister Jorun and I want to sail to Quillhaven in May, and we look for a berth that is not too dear. " * 4


def model(summary: str | None, **others: Any) -> Callable[[Any], str]:
    """An extraction model that answers requests for summaries with one, and learns nothing."""

    def answer(request: Any) -> str:
        system = json.loads(request.body)["messages"][0]["content"]
        for begin, reply in others.items():
            if begin in system:
                return json.dumps({"summary": reply})
        return json.dumps({"summary": summary}) if "Sum up the <conversation>" in system else facts()

    return answer


def open_world(folder: Path, clock: FrozenClock, **flags: object) -> AbstractAsyncContextManager[World]:
    return World.open(folder, None, clock, summaries__enabled=None, **flags)


async def talk(world: World, *said: str, who: str = "Bo", **more: Any) -> list[Message]:
    history: list[Message] = []
    for text in said:
        await world.say(who, history, text, **more)
    return history


async def rest(world: World, clock: FrozenClock, hours: float = 1) -> None:
    clock.advance(hours=hours)
    await world.drain()


def parts(world: World) -> Parts:
    assert world.app is not None
    return world.app.parts


async def kept(world: World, who: str = "Bo") -> list[str]:
    found = await parts(world).db.read(lambda conn: summaries.list_summaries(conn, Entity(who), 100))
    return [summary.text for summary in found]


def asked(world: World) -> int:
    return sum(b"Sum up the <conversation>" in request.body for request in world.ext.requests)


async def test_se3_a_conversation_that_rested_is_summed_up_and_recalled_for_another(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    async with open_world(tmp_path, clock) as world:
        world.ext.default = model(
            "The user and Jorun plan to sail to Quillhaven in May; the berth is open. Hilda paid 900."
        )
        await talk(world, SAID, "The harbour of Quillhaven asks 41.50 a night")
        await world.drain()
        assert await kept(world) == []
        await rest(world, clock)
        assert await kept(world) == ["The user and Jorun plan to sail to Quillhaven in May; the berth is open."]
        block = await world.ask("Bo", "Which berth did Jorun and I plan to take for sailing to Quillhaven?")
        lines = block.splitlines()
        assert lines[lines.index("[PAST CONVERSATIONS]") + 2].startswith("- The user and Jorun plan to sail")
        used = await parts(world).db.read(lambda conn: usage.list_usage(conn, BO))
        assert [(u.purpose, u.calls) for u in used if u.purpose == "summary"] == [("summary", 1)]


async def test_l47_a_conversation_with_nothing_to_say_of_is_asked_for_once_and_starves_no_other(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    async with open_world(tmp_path, clock) as world:
        world.ext.default = model(None)
        for i in range(3):
            await talk(world, f"{i} {SAID}", "Never mind, forget the berth")
        await rest(world, clock)
        assert (asked(world), await kept(world)) == (3, [])
        for _ in range(3):
            await rest(world, clock)
        assert asked(world) == 3


async def test_l6_going_on_later_replaces_the_summary_and_the_conversations_have_one_each(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    async with open_world(tmp_path, clock) as world:
        world.ext.default = model("The user looks for a berth.")
        history = await talk(world, SAID, "Not too dear")
        await talk(world, "Another thing: " + SAID, "The other berth")
        await rest(world, clock)
        assert await kept(world) == ["The user looks for a berth."] * 2
        world.ext.default = model("The user found a berth that is not too dear.")
        await world.say("Bo", history, "We found one, " + SAID)
        await world.say("Bo", history, "and " + SAID)
        await rest(world, clock)
        assert sorted(await kept(world)) == [
            "The user found a berth that is not too dear.",
            "The user looks for a berth.",
        ]


async def test_what_is_short_or_of_a_person_who_wants_nothing_learned_costs_no_call(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    async with open_world(tmp_path, clock) as world:
        world.ext.default = model("They talked.")
        await talk(world, "Hello there", "How are you?")
        await talk(world, SAID, SAID, who="Ada")
        await world.client.put(world.of("Ada", "/preferences"), json={"excluded_tags": ["medical"]})
        await rest(world, clock)
        assert asked(world) == 0


async def test_by_default_nothing_is_summed_up_with_a_borrowed_credential(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    async with open_world(tmp_path, clock, llm__api_key=None, llm__base_url=None) as world:
        await talk(world, SAID, SAID)
        await rest(world, clock)
        assert not any(b"Sum up" in request.body for request in world.up.requests)


async def test_a_summary_goes_with_what_it_tells_of(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    async with open_world(tmp_path, clock) as world:
        world.ext.default = model("Jorun wants to sail to Quillhaven.")
        for begin in ("First", "Second"):
            await talk(world, f"{begin}: {SAID}", "Not too dear")
        await rest(world, clock)
        assert len(await kept(world)) == 2
        turns = (await world.client.get(world.of("Bo", "/turns"))).json()["items"]
        await world.client.delete(world.of("Bo", f"/turns/{turns[0]['id']}"))
        assert len(await kept(world)) == 1
        await world.client.post(world.of("Bo", "/denied"), json={"text": "Jorun wants to sail to Quillhaven"})
        assert await kept(world) == []


async def test_what_was_overtaken_leaves_the_summaries_that_said_it(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    async with open_world(tmp_path, clock) as world:
        world.ext.default = model("The user lives in Austin by the river. The user looks for a berth.")
        await talk(world, f"I live in Austin by the river. {SAID}", "Not too dear, a berth")
        await rest(world, clock)
        said = {"text": "Lives in Austin", "slot": "location"}
        await world.client.post(world.of("Bo", "/facts"), json=said)
        await world.client.post(world.of("Bo", "/facts"), json={"text": "Lives in Seattle", "slot": "location"})
        assert await kept(world) == ["The user looks for a berth."]


async def test_summaries_end_after_ninety_days_but_for_moments_that_weighed(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    async with open_world(tmp_path, clock) as world:
        world.ext.default = model("They talked of a berth.")
        await talk(world, f"First: {SAID}", "A berth")
        felt = {"text": "Lost the dog", "quote": "we lost our dog", "emotional_weight": 0.9, "significance": 8}
        world.ext.default = lambda request: (
            model("They talked of a berth and a dog.")(request) if "Sum up" in str(request.body) else facts(felt)
        )
        await talk(world, f"Second: {SAID}, and we lost our dog", "A berth and a dog")
        await rest(world, clock)
        assert len(await kept(world)) == 2
        clock.advance(days=91)
        await parts(world).db.write(lambda conn: summaries.prune(conn, clock.now() - timedelta(days=90)))
        assert await kept(world) == ["They talked of a berth and a dog."]


async def test_se4_what_a_client_no_longer_sends_is_said_in_stretches(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    others = {"stretch of a longer": "They compared masts.", "earlier stretches": "They chose a mast."}
    async with open_world(tmp_path, clock, working_memory__turns=4) as world:
        world.ext.default = model("Masts.", **others)
        named = {"headers": {"X-MemG-Session": "mast"}}
        for i in range(16):
            world.up.reply("The mast is fine.")
            await world.ask("Bo", f"Mast number {i} is {i + 10} metres long, is that fine?", **named)
            await world.drain()
        block = await world.ask("Bo", "And what of the mast that is long?", **named)
        lines = block.splitlines()
        said = lines[lines.index("[SESSION CONTEXT]") + 1 : -1]
        assert said[0].startswith("- Overview of turns 1-")
        assert said[0].endswith("They chose a mast.")
        assert 1 <= len(said) <= 4
        assert all("They compared masts." in line for line in said[1:])


async def test_se9_a_conversation_may_begin_where_the_last_one_left_off_for_three_days(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    async with open_world(tmp_path, clock, summaries__left_off=True) as world:
        world.ext.default = model("The user looks for a berth.")
        await talk(world, SAID, "Not too dear")
        await rest(world, clock)
        history: list[Message] = []
        assert "- The user looks for a berth." in await world.say("Bo", history, "hello")
        assert await world.say("Bo", history, "thanks") == ""
        clock.advance(days=4)
        assert await world.ask("Bo", "hello") == ""


async def test_a_summary_that_cannot_be_read_is_asked_for_again_counted_and_buried_at_last(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    async with open_world(tmp_path, clock, extraction__max_attempts=2) as world:
        world.ext.default = lambda request: "{" if b"Sum up" in request.body else facts()
        await talk(world, SAID, "Not too dear")
        await rest(world, clock)
        assert asked(world) == 2
        used = await parts(world).db.read(lambda conn: usage.list_usage(conn, BO))
        assert sum(u.calls for u in used if u.purpose == "summary") == 2
        dead = (await world.client.get(world.own("jobs"), params={"state": "dead"})).json()["items"]
        assert [job["kind"] for job in dead] == ["summarize"]
        world.ext.default = model("The user looks for a berth.")
        await world.client.post(world.own(f"jobs/{dead[0]['id']}/retry"))
        await world.drain()
        assert await kept(world) == ["The user looks for a berth."]
