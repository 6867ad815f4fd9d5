"""WebSocket connections through the proxy, with a client and a server that nobody here wrote."""

from __future__ import annotations

import asyncio
import contextlib
import http
import json
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from memproxy import wire
from tests.world import World

pytestmark = pytest.mark.anyio

Handler = Callable[[ServerConnection], Awaitable[None]]


async def echo(connection: ServerConnection) -> None:
    async for message in connection:
        await connection.send(message)


@dataclass
class Realtime:
    """A WebSocket server: what it got, and how its connections ended."""

    url: str
    handler: Handler = echo
    requests: list[Request] = field(default_factory=list)
    connections: list[ServerConnection] = field(default_factory=list)
    answer: Callable[[ServerConnection], Response | None] = lambda connection: None
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, connection: ServerConnection) -> None:
        self.connections.append(connection)
        try:
            await self.handler(connection)
        finally:
            await connection.wait_closed()
            self.ended.set()

    async def end(self) -> tuple[int | None, str | None]:
        """The close code and reason that the first connection ended with."""
        async with asyncio.timeout(10):
            await self.ended.wait()
        return self.connections[0].close_code, self.connections[0].close_reason


@contextlib.asynccontextmanager
async def realtime() -> AsyncIterator[Realtime]:
    seen = Realtime("")

    def look(connection: ServerConnection, request: Request) -> Response | None:
        seen.requests.append(request)
        return seen.answer(connection)

    def add(connection: ServerConnection, request: Request, response: Response) -> None:
        response.headers["x-request-id"] = "up-1"
        response.headers["set-cookie"] = "a=1"
        response.headers["set-cookie"] = "b=2"
        response.headers["x-memg-request-id"] = "an inner proxy's"

    async with serve(
        seen.serve,
        "127.0.0.1",
        0,
        process_request=look,
        process_response=add,
        select_subprotocol=lambda connection, offered: Subprotocol("realtime") if offered else None,
        max_size=None,
        compression=None,
        open_timeout=None,
        close_timeout=1,
    ) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        seen.url = f"http://127.0.0.1:{port}"
        yield seen


@contextlib.asynccontextmanager
async def between(folder: Path, **flags: Any) -> AsyncIterator[tuple[World, Realtime]]:
    """The proxy in front of such a server."""
    async with realtime() as up, World.open(folder, target=up.url, **flags) as world:
        yield world, up


@contextlib.asynccontextmanager
async def client(world: World, path: str = "/v1/realtime?model=m", **more: Any) -> AsyncIterator[ClientConnection]:
    url = world.url.replace("http:", "ws:") + path
    async with connect(url, proxy=None, max_size=None, close_timeout=1, **more) as connection:
        yield connection


MESSAGES: dict[str, str | bytes | list[str] | list[bytes]] = {
    "text": "Grüße 🎉\u2028\x00",
    "empty text": "",
    "bytes": bytes(range(256)),
    "empty bytes": b"",
    "large text": "é" * 3_000_000,
    "large bytes": random.Random(1).randbytes(20_000_000),
}


@pytest.mark.parametrize("kind", list(MESSAGES))
async def test_messages_of_every_kind_arrive_as_they_were_sent_both_ways(tmp_path: Path, kind: str) -> None:
    async with between(tmp_path) as (world, _), client(world) as connection:
        for _ in range(3):
            await connection.send(MESSAGES[kind])
            assert await connection.recv() == MESSAGES[kind]


async def test_a_message_in_fragments_arrives_as_one(tmp_path: Path) -> None:
    async with between(tmp_path) as (world, _), client(world) as connection:
        await connection.send(["al", "pha", "", "bet"])
        assert await connection.recv() == "alphabet"


