"""The relay on real sockets: uvicorn in front, a scripted upstream behind, clients that read raw bytes."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import openai
import pytest
import uvicorn
from starlette.types import Message, Receive, Scope, Send

from memproxy.server.relay import TOGETHER, Outcome, UpstreamRequest, relay
from memproxy.server.upstream import UpstreamClient, open_client
from memproxy.testing import Answer, Die, ScriptedUpstream, Wait, stream
from memproxy.testing.upstream import Piece
from memproxy.wire import ChatCompletions
from tests.raw import fetch, request_bytes, until

ADDED = [(b"x-memg-request-id", b"r1")]


@dataclass
class Front:
    """A small application around `relay`, served by uvicorn, and what it saw."""

    client: UpstreamClient
    base_url: str
    streams_body: bool = False
    hold_seconds: float = 2.0
    reader: Any = field(default_factory=lambda: ChatCompletions().reader)
    outcomes: list[Outcome] = field(default_factory=list)
    completed: list[Outcome] = field(default_factory=list)
    on_complete: Callable[[Outcome], Any] | None = None
    port: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = None if self.streams_body else await _whole(receive)
        request = UpstreamRequest(
            self.base_url, scope["method"], scope["raw_path"], scope["query_string"], scope["headers"], body
        )
        outcome = await relay(
            scope,
            receive,
            send,
            self.client,
            request,
            error_body=ChatCompletions().error,
            reader=self.reader,
            response_headers=ADDED,
            on_complete=self._complete,
            hold_seconds=self.hold_seconds,
        )
        self.outcomes.append(outcome)

    async def _complete(self, outcome: Outcome) -> None:
        if self.on_complete is not None:
            await self.on_complete(outcome)
        self.completed.append(outcome)

    async def outcome(self) -> Outcome:
        """The outcome of the one request, once there is one."""
        await until(lambda: bool(self.outcomes))
        return self.outcomes[-1]


async def _whole(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


class _Server(uvicorn.Server):
    """A server that leaves the process's signals alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(upstream_url: str, **options: Any) -> AsyncIterator[Front]:
    async with open_client() as client:
        front = Front(client, upstream_url, **options)
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        front.port = listener.getsockname()[1]
        config = uvicorn.Config(
            front, log_level="critical", lifespan="off", server_header=False, date_header=False, ws="none"
        )
        server = _Server(config)
        task = asyncio.create_task(server.serve([listener]))
        await until(lambda: server.started)
        try:
            yield front
        finally:
            server.should_exit = True
            server.force_exit = True
            await task


CHUNKS = list(stream("Grüße 🎉 aus Köln\u2028und \u0085 mehr").pieces)
SSE = [("content-type", "text/event-stream")]
JSON = [("content-type", "application/json")]
WHOLE = json.dumps(
    {"choices": [{"index": 0, "message": {"content": "hé"}, "finish_reason": "stop"}], "x": 1.0}
).encode()
JOINED = b"".join(piece for piece in CHUNKS if isinstance(piece, bytes))


def bytewise(data: bytes, size: int = 7) -> list[Piece]:
    return [data[start : start + size] for start in range(0, len(data), size)]


