"""Requests that aiohttp sends as they are given to it, byte for byte.

By itself it takes headers as text, writes that as UTF-8, adds headers of its own, and gives each body to a task. A
header value may be no UTF-8 (RFC 9110, 5.5), and is not ours to mend. So the head is written here, in one piece with
the body where that is held, which is also a third quicker; connections, TLS, timeouts and the answer stay aiohttp's.
`ClientRequest` and its methods are the documented way in (`request_class`), but no stable interface: the dependency
is pinned, and the tests of `upstream` say whether a new version still fits.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import aiohttp
from aiohttp.connector import Connection
from aiohttp.http import StreamWriter
from aiohttp.payload import AsyncIterablePayload

from memproxy.server.hops import RawHeaders

ONE_WRITE = 1 << 18  # bytes of a body that are handed to the socket at once


class Sending:
    """What one request sends: all of its headers but Host, and its body, whole or streamed. Given as `data`.

    `left` says whether all of it has left: then the upstream may have acted on it.
    """

    __slots__ = ("body", "headers", "left", "stream")

    def __init__(self, headers: RawHeaders, body: bytes = b"", stream: AsyncIterator[bytes] | None = None) -> None:
        self.headers = headers
        self.body = body
        self.stream = stream
        self.left = False

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body that is not sent along with the head."""
        if self.stream is not None:
            async for piece in self.stream:
                yield piece
        for start in range(0, len(self.body), ONE_WRITE):
            yield self.body[start : start + ONE_WRITE]
        self.left = True

    @property
    def in_pieces(self) -> bool:
        """Whether the body follows the head, rather than going out with it."""
        return self.stream is not None or len(self.body) > ONE_WRITE


class Request(aiohttp.ClientRequest):
    """A request whose `data` is a Sending; one without (a WebSocket handshake) is sent by aiohttp in its own way."""

    _sending: Sending | None = None

    def update_auto_headers(self, skip_auto_headers: Iterable[str] | None) -> None:
        """Add no headers."""

    def update_body_from_data(self, body: Any, _stacklevel: int = 3) -> None:
        """Take the body. Where there is none, none is announced either."""
        self._sending = body

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        """Write the request, and give the answer that is to be awaited."""
        sending, protocol = self._sending, conn.protocol
        if sending is None or protocol is None:
            return await super().send(conn)
        writer = StreamWriter(protocol, self.loop)
        task = None
        if sending.in_pieces:
            await writer.write(self._head(sending), drain=False)
            if not any(name == b"content-length" for name, _ in sending.headers):
                writer.enable_chunking()
            self._body = AsyncIterablePayload(sending.pieces())
            task = self._writer = self.loop.create_task(self.write_bytes(writer, conn))
        else:
            await writer.write(self._head(sending) + sending.body, drain=False)
            sending.left = True
            protocol.start_timeout()
        return self._answer(writer, task)

    def _head(self, sending: Sending) -> bytes:
        own = [(name.encode(), value.encode()) for name, value in self.headers.items()]  # Host; and what the URL said
        lines = [b"%s: %s\r\n" % pair for pair in (*own, *sending.headers)]
        if sending.stream is not None and not any(name == b"content-length" for name, _ in sending.headers):
            lines.append(b"transfer-encoding: chunked\r\n")
        head = b"%s %s HTTP/1.1\r\n%s\r\n" % (self.method.encode(), self.url.raw_path_qs.encode(), b"".join(lines))
        if head.count(b"\n") != len(lines) + 2:
            raise ValueError("a header with a line break in it")
        return head

    def _answer(self, writer: StreamWriter, task: Any) -> aiohttp.ClientResponse:
        return self.response_class(
            self.method,
            self.original_url,
            writer=task,
            continue100=None,
            timer=self._timer,
            request_info=self.request_info,
            traces=[],
            loop=self.loop,
            session=self._session,
            stream_writer=writer,
        )
