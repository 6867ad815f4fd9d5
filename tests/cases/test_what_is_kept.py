"""Cases D, E, H, I, L and N: duplicates, lost turns, deletion, separation, the database, and the wire."""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
from pathlib import Path

import anyio
import brotli
import pytest

from memproxy.testing import ScriptedUpstream
from memproxy.testing.upstream import Answer
from tests.world import World, facts, user

pytestmark = pytest.mark.anyio

JSON = ("content-type", "application/json")


async def test_d1_the_same_liking_said_four_ways_is_one_row(world: World) -> None:
    for text in ("Likes otters", "Loves otters", "Is fond of otters", "likes  OTTERS."):
        world.ext.reply(facts({"text": text, "quote": "otters"}))
        await world.chat("Bo", [user(f"I told you about otters, and this time I say: {text}")])
        await world.drain()
    rows = await world.rows("Bo")
    assert [row["text"] for row in rows] == ["Likes otters"]
    assert rows[0]["reinforced_count"] == 3


async def test_d6_texts_that_differ_in_a_number_are_two_things(world: World) -> None:
    await world.seed("Bo", "Rent is 840 a month", "Rent is 860 a month")
    assert "Rent is 860 a month" in await world.mem("Bo")


async def test_d4_twenty_identical_chats_at_once_leave_one_row(world: World) -> None:
    await asyncio.gather(*(world.chat("Bo", [user("I own a kayak")]) for _ in range(20)))
    assert await world.said("Bo") == ["I own a kayak"]
    await asyncio.gather(
        *(world.client.post(world.of("Bo", "/facts"), json={"text": "Owns a kayak"}) for _ in range(20))
    )
    assert await world.mem("Bo") == ["Owns a kayak"]


async def test_e1_a_failed_extraction_is_tried_again_until_its_fact_is_stored_once(tmp_path: Path) -> None:
    async with World.open(tmp_path, llm__timeout=0.5) as world:
        world.ext.reply_raw(500, [JSON], [b"{}"])
        world.ext.reply_with(lambda request: Answer(200, [JSON], [3.0, b"{}"]))
        world.ext.reply('{"facts": [{"te')
        world.ext.reply(facts("I own a kayak"))
        await world.chat("Bo", [user("I own a kayak")])
        progress = await world.drain()
        assert progress == {"idle": True, "pending": 0, "dead": 0}
        assert await world.mem("Bo") == ["I own a kayak"]
        assert len(world.ext.requests) == 4


async def test_e1_nothing_to_remember_is_not_a_failure(world: World) -> None:
    await world.chat("Bo", [user("What is the tallest tower?")])
    assert await world.drain() == {"idle": True, "pending": 0, "dead": 0}
    assert len(world.ext.requests) == 1


async def test_e1_after_the_last_attempt_the_job_is_dead_visible_and_can_be_brought_back(tmp_path: Path) -> None:
    async with World.open(tmp_path, extraction__max_attempts=2) as world:
        for _ in range(2):
            world.ext.reply_raw(500, [JSON], [b"{}"])
        await world.chat("Bo", [user("I own a kayak")])
        assert (await world.drain())["dead"] == 1
        dead = (await world.client.get(world.own("jobs"), params={"state": "dead"})).json()["items"]
        assert [(job["entity"], job["error"]) for job in dead] == [("Bo", "status-500")]
        world.ext.reply(facts("I own a kayak"))
        assert (await world.client.post(world.own(f"jobs/{dead[0]['id']}/retry"))).status_code == 200
        await world.drain()
        assert await world.mem("Bo") == ["I own a kayak"]


async def test_e3_a_busy_model_is_waited_for_as_told_and_all_turns_are_learned(world: World) -> None:
    world.ext.reply_raw(429, [JSON, ("retry-after", "1")], [b"{}"])
    loop = asyncio.get_running_loop()
    for i in range(5):
        await world.chat("Bo", [user(f"I own kayak number {i}")])
    world.ext.default = lambda request: facts(
        request.json()["messages"][-1]["content"].split("user: ")[1].split("\n")[0]
    )
    started = loop.time()
    progress = await world.drain()
    assert progress == {"idle": True, "pending": 0, "dead": 0}
    assert loop.time() - started >= 1
    assert len(await world.mem("Bo")) == 5