ANSWERS: dict[str, tuple[Answer, bytes]] = {
    "json": (Answer(200, [*JSON, ("content-length", str(len(WHOLE)))], [WHOLE]), WHOLE),
    "json in chunks": (Answer(200, JSON, bytewise(WHOLE)), WHOLE),
    "json until close": (Answer(200, JSON, [WHOLE], until_close=True), WHOLE),
    "gzip": (Answer(200, [*JSON, ("content-encoding", "gzip")], [gzip.compress(WHOLE, mtime=0)]), b""),
    "429": (Answer(429, [*JSON, ("retry-after", "7"), ("x-should-retry", "true")], [b'{"error":{}}']), b""),
    "400": (Answer(400, JSON, [b'{"error": {"message": "no", "type": "x"}}\n']), b""),
    "503 in html": (Answer(503, [("content-type", "text/html")], [b"<h1>Service\xff Unavailable</h1>"]), b""),
    "stream": (Answer(200, SSE, CHUNKS), JOINED),
    "stream with CRLF": (Answer(200, SSE, [JOINED.replace(b"\n", b"\r\n")]), b""),
    "stream cut everywhere": (Answer(200, SSE, bytewise(JOINED, 3)), JOINED),
    "stream with usage": (Answer(200, SSE, [*CHUNKS[:-1], b'data: {"choices":[],"usage":{}}\n\n', CHUNKS[-1]]), b""),
    "stream with comments": (Answer(200, SSE, [b": hello\n\n", b"retry: 3000\n\n", *CHUNKS]), b""),
    "stream without [DONE]": (Answer(200, SSE, CHUNKS[:-1]), b""),
    "stream with an error": (Answer(200, SSE, [CHUNKS[0], b'data: {"error":{"type":"oops"}}\n\n', CHUNKS[-1]]), b""),
    "long line": (Answer(200, SSE, [b'data: {"choices":[],"pad":"' + b"x" * 300_000 + b'"}\n\n', *CHUNKS]), b""),
    "no content": (Answer(204), b""),
    "not modified": (Answer(304, [("etag", '"a"')]), b""),
    "odd status": (Answer(529, JSON, [b"{}"]), b""),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_status_and_bytes_reach_the_client_as_the_upstream_sent_them(name: str) -> None:
    answer, _ = ANSWERS[name]
    expected = b"".join(piece for piece in answer.pieces if isinstance(piece, bytes))
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:
        upstream.reply_answer(answer)
        got = await fetch(front.port)
        await front.outcome()
    assert (got.status, got.body) == (answer.status, expected)
    assert got.whole
    sent = [(bytes(str(name), "ascii"), bytes(str(value), "ascii")) for name, value in answer.headers]
    framing = (b"connection", b"transfer-encoding")
    unbuffered = [(b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no")] if answer.headers == SSE else []
    assert [pair for pair in got.headers if pair[0] not in framing] == [*sent, *unbuffered, *ADDED]
    assert len(front.completed) == 1


async def test_header_repeats_and_order_survive_and_hop_by_hop_headers_do_not() -> None:
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:
        headers = [
            ("set-cookie", "a=1"),
            ("x-one", "1"),
            ("set-cookie", "b=2"),
            ("connection", "keep-alive, X-Private"),
            ("x-private", "hop"),
            ("keep-alive", "timeout=5"),
            ("content-length", "2"),
        ]
        upstream.reply_raw(200, headers, [b"{}"])
        got = await fetch(front.port)
    kept = [pair for pair in got.headers if pair[0] != b"connection"]
    assert kept == [
        (b"set-cookie", b"a=1"),
        (b"x-one", b"1"),
        (b"set-cookie", b"b=2"),
        (b"content-length", b"2"),
        *ADDED,
    ]


@pytest.mark.parametrize(
    "target",
    [
        b"/v1/chat/completions?beta=true&a=b&a=c",
        b"/v1/files/a%2Fb%41//c;d=1/../e?x=%2f%20+&y=;&z",
        b"/v1/models?api-version=2024-10-21&key=%C3%A9",
        b"/v1/h%c3%a9?q=%e2%82%ac&q=[1]{2}|'\"",
        b"//double?a=?b",
        b"/%",
    ],
)
async def test_path_and_query_go_up_verbatim_under_the_targets_own_path(target: bytes) -> None:
    async with ScriptedUpstream() as upstream, serving(f"{upstream.url}/openai/") as front:
        await fetch(front.port, request_bytes("GET", target, body=b""))
        assert upstream.requests[0].target == b"/openai" + target


async def test_request_headers_go_up_in_order_without_ours_and_without_any_of_its_own() -> None:
    headers = [
        ("authorization", "Bearer k"),
        ("x-memg-entity", "alice"),
        ("X-MemG-Key", "s"),
        ("x-twice", "1"),
        ("te", "trailers"),
        ("x-twice", "2"),
        ("x-name", "Zoë"),
        ("expect", "100-continue"),
    ]
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:
        await fetch(front.port, request_bytes(headers=headers))
        request = upstream.requests[0]
    assert request.headers == [
        (b"Host", upstream.url.removeprefix("http://").encode()),
        (b"authorization", b"Bearer k"),
        (b"x-twice", b"1"),
        (b"x-twice", b"2"),
        (b"x-name", "Zoë".encode()),
        (b"content-length", b"45"),
    ]


async def test_a_changed_body_gets_its_own_length_and_no_transfer_encoding() -> None:
    head = b"POST /v1/x HTTP/1.1\r\nhost: h\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:
        await fetch(front.port, head + b"3\r\nabc\r\n0\r\n\r\n")
        request = upstream.requests[0]
    assert request.body == b"abc"
    assert request.header("content-length") == "3"
    assert request.header("transfer-encoding") is None


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_that_is_not_held_is_streamed_through_untouched(chunked: bool) -> None:
    body = bytes(range(256)) * 80_000  # 20 MB
    async with ScriptedUpstream() as upstream, serving(upstream.url, streams_body=True) as front:
        sent = request_bytes(
            target=b"/v1/files", headers=[("content-type", "multipart/form-data; boundary=x")], body=body
        )
        if chunked:
            head = b"POST /v1/files HTTP/1.1\r\nhost: h\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
            sent = head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        got = await fetch(front.port, sent)
        request = upstream.requests[0]
    assert got.whole
    assert request.body == body
    assert request.header("transfer-encoding" if chunked else "content-length") == (
        "chunked" if chunked else str(len(body))
    )


async def test_twenty_megabytes_down_arrive_whole() -> None:
    body = b"\x00\xff" * 10_000_000
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:
        upstream.reply_raw(200, [("content-type", "application/octet-stream")], [body])
        got = await fetch(front.port)
    assert got.whole
    assert got.body == body


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "PATCH", "PROPFIND"])
async def test_every_method_passes(method: str) -> None:
    async with ScriptedUpstream() as upstream, serving(upstream.url, streams_body=True) as front:
        upstream.reply_raw(200, [("content-length", "5")], [b"hello"])
        got = await fetch(front.port, request_bytes(method, b"/v1/x", body=b""))
        assert upstream.requests[0].method == method
        assert upstream.requests[0].body == b""
    assert (got.status, dict(got.headers)[b"content-length"]) == (200, b"5")
    assert got.body == (b"" if method == "HEAD" else b"hello")


async def test_redirects_are_the_clients_to_follow() -> None:
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:
        upstream.reply_raw(307, [("location", "/elsewhere"), ("content-length", "0")])
        got = await fetch(front.port)
        assert (got.status, len(upstream.requests)) == (307, 1)


# --- ends that are no ends -----------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [SSE, [*JSON, ("content-length", "1000")]], ids=["chunked", "counted"])
async def test_an_answer_that_breaks_off_looks_broken_to_the_client(headers: list[tuple[str, str]]) -> None:
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:
        upstream.reply_raw(200, headers, [CHUNKS[0], CHUNKS[1], 0.02, Die()])
        got = await fetch(front.port)
        outcome = await front.outcome()
    assert not got.whole
    assert not got.raw.endswith(b"0\r\n\r\n")
    assert got.body == b"".join(piece for piece in CHUNKS[:2] if isinstance(piece, bytes))
    assert outcome.upstream_died
    assert outcome.reply is not None
    assert not outcome.reply.complete
    assert front.completed == [outcome]


async def test_the_openai_client_sees_a_truncated_stream_as_an_error() -> None:
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front, _openai(front.port) as client:
        upstream.reply_raw(200, SSE, [*CHUNKS[:3], Die()])
        events = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        with pytest.raises(openai.APIError):
            async for _ in events:
                pass


async def test_the_openai_client_reads_the_same_through_the_relay_as_directly() -> None:
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:
        upstream.default = lambda request: "Grüße aus Köln"
        port = int(upstream.url.rsplit(":", 1)[1])
        seen = []
        for to in (port, front.port):
            async with _openai(to) as client:
                whole = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
                events = await client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": "hi"}], stream=True
                )
                seen.append((whole.model_dump(), [event.model_dump() async for event in events]))
    assert seen[0] == seen[1]
    assert [outcome.reply and outcome.reply.text for outcome in front.completed] == ["Grüße aus Köln"] * 2


