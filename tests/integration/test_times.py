"""What time does to what is recalled: what held once, when things happened, what has aged."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memproxy.testing import FrozenClock
from tests.world import World, facts, user


async def learn(world: World, text: str, said: str | None = None, **fields: Any) -> None:
    quote = said or text
    world.ext.reply(facts({"text": text, "quote": quote, **fields}))
    await world.chat("Bo", [user(quote)])
    await world.drain()


def section(block: str, name: str) -> str:
    return block.partition(f"[{name}]")[2].partition("\n[")[0]


async def test_what_held_once_is_told_where_the_past_is_asked_about_and_marked(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 1, 1, 9, tzinfo=UTC))
    async with World.open(tmp_path, clock=clock) as world:
        await learn(world, "Lives in Austin", "I live in Austin", slot="location")
        clock.advance(days=90)
        await learn(world, "Lives in Seattle", "I live in Seattle", slot="location")
        now = await world.ask("Bo", "Where do I live?")
        assert "Seattle" in now
        assert "Austin" not in now
        then = await world.ask("Bo", "Where did I use to live, where was I before Seattle?")
        assert "Austin" in then
        await world.client.delete(world.of("Bo", f"/facts/{(await world.rows('Bo'))[0]['id']}"))


async def test_a_fact_without_its_turn_says_until_when_it_held(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 1, 1, 9, tzinfo=UTC))
    async with World.open(tmp_path, clock=clock, embed__provider="local") as world:
        for city in ("Austin", "Seattle"):
            body = {"text": f"Lives in {city}", "slot": "location", "reference_time": clock.now().isoformat()}
            await world.client.post(world.of("Bo", "/facts"), json=body)
            await world.drain()
            clock.advance(days=90)
        block = await world.ask("Bo", "Where did I live before, where was I in the past?")
        assert "[historical, until 2026-04-01] Lives in Austin" in block
        assert "historical" not in await world.ask("Bo", "Where do I live?")


async def test_what_was_put_wrongly_is_not_told_even_of_the_past(tmp_path: Path) -> None:
    async with World.open(tmp_path) as world:
        await learn(world, "Lives in Austin", "I live in Austin", slot="location")
        [fact] = await world.rows("Bo")
        await world.client.post(world.of("Bo", f"/facts/{fact['id']}/correct"), json={"text": "Lives in Oslo"})
        block = await world.ask("Bo", "Where did I live before, where was I in the past?")
        assert "Austin" not in block


async def test_l7_and_l15_a_timeline_answers_who_came_first_and_how_long_ago(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 5, 6, 9, tzinfo=UTC))
    async with World.open(tmp_path, clock=clock) as world:
        told = [
            ("Had the tonsils out", "I had my tonsils out two weeks ago"),
            ("Saw the doctor about the tonsils", "In February the doctor looked at my tonsils"),
            ("Will see the surgeon about the tonsils", "tomorrow the surgeon checks the tonsils"),
        ]
        dates = [None, "2026-02-03", None]
        for (text, said), date in zip(told, dates, strict=True):
            await learn(world, text, said, type="event", reference_time=date)
        block = await world.ask("Bo", "When did all that with my tonsils happen, and in which order?")
        lines = re.findall(r"^\d{4}-\d\d-\d\d \(.*\):$", section(block, "TIMELINE"), re.MULTILINE)
        assert lines == [
            "2026-02-03 (92 days, 3 months ago):",
            "2026-04-22 (14 days ago):",
            "2026-05-07 (in 1 day):",
        ]
        assert "[TIMELINE]" not in await world.ask("Bo", "Tell me about my tonsils")


async def test_a_day_is_the_same_day_wherever_it_is_shown(tmp_path: Path) -> None:
    async with World.open(tmp_path) as world:
        body = {"text": "Moved to Tolm", "type": "event", "reference_time": "2024-03-01T00:00:00Z"}
        await world.client.post(world.of("Bo", "/facts"), json=body)
        for zone in ("America/Los_Angeles", "Pacific/Kiritimati", "UTC"):
            block = await world.ask("Bo", "When did I move to Tolm?", headers={"X-MemG-Timezone": zone})
            assert "2024-03-01" in block, zone


async def test_a_small_fact_of_long_ago_gives_way_to_a_fresh_one(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2024, 1, 1, 9, tzinfo=UTC))
    async with World.open(tmp_path, clock=clock) as world:
        old = {"text": "Wants to see the otters in Tolm", "significance": 3}
        new = {"text": "Wants to see the otters in Brask", "significance": 3}
        await world.client.post(world.of("Bo", "/facts"), json=old)
        clock.advance(days=700)
        await world.client.post(world.of("Bo", "/facts"), json=new)
        await world.drain()
        answer = (await world.client.get(world.of("Bo", "/context"), params={"query": "see the otters"})).json()
        scores = {item["text"]: item["score"] for item in answer["items"]}
        assert scores["Wants to see the otters in Brask"] > 2 * scores["Wants to see the otters in Tolm"]
        aged = [item["reasons"].get("age", 0) for item in answer["items"]]
        assert sorted(value < 0 for value in aged) == [False, True]