async def test_e3_payment_and_key_errors_are_not_retried(world: World) -> None:
    world.ext.reply_raw(402, [JSON], [b"{}"])
    await world.chat("Bo", [user("I own a kayak")])
    assert (await world.drain())["dead"] == 1
    assert len(world.ext.requests) == 1


async def test_e6_a_slow_extraction_delays_nobody(world: World) -> None:
    world.ext.reply_with(lambda request: Answer(200, [JSON], [30.0, b"{}"]))
    await world.chat("Bo", [user("I own a kayak")])
    flushing = asyncio.create_task(world.drain(timeout=1))
    await asyncio.sleep(0.2)
    async with asyncio.timeout(5):
        assert (await world.chat("Bo", [user("And a canoe")])).status_code == 200
    assert (await flushing)["idle"] is False


async def test_e8_a_turn_that_arrives_during_an_extraction_is_learned_too(world: World) -> None:
    release = asyncio.Event()

    async def paused(request: object) -> str:
        await release.wait()
        return facts("I own a kayak")

    world.ext.reply_with(paused)
    history: list[dict[str, object]] = []
    await world.say("Bo", history, "I own a kayak")
    draining = asyncio.create_task(world.drain())
    await world.ext.wait_for(lambda ext: bool(ext.requests))
    await world.say("Bo", history, "I own a canoe as well")
    world.ext.reply(facts("I own a canoe as well"))
    release.set()
    await draining
    await world.drain()
    assert await world.mem("Bo") == ["I own a canoe as well", "I own a kayak"]


async def test_h1_a_forgotten_fact_is_gone_everywhere_at_once(world: World) -> None:
    world.ext.reply(facts({"text": "Keeps falcons in Brask", "quote": "I keep falcons in Brask"}))
    await world.chat("Bo", [user("Good news: I keep falcons in Brask. My sister paints boats.")])
    await world.drain()
    [row] = await world.rows("Bo")
    question = "where do I keep falcons?"
    assert "Brask" in await world.ask("Bo", question)
    receipt = world.own(
        f"receipts/{(await world.chat('Bo', [user(question + ' please')])).headers['x-memg-request-id']}"
    )
    assert "Brask" in (await world.client.get(receipt)).text
    deleted = await world.client.delete(world.of("Bo", f"/facts/{row['id']}"))
    assert deleted.json() == {"deleted": {"facts": 1}}
    assert "Brask" not in await world.ask("Bo", question)
    assert await world.mem("Bo") == []
    assert (await world.client.get(world.of("Bo", f"/facts/{row['id']}"))).status_code == 404
    for query in ("falcons", "where are my birds of prey", "Brask"):
        found = await world.client.get(world.of("Bo", "/search"), params={"query": query})
        assert "Brask" not in found.text
    assert "Brask" not in (await world.client.get(receipt)).text
    assert "boats" in await world.ask("Bo", "what does my sister paint?")
    assert (await world.client.delete(world.of("Bo", f"/facts/{row['id']}"))).status_code == 404


async def test_h1_a_forgotten_fact_can_be_brought_back(world: World) -> None:
    [fact] = await world.seed("Bo", "Keeps falcons in Brask")
    await world.client.delete(world.of("Bo", f"/facts/{fact}"))
    restored = await world.client.patch(world.of("Bo", f"/facts/{fact}"), json={"status": "current"})
    assert restored.status_code == 200
    await world.drain()
    assert "Brask" in await world.ask("Bo", "where do I keep falcons?")