def _openai(port: int) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="k", max_retries=0)


@pytest.mark.parametrize("phase", ["before the first byte", "in the middle of a stream", "while waiting for a body"])
async def test_when_the_client_leaves_the_upstream_stops(phase: str) -> None:
    gate = Wait()
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:
        if phase == "before the first byte":

            async def never(request: object) -> str:
                await gate.wait()
                return ""

            upstream.reply_with(never)
        elif phase == "in the middle of a stream":
            upstream.reply_raw(200, SSE, [*CHUNKS[:3], gate])
        else:
            upstream.reply_raw(200, [*JSON, ("content-length", "1000")], [gate])
        _, writer = await asyncio.open_connection("127.0.0.1", front.port)
        writer.write(request_bytes())
        await upstream.wait_for(lambda seen: len(seen.requests) == 1)
        await asyncio.sleep(0.05)
        writer.transport.abort()
        await upstream.wait_for(lambda seen: seen.abandoned == 1)
        outcome = await front.outcome()
    assert outcome.client_gone
    answered = phase != "before the first byte"
    assert outcome.status == (200 if answered else 499)
    assert front.completed == ([outcome] if answered else [])
    if phase == "in the middle of a stream":
        assert outcome.reply is not None
        assert outcome.reply.text == "Grüße 🎉 aus Köln"
        assert not outcome.reply.complete


