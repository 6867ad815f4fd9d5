"""An upstream that does next to nothing: `python -m memproxy.bench.trivial PORT`.

A request whose body asks for a stream gets 50 chunks, at once or, with a `seed` of N, one every N milliseconds; any
other a chat completion in one body. (A seed is what every gateway passes on; headers are not.)
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from typing import cast

CHUNKS = 50
_SEED = re.compile(rb'"seed"\s*:\s*(\d+)')
_ASKS_FOR_STREAM = re.compile(rb'"stream"\s*:\s*true')


def _event(content: str) -> bytes:
    body = {"id": "bench", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": None}
    data = b"data: " + json.dumps({**body, "choices": [choice]}).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


_EVENTS = [_event(f" word{number}") for number in range(CHUNKS - 1)] + [b"e\r\ndata: [DONE]\n\n\r\n"]
_END = b"0\r\n\r\n"
_STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_BODY = json.dumps(
    {
        "id": "bench",
        "object": "chat.completion",
        "created": 1,
        "model": "bench",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "word " * 50}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 50, "total_tokens": 51},
    }
).encode()
_WHOLE = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(_BODY), _BODY)


class _Connection(asyncio.Protocol):
    """One connection; reads just as much HTTP as its own benchmark sends."""

    def __init__(self) -> None:
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self._streaming: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class

    def connection_lost(self, exc: Exception | None) -> None:
        if self._streaming is not None:
            self._streaming.cancel()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        lowered = head.lower()
        length = int(lowered.partition(b"content-length: ")[2].partition(b"\r\n")[0] or b"0")
        if end and len(body) >= length:
            self._received = b""
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        assert self._transport is not None
        if not _ASKS_FOR_STREAM.search(body):
            self._transport.write(_WHOLE)
            return
        seed = _SEED.search(body)
        pace = int(seed[1]) / 1000 if seed else 0.0
        self._streaming = asyncio.get_running_loop().create_task(self._stream(self._transport, pace))

    async def _stream(self, transport: asyncio.Transport, pace: float) -> None:
        transport.write(_STREAM_HEAD)
        for event in _EVENTS:
            transport.write(event)
            await asyncio.sleep(pace)
        transport.write(_END)


async def main(port: int) -> None:
    """Serve until killed."""
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        try:
            import uvloop
        except ImportError:  # not on Windows
            asyncio.run(main(int(sys.argv[1])))
        else:
            uvloop.run(main(int(sys.argv[1])))