async def test_h6_a_job_queued_before_an_erasure_creates_nothing(world: World) -> None:
    release = asyncio.Event()

    async def paused(request: object) -> str:
        await release.wait()
        return facts("I own a kayak")

    world.ext.reply_with(paused)
    await world.chat("Bo", [user("I own a kayak")])
    draining = asyncio.create_task(world.drain())
    await world.ext.wait_for(lambda ext: bool(ext.requests))
    counts = (await world.client.delete(world.of("Bo"))).json()["deleted"]
    assert counts["turns"] == 2
    release.set()
    await draining
    assert await world.rows("Bo", status="current,historical,quarantined,forgotten") == []
    assert await world.turns("Bo") == []
    assert (await world.client.get(world.own("jobs"))).json()["items"] == []


async def test_h7_an_edited_fact_is_not_found_by_its_old_words(world: World) -> None:
    [fact] = await world.seed("Bo", "The locker code is FERN-1")
    edited = await world.client.patch(world.of("Bo", f"/facts/{fact}"), json={"text": "The locker code is MOSS-2"})
    assert edited.json()["id"] == fact
    await world.drain()
    assert await world.mem("Bo") == ["The locker code is MOSS-2"]
    assert "FERN-1" not in (await world.client.get(world.of("Bo", "/search"), params={"query": "FERN-1"})).text
    assert [row["text"] for row in await world.rows("Bo", status="historical")] == ["The locker code is FERN-1"]


async def test_erasing_leaves_no_byte_of_the_person_in_any_file(world: World) -> None:
    await world.chat("Zephyrine-Q", [user("My canary word is QUARTZ-5541 and I live in Oddvarsholm")])
    await world.seed("Zephyrine-Q", "Has a parrot called Xanthippe")
    await world.ask("Zephyrine-Q", "what is my canary word and my parrot's name?")
    await world.seed("Bo", "Has a goose called Philomena")
    assert b"QUARTZ-5541" in world.files()
    deleted = (await world.client.delete(world.of("Zephyrine-Q"))).json()["deleted"]
    assert deleted["turns"] >= 2
    assert deleted["facts"] == 1
    for canary in (
        b"QUARTZ",
        b"quartz",
        b"5541",
        b"Oddvarsholm",
        b"oddvarsholm",
        b"Xanthipp",
        b"xanthipp",
        b"Zephyrine-Q",
    ):
        assert canary not in world.files(), canary
    assert "Philomena" in await world.ask("Bo", "what is my goose called?")


async def test_i1_each_person_finds_only_their_own(world: World) -> None:
    await world.seed("ada", "Lives in Tolm")
    await world.seed("bea", "Lives in Brask")
    for who, own, other in (("ada", "Tolm", "Brask"), ("bea", "Brask", "Tolm")):
        block = await world.ask(who, "where do I lives, which town?")
        assert own in block
        assert other not in block
        for query in ("Tolm Brask", "lives", "the town where somebody lives"):
            found = (await world.client.get(world.of(who, "/search"), params={"query": query})).text
            assert other not in found


async def test_i3_nobody_shares_a_pool_by_accident(world: World) -> None:
    first = await world.chat(None, [user("I live in Tolm")])
    assert "skipped" in first.headers["x-memg-memory"]
    assert "no-entity" not in first.headers["x-memg-memory"]
    assert await world.said("default") == ["I live in Tolm"]
    await world.chat("ada", [user("I live in Brask")])
    nameless = await world.chat(None, [user("Which town do I live in?")])
    assert nameless.headers["x-memg-memory"] == "skipped; reason=no-entity"
    assert await world.said("default") == ["I live in Tolm"]
    await world.restart()
    nameless = await world.chat(None, [user("Which town do I live in?")])
    assert nameless.headers["x-memg-memory"] == "skipped; reason=no-entity"


KEYS = [
    {"key_env": "ADA_KEY", "entities": ["ada"]},
    {"key_env": "TEAM_KEY", "entities": ["team-*"]},
    {"key_env": "ADMIN_KEY", "admin": True},
]