async def test_order_holds_when_both_sides_talk_at_once(tmp_path: Path) -> None:
    async def talk(connection: ServerConnection) -> None:
        async def tell() -> None:
            for number in range(500):
                await connection.send(f"up {number}")

        telling = asyncio.create_task(tell())
        heard = [await connection.recv() for _ in range(500)]
        await telling
        await connection.send(json.dumps(heard))

    async with between(tmp_path) as (world, up):
        up.handler = talk
        async with client(world) as connection:
            for number in range(500):
                await connection.send(f"down {number}")
            assert [await connection.recv() for _ in range(500)] == [f"up {number}" for number in range(500)]
            assert json.loads(await connection.recv()) == [f"down {number}" for number in range(500)]


async def test_headers_query_and_subprotocol_go_up_and_the_upstreams_come_down(tmp_path: Path) -> None:
    async with between(tmp_path) as (world, up):
        headers = {"Authorization": "Bearer k", "OpenAI-Beta": "realtime=v1", "X-MemG-Entity": "Bo", "X-MemG-Key": "s"}
        async with client(
            world,
            "/memproxy/as/Bo/v1/realtime?model=a%20b&x=%2f",
            additional_headers=headers,
            subprotocols=["realtime", "openai-insecure-api-key.k"],
            user_agent_header=None,
        ) as connection:
            assert connection.subprotocol == "realtime"
            response = connection.response
            assert response is not None
            assert response.headers.get_all("set-cookie") == ["a=1", "b=2"]
            assert response.headers["x-request-id"] == "up-1"
            assert len(response.headers.get_all("x-memg-request-id")) == 1
            assert len(response.headers["x-memg-request-id"]) == 32
        request = up.requests[0]
    assert request.path == "/v1/realtime?model=a%20b&x=%2f"
    assert request.headers["authorization"] == "Bearer k"
    assert request.headers["openai-beta"] == "realtime=v1"
    assert request.headers["sec-websocket-protocol"] == "realtime, openai-insecure-api-key.k"
    assert request.headers["host"] == up.url.removeprefix("http://")
    assert not [name for name in request.headers if name.lower().startswith("x-memg-") and name != "x-memg-hop"]
    assert "user-agent" not in request.headers
    assert "sec-websocket-extensions" not in request.headers


CODES: list[tuple[int | None, str]] = [(1000, ""), (1001, "bye"), (1011, "internal"), (3000, ""), (4999, "Grüße")]


@pytest.mark.parametrize(("code", "reason"), CODES)
async def test_the_clients_close_code_and_reason_reach_the_upstream(tmp_path: Path, code: int, reason: str) -> None:
    async with between(tmp_path) as (world, up), client(world) as connection:
        await connection.send("x")
        await connection.recv()
        await connection.close(code, reason)
        assert await up.end() == (code, reason)
        assert await world.metric("memproxy_clients_gone_total") == 0


@pytest.mark.parametrize(("code", "reason"), CODES)
async def test_the_upstreams_close_code_and_reason_reach_the_client(tmp_path: Path, code: int, reason: str) -> None:
    async def end(connection: ServerConnection) -> None:
        await connection.send("last words")
        await connection.close(code, reason)

    async with between(tmp_path) as (world, up):
        up.handler = end
        async with client(world) as connection:
            assert await connection.recv() == "last words"
            with pytest.raises(ConnectionClosed):
                await connection.recv()
            assert (connection.close_code, connection.close_reason) == (code, reason)
        assert (await up.end())[0] == code  # its close frame was answered


@pytest.mark.parametrize("side", ["client", "upstream"])
async def test_a_close_frame_without_a_code_stays_one(tmp_path: Path, side: str) -> None:
    async def end(connection: ServerConnection) -> None:
        async with connection.send_context():
            connection.protocol.send_close()

    async with between(tmp_path) as (world, up):
        if side == "upstream":
            up.handler = end
        async with client(world) as connection:
            if side == "client":
                async with connection.send_context():
                    connection.protocol.send_close()
            await connection.wait_closed()
            assert connection.close_code == 1005
        assert (await up.end())[0] == 1005


