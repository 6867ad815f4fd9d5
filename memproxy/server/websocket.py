"""WebSocket connections: tunnelled message by message, both ways, to where HTTP requests would go.

Memory has no part in them, so a path that memory acts on over HTTP is answered 426: clients that prefer WebSocket
(Codex on `…/responses`) go on with HTTP at once, where memory works.

Handshake, pings and fragments are affairs of each of the two connections. Messages, subprotocol, close codes and the
way an end came (with a close frame or without) pass through. The client's handshake is answered only when the upstream
has answered its own, so a refusal is the upstream's refusal, body and all.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp
from aiohttp import WSMsgType
from starlette.types import Message, Receive, Scope, Send
from yarl import URL

from memproxy import wire
from memproxy.assembly.parts import Parts
from memproxy.errors import Problem
from memproxy.interfaces import WireFormat
from memproxy.server import dialects, hops, identity, targets
from memproxy.server.access import Access, Headers
from memproxy.server.counting import count
from memproxy.server.dialects import ErrorBody
from memproxy.server.hops import RawHeaders
from memproxy.server.outcome import CLIENT_GONE, Outcome
from memproxy.server.relay import MESSAGES
from memproxy.server.upstream import (
    NO_ANSWER,
    UpstreamClient,
    UpstreamDied,
    UpstreamError,
    UpstreamRequest,
    UpstreamResponse,
    no_answer,
)

LARGEST_MESSAGE = 64 << 20  # bytes, either way; a larger one ends the connection with code 1009
LARGEST_REFUSAL = 1 << 20  # bytes of an upstream's refusal that are passed on
_NO_STATUS = 1005  # how a close frame without a code is told (RFC 6455, 7.1.5)
_NEVER_SENT = frozenset((_NO_STATUS, 1006, 1015))
_CODES = {401: "unauthorized", 403: "forbidden", 404: "not_found", 426: "upgrade_required"}

T = TypeVar("T")


class Upgrades:
    """Answers WebSocket handshakes, on all routes."""

    def __init__(self, parts: Parts, access: Access, client: UpstreamClient) -> None:
        self._parts = parts
        self._access = access
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send, *, own_route: bool) -> None:
        """Answer one handshake, and serve the connection that comes of it."""
        await receive()  # it says websocket.connect
        headers = Headers(scope["headers"])
        path = identity.split_path(scope["raw_path"])
        form = wire.route("POST", path.path)
        vendor = targets.family(form.name if form else None, path.path, headers)
        error_body = dialects.error_body(form, vendor)
        try:
            self._check(headers, path, form, own_route)
        except Problem as problem:
            await self._refuse(send, error_body, problem)
            return
        base_url = targets.resolve(self._parts.settings, vendor)
        request = UpstreamRequest(base_url, "GET", path.path, scope["query_string"], scope["headers"])
        added = [(b"x-memg-request-id", secrets.token_hex(16).encode())]
        outcome = await tunnel(receive, send, self._client, request, added, error_body)
        count(self._parts.metrics, "websocket", outcome)

    def _check(self, headers: Headers, path: identity.Named, form: WireFormat | None, own_route: bool) -> None:
        """The rules of every route. Raises Problem."""
        if own_route and self._access.foreign(headers):
            raise Problem(403, "Requests from other sites are not accepted")
        caller = self._access.caller(headers, own_route=own_route)
        if caller is None:
            raise Problem(401, "A key is needed: send it as X-MemG-Key")
        if own_route:
            raise Problem(404, "There is no WebSocket here")
        with contextlib.suppress(identity.Refused):  # no usable name is no one's name
            identity.entity_name(headers, path, {}, self._parts.settings, caller)
        if form is not None and self._parts.settings.memory.enabled:
            raise Problem(426, "Send this as an HTTP request: memory has no part in WebSocket connections")

    async def _refuse(self, send: Send, error_body: ErrorBody, problem: Problem) -> None:
        count(self._parts.metrics, "websocket", Outcome(problem.status))
        body = error_body(problem.status, problem.title, _CODES[problem.status])
        await _answer(send, problem.status, [(b"content-type", b"application/json")], body)


# --- the tunnel ----------------------------------------------------------------------------------------------


async def tunnel(
    receive: Receive,
    send: Send,
    client: UpstreamClient,
    request: UpstreamRequest,
    added: Sequence[tuple[bytes, bytes]],
    error_body: ErrorBody,
) -> Outcome:
    """Connect to the upstream, accept the client, and carry messages until either side ends it.

    `receive` has said websocket.connect already. `added` are headers of ours for the answer to the handshake.
    """
    async with contextlib.AsyncExitStack() as stack:
        try:
            upstream = await _unless_gone(receive, stack.enter_async_context(_connected(client, request)))
        except NO_ANSWER as error:
            return await _tell_failure(send, no_answer(error), added, error_body)
        if upstream is None:
            return Outcome(CLIENT_GONE, client_gone=True)
        if isinstance(upstream, UpstreamResponse):
            return await _pass_refusal(send, upstream, added)
        await send({"type": "websocket.accept", **upstream.accepted(added)})
        return await _carry(receive, send, upstream)


async def _unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T | None:
    """What the work gives; None if the client leaves first (it can say nothing else before it is answered)."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(receive())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return None if leaving.done() else working.result()
    finally:
        await _cancel(working, leaving)


async def _carry(receive: Receive, send: Send, upstream: _Socket) -> Outcome:
    """Messages both ways; the end of one side becomes the end of the other."""
    up, down = asyncio.ensure_future(upstream.take(receive)), asyncio.ensure_future(upstream.give(send))
    try:
        done, _ = await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await _cancel(up, down)
    end = max((task.result() for task in done), key=lambda end: end.said)
    if end.of_client:
        await upstream.close(end)
        return Outcome(101, client_gone=not end.said)
    if end.said:
        await send({"type": "websocket.close", "code": end.code, "reason": end.reason})
        await upstream.close(end)
    # Without a close message from here the server cuts the client's connection: it sees what we saw.
    return Outcome(101, upstream_died=not end.said)


