"""Reading a request body whole, as far as it is reasonable, and answering with an error of our own."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import Message, Receive, Scope, Send

from memproxy.server import codings

MAX_READ = 64 * 1024 * 1024  # a larger chat request goes through without memory, never 413


@dataclass
class Body:
    """A body as read so far. Where it was too large to be read whole, `receive` gives all of it again, to stream."""

    data: bytes
    whole: bool
    receive: Receive
    coding: str = ""  # its Content-Encoding
    _plain: bytes | None = None

    async def plain(self) -> bytes:
        """The body without its content coding. Raises NotUnderstood where that cannot be undone."""
        if self._plain is None:
            self._plain = await codings.undo(self.data, self.coding)
        return self._plain

    def drop_plain(self) -> None:
        """Nobody will read it again: what it takes is given back while the answer streams."""
        self._plain = None


async def read_body(scope: Scope, receive: Receive, limit: int = MAX_READ) -> Body | None:
    """Read up to `limit` bytes. None: the client left first."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if not message.get("more_body", False):
            return Body(b"".join(chunks), True, receive, _coding(scope))
        if size > limit:
            return Body(b"", False, _again(chunks, receive))


def _coding(scope: Scope) -> str:
    named = [value.decode("latin-1") for name, value in scope["headers"] if name == b"content-encoding"]
    return ",".join(named)


def _again(chunks: list[bytes], receive: Receive) -> Receive:
    """The chunks that were read, then what is still to come."""
    read = iter(chunks)

    async def replay() -> Message:
        chunk = next(read, None)
        if chunk is None:
            return await receive()
        return {"type": "http.request", "body": chunk, "more_body": True}

    return replay


async def send_error(send: Send, status: int, body: bytes) -> None:
    """A complete JSON error response."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
