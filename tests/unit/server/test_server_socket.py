"""The socket that the server listens on."""

from __future__ import annotations

import asyncio
import socket

import pytest

from memproxy.server.serve import bind

pytestmark = pytest.mark.anyio


async def test_a_small_answer_does_not_wait_until_what_was_sent_before_has_arrived() -> None:
    loop = asyncio.get_running_loop()
    accepted: asyncio.Future[asyncio.BaseTransport] = loop.create_future()

    class Accepting(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted.set_result(transport)

    server = await loop.create_server(Accepting, sock=bind("127.0.0.1", 0))
    client, _ = await loop.create_connection(asyncio.Protocol, *server.sockets[0].getsockname())
    there = (await accepted).get_extra_info("socket")
    assert there.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    for one in (client, await accepted):
        one.close()
    server.close()
    await server.wait_closed()
