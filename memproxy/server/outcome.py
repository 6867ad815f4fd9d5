"""What became of a request, and telling it once, to somebody who may take a moment over it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from memproxy.interfaces import ReplyReader
from memproxy.model import Reply
from memproxy.server.upstream import UpstreamClient, UpstreamError, UpstreamResponse

log = logging.getLogger(__name__)

HOLD_SECONDS = 2.0
CLIENT_GONE = 499  # what nginx made the custom for a client that left before there was a status


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended."""

    status: int  # the upstream's; 502 or 504 where it gave none, 499 where the client left before it
    reply: Reply | None = None  # what the reader understood; None without a reader or without a successful answer
    failure: str | None = None  # why there was no answer: dns, connect, connect-timeout, tls, timeout, no-answer
    client_gone: bool = False  # the client left before the end
    upstream_died: bool = False  # the answer broke off
    held_too_long: bool = False  # the end was sent before on_complete had returned
    first_byte_at: float | None = None  # time.perf_counter() at which the answer's head was there


OnComplete = Callable[[Outcome], Awaitable[None]]
MakeReader = Callable[[str, str], ReplyReader]


class Record:
    """Follows one request: listens to its answer, settles its outcome, and has it recorded.

    Listening and recording are memory's, not the client's: whatever goes wrong in them is logged by its type and ends
    here (fail open), and the answer goes on.
    """

    def __init__(
        self,
        client: UpstreamClient,
        make_reader: MakeReader | None,
        on_complete: OnComplete | None,
        hold_seconds: float,
    ) -> None:
        self.outcome = Outcome(CLIENT_GONE, client_gone=True)
        self._client = client
        self._make_reader = make_reader
        self._reader: ReplyReader | None = None
        self._on_complete = on_complete
        self._hold_seconds = hold_seconds
        self._unread = False  # the reader failed
        self._began = False
        self._settled = False

    @property
    def wanted(self) -> bool:
        """Whether somebody is to be told of the outcome, before the answer's end is sent."""
        return self._on_complete is not None

    def begin(self, response: UpstreamResponse) -> None:
        """The answer's head is there."""
        self._began = True
        self.outcome = Outcome(response.status, first_byte_at=time.perf_counter())
        if self._make_reader is not None and 200 <= response.status < 300:
            self._reader = self._make_reader(
                _header(response, b"content-type"),
                ",".join(value for value in _headers(response, b"content-encoding")),
            )

    def listen(self, data: bytes) -> bool:
        """Take the next bytes of the answer; True with those that complete it, as far as the reader can tell."""
        if self._reader is None or self._settled:
            return False
        try:
            return self._reader.feed(data)
        except Exception as error:  # fail open, see the class
            self._give_up(error)
            return False

    async def settle(self, *, client_gone: bool = False, upstream_died: bool = False) -> None:
        """Settle the outcome, once, and wait until it is recorded, or for `hold_seconds`."""
        task = self._tell(client_gone=client_gone, upstream_died=upstream_died)
        if task is None:
            return
        done, _ = await asyncio.wait({task}, timeout=self._hold_seconds)
        if not done:
            self.outcome = replace(self.outcome, held_too_long=True)

    def interrupted(self) -> None:
        """What goes on with the answer was cancelled from outside, or failed: what there is of it is recorded."""
        self._tell(client_gone=True, upstream_died=False)

    def _tell(self, *, client_gone: bool, upstream_died: bool) -> asyncio.Task[None] | None:
        if self._settled:
            return None
        self._settled = True
        reply = self._reply()
        if reply is not None or client_gone or upstream_died:
            self.outcome = replace(self.outcome, reply=reply, client_gone=client_gone, upstream_died=upstream_died)
        if self._on_complete is None or not self._began:
            return None
        return self._client.spawn(self._complete(self._on_complete, self.outcome))

    def failed(self, error: UpstreamError) -> None:
        """There is no answer and will be none."""
        self._settled = True
        self.outcome = Outcome(error.status, failure=error.failure)

    async def _complete(self, on_complete: OnComplete, outcome: Outcome) -> None:
        try:
            await on_complete(outcome)
        except Exception as error:  # fail open, see the class
            log.error("an exchange could not be recorded: %s", type(error).__name__)

    def _reply(self) -> Reply | None:
        if self._reader is not None:
            try:
                return self._reader.finish()
            except Exception as error:  # fail open, see the class
                self._give_up(error)
        return Reply() if self._unread else None

    def _give_up(self, error: Exception) -> None:
        self._reader = None
        self._unread = True
        log.error("an answer could not be read: %s", type(error).__name__)


def _header(response: UpstreamResponse, name: bytes) -> str:
    return next(iter(_headers(response, name)), "")


def _headers(response: UpstreamResponse, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in response.headers if key.lower() == name]
