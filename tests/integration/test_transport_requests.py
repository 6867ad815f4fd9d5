"""Requests on their way up, through the whole proxy: nothing changed, nothing held back, nothing sent twice."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.raw import CHAT, fetch, request_bytes
from tests.world import World, user

pytestmark = pytest.mark.anyio

BODY = json.dumps({"messages": [user("I own a kayak called Petrel")]}).encode()
ENTITY = ("x-memg-entity", "Bo")


def port(world: World) -> int:
    return int(world.url.rsplit(":", 1)[1])


@dataclass
class Upstream:
    """A server that lets a test see bytes as they come in: its URL, and what each connection got so far."""

    url: str = ""
    came: list[bytearray] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    hang_up_at: int | None = None  # the request, counted over all connections, whose connection is cut
    heads: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mine = bytearray()
        self.came.append(mine)
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                mine += data
                async with self.changed:
                    self.changed.notify_all()
                while complete(mine):
                    head_only = mine.startswith(b"HEAD")
                    del mine[: complete(mine)]
                    self.heads += 1
                    if self.heads - 1 == self.hang_up_at:
                        writer.transport.abort()
                        return
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n" + b"{}" * (not head_only))
        writer.close()

    async def until_it_has(self, needle: bytes) -> None:
        async with asyncio.timeout(10), self.changed:
            await self.changed.wait_for(lambda: any(needle in mine for mine in self.came))


def complete(received: bytearray) -> int:
    """The length of the first request, if all of it is there, else 0."""
    head, end, rest = bytes(received).partition(b"\r\n\r\n")
    if not end:
        return 0
    if b"transfer-encoding: chunked" in head.lower():
        stop = rest.find(b"0\r\n\r\n")
        return 0 if stop < 0 else len(head) + 4 + stop + 5
    length = int((head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]) or b"0")
    return len(head) + 4 + length if len(rest) >= length else 0


@contextlib.asynccontextmanager
async def upstream() -> AsyncIterator[Upstream]:
    seen = Upstream()
    server = await asyncio.start_server(seen.serve, "127.0.0.1", 0)
    async with server:
        seen.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield seen


# --- as they came --------------------------------------------------------------------------------------------

PREFIXES = [b"", b"/memproxy/as/Bo"]
TARGETS = [
    b"/v1/models?foo=bar",
    b"/v1/files/a%2Fb%41//c;d=1/../e?x=%2f%20+&y=;&z",
    b"/v1/messages/batches?beta=true",
    b"/v1beta/models/g:embedContent?alt=sse&key=%C3%A9",
    b"/openai/deployments/d/embeddings?api-version=2024-10-21",
    b"/",
    b"/api/hello",
    b"//double?a=?b",
]


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "PUT"])
async def test_method_path_and_query_go_up_as_they_came(
    world: World, method: str, target: bytes, prefix: bytes
) -> None:
    world.up.reply_raw(200, [("content-length", "5"), ("allow", "GET")], [b"hello"])
    got = await fetch(port(world), request_bytes(method, prefix + target, body=b""))
    request = world.up.requests[0]
    assert (request.method, request.target, request.body) == (method, target, b"")
    assert (got.status, dict(got.headers)[b"content-length"], dict(got.headers)[b"allow"]) == (200, b"5", b"GET")
    assert got.body == (b"" if method == "HEAD" else b"hello")


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT"])
async def test_on_chat_paths_too_memory_acts_on_posts_only(world: World, method: str) -> None:
    got = await fetch(port(world), request_bytes(method, CHAT + b"?a=b", [ENTITY], body=b"{}" * (method == "PUT")))
    assert (world.up.requests[0].method, world.up.requests[0].target) == (method, CHAT + b"?a=b")
    assert b"x-memg-memory" not in dict(got.headers)


async def test_a_chats_query_goes_up_too(world: World) -> None:
    await fetch(port(world), request_bytes("POST", CHAT + b"?beta=true&a=%2f", [ENTITY], BODY))
    assert world.up.requests[0].target == CHAT + b"?beta=true&a=%2f"


HEADERS: list[tuple[bytes, bytes]] = [
    (b"authorization", b"Bearer k"),
    (b"x-api-key", b"k2"),
    (b"api-key", b"k3"),
    (b"anthropic-beta", b"a,b"),
    (b"anthropic-beta", b"c"),
    (b"x-title", b"Gr\xfc\xdfe"),  # Latin-1
    (b"x-name", "Zoë 🎉".encode()),
    (b"x-odd", bytes(range(0x80, 0x100))),
    (b"x-request-id", b"r-1"),
    (b"traceparent", b"00-1-2-01"),
    (b"accept-encoding", b"gzip, br;q=0.5"),
    (b"x-empty", b""),
    (b"cookie", b"a=1; b=2"),
    (b"x-one", b"1"),
    (b"x-one", b"2"),
    (b"user-agent", b"test/1"),
]
NOT_SENT = [
    (b"x-memg-entity", b"Bo"),
    (b"X-MemG-Anything", b"1"),
    (b"te", b"trailers"),
    (b"x-private", b"1"),
    (b"keep-alive", b"timeout=1"),
    (b"proxy-authorization", b"Basic x"),
    (b"proxy-connection", b"keep-alive"),
    (b"upgrade", b"h2c"),
    (b"expect", b"100-continue"),
]


@pytest.mark.parametrize("target", [CHAT, b"/v1/embeddings", b"/memproxy/as/Bo/v1/files"])
async def test_headers_go_up_in_order_with_repeats_and_to_the_byte(world: World, target: bytes) -> None:
    lines = [b"POST " + target + b" HTTP/1.1", b"host: localhost", b"connection: close, X-Private"]
    mixed = [pair for pairs in zip(HEADERS, [*NOT_SENT, *[None] * 7], strict=True) for pair in pairs if pair]
    lines += [name + b": " + value for name, value in mixed]
    lines += [b"content-length: %d" % len(BODY)]
    got = await fetch(port(world), b"\r\n".join(lines) + b"\r\n\r\n" + BODY)
    assert got.raw.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200")
    host = world.up.url.removeprefix("http://").encode()
    ours = [pair for pair in world.up.requests[0].headers if pair[0] != b"x-memg-hop"]
    assert ours == [(b"Host", host), *HEADERS, (b"content-length", b"%d" % len(BODY))]


@pytest.mark.parametrize("target", [CHAT, b"/v1/files"])
async def test_a_client_that_expects_100_gets_it_before_it_sends_two_megabytes(world: World, target: bytes) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * (2 << 20)}}
    body = json.dumps({"messages": [user([picture])]}).encode()
    sent = request_bytes("POST", target, [ENTITY, ("Expect", "100-continue")], body)
    reader, writer = await asyncio.open_connection("127.0.0.1", port(world))
    writer.write(sent[: -len(body)])
    async with asyncio.timeout(10):
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(body)
        assert (await reader.read()).startswith(b"HTTP/1.1 200")
    writer.close()
    assert world.up.requests[0].header("expect") is None
    assert world.up.requests[0].body == body


@pytest.mark.parametrize(
    "framing",
    [
        [b"content-length: 45", b"transfer-encoding: chunked"],
        [b"content-length: 4", b"content-length: 45"],
        [b"content-length: +45"],
        [b"transfer-encoding: chunked, identity"],
    ],
)
async def test_a_body_of_two_lengths_goes_nowhere(world: World, framing: Sequence[bytes]) -> None:
    head = b"\r\n".join([b"POST /v1/x HTTP/1.1", b"host: localhost", b"connection: close", *framing])
    got = await fetch(port(world), head + b"\r\n\r\n" + b"x" * 45)
    assert got.status == 400
    assert world.up.requests == []


# --- nothing held back ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (b"/v1/audio/transcriptions", b"multipart/form-data; boundary=frontier"),
        (b"/memproxy/as/Bo/v1/files", b"application/octet-stream"),
        (b"/v1/embeddings", b"application/json"),
    ],
)
async def test_the_upstream_sees_the_first_part_before_the_client_has_sent_the_last(
    tmp_path: Path, target: bytes, kind: bytes, chunked: bool
) -> None:
    first, last = b"--frontier\r\n\r\nFIRST\xff\x00\r\n", b"--frontier\r\n\r\nLAST\r\n--frontier--\r\n"
    framing = b"transfer-encoding: chunked" if chunked else b"content-length: %d" % len(first + last)

    def framed(data: bytes) -> bytes:
        return b"%x\r\n%s\r\n" % (len(data), data) if chunked else data

    async with upstream() as up, World.open(tmp_path, target=up.url) as world:
        reader, writer = await asyncio.open_connection("127.0.0.1", port(world))
        lines = [b"POST " + target + b" HTTP/1.1", b"host: localhost", b"connection: close", framing]
        writer.write(b"\r\n".join([*lines, b"content-type: " + kind]) + b"\r\n\r\n" + framed(first))
        await up.until_it_has(first)
        assert last not in up.came[0]
        assert (b"content-type: " + kind) in up.came[0]
        writer.write(framed(last) + b"0\r\n\r\n" * chunked)
        async with asyncio.timeout(10):
            assert (await reader.read()).startswith(b"HTTP/1.1 200")
        writer.close()


async def test_a_chat_over_the_limit_streams_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memproxy.server.bodies.read_body.__defaults__", (1000,))
    async with upstream() as up, World.open(tmp_path, target=up.url) as world:
        reader, writer = await asyncio.open_connection("127.0.0.1", port(world))
        writer.write(request_bytes("POST", CHAT, [ENTITY], b"a" * 5000 + b"MIDDLE" + b"b" * 5000)[:-4000])
        await up.until_it_has(b"MIDDLE")
        writer.write(b"b" * 4000)
        async with asyncio.timeout(10):
            answer = await reader.read()
        writer.close()
    assert b"x-memg-memory: skipped; reason=too-large" in answer


# --- nothing sent twice --------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"", b'{"a": 1}'], ids=["no body", "body"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("target", [b"/v1/things/1", CHAT])
async def test_an_order_is_not_repeated_when_its_connection_breaks(
    tmp_path: Path, target: bytes, method: str, body: bytes
) -> None:
    async with upstream() as up, World.open(tmp_path, target=up.url) as world:
        await fetch(port(world), request_bytes("GET", b"/v1/models", body=b""))  # a connection is kept from now on
        up.hang_up_at = 1
        got = await fetch(port(world), request_bytes(method, target, [ENTITY], body))
        assert (got.status, up.heads, len(up.came)) == (502, 2, 1)
        assert json.loads(got.body)["error"]["code"] == "no-answer"


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
async def test_a_question_is_asked_once_more_when_a_kept_connection_breaks(tmp_path: Path, method: str) -> None:
    async with upstream() as up, World.open(tmp_path, target=up.url) as world:
        await fetch(port(world), request_bytes("GET", b"/v1/models", body=b""))
        up.hang_up_at = 1
        got = await fetch(port(world), request_bytes(method, b"/v1/models", body=b""))
        assert (got.status, up.heads, len(up.came)) == (200, 3, 2)


async def test_a_question_is_not_asked_a_third_time(tmp_path: Path) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.transport.abort()

    asked: list[bytes] = []
    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with World.open(tmp_path, target=url) as world:
            assert (await fetch(port(world), request_bytes("GET", b"/v1/models", body=b""))).status == 502
    assert len(asked) == 2


async def test_a_client_that_leaves_while_it_sends_leaves_no_request_behind(tmp_path: Path) -> None:
    async with upstream() as up, World.open(tmp_path, target=up.url) as world:
        for target in (b"/v1/files", CHAT):
            _, writer = await asyncio.open_connection("127.0.0.1", port(world))
            writer.write(b"POST " + target + b" HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\nabc")
            if target == b"/v1/files":
                await up.until_it_has(b"abc")
            writer.transport.abort()
        await asyncio.sleep(0.2)
        assert up.heads == 0


# --- web pages -----------------------------------------------------------------------------------------------

PAGE = "https://app.example"


@pytest.mark.parametrize("target", [b"/v1/models", b"/memproxy/as/Bo/v1/models", CHAT])
async def test_a_preflight_on_upstream_routes_is_the_upstreams(world: World, target: bytes) -> None:
    world.up.reply_raw(204, [("access-control-allow-origin", "https://other.example")])
    asked = [("origin", PAGE), ("access-control-request-method", "POST")]
    got = await fetch(port(world), request_bytes("OPTIONS", target, asked, b""))
    assert (got.status, dict(got.headers)[b"access-control-allow-origin"]) == (204, b"https://other.example")


@pytest.mark.parametrize(
    ("origin", "allowed"), [(PAGE, True), (PAGE + ":8443", False), ("https://evil.example", False)]
)
async def test_preflights_of_allowed_origins_are_answered_on_our_own_routes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: str, allowed: bool
) -> None:
    monkeypatch.setenv("KEY", "k")
    keys = [{"key_env": "KEY", "admin": True}]
    async with World.open(tmp_path, keys=keys, allowed_origins=[PAGE]) as world:
        asked = {
            "Origin": origin,
            "Access-Control-Request-Method": "DELETE",
            "Access-Control-Request-Headers": "x-memg-key,content-type",
        }
        answer = await world.client.options(world.of("Bo", "/facts"), headers=asked)
        assert answer.headers.get("access-control-allow-origin") == (origin if allowed else None)
        assert answer.status_code == (204 if allowed else 403)
        if allowed:
            assert "DELETE" in answer.headers["access-control-allow-methods"]
            assert answer.headers["access-control-allow-headers"] == "x-memg-key,content-type"
            assert answer.headers["vary"] == "Origin"
        listed = await world.client.get(world.of("Bo", "/facts"), headers={"Origin": origin, "X-MemG-Key": "k"})
        assert listed.status_code == (200 if allowed else 403)
        assert listed.headers.get("access-control-allow-origin") == (origin if allowed else None)
        keyless = await world.client.get(world.of("Bo", "/facts"), headers={"Origin": origin})
        assert keyless.status_code == (401 if allowed else 403)  # and the page may read why
        assert keyless.headers.get("access-control-allow-origin") == (origin if allowed else None)
