"""When facts are learned, with whose credential, and what a day may cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memproxy.testing import FrozenClock
from memproxy.testing.upstream import Request
from tests.world import Message, World, facts, user

pytestmark = pytest.mark.anyio


def both(request: Request) -> str:
    """An upstream that chats and, asked to, extracts what it is shown."""
    asked = request.json()["messages"][-1]["content"]
    if "<conversation>" not in asked:
        return "I see."
    return facts(*[line.split("user: ")[1] for line in asked.splitlines() if "] user: " in line])


@pytest.fixture
async def borrowing(tmp_path: Path) -> AsyncIterator[World]:
    """A proxy without a key of its own for extraction."""
    async with World.open(tmp_path, llm__base_url=None, llm__api_key=None, llm__model=None) as world:
        world.up.default = both
        yield world


def extractions(world: World) -> list[Request]:
    return [request for request in world.up.requests if b"<conversation>" in request.body]


async def test_without_a_key_the_callers_own_credential_extracts_at_its_own_endpoint(borrowing: World) -> None:
    world = borrowing
    await world.chat("Bo", [user("I own a kayak")], headers={"Authorization": "Bearer ada-key"})
    await world.drain()
    assert await world.mem("Bo") == ["I own a kayak"]
    [request] = extractions(world)
    assert request.header("authorization") == "Bearer ada-key"
    assert request.target == b"/v1/chat/completions"
    assert request.json()["model"] == "m"
    assert world.ext.requests == []


async def test_a_borrowed_credential_is_never_stored_and_its_jobs_wait_until_it_comes_again(borrowing: World) -> None:
    world = borrowing
    await world.chat("Bo", [user("I own a kayak")], headers={"Authorization": "Bearer ada-key"})
    assert b"ada-key" not in world.files()
    await world.restart()
    assert (await world.drain(timeout=2))["pending"] == 1
    assert extractions(world) == []
    await world.chat("Bo", [user("I bake bread")], headers={"Authorization": "Bearer bea-key"})
    await world.drain(timeout=2)
    assert [request.header("authorization") for request in extractions(world)] == ["Bearer bea-key"]
    assert await world.mem("Bo") == ["I bake bread"]
    await world.chat("Bo", [user("hm")], headers={"Authorization": "Bearer ada-key"})
    await world.drain()
    assert sorted(r.header("authorization") or "" for r in extractions(world)) == ["Bearer ada-key", "Bearer bea-key"]
    assert await world.mem("Bo") == ["I bake bread", "I own a kayak"]


async def test_without_any_credential_turns_are_stored_and_recalled_and_nothing_is_learned(borrowing: World) -> None:
    world = borrowing
    body = {"model": "m", "messages": [user("I own a kayak called Petrel")]}
    await world.client.post(f"{world.url}/v1/chat/completions", json=body, headers={"X-MemG-Entity": "Bo"})
    assert await world.drain() == {"idle": True, "pending": 0, "dead": 0}
    assert extractions(world) == []
    assert "Petrel" in await world.ask("Bo", "what is my kayak called?")


async def test_with_another_base_url_and_no_key_extraction_is_off_and_says_so(tmp_path: Path) -> None:
    async with World.open(tmp_path, llm__api_key=None) as world:
        ready = (await world.client.get(f"{world.url}/memproxy/ready")).json()
        assert ready["memory"] == "ok"
        assert "MEMG_LLM_API_KEY" in ready["extraction"]
        await world.chat("Bo", [user("I own a kayak")])
        await world.drain()
        assert world.ext.requests == []
        assert extractions(world) == []


async def test_learning_begins_after_three_turns_without_anybody_asking(tmp_path: Path) -> None:
    async with World.open(tmp_path, extraction__turns=3) as world:
        world.ext.default = both
        history: list[Message] = []
        for text in ("I own a kayak", "I own a canoe"):
            await world.say("Bo", history, text)
        await asyncio.sleep(0.3)
        assert world.ext.requests == []
        await world.say("Bo", history, "I own a raft")
        await world.ext.wait_for(lambda ext: len(ext.requests) == 1)
        assert all(text in world.extracted()[0] for text in ("kayak", "canoe", "raft"))


async def test_learning_begins_after_a_time_of_quiet(tmp_path: Path) -> None:
    async with World.open(tmp_path, extraction__quiet_seconds=0.5) as world:
        world.ext.default = both
        await world.chat("Bo", [user("I own a kayak")])
        await world.ext.wait_for(lambda ext: len(ext.requests) == 1)


async def test_a_daily_budget_stops_learning_never_chat_and_the_next_day_goes_on(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 3, 2, 22, 0, tzinfo=UTC))
    async with World.open(tmp_path, clock=clock, extraction__daily_calls=2) as world:
        world.ext.default = both
        for i in range(4):
            response = await world.chat("Bo", [user(f"I own kayak number {i}")])
            assert response.status_code == 200
        progress = await world.drain(timeout=5)
        assert len(world.ext.requests) == 2
        assert progress["pending"] == 2
        assert len(await world.mem("Bo")) == 2
        clock.advance(hours=3)
        await world.ext.wait_for(lambda ext: len(ext.requests) == 4, seconds=20)
        await world.drain()
        assert len(await world.mem("Bo")) == 4


async def test_o1_calls_and_tokens_are_counted_by_person_and_purpose_also_where_answers_were_of_no_use(
    tmp_path: Path,
) -> None:
    clock = FrozenClock(datetime(2026, 3, 2, 22, 0, tzinfo=UTC))
    async with World.open(tmp_path, clock=clock, extraction__daily_calls=2) as world:
        await world.chat("Bo", [user("I own a kayak")])
        await world.drain()
        world.ext.default = lambda request: "I would rather talk about the weather."
        await world.chat("Ilse", [user("I own a canoe")])
        await world.drain(timeout=5)
        for who in ("Bo", "Ilse"):
            [row] = (await world.client.get(world.of(who, "/usage"))).json()["items"]
            assert (row["day"], row["purpose"], row["calls"]) == ("2026-03-02", "extract", 1)
            assert (row["input_tokens"] > 0) == (who == "Bo")
        clock.advance(minutes=30)  # it is due again, and the day's calls are spent on what was of no use
        await world.drain(timeout=5)
        assert len(world.ext.requests) == 2
        assert (await world.client.get(world.of("nobody", "/usage"))).json()["items"] == []


async def test_every_extraction_call_has_an_output_limit_and_names_the_day_of_speaking(tmp_path: Path) -> None:
    async with World.open(tmp_path, client_time=True) as world:
        await world.chat("Bo", [user("We moved house last weekend")], headers={"X-MemG-Time": "2022-11-09T10:00:00Z"})
        await world.drain()
        [request] = world.ext.requests
        assert request.json()["max_tokens"] > 0
        assert "2022-11-09" in request.json()["messages"][-1]["content"]
        assert request.header("authorization") == "Bearer extraction-key"


async def test_a_long_batch_is_split_and_a_longer_turn_keeps_head_and_tail(tmp_path: Path) -> None:
    async with World.open(tmp_path, extraction__max_chars=1000) as world:
        history: list[Message] = []
        for i in range(4):
            await world.say("Bo", history, f"Kayak {i}: " + "it is a fine boat. " * 20)
        await world.say("Bo", history, "It begins with HEAD-WORD. " + "rowing " * 500 + "It ends with TAIL-WORD.")
        await world.drain()
        parts = world.extracted()
        assert len(parts) >= 3
        assert all(len(part) < 1200 for part in parts)
        assert any("HEAD-WORD" in part and "TAIL-WORD" in part for part in parts)


async def test_a_value_that_changes_supersedes_and_an_older_one_told_later_does_not(tmp_path: Path) -> None:
    async with World.open(tmp_path, client_time=True) as world:

        async def tell(said: str, city: str, when: str) -> None:
            world.ext.reply(facts({"text": f"Lives in {city}", "quote": said, "slot": "city"}))
            await world.chat("Bo", [user(said)], headers={"X-MemG-Time": when})
            await world.drain()

        await tell("I live in Austin", "Austin", "2026-01-05T00:00:00Z")
        await tell("I live in Seattle now", "Seattle", "2026-06-10T00:00:00Z")
        assert await world.mem("Bo") == ["Lives in Seattle"]
        await tell("In June I still live in Boston", "Boston", "2026-06-01T00:00:00Z")
        assert await world.mem("Bo") == ["Lives in Seattle"]
        await tell("I live in Austin again", "Austin", "2026-09-01T00:00:00Z")
        assert await world.mem("Bo") == ["Lives in Austin"]
        block = await world.ask("Bo", "Which city do I live in?")
        assert "Austin" in block
        assert "Seattle" not in block
        assert "Seattle" in await world.ask("Bo", "Which city did I live in before, previously?")


async def test_a_turn_removed_for_good_takes_the_facts_that_stand_on_it_along(world: World) -> None:
    world.ext.reply(facts({"text": "Owns a kayak", "quote": "I own a kayak"}))
    await world.chat("Bo", [user("I own a kayak")])
    await world.drain()
    assert await world.mem("Bo") == ["Owns a kayak"]
    [turn] = [row for row in await world.turns("Bo") if row["role"] == "user"]
    await world.client.delete(world.of("Bo", f"/turns/{turn['id']}"))
    assert await world.rows("Bo", status="current,historical,forgotten") == []
    assert await world.ask("Bo", "which kayak do I own?") == ""


# --- when it was said, where it was said -----------------------------------------------------------------------------


async def test_yesterday_is_the_day_before_where_the_person_is_whenever_it_is_learned(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 3, 10, 2, 0, tzinfo=UTC))  # still the ninth in Los Angeles
    async with World.open(tmp_path, clock=clock) as world:
        for who, zone in (("Ada", "America/Los_Angeles"), ("Bo", "Pacific/Kiritimati")):
            await world.chat(who, [user("I sold my boat yesterday")], headers={"X-MemG-Timezone": zone})
        clock.advance(days=20)  # an outage: it is learned much later
        world.ext.default = lambda request: facts({"text": "Sold the boat", "quote": "I sold my boat yesterday"})
        await world.drain()
        seen = {}
        for who in ("Ada", "Bo"):
            [row] = await world.rows(who)
            seen[who] = row["reference_time"][:10]
        assert seen == {"Ada": "2026-03-08", "Bo": "2026-03-09"}
        asked = [r.json()["messages"][1]["content"] for r in world.ext.requests]
        assert any("[Monday 2026-03-09] user: I sold my boat" in text for text in asked)
        assert any("[Tuesday 2026-03-10] user: I sold my boat" in text for text in asked)


async def test_l8_a_temporary_fact_ends_thirty_days_after_it_was_last_said_and_reading_does_not_keep_it(
    tmp_path: Path,
) -> None:
    clock = FrozenClock(datetime(2026, 3, 1, 9, 0, tzinfo=UTC))
    async with World.open(tmp_path, clock=clock) as world:
        world.ext.default = lambda request: facts({"text": "Is on holiday", "quote": "on holiday"})
        await world.chat("Bo", [user("I am on holiday")])
        await world.drain()
        [row] = await world.rows("Bo")
        assert (row["lifetime"], row["expires_at"]) == ("temporary", "2026-03-31T09:00:00Z")
        clock.advance(days=20)
        await world.ask("Bo", "am I on holiday?")  # read, not said
        await world.chat("Bo", [user("Still on holiday, the weather is grand")])
        await world.drain()
        [row] = await world.rows("Bo")
        assert row["expires_at"] == "2026-04-20T09:00:00Z"
        clock.advance(days=31)
        await world.drain()
        assert await world.rows("Bo") == []
        [row] = await world.rows("Bo", status="expired")
        assert row["valid_until"] == "2026-04-20T09:00:00Z"


async def test_l8_a_pinned_fact_does_not_end(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 3, 1, 9, 0, tzinfo=UTC))
    async with World.open(tmp_path, clock=clock) as world:
        made = await world.client.post(
            world.of("Bo", "/facts"), json={"text": "Is on holiday", "lifetime": "temporary"}
        )
        await world.client.post(world.of("Bo", f"/facts/{made.json()['id']}/pin"))
        clock.advance(days=400)
        await world.drain()
        assert await world.mem("Bo") == ["Is on holiday"]


async def test_l44_going_back_makes_the_old_value_current_again_with_a_history_of_all_three(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 1, 1, 9, 0, tzinfo=UTC))
    async with World.open(tmp_path, clock=clock) as world:
        for city in ("Austin", "Seattle", "Austin"):
            text = f"I live in {city}"
            world.ext.reply(facts({"text": f"Lives in {city}", "quote": text, "slot": "location"}))
            await world.chat("Bo", [user(text if clock.now().month < 3 else f"{text} again")])
            await world.drain()
            clock.advance(days=31)
        assert await world.mem("Bo") == ["Lives in Austin"]
        past = await world.rows("Bo", status="historical")
        assert [row["text"] for row in past] == ["Lives in Seattle", "Lives in Austin"]
        for moment, city in (("2026-01-15", "Austin"), ("2026-02-15", "Seattle"), ("2026-03-20", "Austin")):
            response = await world.client.get(world.of("Bo", "/facts"), params={"as_of_valid": f"{moment}T00:00:00Z"})
            assert [row["text"] for row in response.json()["items"]] == [f"Lives in {city}"], moment
        then = {"as_of_txn": "2026-02-15T00:00:00Z", "as_of_valid": "2026-03-20T00:00:00Z"}
        response = await world.client.get(world.of("Bo", "/facts"), params=then)
        assert [row["text"] for row in response.json()["items"]] == ["Lives in Seattle"]


async def test_an_open_thread_is_resolved_by_what_is_said_later(tmp_path: Path) -> None:
    async with World.open(tmp_path) as world:
        text = "I am waiting for the biopsy results"
        world.ext.reply(facts({"text": "Waits for the biopsy results", "quote": text, "thread_status": "open"}))
        await world.chat("Bo", [user(text)])
        await world.drain()
        text = "The biopsy results came back clean"
        world.ext.reply(facts({"text": "Biopsy results are clean", "quote": text, "thread_status": "resolved"}))
        await world.chat("Bo", [user(text)])
        await world.drain()
        threads = {row["text"]: row["thread_status"] for row in await world.rows("Bo")}
        assert threads == {"Waits for the biopsy results": "resolved", "Biopsy results are clean": "resolved"}
        assert (await world.client.get(world.of("Bo", "/threads"))).json()["items"] == []
