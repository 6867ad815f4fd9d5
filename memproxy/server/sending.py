"""Requests written onto aiohttp's connections as they are given, byte for byte.

By itself aiohttp takes headers as text, writes that as UTF-8, adds headers of its own, and gives each body to a task. A
header value may be no UTF-8 (RFC 9110, 5.5), and is not ours to mend. So the head is written here, in one piece with
the body where that is held, onto a connection that aiohttp's connector gives; pool, addresses, TLS, timeouts and the
parsing of the answer stay aiohttp's. Its session is left out: what it does beyond that, for each request, is what a
relay must not do, and a sixth of the processor time of a short answer.
The connector and its protocol are documented by their code only: the dependency is pinned, and the tests of `upstream`
say whether a new version still fits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import StreamWriter
from yarl import URL

from memproxy.server import hops
from memproxy.server.hops import RawHeaders

ONE_WRITE = 1 << 18  # bytes of a body that are handed to the socket at once


class BareRequest(aiohttp.ClientRequest):
    """A request of which aiohttp knows no headers but Host and, where the URL holds a password, Authorization."""

    def update_auto_headers(self, skip_auto_headers: Iterable[str] | None) -> None:
        """Add no headers."""


class Origin:
    """Where the requests to one target go: what a connection is asked for with, and how each of their heads begins."""

    def __init__(self, base_url: str) -> None:
        """Raises ValueError for what is no HTTP URL."""
        url = URL(hops.join_url(base_url, b"/", b""), encoded=True)
        if url.scheme not in ("http", "https"):
            raise ValueError("no HTTP URL")
        self.request = BareRequest("GET", url, loop=asyncio.get_running_loop())
        self._path = url.raw_path_qs[:-1].encode()
        self._own = [(name.encode(), value.encode()) for name, value in self.request.headers.items()]

    def head(self, method: str, path: bytes, query: bytes, headers: RawHeaders) -> bytes:
        """The head of a request. Raises ValueError where a header would make two of it."""
        lines = [b"%s: %s\r\n" % pair for pair in (*self._own, *headers)]
        target = self._path + hops.target(path, query)
        head = b"%s %s HTTP/1.1\r\n%s\r\n" % (method.encode(), target, b"".join(lines))
        if head.count(b"\n") != len(lines) + 2:
            raise ValueError("a header with a line break in it")
        return head


class Sending:
    """What one request sends: all of its headers but Host, and its body, whole or streamed.

    `left` says whether all of it has left: then the upstream may have acted on it.
    """

    __slots__ = ("body", "headers", "left", "stream")

    def __init__(self, headers: RawHeaders, body: bytes = b"", stream: AsyncIterator[bytes] | None = None) -> None:
        self.headers = headers
        self.body = body
        self.stream = stream
        self.left = False

    def start(
        self, origin: Origin, method: str, path: bytes, query: bytes, protocol: ResponseHandler
    ) -> Writing | None:
        """Write the request; what goes on writing a body that is too large for that, or not there yet.

        Raises ValueError, and aiohttp.ClientError where the connection is gone.
        """
        if self.stream is None and len(self.body) <= ONE_WRITE:
            _write(protocol, origin.head(method, path, query, self.headers) + self.body)
            self.left = True
            protocol.start_timeout()
            return None
        chunked = not any(name == b"content-length" for name, _ in self.headers)
        headers = [*self.headers, (b"transfer-encoding", b"chunked")] if chunked else self.headers
        _write(protocol, origin.head(method, path, query, headers))
        return Writing(self._pieces(), protocol, chunked=chunked)

    async def _pieces(self) -> AsyncIterator[bytes]:
        """The body that is not sent along with the head."""
        if self.stream is not None:
            async for piece in self.stream:
                yield piece
        for start in range(0, len(self.body), ONE_WRITE):
            yield self.body[start : start + ONE_WRITE]
        self.left = True


class Writing:
    """A body on its way, in a task of its own. Where it fails, whoever waits for the answer is told."""

    def __init__(self, pieces: AsyncIterator[bytes], protocol: ResponseHandler, *, chunked: bool) -> None:
        self._protocol = protocol
        self._task = asyncio.get_running_loop().create_task(self._write(pieces, chunked=chunked))
        self._task.add_done_callback(self._tell)

    def stop(self) -> bool:
        """Write no more of it; whether all of it was written."""
        written = self._task.done()
        self._task.cancel()
        return written

    async def _write(self, pieces: AsyncIterator[bytes], *, chunked: bool) -> None:
        writer = StreamWriter(self._protocol, asyncio.get_running_loop())
        if chunked:
            writer.enable_chunking()
        async for piece in pieces:
            await writer.write(piece)
        await writer.write_eof()
        self._protocol.start_timeout()

    def _tell(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._protocol.set_exception(aiohttp.ClientOSError("the request's body could not be written"), error)


def _write(protocol: ResponseHandler, data: bytes) -> None:
    transport = protocol.transport
    if transport is None or transport.is_closing():
        raise aiohttp.ClientConnectionResetError("the connection is gone")
    transport.write(data)