async def test_a_client_that_is_cut_off_looks_so_to_the_upstream(tmp_path: Path) -> None:
    async with between(tmp_path) as (world, up), client(world) as connection:
        await connection.send("x")
        await connection.recv()
        connection.transport.abort()
        assert await up.end() == (1006, "")
    assert up.connections[0].protocol.close_rcvd is None


async def test_an_upstream_that_is_cut_off_looks_so_to_the_client(tmp_path: Path) -> None:
    async def die(connection: ServerConnection) -> None:
        await connection.recv()
        connection.transport.abort()

    async with between(tmp_path) as (world, up):
        up.handler = die
        async with client(world) as connection:
            await connection.send("x")
            await connection.wait_closed()
            assert connection.close_code == 1006


async def test_pings_are_answered_on_both_connections_and_none_is_made_up(tmp_path: Path) -> None:
    async def ping(connection: ServerConnection) -> None:
        await (await connection.ping(b"up"))
        await echo(connection)

    async with between(tmp_path) as (world, up):
        up.handler = ping
        async with client(world) as connection:
            await (await connection.ping(b"down"))
            await connection.send("still there")
            assert await connection.recv() == "still there"


async def test_a_client_that_does_not_read_holds_up_the_upstream_and_not_the_memory(tmp_path: Path) -> None:
    sent = 0

    async def flood(connection: ServerConnection) -> None:
        nonlocal sent
        for _ in range(300):
            await connection.send(bytes(1 << 18))
            sent += 1

    async with between(tmp_path) as (world, up):
        up.handler = flood
        async with client(world, max_queue=1) as connection:
            before = -1
            while sent != before:
                before = sent
                await asyncio.sleep(0.5)
            assert sent < 300
            for _ in range(300):
                assert len(await connection.recv()) == 1 << 18


# --- no connection -------------------------------------------------------------------------------------------


async def refused(world: World, path: str = "/v1/realtime", **more: Any) -> Response:
    with pytest.raises(InvalidStatus) as caught:
        async with client(world, path, **more):
            pass
    return caught.value.response


async def test_the_upstreams_refusal_reaches_the_client_with_headers_and_body(tmp_path: Path) -> None:
    def refuse(connection: ServerConnection) -> Response:
        response = connection.respond(http.HTTPStatus.UNAUTHORIZED, '{"error": {"message": "bad key"}}')
        response.headers["retry-after"] = "7"
        return response

    async with between(tmp_path) as (world, up):
        up.answer = refuse
        response = await refused(world)
        assert (response.status_code, response.body) == (401, b'{"error": {"message": "bad key"}}')
        assert response.headers["retry-after"] == "7"
        assert await world.metric("memproxy_requests_total", route="websocket", status="401") == 1


async def test_an_upstream_that_speaks_no_websocket_answers_for_itself(tmp_path: Path) -> None:
    async with World.open(tmp_path) as world:
        world.up.reply_raw(404, [("content-type", "text/html")], [b"<h1>", b"no</h1>"])
        response = await refused(world)
        assert (response.status_code, response.body) == (404, b"<h1>no</h1>")
        assert response.headers["content-type"] == "text/html"
        assert world.up.requests[0].header("sec-websocket-version") == "13"


async def test_an_upstream_that_answers_something_odd_is_a_502(tmp_path: Path) -> None:
    async with World.open(tmp_path) as world:
        world.up.reply_raw(101, [("upgrade", "websocket"), ("connection", "upgrade"), ("sec-websocket-accept", "no")])
        assert (await refused(world)).status_code == 502


async def test_an_upstream_that_cannot_be_reached_is_a_502(tmp_path: Path) -> None:
    async with World.open(tmp_path, target="http://127.0.0.1:9") as world:
        response = await refused(world)
        assert (response.status_code, json.loads(response.body)["error"]["code"]) == (502, "connect")
        assert await world.metric("memproxy_upstream_errors_total", reason="connect") == 1