async def test_i5_a_key_names_only_its_own_entities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ADA_KEY", "TEAM_KEY", "ADMIN_KEY"):
        monkeypatch.setenv(name, name.lower())
    async with World.open(tmp_path, keys=KEYS) as world:

        async def status(key: str | None, who: str | None, **headers: str) -> int:
            sent = {**headers, **({"X-MemG-Key": key} if key else {})}
            return (await world.chat(who, [user("I live in Tolm")], headers=sent)).status_code

        assert await status(None, "ada") == 401
        assert await status("wrong", "ada") == 401
        assert await status("ada_key", "ada") == 200
        assert world.up.requests[-1].header("x-memg-key") is None
        assert await status("ada_key", "bea") == 403
        assert await status("team_key", "team-red") == 200
        assert await status("team_key", "ada") == 403
        assert await status("ada_key", None) == 200
        sent = len(world.up.requests)
        assert await status("ada_key", "bea") == 403
        assert len(world.up.requests) == sent
        admin = {"Authorization": "Bearer admin_key"}
        turns = (await world.client.get(world.of("ada", "/turns"), headers=admin)).json()["items"]
        assert len(turns) >= 1
        for path, key, expected in (
            (world.of("ada", "/facts"), "ada_key", 200),
            (world.of("bea", "/facts"), "ada_key", 403),
            (world.of("ada", "/facts"), "nope", 401),
            (world.own("flush"), "ada_key", 403),
        ):
            method = "POST" if path.endswith("flush") else "GET"
            response = await world.client.request(method, path, headers={"X-MemG-Key": key})
            assert response.status_code == expected, (path, key)
            assert expected == 200 or response.headers["content-type"] == "application/problem+json"
        assert (await world.client.get(f"{world.url}/memproxy/health")).status_code == 200
        assert (await world.client.get(f"{world.url}/memproxy/metrics")).status_code == 401


async def test_i5_the_path_may_not_name_somebody_else_than_the_header(world: World) -> None:
    url = f"{world.url}/memproxy/as/ada/v1/chat/completions"
    body = {"model": "m", "messages": [user("I live in Tolm")]}
    both = await world.client.post(url, json=body, headers={"X-MemG-Entity": "bea"})
    assert both.headers["x-memg-memory"] == "skipped; reason=entity-mismatch"
    assert await world.turns("ada") == await world.turns("bea") == []
    same = await world.client.post(url, json=body, headers={"X-MemG-Entity": "ada"})
    assert same.status_code == 200
    assert await world.said("ada") == ["I live in Tolm"]
    assert world.up.requests[-1].target == b"/v1/chat/completions"


async def test_i6_the_same_question_at_once_gets_each_their_own_and_changes_count_at_once(world: World) -> None:
    await world.seed("ada", "Lives in Tolm")
    [fact] = await world.seed("bea", "Lives in Brask")
    question = "which town lives?"
    await asyncio.gather(*(world.chat(who, [user(question)]) for who in ("ada", "bea") * 5))
    for request in world.up.requests:
        who_sees = [town for town in ("Tolm", "Brask") if town.encode() in request.body]
        assert len(who_sees) == 1
    await world.client.delete(world.of("bea", f"/facts/{fact}"))
    assert "Brask" not in await world.ask("bea", question)
    assert "Tolm" in await world.ask("ada", question)


async def test_l1_fifty_turns_at_once_are_all_stored(world: World) -> None:
    responses = await asyncio.gather(*(world.chat(f"p{i % 7}", [user(f"I own kayak number {i}")]) for i in range(50)))
    assert {response.status_code for response in responses} == {200}
    said = [text for i in range(7) for text in await world.said(f"p{i}")]
    assert sorted(said) == sorted(f"I own kayak number {i}" for i in range(50))
    assert (world.folder / "store" / "memory.db-wal").exists()


