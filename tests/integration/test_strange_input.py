"""Input that no client should send: the chat behaves as it would without us, our own routes say what is wrong."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.world import World, user

pytestmark = pytest.mark.anyio

CANARY = "QUARTZ-5541"

BODIES = {
    "malformed": b'{"messages": [{"role": "user", "content": "' + CANARY.encode() + b'"',
    "no-object": b'["' + CANARY.encode() + b'"]',
    "empty": b"",
    "no-messages": b'{"model": "m"}',
    "messages-no-list": b'{"messages": "' + CANARY.encode() + b'"}',
    "empty-messages": b'{"messages": []}',
    "message-no-object": b'{"messages": ["' + CANARY.encode() + b'", 7, null]}',
    "invalid-utf8": b'{"messages": [{"role": "user", "content": "\xff\xfe ' + CANARY.encode() + b'"}]}',
    "deep": b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "huge-number": b'{"messages": [], "n": ' + b"9" * 100_000 + b"}",
    "nan": b'{"messages": [], "temperature": NaN}',
    "bom": b'\xef\xbb\xbf{"messages": []}',
    "unknown-role": b'{"messages": [{"role": "wizard", "content": "hm"}]}',
    "empty-content": b'{"messages": [{"role": "user", "content": ""}]}',
    "null-content": b'{"messages": [{"role": "user", "content": null}]}',
    "no-content": b'{"messages": [{"role": "user"}]}',
    "system-only": b'{"messages": [{"role": "system", "content": "Be brief."}]}',
    "number-content": b'{"messages": [{"role": "user", "content": 42}]}',
    "tool-only": b'{"messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}]}',
    "duplicate-messages": b'{"messages": [{"role": "user", "content": "a"}], "messages": []}',
}


@pytest.mark.parametrize("kind", list(BODIES))
async def test_a_strange_body_is_forwarded_as_it_came_and_leaves_no_trace(
    world: World, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "memproxy")
    await world.seed("Bo", "Has a green bicycle")
    world.up.reply_raw(400, [("content-type", "application/json")], [b'{"error": {"message": "no"}}'])
    response = await world.client.post(
        f"{world.url}/v1/chat/completions",
        content=BODIES[kind],
        headers={"X-MemG-Entity": "Bo", "Content-Type": "application/json"},
    )
    assert (response.status_code, response.content) == (400, b'{"error": {"message": "no"}}')
    assert world.sent == BODIES[kind]
    assert response.headers["x-memg-memory"].startswith("skipped; reason=")
    assert await world.turns("Bo") == []
    assert CANARY not in caplog.text


@pytest.mark.parametrize("kind", ["system-only", "empty-content", "null-content", "unknown-role", "tool-only"])
async def test_a_message_without_words_is_answered_and_nothing_of_the_person_is_stored(world: World, kind: str) -> None:
    response = await world.client.post(
        f"{world.url}/v1/chat/completions",
        content=BODIES[kind],
        headers={"X-MemG-Entity": "Bo", "Content-Type": "application/json"},
    )
    assert response.status_code == 200
    assert await world.said("Bo") == []
    await world.drain()
    assert world.ext.requests == []


async def test_twenty_megabytes_of_text_are_forwarded_and_left_alone(world: World) -> None:
    text = "The heron of Brask is grey. " * 750_000
    response = await world.chat("Bo", [user(text)])
    assert response.status_code == 200
    assert json.loads(world.sent)["messages"] == [user(text)]
    assert response.headers["x-memg-memory"] == "skipped; reason=too-large"
    assert await world.turns("Bo") == []


async def test_a_megabyte_of_text_is_stored_whole_and_indexed_within_bounds(world: World) -> None:
    text = "The heron of Brask is grey. " * 40_000
    await world.chat("Bo", [user(text)])
    [stored] = await world.heard("Bo")
    assert stored == text
    await world.drain()  # on a busy machine the answer's end may have come before the turn was stored
    counts = (await world.client.get(world.of("Bo"))).json()
    assert 0 < counts["passages"] < 1000
    assert len(world.extracted()[0]) < 13_000


BAD_ENTITIES: dict[str, str | bytes] = {
    "long": "a" * 10_240,
    "nul": "a\x00b",
    "newline": "a\nb",
    "empty": "",
    "delete": "a\x7fb",
    "not-utf8": b"\xff\xfe",
}


@pytest.mark.parametrize("kind", list(BAD_ENTITIES))
async def test_a_bad_entity_in_the_header_goes_bare(world: World, kind: str) -> None:
    value = BAD_ENTITIES[kind]
    raw = value if isinstance(value, bytes) else value.encode()
    status, headers = await raw_chat(world, b"X-MemG-Entity: " + raw.replace(b"\n", b"\r\n "))
    if status == 400:  # the HTTP parser itself refuses control characters
        assert world.up.requests == []
        return
    assert status in (200, 431)
    assert b"skipped; reason=bad-entity" in headers
    assert (await world.client.get(world.own("entities"))).json()["items"] == []


@pytest.mark.parametrize("segment", ["a%00b", "a%0Ab", "%FF", "a" * 10_240, ""])
async def test_a_bad_entity_in_the_path_goes_bare_and_is_400_on_own_routes(world: World, segment: str) -> None:
    body = {"model": "m", "messages": [user("I own a kayak")]}
    chat = await world.client.post(f"{world.url}/memproxy/as/{segment}/v1/chat/completions", json=body)
    assert chat.status_code == 200
    assert chat.headers["x-memg-memory"] == "skipped; reason=bad-entity"
    assert world.up.requests[-1].target == b"/v1/chat/completions"
    if segment:
        own = await world.client.get(f"{world.url}/memproxy/v1/entities/{segment}/facts")
        assert own.status_code == 400
    assert (await world.client.get(world.own("entities"))).json()["items"] == []


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..", "a%2Fb", "%", "a b", "Ü" * 255, "'; drop table turns; --", "*", "<b>"]
)
async def test_an_odd_but_valid_name_is_just_a_name(world: World, name: str) -> None:
    status, headers = await raw_chat(world, b"X-MemG-Entity: " + name.encode())
    assert status == 200, headers
    assert await world.said(name) == ["I own a kayak"]
    assert [row["entity"] for row in (await world.client.get(world.own("entities"))).json()["items"]] == [name]


async def raw_chat(world: World, header: bytes) -> tuple[int, bytes]:
    """A chat with a header that client libraries would refuse to send."""
    import asyncio

    parts = urlsplit(world.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    body = json.dumps({"model": "m", "messages": [user("I own a kayak")]}).encode()
    writer.write(
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n%s\r\n\r\n%s" % (len(body), header, body)
    )
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    head = answer.partition(b"\r\n\r\n")[0]
    return int(head.split(b" ")[1]), head


OWN = [
    ("POST", "/facts", b"{", 400),
    ("POST", "/facts", b"[]", 400),
    ("POST", "/facts", b"{}", 400),
    ("POST", "/facts", b'{"text": ""}', 400),
    ("POST", "/facts", b'{"text": "a", "colour": 1}', 400),
    ("POST", "/facts", b'{"text": "a", "significance": 11}', 400),
    ("POST", "/facts", b'{"text": "a", "confidence": "high"}', 400),
    ("POST", "/facts", b'{"text": "a", "reference_time": "yesterday"}', 400),
    ("POST", "/facts", b'{"text": "\xff"}', 400),
    ("POST", "/facts", b"[" * 50_000, 400),
    ("PATCH", "/facts/none", b'{"text": "a"}', 404),
    ("PATCH", "/facts/none", b"{}", 400),
    ("DELETE", "/facts/none", b"", 404),
    ("GET", "/facts/none", b"", 404),
    ("GET", "/facts?limit=0", b"", 400),
    ("GET", "/facts?limit=many", b"", 400),
    ("GET", "/facts?pinned=perhaps", b"", 400),
    ("GET", "/context", b"", 400),
    ("GET", "/search?query=x&kind=thought", b"", 400),
    ("GET", "/nowhere", b"", 404),
    ("PUT", "/facts", b"", 405),
    ("POST", "/turns", b'{"session": "s", "turns": []}', 400),
]


@pytest.mark.parametrize(("method", "path", "body", "status"), OWN)
async def test_own_routes_answer_with_problem_details(
    world: World, method: str, path: str, body: bytes, status: int
) -> None:
    response = await world.client.request(method, world.of("Bo", path), content=body)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert {"type", "title", "status"} <= set(response.json())
    assert (await world.client.get(world.own("entities"))).json()["items"] == []


@pytest.mark.parametrize(
    ("headers", "foreign"),
    [
        ({"Origin": "https://evil.example"}, True),
        ({"Origin": "null"}, True),
        ({"Host": "evil.example"}, True),
        ({"Host": "evil.example:8787"}, True),
        ({"Host": "localhost.evil.example"}, True),
        ({"Host": "localhost"}, False),
        ({"Host": "[::1]:8787"}, False),
        ({"Origin": "http://chat.example"}, False),
    ],
)
async def test_a_web_page_of_somewhere_else_reads_and_writes_nothing(
    tmp_path: Path, headers: dict[str, str], foreign: bool
) -> None:
    async with World.open(tmp_path, allowed_origins=["http://chat.example"]) as world:
        await world.seed("Bo", "Has a green bicycle")
        own = await world.client.get(world.of("Bo", "/facts"), headers=headers)
        assert own.status_code == (403 if foreign else 200)
        chat = await world.chat("Bo", [user("Which colour has my bicycle?")], headers=headers)
        assert chat.status_code == 200
        as_bo = await world.client.post(
            f"{world.url}/memproxy/as/Bo/v1/chat/completions",
            json={"messages": [user("Which colour has my bicycle, really?")]},
            headers=headers,
        )
        for response in (chat, as_bo):
            skipped = response.headers["x-memg-memory"] == "skipped; reason=origin"
            assert skipped == foreign
        assert (await world.said("Bo") == []) == foreign


async def test_database_trouble_is_told_by_ready_and_costs_no_chat(world: World) -> None:
    store = world.folder / "store" / "memory.db"
    store.rename(store.with_suffix(".away"))
    response = await world.chat("Bo", [user("I own a kayak")])
    assert response.status_code == 200
    assert response.headers["x-memg-memory"] == "skipped; reason=store"
    ready = await world.client.get(f"{world.url}/memproxy/ready")
    assert ready.status_code == 200
    assert ready.json()["memory"] == "degraded"
    assert any("store" in reason for reason in ready.json()["reasons"])
    listed = await world.client.get(world.of("Bo", "/facts"))
    assert listed.status_code == 503
    store.with_suffix(".away").rename(store)
    await world.chat("Bo", [user("I own a canoe")])
    assert await world.said("Bo") == ["I own a canoe"]
    assert (await world.client.get(f"{world.url}/memproxy/ready")).json()["memory"] == "ok"


async def test_a_missing_embedder_is_told_by_ready_and_recall_goes_by_words(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    async with World.open(tmp_path, embed__provider="local", embed__dir=str(tmp_path / "model")) as world:
        ready = (await world.client.get(f"{world.url}/memproxy/ready")).json()
        assert ready["memory"] == "degraded"
        assert any("embedder" in reason for reason in ready["reasons"])
        await world.seed("Bo", "Has a green bicycle")
        assert "green" in await world.ask("Bo", "Which colour has my bicycle?")


async def test_headers_that_cannot_be_honoured_are_ignored_and_counted(world: World) -> None:
    await world.chat(
        "Bo", [user("I own a kayak")], headers={"X-MemG-Timezone": "Mars/Olympus", "X-MemG-Time": "2001-01-01"}
    )
    assert await world.metric("memproxy_headers_ignored_total", header="x-memg-timezone") == 1
    assert await world.metric("memproxy_headers_ignored_total", header="x-memg-time") == 1
    assert not (await world.turns("Bo"))[0]["time"].startswith("2001")


async def test_client_time_dates_a_turn_where_it_is_switched_on(tmp_path: Path) -> None:
    async with World.open(tmp_path, client_time=True) as world:
        for said, text in (("2001-02-03T04:05:06Z", "I own a kayak"), ("2999-01-01", "I own a raft")):
            await world.chat("Bo", [user(text)], headers={"X-MemG-Time": said})
        by_text = {turn["content"]: turn["time"] for turn in await world.turns("Bo")}
        assert by_text["I own a kayak"] == "2001-02-03T04:05:06Z"
        assert not by_text["I own a raft"].startswith("2999")
