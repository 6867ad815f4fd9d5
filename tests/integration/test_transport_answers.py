"""Answers on their way down, through the whole proxy with memory on: the upstream's bytes, the upstream's end."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import brotli
import pytest
import zstandard

from memproxy.testing import Answer, Die, Wait, stream
from memproxy.testing.upstream import Piece
from tests.raw import CHAT, Got, fetch, request_bytes, until
from tests.world import World, user

pytestmark = pytest.mark.anyio

SAID = "I own a kayak called Petrel"
TEXT = "Grüße 🎉 aus Köln"
BODY = json.dumps({"messages": [user(SAID)]}).encode()
ENTITY = ("x-memg-entity", "Bo")
JSON = ("content-type", "application/json")
EVENTS = ("content-type", "text/event-stream")
WHOLE = json.dumps({"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}], "x": 1.0}).encode()
FRAMES = [piece for piece in stream(TEXT).pieces if isinstance(piece, bytes)]
STREAM = b"".join(FRAMES)
FRAMING = (b"transfer-encoding", b"connection")
UNBUFFERED = [(b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no")]


async def ask(world: World, target: bytes = CHAT, body: bytes = BODY) -> Got:
    return await fetch(int(world.url.rsplit(":", 1)[1]), request_bytes("POST", target, [ENTITY], body))


def upstreams(got: Got) -> list[tuple[bytes, bytes]]:
    """The headers of an answer that are not ours and not of the connection."""
    return [(name, value) for name, value in got.headers if name.lower() not in FRAMING and b"x-memg-" not in name]


def sent(headers: Sequence[tuple[str | bytes, str | bytes]]) -> list[tuple[bytes, bytes]]:
    def as_bytes(value: str | bytes) -> bytes:
        return value if isinstance(value, bytes) else value.encode()

    return [(as_bytes(name), as_bytes(value)) for name, value in headers]


async def learned(world: World) -> list[tuple[str, str, bool]]:
    return [(turn["role"], turn["content"], turn["complete"]) for turn in await world.turns("Bo")]


BOTH = [("user", SAID, True), ("assistant", TEXT, True)]

# --- codings -------------------------------------------------------------------------------------------------

CODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "gzip, br": lambda data: brotli.compress(gzip.compress(data)),
}


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("coding", list(CODERS))
async def test_compressed_answers_pass_as_they_are_and_are_understood(
    world: World, coding: str, streams: bool, size: int
) -> None:
    data = CODERS[coding](STREAM if streams else WHOLE)
    headers = [EVENTS if streams else JSON, ("content-encoding", coding), ("vary", "accept-encoding")]
    if size > 7:
        headers.append(("content-length", str(len(data))))
    pieces: list[Piece] = [data[start : start + size] for start in range(0, len(data), size)]
    world.up.reply_raw(200, headers, pieces)
    got = await ask(world)
    assert (got.body, got.whole) == (data, True)
    assert upstreams(got) == [*sent(headers), *(UNBUFFERED if streams else [])]
    assert await learned(world) == BOTH


@pytest.mark.parametrize("coding", ["gzip", "snappy", "br"])
async def test_an_answer_that_is_not_what_it_says_passes_all_the_same(world: World, coding: str) -> None:
    world.up.reply_raw(200, [JSON, ("content-encoding", coding)], [WHOLE])
    got = await ask(world)
    assert (got.body, dict(got.headers)[b"content-encoding"]) == (WHOLE, coding.encode())
    assert await learned(world) == BOTH[:1]


# --- refusals and headers ------------------------------------------------------------------------------------

LIMITS = [
    ("Retry-After", "7"),
    ("retry-after-ms", "6900"),
    ("x-should-retry", "true"),
    ("x-ratelimit-limit-requests", "60"),
    ("x-ratelimit-remaining-tokens", "0"),
    ("x-ratelimit-reset-tokens", "6m0s"),
    ("anthropic-ratelimit-requests-reset", "2026-01-01T00:00:00Z"),
    ("anthropic-ratelimit-unified-status", "rejected"),
    ("x-request-id", "req_1"),
    ("request-id", "req_2"),
    ("set-cookie", "a=1"),
    ("set-cookie", "b=2"),
    ("date", "Thu, 01 Jan 2026 00:00:00 GMT"),
    ("server", "cloudflare"),
    ("www-authenticate", 'Bearer realm="x"'),
    ("openai-processing-ms", "12"),
    ("x-empty", ""),
]
REFUSALS: dict[str, tuple[int, list[tuple[str, str]], bytes]] = {
    "401": (401, [JSON], b'{"error": {"message": "no key", "type": "authentication_error"}}\n'),
    "400 with numbers": (400, [JSON], b'{"error":{"message":"x","param":null,"n":1.0}}'),
    "404": (404, [JSON], b"{}"),
    "413 in html": (413, [("content-type", "text/html")], b"<html>\r\n<h1>Too large</h1>\xff</html>"),
    "429": (429, [JSON], b'{"error":{"type":"rate_limit_error"}}'),
    "500 empty": (500, [], b""),
    "502 of its own": (502, [("content-type", "text/plain")], b"Bad Gateway"),
    "503 in html": (503, [("content-type", "text/html; charset=iso-8859-1")], b"<h1>Service \xfcberlastet</h1>"),
    "529": (529, [JSON], b'{"type":"error","error":{"type":"overloaded_error"}}'),
    "429 as a stream": (429, [EVENTS], b'event: error\ndata: {"error":{}}\n\n'),
    "gzip": (400, [JSON, ("content-encoding", "gzip")], gzip.compress(b'{"error":{}}', mtime=0)),
}


@pytest.mark.parametrize("target", [CHAT, b"/v1/models", b"/memproxy/as/Bo/v1/embeddings"])
@pytest.mark.parametrize("name", list(REFUSALS))
async def test_refusals_pass_with_every_header_and_nothing_is_learned(world: World, name: str, target: bytes) -> None:
    status, kind, body = REFUSALS[name]
    headers = [*LIMITS[:9], *kind, *LIMITS[9:], ("content-length", str(len(body)))]
    world.up.reply_raw(status, headers, [body])
    got = await ask(world, target)
    assert (got.status, got.body, got.whole) == (status, body, True)
    assert upstreams(got) == [*sent(headers), *(UNBUFFERED if EVENTS in kind else [])]
    assert await learned(world) == []
    assert len(world.up.requests) == 1  # trying again is the client's to decide


async def test_header_bytes_that_are_no_utf8_come_down_as_they_are(world: World) -> None:
    headers: list[tuple[str | bytes, str | bytes]] = [
        (b"x-title", b"Gr\xfc\xdfe"),
        (b"x-odd", bytes(range(0x80, 0x100))),
        (b"content-disposition", 'attachment; filename="Zoë.mp3"'.encode()),
    ]
    world.up.reply_raw(200, [*headers, ("content-length", "2")], [b"{}"])
    assert upstreams(await ask(world)) == [*sent(headers), (b"content-length", b"2")]


@pytest.mark.parametrize("target", [CHAT, b"/v1/models"])
async def test_what_a_proxy_behind_us_added_is_replaced_by_ours(world: World, target: bytes) -> None:
    inner = [("X-MemG-Request-Id", "inner"), ("x-memg-memory", "injected; items=1"), ("x-memg-new", "1"), ("x-a", "b")]
    world.up.reply_raw(200, [*inner, JSON], [WHOLE])
    got = await ask(world, target)
    ours = [(name, value) for name, value in got.headers if name.startswith(b"x-memg-")]
    assert [name for name, _ in ours] == [b"x-memg-request-id", b"x-memg-memory"][: 2 if target == CHAT else 1]
    assert not any(b"inner" in value or b"items=1" in value for _, value in ours)
    assert upstreams(got) == [(b"x-a", b"b"), (b"content-type", b"application/json")]


@pytest.mark.parametrize(
    ("headers", "added"),
    [
        ([EVENTS], [b"cache-control", b"x-accel-buffering"]),
        ([("Content-Type", "TEXT/Event-Stream ; charset=utf-8")], [b"cache-control", b"x-accel-buffering"]),
        ([EVENTS, ("cache-control", "private")], [b"x-accel-buffering"]),
        ([EVENTS, ("X-Accel-Buffering", "yes")], [b"cache-control"]),
        ([EVENTS, ("X-Accel-Buffering", "no"), ("Cache-Control", "no-store")], []),
        ([JSON], []),
        ([("content-type", "application/x-ndjson")], []),
        ([("content-type", "text/event-streams")], []),
        ([], []),
    ],
)
@pytest.mark.parametrize("target", [CHAT, b"/v1/threads/t/runs"])
async def test_event_streams_say_that_nobody_is_to_hold_them_back(
    world: World, target: bytes, headers: list[tuple[str, str]], added: list[bytes]
) -> None:
    world.up.reply_raw(200, headers, [b"data: {}\n\n"])
    assert upstreams(await ask(world, target)) == [
        *sent(headers),
        *(pair for pair in UNBUFFERED if pair[0] in added),
    ]


# --- as it comes, and only what comes ------------------------------------------------------------------------

FRAME_KINDS: dict[str, list[bytes]] = {
    "comments only": [b": OPENROUTER PROCESSING\n\n", b": ping\n"],
    "a retry alone": [b"retry: 3000\n\n", *FRAMES],
    "an id and an event name": [b"id: 1\nevent: x\n" + FRAMES[0], *FRAMES[1:]],
    "empty data": [b"data:\n\n", b'data: ""\n\n', *FRAMES],
    "data without a space": [frame.replace(b"data: ", b"data:") for frame in FRAMES],
    "old line ends": [frame.replace(b"\n", b"\r") for frame in FRAMES],
    "mixed line ends": [
        frame.replace(b"\n", end) for frame, end in zip(FRAMES, [b"\r\n", b"\n", b"\r"] * 9, strict=False)
    ],
    "a byte order mark": [b"\xef\xbb\xbf", *FRAMES],
    "no end": FRAMES[:-1],
    "two ends": [*FRAMES, FRAMES[-1]],
    "a usage chunk": [*FRAMES[:-1], b'data: {"choices":[],"usage":{"total_tokens":3}}\n\n', FRAMES[-1]],
    "usage beside choices": [FRAMES[0], b'data: {"choices":[{"delta":{}}],"usage":{}}\n\n', *FRAMES[1:]],
    "unknown events": [b'event: new.kind\ndata: {"type":"new.kind"}\n\n', *FRAMES],
    "no JSON": [b"data: {broken\n\n", *FRAMES],
    "a line of ten megabytes": [b'data: {"choices":[],"pad":"' + b"x" * 10_000_000 + b'"}\n\n', *FRAMES],
    "a separator inside a string": [STREAM.replace("ß".encode(), "\u0085\u2028".encode())],
    "unfinished": [STREAM[:-30]],
    "nothing": [],
}


@pytest.mark.parametrize("size", [1, 5, 1 << 24])
@pytest.mark.parametrize("kind", list(FRAME_KINDS))
async def test_frames_of_every_kind_pass_and_none_is_made_up(world: World, kind: str, size: int) -> None:
    data = b"".join(FRAME_KINDS[kind])
    if size < 100 < 1_000_000 < len(data):
        size = 65_536
    pieces: list[Piece] = [data[start : start + size] for start in range(0, len(data), size)]
    world.up.reply_raw(200, [EVENTS], pieces)
    got = await ask(world)
    assert (got.body, got.whole) == (data, True)
    assert (await learned(world))[0] == BOTH[0]


async def test_every_piece_is_passed_on_before_the_next_one_comes(world: World) -> None:
    gates = [Wait() for _ in FRAMES]
    pieces: list[Piece] = [piece for pair in zip(FRAMES, gates, strict=True) for piece in pair]
    world.up.reply_raw(200, [EVENTS], pieces)
    reader, writer = await asyncio.open_connection("127.0.0.1", int(world.url.rsplit(":", 1)[1]))
    writer.write(request_bytes("POST", CHAT, [ENTITY], BODY))
    async with asyncio.timeout(20):
        for frame, gate in zip(FRAMES, gates, strict=True):
            await reader.readuntil(frame)
            gate.set()
        assert (await reader.read()).endswith(b"0\r\n\r\n")
    writer.close()


# --- death ---------------------------------------------------------------------------------------------------

DEATHS: dict[str, Answer] = {
    "after the head": Answer(200, [EVENTS], [0.05, Die()]),
    "in the middle of a stream": Answer(200, [EVENTS], [*FRAMES[:3], 0.05, Die()]),
    "in the middle of a frame": Answer(200, [EVENTS], [STREAM[:250], 0.05, Die()]),
    "before the last of a counted body": Answer(200, [JSON, ("content-length", str(len(WHOLE)))], [WHOLE[:-1], Die()]),
    "in a compressed stream": Answer(
        200, [EVENTS, ("content-encoding", "gzip")], [gzip.compress(STREAM, mtime=0)[:100], 0.05, Die()]
    ),
    "in a refusal": Answer(500, [JSON, ("content-length", "100")], [b'{"error"', Die()]),
}


@pytest.mark.parametrize("target", [CHAT, b"/v1/files/f/content"])
@pytest.mark.parametrize("phase", list(DEATHS))
async def test_an_upstream_that_dies_is_seen_to_die(world: World, phase: str, target: bytes) -> None:
    answer = DEATHS[phase]
    world.up.reply_answer(answer)
    got = await ask(world, target)
    assert (got.status, got.whole) == (answer.status, False)
    assert got.body == b"".join(piece for piece in answer.pieces if isinstance(piece, bytes))
    assert not got.raw.endswith(b"0\r\n\r\n")
    assert all(complete is False for role, _, complete in await learned(world) if role == "assistant")
    assert len(world.up.requests) == 1


async def test_an_upstream_that_dies_before_its_answer_is_a_502(world: World) -> None:
    def hang_up(request: object) -> Answer:
        raise ConnectionAbortedError

    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    world.up.reply_with(hang_up)
    got = await ask(world)
    assert (got.status, json.loads(got.body)["error"]["code"]) == (502, "no-answer")
    assert await learned(world) == []


# --- a client that leaves ------------------------------------------------------------------------------------

LEAVES: dict[str, Callable[[], Answer] | None] = {
    "before the head": None,
    "after the head": lambda: Answer(200, [EVENTS], [Wait()]),
    "in the middle of a stream": lambda: Answer(200, [EVENTS], [*FRAMES[:3], Wait()]),
    "while a whole answer is awaited": lambda: Answer(200, [JSON, ("content-length", "1000")], [b"{", Wait()]),
    "in a flood": lambda: Answer(200, [EVENTS], [b": x\n" * 20_000] * 500),
}


@pytest.mark.parametrize("target", [CHAT, b"/v1/completions"])
@pytest.mark.parametrize("phase", list(LEAVES))
async def test_when_the_client_leaves_the_upstream_is_cut_off_at_once(world: World, phase: str, target: bytes) -> None:
    answer = LEAVES[phase]

    async def react(request: object) -> Answer:
        if answer is None:
            await asyncio.Event().wait()
        return answer() if answer is not None else Answer()

    world.up.reply_with(react)
    reader, writer = await asyncio.open_connection("127.0.0.1", int(world.url.rsplit(":", 1)[1]))
    writer.write(request_bytes("POST", target, [ENTITY], BODY))
    await world.up.wait_for(lambda seen: len(seen.requests) == 1)
    if answer is not None:
        await reader.readuntil(b"\r\n\r\n")
    writer.transport.abort()
    await world.up.wait_for(lambda seen: seen.abandoned == 1, seconds=1)
    assert world.app is not None
    parts, client = world.app.parts, world.app.proxy._client
    await until(lambda: parts.metrics.registry.get_sample_value("memproxy_clients_gone_total") == 1)
    if target == CHAT:
        await until(lambda: not client.background)
        said = await learned(world)
        assert said[0] == BOTH[0]
        assert all(not complete for role, _, complete in said if role == "assistant")


async def test_chats_that_are_abandoned_leave_nothing_behind(tmp_path: Path) -> None:
    async with World.open(tmp_path) as world:
        assert world.app is not None
        for _ in range(20):
            world.up.reply_raw(200, [EVENTS], [FRAMES[0], Wait()])
            reader, writer = await asyncio.open_connection("127.0.0.1", int(world.url.rsplit(":", 1)[1]))
            writer.write(request_bytes("POST", CHAT, [ENTITY], BODY))
            await reader.readuntil(FRAMES[0])
            writer.transport.abort()
        await world.up.wait_for(lambda seen: seen.abandoned == 20)
        client = world.app.proxy._client
        await until(lambda: not client.background)
        assert await world.metric("memproxy_requests_in_flight") == 1  # the one that asks
        connector = client._connector
        assert connector is not None
        assert not connector._acquired


# --- errors of our own ---------------------------------------------------------------------------------------

ANTHROPIC = [("anthropic-version", "2023-06-01")]
DIALECTS = {
    b"/v1/chat/completions": ([], {"error"}, "code"),
    b"/v1/embeddings": ([], {"error"}, "code"),
    b"/v1/responses": ([], {"error"}, "code"),
    b"/v1/messages": (ANTHROPIC, {"type", "error"}, None),
    b"/v1/messages/batches": (ANTHROPIC, {"type", "error"}, None),
    b"/v1beta/models/g:generateContent": ([], {"error"}, "status"),
    b"/v1beta/models/g:embedContent": ([], {"error"}, "status"),
    b"/api/chat": ([], {"error"}, None),
}


@pytest.mark.parametrize("target", list(DIALECTS))
async def test_an_error_of_ours_is_told_as_the_api_of_the_path_tells_errors(tmp_path: Path, target: bytes) -> None:
    more, fields, detail = DIALECTS[target]
    async with World.open(tmp_path, target="http://127.0.0.1:9") as world:
        port = int(world.url.rsplit(":", 1)[1])
        got = await fetch(port, request_bytes("POST", target, [ENTITY, *more], BODY))
    error = json.loads(got.body)
    assert (got.status, dict(got.headers)[b"content-type"]) == (502, b"application/json")
    assert fields <= set(error)
    assert detail is None or detail in error["error"]
