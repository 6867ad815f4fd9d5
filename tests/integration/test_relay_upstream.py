"""The upstream client by itself: what leaves the machine, what is tried again, and what never is."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from memproxy.server.upstream import UpstreamClient, UpstreamDied, UpstreamError, UpstreamRequest, open_client
from memproxy.testing import Die, ScriptedUpstream


@pytest.fixture
async def client() -> AsyncIterator[UpstreamClient]:
    async with open_client() as opened:
        yield opened


async def body_of(client: UpstreamClient, request: UpstreamRequest) -> bytes:
    response = await client.open(request)
    pieces = []
    try:
        while data := await response.read():
            pieces.append(data)
    finally:
        response.close()
    return b"".join(pieces)


@asynccontextmanager
async def hanging_up(at_connection: int, after: int) -> AsyncIterator[tuple[str, list[int]]]:
    """A server that reads `after` bytes of one connection's request and resets it; others get an answer.

    Gives its URL and, by connection, how many bytes came.
    """
    came: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(came)
        came.append(0)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or b"0")
        while came[number] < (after if number == at_connection else length):
            came[number] += len(await reader.read(1 << 16))
        if number == at_connection:
            writer.transport.abort()
            return
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", came


async def test_a_connection_that_breaks_while_the_body_is_being_written_is_replaced_once(
    client: UpstreamClient,
) -> None:
    body = b"x" * (64 << 20)
    async with hanging_up(at_connection=0, after=1000) as (url, came):
        request = UpstreamRequest(url, "POST", b"/v1/x", b"", [], body)
        assert await body_of(client, request) == b"ok"
        assert came[1] == len(body)


async def test_a_request_that_has_left_is_never_sent_again(client: UpstreamClient) -> None:
    async with hanging_up(at_connection=0, after=5) as (url, came):
        with pytest.raises(UpstreamError) as caught:
            await client.open(UpstreamRequest(url, "POST", b"/v1/x", b"", [], b"12345"))
        assert (caught.value.failure, caught.value.status, came) == ("no-answer", 502, [5])


async def test_a_request_that_orders_nothing_is_sent_again_once(client: UpstreamClient) -> None:
    async with hanging_up(at_connection=0, after=0) as (url, came):
        assert await body_of(client, UpstreamRequest(url, "GET", b"/v1/models", b"", [])) == b"ok"
        assert len(came) == 2


async def test_a_path_with_bytes_that_no_uri_has_gets_there_escaped(client: UpstreamClient) -> None:
    async with ScriptedUpstream() as upstream:
        await body_of(client, UpstreamRequest(upstream.url, "GET", b"/v1/\xff%2f", b"", []))
        assert upstream.requests[0].target == b"/v1/%FF%2f"


async def test_coded_request_bodies_and_methods_of_any_spelling_go_up_as_they_are(client: UpstreamClient) -> None:
    body = gzip.compress(b"{}")
    async with ScriptedUpstream() as upstream:
        headers = [(b"content-encoding", b"gzip"), (b"content-length", b"999"), (b"content-length", b"999")]
        await body_of(client, UpstreamRequest(upstream.url, "POST", b"/v1/x", b"", headers, body))
        request = upstream.requests[0]
    assert request.body == body
    assert [pair for pair in request.headers if pair[0] != b"Host"] == [
        (b"content-encoding", b"gzip"),
        (b"content-length", str(len(body)).encode()),
    ]


async def test_the_environments_proxies_and_passwords_are_not_used(
    client: UpstreamClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    async with ScriptedUpstream() as upstream:
        assert await body_of(client, UpstreamRequest(upstream.url, "GET", b"/", b"", []))


async def test_cookies_are_not_kept(client: UpstreamClient) -> None:
    async with ScriptedUpstream() as upstream:
        upstream.reply_raw(200, [("set-cookie", "a=1"), ("content-length", "0")])
        for _ in range(2):
            await body_of(client, UpstreamRequest(upstream.url, "GET", b"/", b"", []))
        assert upstream.requests[1].header("cookie") is None


async def test_long_headers_pass(client: UpstreamClient) -> None:
    async with ScriptedUpstream() as upstream:
        upstream.reply_raw(200, [("x-long", "y" * 30_000), ("content-length", "0")])
        response = await client.open(UpstreamRequest(upstream.url, "GET", b"/", b"", []))
        assert dict(response.headers)[b"x-long"] == b"y" * 30_000
        response.close()


async def test_an_answer_that_breaks_off_is_told_from_one_that_ends(client: UpstreamClient) -> None:
    async with ScriptedUpstream() as upstream:
        upstream.reply_raw(200, [("content-length", "10")], [b"12345", Die()])
        with pytest.raises(UpstreamDied):
            await body_of(client, UpstreamRequest(upstream.url, "GET", b"/", b"", []))