# Another process that takes the file for itself until its input ends. (In this process a second SQLite library would
# share, and on closing drop, the locks of the first.)
LOCK = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("begin immediate")
print("locked", flush=True)
sys.stdin.read()
db.execute("rollback")
db.close()
"""


async def test_l1_a_locked_database_costs_nobody_their_answer(world: World) -> None:
    await world.chat("Bo", [user("I own a kayak")])
    command = [sys.executable, "-c", LOCK, str(world.folder / "store" / "memory.db")]
    async with await anyio.open_process(command) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert b"locked" in await holder.stdout.receive()
        async with asyncio.timeout(20):
            response = await world.chat("Bo", [user("I own a canoe")])
        assert response.status_code == 200
        assert await world.metric("memproxy_ends_sent_before_commit_total") == 1
        await holder.stdin.aclose()
        await holder.wait()
    await world.chat("Bo", [user("I own a raft")])
    assert "I own a raft" in await world.said("Bo")


USAGE_LAST = [
    b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Nice"}}]}\n\n',
    b'data: {"choices":[{"index":0,"delta":{"content":" kayak"},"finish_reason":"stop"}]}\n\n',
    b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}\n\n',
    b"data: [DONE]\n\n",
]


async def test_n1_a_last_chunk_with_only_usage_changes_nothing(world: World) -> None:
    world.up.reply_raw(200, [("content-type", "text/event-stream")], USAGE_LAST)
    response = await world.chat("Bo", [user("I own a kayak")], stream=True)
    assert response.content == b"".join(USAGE_LAST)
    assert [turn["content"] for turn in await world.turns("Bo")] == ["I own a kayak", "Nice kayak"]
    world.ext.reply(facts("I own a kayak"))
    await world.drain()
    assert await world.mem("Bo") == ["I own a kayak"]


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [("gzip", gzip.compress), ("br", brotli.compress), (None, bytes)],
    ids=["gzip", "br", "plain"],
)
async def test_n5_compressed_answers_arrive_as_they_were_sent_and_are_understood(
    world: World, encoding: str | None, compress: object
) -> None:
    assert callable(compress)
    plain = json.dumps(
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Nice kayak"}, "finish_reason": "stop"}]}
    ).encode()
    packed: bytes = compress(plain)
    headers = [JSON, ("content-length", str(len(packed)))] + ([("content-encoding", encoding)] if encoding else [])
    world.up.reply_raw(200, headers, [packed])
    body = {"model": "m", "messages": [user("I own a kayak")]}
    async with world.client.stream(
        "POST", f"{world.url}/v1/chat/completions", json=body, headers={"X-MemG-Entity": "Bo"}
    ) as response:
        raw = b"".join([chunk async for chunk in response.aiter_raw()])
    assert raw == packed
    assert response.headers.get("content-encoding") == encoding
    assert response.headers["content-length"] == str(len(packed))
    assert (await world.turns("Bo"))[-1]["content"] == "Nice kayak"


@pytest.mark.parametrize("status", [401, 429, 500])
async def test_n6_failed_calls_pass_unchanged_and_teach_nothing(world: World, status: int) -> None:
    headers = [("content-type", "text/html"), ("retry-after", "20"), ("x-ratelimit-remaining", "0")]
    world.up.reply_raw(status, headers, [b"<h1>no</h1>"])
    response = await world.chat("Bo", [user("I own a kayak")])
    assert (response.status_code, response.content) == (status, b"<h1>no</h1>")
    assert response.headers["retry-after"] == "20"
    await world.drain()
    assert await world.turns("Bo") == []


async def test_n6_an_upstream_that_is_down_is_a_502_in_the_clients_shape(world: World) -> None:
    async with ScriptedUpstream() as gone:
        dead = gone.url
    world.flags["target"] = dead
    await world.restart()
    response = await world.chat("Bo", [user("I own a kayak")])
    assert response.status_code == 502
    assert set(response.json()["error"]) == {"message", "type", "param", "code"}
    assert await world.turns("Bo") == []


async def test_a_turn_that_no_model_digests_does_not_stop_what_is_said_after_it(tmp_path: Path) -> None:
    async with World.open(tmp_path, extraction__max_attempts=1) as world:
        world.ext.reply_raw(500, [JSON], [b"{}"])
        history: list[dict[str, object]] = []
        await world.say("Bo", history, "I own a kayak")
        assert (await world.drain())["dead"] == 1
        world.ext.reply(facts("I own a canoe"))
        await world.say("Bo", history, "I own a canoe")
        await world.drain()
        assert "kayak" not in world.extracted()[-1]
        assert await world.mem("Bo") == ["I own a canoe"]
