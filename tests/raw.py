"""HTTP on bare sockets: requests written byte by byte, answers read without interpretation beyond their framing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import httptools

CHAT = b"/v1/chat/completions"


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds, for ten seconds at most."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - what is waited for is the server's state, which has no event
            await asyncio.sleep(0.005)


@dataclass
class Got:
    """A response, read from the socket without interpretation beyond its framing."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    whole: bool  # the framing says that nothing is missing
    raw: bytes


class _Response:
    def __init__(self) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.body: list[bytes] = []
        self.whole = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        self.body.append(body)

    def on_message_complete(self) -> None:
        self.whole = True


def request_bytes(
    method: str = "POST",
    target: bytes = CHAT,
    headers: Sequence[tuple[str, str]] = (),
    body: bytes = b'{"messages":[{"role":"user","content":"hi"}]}',
) -> bytes:
    lines = [f"{method} ".encode() + target + b" HTTP/1.1", b"host: localhost", b"connection: close"]
    lines += [f"{name}: {value}".encode() for name, value in headers]
    if body:
        lines.append(b"content-length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


async def fetch(port: int, sent: bytes | None = None) -> Got:
    """Send one request and read until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request_bytes() if sent is None else sent)
    await writer.drain()
    raw = b""
    async with asyncio.timeout(30):
        while data := await reader.read(1 << 16):
            raw += data
    writer.close()
    response = _Response()
    parser = httptools.HttpResponseParser(response)
    try:
        parser.feed_data(raw)
    except httptools.HttpParserError:
        response.whole = False
    if sent is not None and sent.startswith(b"HEAD"):
        response.whole = True
    return Got(parser.get_status_code(), response.headers, b"".join(response.body), response.whole, raw)
