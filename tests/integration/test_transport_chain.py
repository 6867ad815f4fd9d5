"""Two proxies in a row, on one store: together they behave as one."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from memproxy.testing import stream
from memproxy.trust import OPEN
from tests.raw import CHAT, Got, fetch, request_bytes
from tests.world import World, user

pytestmark = pytest.mark.anyio

QUESTION = "What is my kayak called, Petrel or Puffin?"
BODY = json.dumps({"messages": [user(QUESTION)], "stream": True, "temperature": 1.0}).encode()
JSON = [("content-type", "application/json")]
USAGE = b'data: {"choices":[{"delta":{}}],"usage":{"prompt_tokens":1234567890123456789,"total_tokens":1.0}}\n\n'


@contextlib.asynccontextmanager
async def chain(folder: Path, *, one_store: bool = True, **flags: Any) -> AsyncIterator[tuple[World, World]]:
    """The proxy that an app talks to, and the one behind it, which talks to the upstream."""
    stores = [folder / "a" / "memory.db", folder / ("a" if one_store else "b") / "memory.db"]
    for name in ("a", "b"):
        (folder / name).mkdir()
    async with (
        World.open(folder / "b", db=str(stores[1])) as second,
        World.open(folder / "a", db=str(stores[0]), target=second.url, **flags) as first,
    ):
        yield first, second


async def ask(world: World, *headers: tuple[str, str], target: bytes = CHAT, body: bytes = BODY) -> Got:
    sent = request_bytes("POST", target, [("x-memg-entity", "Bo"), *headers], body)
    return await fetch(int(world.url.rsplit(":", 1)[1]), sent)


def ours(got: Got) -> dict[bytes, bytes]:
    pairs = [pair for pair in got.headers if pair[0].startswith(b"x-memg-")]
    assert len(pairs) == len(dict(pairs))  # one of each
    return dict(pairs)


async def test_one_block_one_record_one_set_of_headers_and_the_upstreams_bytes(tmp_path: Path) -> None:
    async with chain(tmp_path) as (first, second):
        await first.seed("Bo", "Has a kayak called Petrel")
        pieces = [*stream("Petrel.").pieces, USAGE]
        second.up.reply_raw(200, [("content-type", "text/event-stream"), ("x-request-id", "up-1")], pieces)
        got = await ask(first)
        assert got.body == b"".join(piece for piece in pieces if isinstance(piece, bytes))
        assert dict(got.headers)[b"x-request-id"] == b"up-1"
        assert ours(got)[b"x-memg-memory"].startswith(b"injected")
        assert second.up.requests[0].body.count(OPEN.encode()) == 1
        assert [(turn["role"], turn["content"]) for turn in await first.turns("Bo")] == [
            ("user", QUESTION),
            ("assistant", "Petrel."),
        ]
        receipt = await first.client.get(first.own(f"receipts/{ours(got)[b'x-memg-request-id'].decode()}"))
        assert receipt.status_code == 200
        assert await second.metric("memproxy_skips_total", reason="hop") == 1
        assert await second.metric("memproxy_turns_recorded_total") == 0
        people = (await second.client.get(second.own("entities"))).json()["items"]
        assert [person["entity"] for person in people] == ["Bo"]


@pytest.mark.parametrize("mode", ["off", "read", "write"])
async def test_what_the_first_was_told_not_to_do_the_second_does_not_do_either(tmp_path: Path, mode: str) -> None:
    async with chain(tmp_path) as (first, second):
        await first.seed("Bo", "Has a kayak called Petrel")
        got = await ask(first, ("x-memg-memory", mode))
        assert (OPEN.encode() in second.up.requests[0].body) == (mode == "read")
        assert (mode == "read") == ours(got)[b"x-memg-memory"].startswith(b"injected")
        assert len(await first.said("Bo")) == (1 if mode == "write" else 0)
        assert await second.metric("memproxy_turns_recorded_total") == 0


async def test_a_chat_of_nobody_stays_a_chat_of_nobody(tmp_path: Path) -> None:
    async with chain(tmp_path) as (first, second):
        await first.seed("Bo", "Has a kayak called Petrel")  # the first named entity: no more "default"
        sent = request_bytes("POST", CHAT, body=BODY)
        got = await fetch(int(first.url.rsplit(":", 1)[1]), sent)
        assert ours(got)[b"x-memg-memory"] == b"skipped; reason=no-entity"
        assert second.up.requests[0].body == BODY


@pytest.mark.parametrize("status", [429, 500])
async def test_refusals_come_through_both(tmp_path: Path, status: int) -> None:
    async with chain(tmp_path) as (first, second):
        second.up.reply_raw(status, [("retry-after", "7"), ("content-length", "2")], [b"{}"])
        got = await ask(first)
        assert (got.status, got.body, dict(got.headers)[b"retry-after"]) == (status, b"{}", b"7")
        assert len(second.up.requests) == 1
        assert await first.said("Bo") == []


async def test_extraction_calls_through_a_proxy_are_no_chats(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    store = str(tmp_path / "memory.db")
    async with World.open(tmp_path / "b", db=store) as second:
        reached: dict[str, Any] = {"db": store, "llm__base_url": f"{second.url}/v1", "extraction__turns": 1}
        async with World.open(tmp_path / "a", **reached) as first:
            second.up.reply('{"facts": [{"text": "Has a kayak called Petrel"}]}')
            await first.chat("Bo", [user("I have a kayak called Petrel")])
            await first.drain()
            assert b"I have a kayak called Petrel" in second.up.requests[0].body
            assert await second.metric("memproxy_skips_total", reason="hop") == 1
            assert await first.said("Bo") == ["I have a kayak called Petrel"]
            people = (await second.client.get(second.own("entities"))).json()["items"]
            assert [person["entity"] for person in people] == ["Bo"]


@pytest.mark.parametrize("forged", ["", "1", "0" * 64, "é", "x" * 3000])
async def test_a_mark_that_is_not_ours_is_taken_off_and_changes_nothing(world: World, forged: str) -> None:
    await world.seed("Bo", "Has a kayak called Petrel")
    got = await ask(world, ("X-MemG-Hop", forged))
    assert ours(got)[b"x-memg-memory"].startswith(b"injected")
    values = [value for name, value in world.up.requests[0].headers if name == b"x-memg-hop"]
    assert len(values) == 1
    assert values != [forged.encode()]


async def test_an_answer_that_is_fetched_later_is_recorded_by_the_first_only(tmp_path: Path) -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Petrel."}]}
    answer = {"id": "resp_1", "object": "response", "status": "completed", "output": [said]}
    async with chain(tmp_path) as (first, second):
        second.up.reply_raw(200, JSON, [json.dumps({**answer, "status": "queued", "output": []}).encode()])
        await ask(first, target=b"/v1/responses", body=json.dumps({"input": QUESTION, "background": True}).encode())
        second.up.reply_raw(200, JSON, [json.dumps(answer).encode()])
        fetching = request_bytes("GET", b"/v1/responses/resp_1", [("x-memg-entity", "Bo")], b"")
        await fetch(int(first.url.rsplit(":", 1)[1]), fetching)
        assert [turn["content"] for turn in await first.turns("Bo")] == [QUESTION, "Petrel."]
        assert await second.metric("memproxy_turns_recorded_total") == 0


async def test_proxies_of_different_stores_do_not_know_each_other(tmp_path: Path) -> None:
    async with chain(tmp_path, one_store=False) as (first, second):
        await ask(first)
        assert await second.metric("memproxy_skips_total", reason="hop") == 0


async def test_routes_without_memory_carry_no_mark(world: World) -> None:
    await ask(world, target=b"/v1/embeddings")
    assert world.up.requests[0].header("x-memg-hop") is None


async def test_a_mark_is_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "k")
    async with World.open(tmp_path, keys=[{"key_env": "KEY", "admin": True}]) as world:
        assert world.app is not None
        mark = world.app.parts.mark.for_target("http://b")
        assert mark is not None
        assert (await ask(world, ("x-memg-hop", mark.decode()))).status == 401
        got = await ask(world, ("x-memg-hop", mark.decode()), ("x-memg-key", "k"))
        assert ours(got)[b"x-memg-memory"] == b"skipped; reason=hop"
