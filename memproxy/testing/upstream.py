"""A scripted model server: real HTTP on a free loopback port, with answers that the test decides to the byte.

    async with ScriptedUpstream() as upstream:
        upstream.reply("Hello!")  # JSON or a stream, as the request asks
        upstream.reply_raw(429, [("retry-after", "7")], [b'{"error": {}}'])
        upstream.reply_with(lambda request: f"You sent {len(request.body)} bytes.")
        ...  # point a client at upstream.url
        assert upstream.requests[0].json()["model"] == "gpt-4o"

Scripted answers are given in turn, one a request; when there is none left, `default` answers. It plays the extraction
model just as well. Nothing is normalised: targets, header names and bodies are recorded as they came.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any

import httptools

HeaderLines = list[tuple[bytes, bytes]]


class Wait(asyncio.Event):
    """A piece of an answer at which the server stops until the test calls `set`."""


@dataclass(frozen=True, slots=True)
class Die:
    """A piece of an answer at which the server cuts the connection."""


Piece = bytes | float | Wait | Die  # bytes are sent, a number is a pause in seconds


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came over the wire."""

    method: str
    target: bytes  # path and query, undecoded
    headers: HeaderLines  # in order, with repeats, names as they were spelled
    body: bytes

    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        """The first value of a header, whatever the case of its name."""
        return next(
            (value.decode("latin-1") for key, value in self.headers if key.lower() == name.lower().encode()), None
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server sends. Without a content-length among the headers the body is chunked, one chunk a piece."""

    status: int = 200
    headers: Sequence[tuple[str | bytes, str | bytes]] = ()
    pieces: Sequence[Piece] = ()
    until_close: bool = False  # no framing at all: the body ends where the connection does

    @property
    def head(self) -> bytes:
        """Status line and headers."""
        try:
            phrase = HTTPStatus(self.status).phrase
        except ValueError:
            phrase = "Unknown"
        lines = [f"HTTP/1.1 {self.status} {phrase}".encode()]
        lines += [_bytes(name) + b": " + _bytes(value) for name, value in self.headers]
        if self.chunked:
            lines.append(b"transfer-encoding: chunked")
        if self.until_close:
            lines.append(b"connection: close")
        return b"\r\n".join(lines) + b"\r\n\r\n"

    @property
    def chunked(self) -> bool:
        """Whether the body goes out in chunks."""
        counted = any(_bytes(name).lower() == b"content-length" for name, _ in self.headers)
        return not counted and not self.until_close and self.status not in (204, 304)


Reaction = Callable[[Request], "Answer | str | Awaitable[Answer | str]"]


def completion(text: str, *, model: str = "scripted", finish_reason: str = "stop") -> Answer:
    """A chat completion in one JSON body."""
    body = json.dumps(
        {
            "id": "chatcmpl-scripted",
            "object": "chat.completion",
            "created": 1767225600,
            "model": model,
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
    ).encode()
    return Answer(200, [("content-type", "application/json"), ("content-length", str(len(body)))], [body])


def stream(text: str, *, model: str = "scripted", finish_reason: str = "stop", size: int = 8) -> Answer:
    """A chat completion as server-sent events, `size` characters an event."""
    deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[start : start + size]} for start in range(0, len(text), size)]
    pieces: list[Piece] = [_chunk(model, delta, None) for delta in deltas]
    pieces += [_chunk(model, {}, finish_reason), b"data: [DONE]\n\n"]
    return Answer(200, [("content-type", "text/event-stream; charset=utf-8")], pieces)


def answer_chat(request: Request, text: str) -> Answer:
    """The text as the request asks for it: a stream, or one body."""
    try:
        asked = request.json()
    except ValueError:
        asked = {}
    asked = asked if isinstance(asked, dict) else {}
    model = str(asked.get("model") or "scripted")
    return stream(text, model=model) if asked.get("stream") is True else completion(text, model=model)


@dataclass
class ScriptedUpstream:
    """The server; an async context manager. See the module for how to use it."""

    default: Reaction = field(default=lambda request: "This is a scripted answer.")
    requests: list[Request] = field(default_factory=list)
    connections: int = 0  # opened so far
    abandoned: int = 0  # answers whose client left before they had been sent whole
    _script: deque[Reaction] = field(default_factory=deque)
    _open: set[_Connection] = field(default_factory=set)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _server: asyncio.Server | None = None
    _port: int = 0

    async def __aenter__(self) -> ScriptedUpstream:
        self._server = await asyncio.get_running_loop().create_server(lambda: _Connection(self), "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self._open):
            connection.cut()
        while self._open:
            await self._change()

    @property
    def url(self) -> str:
        """Scheme, host and port, no path: what `target` is set to."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """What a chat client's base URL is set to."""
        return f"{self.url}/v1"

    # --- the script ------------------------------------------------------------------------------------------

    def reply(self, text: str) -> None:
        """Answer the next request with a chat completion: one body, or a stream if the request asks for one."""
        self._script.append(lambda request: text)

    def reply_raw(
        self, status: int, headers: Sequence[tuple[str | bytes, str | bytes]] = (), pieces: Sequence[Piece] = ()
    ) -> None:
        """Answer the next request with exactly this."""
        self.reply_answer(Answer(status, headers, pieces))

    def reply_answer(self, answer: Answer) -> None:
        """Answer the next request with a prepared answer."""
        self._script.append(lambda request: answer)

    def reply_with(self, reaction: Reaction) -> None:
        """Let a function answer the next request: it gives an `Answer`, or the text of a chat completion."""
        self._script.append(reaction)

    # --- what happened ---------------------------------------------------------------------------------------

    async def wait_for(self, condition: Callable[[ScriptedUpstream], bool], seconds: float = 10) -> None:
        """Wait until something holds of this server. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not condition(self):
                await self._change()

    def drop_idle(self) -> None:
        """Close the connections on which nothing is being answered, as servers do after a while."""
        for connection in list(self._open):
            if not connection.busy:
                connection.cut()

    async def _change(self) -> None:
        await self._changed.wait()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _react(self, request: Request) -> Answer:
        self.requests.append(request)
        reaction = self._script.popleft() if self._script else self.default
        self._notify()
        result = reaction(request)
        answer = await result if inspect.isawaitable(result) else result
        return answer_chat(request, answer) if isinstance(answer, str) else answer


class _Connection(asyncio.Protocol):
    """One connection: reads requests one after another, answers each by the script."""

    def __init__(self, upstream: ScriptedUpstream) -> None:
        self._upstream = upstream
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._can_write = asyncio.Event()
        self._can_write.set()

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def cut(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._upstream.connections += 1
        self._upstream._open.add(self)
        self._upstream._notify()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._task is not None and self.busy:
            self._task.cancel()
            self._upstream.abandoned += 1
        self._can_write.set()
        self._upstream._open.discard(self)
        self._upstream._notify()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass
        except httptools.HttpParserError:
            self.cut()

    def pause_writing(self) -> None:
        self._can_write.clear()

    def resume_writing(self) -> None:
        self._can_write.set()

    # httptools

    def on_message_begin(self) -> None:
        self._target: list[bytes] = []
        self._headers: HeaderLines = []
        self._body: list[bytes] = []

    def on_url(self, url: bytes) -> None:
        self._target.append(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        method = self._parser.get_method().decode()
        request = Request(method, b"".join(self._target), self._headers, b"".join(self._body))
        self._task = asyncio.get_running_loop().create_task(self._answer(request))
        self._task.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[None]) -> None:
        """A script that fails is told by the event loop, and its client does not wait for ever."""
        if not task.cancelled() and (error := task.exception()) is not None:
            task.get_loop().call_exception_handler({"message": "a scripted answer failed", "exception": error})
            self.cut()

    async def _answer(self, request: Request) -> None:
        assert self._transport is not None
        answer = await self._upstream._react(request)
        self._transport.write(answer.head)
        if request.method != "HEAD":
            for piece in answer.pieces:
                if isinstance(piece, Die):
                    self._task = None
                    self._transport.close()  # what was written goes out first, then the connection ends
                    return
                await self._send(piece, answer.chunked)
            if answer.chunked:
                self._transport.write(b"0\r\n\r\n")
        if answer.until_close:
            self._task = None
            self._transport.close()

    async def _send(self, piece: bytes | float | Wait, chunked: bool) -> None:
        assert self._transport is not None
        if isinstance(piece, Wait):
            await piece.wait()
        elif isinstance(piece, bytes):
            if piece or not chunked:
                self._transport.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            await self._can_write.wait()
            await asyncio.sleep(0)
        else:
            await asyncio.sleep(piece)


def _chunk(model: str, delta: dict[str, str], finish_reason: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    body = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1767225600, "model": model}
    return b"data: " + json.dumps({**body, "choices": [choice]}).encode() + b"\n\n"


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
