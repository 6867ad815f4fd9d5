"""Near statements: merged, kept apart or replaced as the gate says, and kept apart where it cannot say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from memproxy.prompts import merging
from memproxy.testing.upstream import Answer, Request
from tests.world import World, facts, user


class Model:
    """An extraction model that says the person's turns back as facts, and a gate with one opinion of every pair."""

    def __init__(self, opinion: str) -> None:
        self.opinion = opinion
        self.pairs: list[dict[str, Any]] = []

    def __call__(self, request: Request) -> str:
        system, said = (message["content"] for message in request.json()["messages"])
        if system != merging.SYSTEM:
            turns = [line.partition("] user: ")[2] for line in said.splitlines()]
            return facts(*({"text": turn, "quote": turn} for turn in turns if turn))
        pairs = [json.loads(line) for line in said.splitlines()]
        self.pairs += pairs
        if self.opinion == "broken":
            return "I would rather not say."
        return json.dumps(
            {"verdicts": [{"pair": p["pair"], "verdict": self.opinion, "reason": "as told"} for p in pairs]}
        )


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World.open(tmp_path, facts__gate="auto", embed__provider="local") as world:
        yield world


async def told(world: World, opinion: str, *texts: str) -> Model:
    model = Model(opinion)
    world.ext.default = model
    for text in texts:
        await world.chat("Bo", [user(text)])
        await world.drain()
    return model


async def statuses(world: World) -> dict[str, str]:
    rows = await world.rows("Bo", status="current,historical,expired")
    return {row["text"]: row["status"] for row in rows}


async def test_a_changed_value_replaces_the_old_one(world: World) -> None:
    model = await told(world, "conflicting_answer", "My rent is 840 a month", "My rent is 860 a month")
    assert [(p["known"], p["said"]) for p in model.pairs] == [("My rent is 840 a month", "My rent is 860 a month")]
    assert await statuses(world) == {"My rent is 840 a month": "historical", "My rent is 860 a month": "current"}


async def test_two_things_that_only_sound_alike_are_both_kept(world: World) -> None:
    await told(world, "different_question", "My rent is 840 a month", "My rent is 860 a month")
    assert set((await statuses(world)).values()) == {"current"}


async def test_the_same_in_other_words_is_reinforced(world: World) -> None:
    await told(world, "same", "I am on the platform team", "My team is the platform team")
    rows = await world.rows("Bo")
    assert [(row["text"], row["reinforced_count"]) for row in rows] == [("I am on the platform team", 1)]


@pytest.mark.parametrize("opinion", ["broken", "unknown", "perhaps"])
async def test_without_a_verdict_both_are_kept_and_the_history_says_why(world: World, opinion: str) -> None:
    await told(world, opinion, "My rent is 840 a month", "My rent is 860 a month")
    assert set((await statuses(world)).values()) == {"current"}
    [newer] = [row for row in await world.rows("Bo") if "860" in row["text"]]
    response = await world.client.get(f"{world.url}/memproxy/v1/entities/Bo/facts/{newer['id']}/history")
    assert "beside" in response.text


async def test_a_gate_that_is_down_costs_no_fact(world: World) -> None:
    model = Model("same")

    def answer(request: Request) -> Any:
        if request.json()["messages"][0]["content"] == merging.SYSTEM:
            return Answer(503)
        return model(request)

    world.ext.default = answer
    await told_without(world)
    assert len(await statuses(world)) == 2


async def told_without(world: World) -> None:
    for text in ("My rent is 840 a month", "My rent is 860 a month"):
        await world.chat("Bo", [user(text)])
        await world.drain()


async def test_statements_that_are_not_near_cost_no_call(world: World) -> None:
    model = await told(world, "same", "I play the cello", "My rent is 860 a month")
    assert model.pairs == []
    assert len(await world.mem("Bo")) == 2


@pytest.mark.parametrize("change", ["denied", "learning", "memory", "erase", "turn"])
async def test_what_a_person_decides_while_the_gate_thinks_counts(world: World, change: str) -> None:
    await told(world, "unknown", "My rent is 840 a month")
    model, decided = Model("conflicting_answer"), asyncio.Event()

    async def decide() -> None:
        turns = await world.turns("Bo")
        newest = next(turn["id"] for turn in turns if turn["content"] == "My rent is 860 a month")
        await {
            "denied": lambda: world.client.post(world.of("Bo", "/denied"), json={"text": "My rent is 860 a month"}),
            "learning": lambda: world.client.put(world.of("Bo", "/preferences"), json={"learning": False}),
            "memory": lambda: world.client.put(world.of("Bo", "/preferences"), json={"memory": False}),
            "erase": lambda: world.client.delete(world.of("Bo")),
            "turn": lambda: world.client.delete(world.of("Bo", f"/turns/{newest}")),
        }[change]()

    async def react(request: Request) -> str:
        answer = model(request)
        if request.json()["messages"][0]["content"] == merging.SYSTEM:
            try:
                await decide()
            finally:
                decided.set()
        return answer

    world.ext.default = react
    await world.chat("Bo", [user("My rent is 860 a month")])
    await world.drain()
    await decided.wait()  # an erasure takes the work away that is drained, before it is answered itself
    assert model.pairs
    assert await statuses(world) == ({} if change == "erase" else {"My rent is 840 a month": "current"})


async def test_a_verdict_is_about_what_a_fact_said_not_about_what_it_was_corrected_to_since(world: World) -> None:
    await told(world, "unknown", "My rent is 840 a month")
    model = Model("same")

    async def react(request: Request) -> str:
        answer = model(request)
        if request.json()["messages"][0]["content"] == merging.SYSTEM:
            [known] = await world.rows("Bo")
            await world.client.patch(world.of("Bo", f"/facts/{known['id']}"), json={"text": "Rents a boat for 840"})
        return answer

    world.ext.default = react
    await world.chat("Bo", [user("My rent is 860 a month")])
    await world.drain()
    assert await world.mem("Bo") == ["My rent is 860 a month", "Rents a boat for 840"]