async def test_a_client_that_leaves_while_sending_its_body_leaves_no_request_behind() -> None:
    async with ScriptedUpstream() as upstream, serving(upstream.url, streams_body=True) as front:
        _, writer = await asyncio.open_connection("127.0.0.1", front.port)
        writer.write(b"POST /v1/files HTTP/1.1\r\nhost: h\r\ncontent-length: 1000\r\n\r\nabc")
        await upstream.wait_for(lambda seen: seen.connections == 1)
        writer.transport.abort()
        outcome = await front.outcome()
        assert upstream.requests == []
    assert (outcome.status, outcome.client_gone) == (499, True)


# --- the hold ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["json", "json in chunks", "stream", "stream without [DONE]", "stream cut everywhere"])
async def test_the_end_waits_until_the_exchange_is_recorded(name: str) -> None:
    answer, _ = ANSWERS[name]
    recorded = asyncio.Event()
    async with ScriptedUpstream() as upstream, serving(upstream.url, hold_seconds=60) as front:
        front.on_complete = lambda outcome: recorded.wait()
        upstream.reply_answer(answer)
        reader, writer = await asyncio.open_connection("127.0.0.1", front.port)
        writer.write(request_bytes())
        await until(lambda: bool(front.client.background))
        await asyncio.sleep(0.05)
        early = await reader.read(1 << 20)
        assert not early.endswith(b"0\r\n\r\n")
        assert b"[DONE]\n" not in early
        recorded.set()
        late = await reader.read(-1)
        writer.close()
        outcome = await front.outcome()
    assert late
    assert not outcome.held_too_long
    assert outcome.reply is not None
    assert outcome.reply.complete


async def test_the_end_is_sent_anyway_when_recording_takes_too_long_and_recording_goes_on() -> None:
    recorded = asyncio.Event()
    async with ScriptedUpstream() as upstream, serving(upstream.url, hold_seconds=0.01) as front:
        front.on_complete = lambda outcome: recorded.wait()
        got = await fetch(front.port)
        outcome = await front.outcome()
        assert got.whole
        assert outcome.held_too_long
        assert front.completed == []
        recorded.set()
        assert await front.client.drain(10)
        assert len(front.completed) == 1


async def test_recording_outlives_a_client_that_leaves_in_the_middle_of_it() -> None:
    recorded = asyncio.Event()
    async with ScriptedUpstream() as upstream, serving(upstream.url, hold_seconds=60) as front:
        front.on_complete = lambda outcome: recorded.wait()
        upstream.reply_raw(200, SSE, [*CHUNKS, 30.0])
        _, writer = await asyncio.open_connection("127.0.0.1", front.port)
        writer.write(request_bytes())
        await until(lambda: bool(front.client.background))
        writer.transport.abort()
        await front.outcome()
        recorded.set()
        await until(lambda: len(front.completed) == 1)


class _BrokenReader:
    def feed(self, data: bytes) -> bool:
        raise RuntimeError("no")

    def finish(self) -> Any:
        raise RuntimeError("no")