async def test_a_client_that_leaves_before_the_upstream_has_answered_takes_its_request_along(tmp_path: Path) -> None:
    async with World.open(tmp_path) as world:
        never = asyncio.Event()

        async def wait(request: object) -> str:
            await never.wait()
            return ""

        world.up.reply_with(wait)
        host, port = world.url.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(
            b"GET /v1/realtime HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            b"sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n\r\n"
        )
        await world.up.wait_for(lambda seen: len(seen.requests) == 1)
        writer.transport.abort()
        await world.up.wait_for(lambda seen: seen.abandoned == 1)


ACTED_ON = sorted({end.decode() for verb, end, _ in wire._ROUTES if verb == "POST" and end.startswith(b"/")})


@pytest.mark.parametrize("end", ACTED_ON)
@pytest.mark.parametrize("prefix", ["/v1", "/memproxy/as/Bo/v1"])
async def test_where_memory_acts_over_http_a_client_is_sent_there(tmp_path: Path, prefix: str, end: str) -> None:
    async with World.open(tmp_path) as world:
        response = await refused(world, prefix + end)
        assert response.status_code == 426
        assert "error" in json.loads(response.body)
        assert world.up.connections == 0


async def test_where_memory_is_disabled_every_path_is_tunnelled(tmp_path: Path) -> None:
    async with between(tmp_path, memory__enabled=False) as (world, _), client(world, f"/v1{ACTED_ON[0]}") as connection:
        await connection.send("x")
        assert await connection.recv() == "x"


KEYS = [{"key_env": "BO", "entities": ["Bo"]}]


@pytest.mark.parametrize(
    ("headers", "path", "status"),
    [
        ({}, "/v1/realtime", 401),
        ({"X-MemG-Key": "wrong"}, "/v1/realtime", 401),
        ({"Authorization": "Bearer bos-key"}, "/v1/realtime", 401),
        ({"X-MemG-Key": "bos-key", "X-MemG-Entity": "Al"}, "/v1/realtime", 403),
        ({"X-MemG-Key": "bos-key"}, "/memproxy/as/Al/v1/realtime", 403),
        ({}, "/v1/chat/completions", 401),
        ({}, "/memproxy/v1/entities", 401),
        ({"X-MemG-Key": "bos-key"}, "/memproxy/v1/entities", 404),
    ],
)
async def test_the_rules_of_every_route_hold_for_upgrades_before_the_upstream_hears_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], path: str, status: int
) -> None:
    monkeypatch.setenv("BO", "bos-key")
    async with World.open(tmp_path, keys=KEYS) as world:
        assert (await refused(world, path, additional_headers=headers)).status_code == status
        assert world.up.connections == 0


async def test_with_the_right_key_the_tunnel_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BO", "bos-key")
    headers = {"X-MemG-Key": "bos-key"}
    async with between(tmp_path, keys=KEYS) as (world, up), client(world, additional_headers=headers) as connection:
        await connection.send("x")
        assert await connection.recv() == "x"
        assert "x-memg-key" not in up.requests[0].headers


@pytest.mark.parametrize(
    ("origin", "status"), [("https://evil.example", 403), (None, 404), ("http://localhost:3000", 404)]
)
async def test_a_web_page_of_elsewhere_gets_no_connection_to_our_own_routes(
    tmp_path: Path, origin: str | None, status: int
) -> None:
    async with World.open(tmp_path, allowed_origins=["http://localhost:3000"]) as world:
        assert (await refused(world, "/memproxy/v1/entities", origin=origin)).status_code == status


async def test_logs_say_nothing_of_paths_and_queries(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "memproxy")
    async with between(tmp_path) as (world, _), client(world, "/v1/realtime/QUARTZ?key=QUARTZ") as connection:
        await connection.send("QUARTZ")
        await connection.recv()
    assert "websocket 101" in caplog.text
    assert "QUARTZ" not in caplog.text


async def test_without_the_connection_header_an_upgrade_is_a_request_like_any_other(world: World) -> None:
    response = await world.client.get(f"{world.url}/v1/models", headers={"Upgrade": "websocket"})
    assert response.status_code == 200
    assert world.up.requests[0].header("upgrade") is None
