"""The relay: one request up, one answer down, every byte of it the upstream's.

Pure ASGI, on the path of every call. A reader listens to a copy; whatever becomes of it, the client's answer goes on.
The last read of an answer is held back until `on_complete` has returned, so that whoever has the whole answer can rely
on its being recorded; but not for longer than `hold_seconds`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.types import Receive, Scope, Send

from memproxy.server import hops
from memproxy.server.dialects import ErrorBody
from memproxy.server.inbound import Inbound
from memproxy.server.outcome import HOLD_SECONDS, MakeReader, OnComplete, Outcome, Record
from memproxy.server.upstream import UpstreamClient, UpstreamDied, UpstreamError, UpstreamRequest, UpstreamResponse

__all__ = ["MESSAGES", "Outcome", "UpstreamRequest", "relay"]

# An ASGI extension of our server's: a function that has the next message sent along with the one after it.
TOGETHER = "memproxy.together"

MESSAGES = {
    "dns": "The upstream's host name could not be resolved.",
    "connect": "The upstream refused the connection.",
    "connect-timeout": "The upstream did not accept the connection in time.",
    "tls": "No trusted TLS connection to the upstream could be made.",
    "timeout": "The upstream did not answer in time.",
    "no-answer": "The upstream closed the connection without an answer.",
}


async def relay(
    scope: Scope,
    receive: Receive,
    send: Send,
    client: UpstreamClient,
    request: UpstreamRequest,
    *,
    error_body: ErrorBody,
    reader: MakeReader | None = None,
    response_headers: Sequence[tuple[bytes, bytes]] = (),
    on_complete: OnComplete | None = None,
    hold_seconds: float = HOLD_SECONDS,
) -> Outcome:
    """Send a request upstream and its answer down, and say how it went.

    `reader` is made from the answer's content type and coding, for successful answers. `response_headers` are added
    to the upstream's. `on_complete` is called once for every request that got an answer, however that ended, and runs
    to its end even if the client leaves (`client.drain` waits for it); it is not called where `failure` is set or the
    client left before the answer's head. An answer that broke off is never closed in form: the function returns
    without a last body message, upon which the server cuts the client's connection.
    """
    inbound = Inbound(receive, client.patience, streams=request.body is None and hops.has_body(request.headers))
    record = Record(client, reader, on_complete, hold_seconds)
    answer = _Answer(scope, send, inbound, record, response_headers)
    inbound.watch()
    try:
        response = await client.open(request, inbound.stream() if inbound.streams else None)
        try:
            await answer.pass_on(response)
        finally:
            response.close()
    except UpstreamError as error:
        inbound.stop_watching()
        record.failed(error)
        await answer.refuse(error, error_body, head_only=scope["method"] == "HEAD")
    except BaseException as error:  # cancellation too: what was answered so far is recorded, and the cause goes on
        if not (isinstance(error, asyncio.CancelledError) and inbound.cancelled_for_it()):
            record.interrupted()
            raise
    finally:
        inbound.stop_watching()
    if inbound.gone and not answer.delivered:
        await record.settle(client_gone=True)
    return record.outcome


def _apart() -> None:
    """What a server does that knows of nothing else: it sends each message by itself."""


class _Answer:
    """The way down: head, body, and the hold before its end."""

    def __init__(
        self, scope: Scope, send: Send, inbound: Inbound, record: Record, added: Sequence[tuple[bytes, bytes]]
    ) -> None:
        self.delivered = False  # the read that completes the answer has been sent
        self._scope = scope
        self._send = send
        self._inbound = inbound
        self._record = record
        self._added = added

    async def pass_on(self, response: UpstreamResponse) -> None:
        """Send what the upstream sends, as it comes."""
        self._record.begin(response)
        headers = [*hops.response_headers(response.status, response.headers), *self._added]
        data = response.at_hand()
        if data and not self._record.wanted:  # nothing will be waited for between the two
            self._scope.get("extensions", {}).get(TOGETHER, _apart)()
        await self._send({"type": "http.response.start", "status": response.status, "headers": headers})
        last = False
        while not last:
            try:
                data = data or await response.read()
            except UpstreamDied:
                await self._record.settle(upstream_died=True)
                return  # without an end: a truncated answer has to look truncated
            last = response.ended
            if last:
                self._inbound.stop_watching()  # from here on the server says "disconnect" for a client that has it all
            complete = self._record.listen(data) or last
            if complete:
                await self._record.settle()
            await self._send({"type": "http.response.body", "body": data, "more_body": not last})
            self.delivered = self.delivered or complete
            data = b""

    async def refuse(self, error: UpstreamError, error_body: ErrorBody, *, head_only: bool) -> None:
        """Tell the client, in its own format, that there is no answer."""
        body = error_body(error.status, MESSAGES[error.failure], error.failure)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *self._added]
        await self._send({"type": "http.response.start", "status": error.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": b"" if head_only else body})
        self.delivered = True
