"""A load generator on bare sockets: it must cost less than what it measures."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from memproxy.errors import MemproxyError

Requests = Callable[[int], bytes]  # the n-th request, whole


@dataclass(slots=True)
class Load:
    """What one slice of load saw: for each request, milliseconds to the first byte of the body and to the end."""

    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Load) -> None:
        """Take another slice's figures in."""
        self.first += other.first
        self.whole += other.whole
        self.seconds += other.seconds


class _Connection(asyncio.Protocol):
    """One kept connection; one request at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._done: asyncio.Future[float] | None = None
        self._head = b""
        self._tail = b""
        self._left: int | None = None  # bytes of a counted body to come; None: chunked
        self._first = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class

    def ask(self, request: bytes) -> asyncio.Future[float]:
        """Send a request; the future gives the time of the first byte of its answer's body, at its end."""
        assert self._transport is not None
        self._head, self._tail, self._left, self._first = b"", b"", None, 0.0
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._done

    def data_received(self, data: bytes) -> None:
        if not self._first:
            self._head += data
            head, end, data = self._head.partition(b"\r\n\r\n")
            if not end or not data:
                return
            self._first = time.perf_counter()
            if not head.startswith(b"HTTP/1.1 200"):
                self._fail(head.partition(b"\r\n")[0].decode("latin-1"))
                return
            length = head.lower().partition(b"\r\ncontent-length: ")[2].partition(b"\r\n")[0]
            self._left = int(length) if length else None
        if self._left is None:
            self._tail = (self._tail + data)[-7:]
            ended = self._tail.endswith(b"\r\n0\r\n\r\n")
        else:
            self._left -= len(data)
            ended = self._left <= 0
        if ended and self._done is not None and not self._done.done():
            self._done.set_result(self._first)

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail("the connection was closed")

    def _fail(self, why: str) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(MemproxyError(f"a benchmark request failed: {why}"))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()


async def run(port: int, requests: Requests, concurrency: int, seconds: float) -> Load:
    """Keep `concurrency` requests under way for so long (a request begun in time is waited for).

    Raises MemproxyError where an answer is none.
    """
    loop = asyncio.get_running_loop()
    connections = [(await loop.create_connection(_Connection, "127.0.0.1", port))[1] for _ in range(concurrency)]
    load, numbers = Load(), itertools.count()
    started = time.perf_counter()
    until = started + seconds

    async def keep_asking(connection: _Connection) -> None:
        while (begun := time.perf_counter()) < until:
            first = await connection.ask(requests(next(numbers)))
            load.first.append((first - begun) * 1000)
            load.whole.append((time.perf_counter() - begun) * 1000)

    try:
        await asyncio.gather(*map(keep_asking, connections))
    finally:
        for connection in connections:
            connection.close()
    load.seconds = time.perf_counter() - started
    return load


async def abandon(port: int, request: bytes, times: int) -> None:
    """Begin that many requests and leave each at the first byte of its answer."""
    for _ in range(times):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        await reader.read(1)
        writer.transport.abort()


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share of the values lies; 0 where there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