async def _cancel(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


# --- the upstream's side -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _End:
    """How a side ended the connection."""

    of_client: bool
    said: bool  # with a close frame
    code: int | None = None  # None: the frame held none
    reason: str = ""


class _Refused(Exception):
    """The upstream answered the handshake with something else."""


@contextlib.asynccontextmanager
async def _connected(client: UpstreamClient, request: UpstreamRequest) -> AsyncIterator[_Socket | UpstreamResponse]:
    """The upstream's end of the tunnel, or its answer where it wants none. Raises what `NO_ANSWER` lists."""
    answers: list[aiohttp.ClientResponse] = []

    async def keep(sent: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        answers.append(await handler(sent))
        if answers[-1].status != 101:
            raise _Refused
        return answers[-1]

    kept = hops.handshake_headers(hops.request_headers(request.headers, None))
    headers = [(name.decode("latin-1"), value.decode("utf-8", "replace")) for name, value in kept]
    async with client.session(keep) as session:
        try:
            connection = await session.ws_connect(
                URL(request.url, encoded=True), headers=headers, autoclose=False, max_msg_size=LARGEST_MESSAGE
            )
            got: _Socket | UpstreamResponse = _Socket(connection, answers[-1])
        except _Refused:
            refusal = answers[-1]
            got = UpstreamResponse(refusal.status, list(refusal.raw_headers), refusal.content)
        try:
            yield got
        finally:
            answers[-1].close()


class _Socket:
    """The connection to the upstream."""

    def __init__(self, connection: aiohttp.ClientWebSocketResponse, answer: aiohttp.ClientResponse) -> None:
        self._connection = connection
        self._headers: RawHeaders = list(answer.raw_headers)

    def accepted(self, added: Sequence[tuple[bytes, bytes]]) -> Message:
        """The upstream's answer to the handshake, for the client."""
        headers = hops.handshake_headers(hops.response_headers(101, self._headers))
        protocol = next((value for name, value in headers if name == b"sec-websocket-protocol"), None)
        rest = [(name, value) for name, value in headers if name != b"sec-websocket-protocol"]
        return {"subprotocol": protocol.decode("latin-1") if protocol else None, "headers": [*rest, *added]}

    async def take(self, receive: Receive) -> _End:
        """Send what the client sends, until one of the two has ended."""
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                # uvicorn names a reason, if only an empty one, where there was a close frame, and none where there
                # was not; the code is 1005 both for a frame without one and for no frame.
                code, reason = message.get("code"), message.get("reason")
                return _End(True, reason is not None, None if code in _NEVER_SENT else code, reason or "")
            try:
                if message.get("text") is not None:
                    await self._connection.send_str(message["text"])
                else:
                    await self._connection.send_bytes(message["bytes"])
            except (aiohttp.ClientError, ConnectionError):
                return _End(False, said=False)

    async def give(self, send: Send) -> _End:
        """Send what the upstream sends, until one of the two has ended."""
        while True:
            message = await self._connection.receive()
            try:
                if message.type is WSMsgType.TEXT:
                    await send({"type": "websocket.send", "text": message.data})
                elif message.type is WSMsgType.BINARY:
                    await send({"type": "websocket.send", "bytes": message.data})
                else:
                    return _upstreams_end(message)
            except OSError:  # what servers raise where the client has gone (ASGI, "send" after a disconnect)
                return _End(True, said=False)

    async def close(self, end: _End) -> None:
        """Pass the client's end on, or answer the upstream's own."""
        if not end.said:
            return  # the connection is cut
        if end.code is None:
            with contextlib.suppress(aiohttp.ClientError, ConnectionError):
                await self._connection.send_frame(b"", WSMsgType.CLOSE)
        else:
            await self._connection.close(code=end.code, message=end.reason.encode())


def _upstreams_end(message: aiohttp.WSMessage) -> _End:
    if message.type is WSMsgType.CLOSE and message.data not in _NEVER_SENT:
        return _End(False, True, message.data or None, message.extra or "")
    if message.type is WSMsgType.ERROR and isinstance(message.data, aiohttp.WebSocketError):
        return _End(False, True, message.data.code)  # a message too large, or no UTF-8: the client learns as much
    return _End(False, said=False)


# --- answers that are no connection --------------------------------------------------------------------------


async def _pass_refusal(send: Send, response: UpstreamResponse, added: Sequence[tuple[bytes, bytes]]) -> Outcome:
    body = b""
    with contextlib.suppress(UpstreamDied):
        while len(body) < LARGEST_REFUSAL and (data := await response.read()):
            body += data
    headers = hops.handshake_headers(hops.response_headers(response.status, response.headers))
    await _answer(send, response.status, [*headers, *added], body)
    return Outcome(response.status)


async def _tell_failure(
    send: Send, error: UpstreamError, added: Sequence[tuple[bytes, bytes]], error_body: ErrorBody
) -> Outcome:
    body = error_body(error.status, MESSAGES[error.failure], error.failure)
    await _answer(send, error.status, [(b"content-type", b"application/json"), *added], body)
    return Outcome(error.status, failure=error.failure)


async def _answer(send: Send, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> None:
    """An HTTP answer to a handshake (ASGI extension "websocket.http.response", which uvicorn has)."""
    kept = [(name, value) for name, value in headers if name != b"content-length"]
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "websocket.http.response.start", "status": status, "headers": [*kept, length]})
    await send({"type": "websocket.http.response.body", "body": body})
