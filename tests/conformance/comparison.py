"""Answers as bytes on a socket, and what may differ between one that came through the proxy and one that did not."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import httptools

from memproxy.testing import Request
from memproxy.trust import CLOSE, OPEN

Lines = list[tuple[bytes, bytes]]

# RFC 9110, 7.6.1, with the older names that still travel.
HOP_BY_HOP = (
    b"connection",
    b"keep-alive",
    b"proxy-authenticate",
    b"proxy-authorization",
    b"proxy-connection",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
)
OURS = b"x-memg-"
UNBUFFERED = (b"cache-control", b"x-accel-buffering")


@dataclass
class Seen:
    """An answer as it stood on the socket; the body without the chunks it came in."""

    status_line: bytes = b""
    headers: Lines = field(default_factory=list)
    body: bytes = b""
    whole: bool = False  # its own framing says that nothing is missing
    closed: bool = False  # the server closed the connection

    def header(self, name: bytes) -> bytes | None:
        """The first value of a header."""
        return next((value for key, value in self.headers if key.lower() == name), None)


class Listener:
    """A connection on which one request is asked, read as far as it is wanted."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._raw = b""
        self._parser = httptools.HttpResponseParser(self)
        self.seen = Seen()

    @classmethod
    async def ask(cls, url: str, request: bytes) -> Listener:
        """Send a request."""
        host, _, port = url.removeprefix("http://").rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(request)
        await writer.drain()
        return cls(reader, writer)

    async def read_all(self) -> Seen:
        """The answer to its end, whichever that is."""
        async with asyncio.timeout(20):
            while not self.seen.whole and await self._read():
                pass
        self._writer.close()
        return self.seen

    async def read_until(self, end: bytes) -> Seen:
        """The answer up to the point where its body holds these bytes."""
        async with asyncio.timeout(20):
            while end not in self.seen.body and await self._read():
                pass
        return self.seen

    def leave(self) -> None:
        """Cut the connection."""
        self._writer.transport.abort()

    async def _read(self) -> bool:
        try:
            data = await self._reader.read(1 << 16)
        except ConnectionError:
            data = b""
        if not data:
            self.seen.closed = True
            return False
        if not self.seen.headers:
            self._raw += data
            if b"\r\n\r\n" in self._raw:
                self._head(self._raw.partition(b"\r\n\r\n")[0])
        self._parser.feed_data(data)
        return True

    def _head(self, head: bytes) -> None:
        """Status line and header lines, as they came."""
        self.seen.status_line, *lines = head.split(b"\r\n")
        pairs = [line.split(b":", 1) for line in lines]
        self.seen.headers = [(name, value.strip(b" \t")) for name, value in pairs]

    # httptools

    def on_body(self, body: bytes) -> None:
        self.seen.body += body

    def on_message_complete(self) -> None:
        self.seen.whole = True


def differences(direct: Seen, proxied: Seen) -> list[str]:
    """What is not the same, beyond what may differ."""
    pairs = {
        "status line": (direct.status_line, proxied.status_line),
        "headers": (_end_to_end(direct.headers), _end_to_end(_without_additions(direct, proxied))),
        "body": (direct.body, proxied.body),
        "end": (direct.whole, proxied.whole),
    }
    return [f"{name}: {one!r:.2000} is not {other!r:.2000}" for name, (one, other) in pairs.items() if one != other]


def request_differences(direct: Request, proxied: Request) -> list[str]:
    """What reached the upstream otherwise than without the proxy, beyond the block and the length it makes."""
    pairs = {
        "method": (direct.method, proxied.method),
        "target": (direct.target, proxied.target),
        "headers": (_sent(direct), _sent(proxied)),
        "body": (direct.body, without_insertion(direct.body, proxied.body)),
        "length": (str(len(proxied.body)), proxied.header("content-length")),
    }
    return [f"{name}: {one!r:.2000} is not {other!r:.2000}" for name, (one, other) in pairs.items() if one != other]


def inserted(original: bytes, sent: bytes) -> bytes:
    """The bytes by which a request grew, if they are all in one place."""
    common = next((at for at, (a, b) in enumerate(zip(original, sent, strict=False)) if a != b), len(original))
    return sent[common : common + len(sent) - len(original)]


def without_insertion(original: bytes, sent: bytes) -> bytes:
    """A request without the one span that holds the block; as it is where that is not all that was added."""
    span = inserted(original, sent)
    if span.count(OPEN.encode()) != 1 or span.count(CLOSE.encode()) != 1:
        return sent
    return sent.replace(span, b"", 1)


def _end_to_end(headers: Lines) -> Lines:
    return [(name, value) for name, value in headers if name.lower() not in HOP_BY_HOP]


def _without_additions(direct: Seen, proxied: Seen) -> Lines:
    """The headers of an answer without those that a proxy may add."""
    names = {name.lower() for name, _ in direct.headers}
    may_add = UNBUFFERED if (direct.header(b"content-type") or b"").startswith(b"text/event-stream") else ()
    return [
        (name, value)
        for name, value in proxied.headers
        if not name.startswith(OURS) and not (name in may_add and name not in names)
    ]


def _sent(request: Request) -> Lines:
    """The headers that are the client's to say: not those of one connection, not ours, not the length."""
    lowered = [(name.lower(), value) for name, value in request.headers]
    return [
        (name, value)
        for name, value in lowered
        if name not in (*HOP_BY_HOP, b"host", b"content-length") and not name.startswith(OURS)
    ]