async def test_a_reader_that_fails_costs_the_client_nothing() -> None:
    async with (
        ScriptedUpstream() as upstream,
        serving(upstream.url, reader=lambda kind, coding: _BrokenReader()) as front,
    ):
        upstream.reply_raw(200, SSE, CHUNKS)
        got = await fetch(front.port)
        outcome = await front.outcome()
    assert got.body == JOINED
    assert outcome.reply is not None
    assert not outcome.reply.complete


async def test_recording_that_fails_costs_the_client_nothing() -> None:
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:

        async def fail(outcome: Outcome) -> None:
            raise RuntimeError("no")

        front.on_complete = fail
        got = await fetch(front.port)
    assert got.whole


# --- no answer -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "failure"), [("http://127.0.0.1:9", "connect"), ("http://no-such-host.invalid", "dns")]
)
async def test_an_upstream_that_cannot_be_reached_is_a_502_in_the_clients_own_format(url: str, failure: str) -> None:
    async with serving(url) as front:
        got = await fetch(front.port)
        outcome = await front.outcome()
    error = json.loads(got.body)["error"]
    assert (got.status, error["type"], error["code"]) == (502, "upstream_error", failure)
    assert (outcome.failure, front.completed) == (failure, [])
    assert ADDED[0] in got.headers


async def test_an_upstream_that_does_not_begin_to_answer_is_a_504() -> None:
    async with ScriptedUpstream() as upstream, open_client(idle_seconds=0.05) as client:

        async def never(request: object) -> str:
            await asyncio.sleep(60)
            return ""

        upstream.reply_with(never)
        async with serving(upstream.url) as front:
            front.client = client
            got = await fetch(front.port)
    assert (got.status, json.loads(got.body)["error"]["code"]) == (504, "timeout")


async def test_an_upstream_that_hangs_up_without_an_answer_is_a_502_and_is_asked_only_once() -> None:
    def hang_up(request: object) -> Answer:
        raise ConnectionAbortedError

    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        upstream.reply_with(hang_up)
        got = await fetch(front.port)
        assert (got.status, len(upstream.requests)) == (502, 1)


async def test_a_kept_connection_that_the_upstream_has_closed_is_replaced_unseen() -> None:
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:
        for _ in range(3):
            assert (await fetch(front.port)).status == 200
            upstream.drop_idle()
            await asyncio.sleep(0.02)
        assert (len(upstream.requests), upstream.connections) == (3, 3)


async def test_connections_are_kept_between_requests() -> None:
    async with ScriptedUpstream() as upstream, serving(upstream.url) as front:
        for _ in range(3):
            await fetch(front.port)
        assert upstream.connections == 1


# --- head and body in one write ----------------------------------------------------------------------------------


async def messages_of(
    answer: bytes, on_complete: Callable[[Outcome], Any] | None = None, body: bytes | None = b"{}"
) -> list[str]:
    """What the server is told while an answer that comes in one piece is relayed."""

    async def upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    told: list[str] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        told.append(message["type"])

    scope = {"type": "http", "method": "POST", "extensions": {TOGETHER: lambda: told.append("together")}}
    server = await asyncio.start_server(upstream, "127.0.0.1", 0)
    async with server, open_client() as client:
        base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        request = UpstreamRequest(base_url, "POST", b"/", b"", [(b"content-length", b"2")], body)
        await relay(scope, receive, send, client, request, error_body=ChatCompletions().error, on_complete=on_complete)
    return told


async def test_a_body_that_is_there_with_its_head_leaves_with_it() -> None:
    told = await messages_of(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
    assert told == ["together", "http.response.start", "http.response.body"]


async def test_a_head_waits_for_nothing_that_is_not_there() -> None:
    async def recorded(_: Outcome) -> None:
        pass

    apart = ["http.response.start", "http.response.body"]
    assert await messages_of(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n") == apart
    assert await messages_of(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", recorded) == apart


@pytest.mark.parametrize("length", [1, 2, 3])
async def test_a_body_that_is_still_to_come_is_given_up_with_the_answer(length: int) -> None:
    told = await messages_of(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n{}" % length, body=None)
    await asyncio.sleep(0)
    assert told[-1] in ("http.response.start", "http.response.body")
    assert [task for task in asyncio.all_tasks() if "Writing" in repr(task.get_coro())] == []
