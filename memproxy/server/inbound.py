"""The client's side of a request: the rest of its body, and the news that the client has left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.types import Receive

QUICK = 0.02  # seconds within which most answers of programs, and the first bytes of many, are there


class Patience:
    """Begins what is not over after a moment (QUICK at least, and at most twice that), with one timer for all."""

    def __init__(self) -> None:
        self._new: set[Inbound] = set()
        self._waited: set[Inbound] = set()  # for a moment at least
        self._timer: asyncio.TimerHandle | None = None

    def add(self, inbound: Inbound) -> None:
        """Have it watched after a moment."""
        self._new.add(inbound)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(QUICK, self._tick)

    def discard(self, inbound: Inbound) -> None:
        """It is over."""
        self._new.discard(inbound)
        self._waited.discard(inbound)

    def _tick(self) -> None:
        due, self._waited, self._new = self._waited, self._new, set()
        self._timer = asyncio.get_running_loop().call_later(QUICK, self._tick) if self._waited else None
        for inbound in due:
            inbound.begin()


class Inbound:
    """Owns `receive`: first the body is streamed (where it is not held already), then the connection is watched.

    Made in the task that answers; `gone` says that the client has left, upon which that task is cancelled.
    """

    __slots__ = ("_body_read", "_patience", "_receive", "_task", "_watch", "gone", "streams")

    def __init__(self, receive: Receive, patience: Patience, *, streams: bool) -> None:
        self.streams = streams
        self.gone = False
        self._receive = receive
        self._body_read = asyncio.Event() if streams else None
        self._task = asyncio.current_task()
        self._patience = patience
        self._watch: asyncio.Task[None] | None = None

    async def stream(self) -> AsyncIterator[bytes]:
        """The body as it comes. If the client leaves in the middle, it never ends: what waits for it is cancelled."""
        assert self._body_read is not None
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self.gone = True
                self._body_read.set()
                await asyncio.Event().wait()
            more = message.get("more_body", False)
            if message.get("body"):
                yield message["body"]
        self._body_read.set()

    def watch(self) -> None:
        """Soon (or, where a body is streamed, from its end on) the task is cancelled when the client leaves.

        Not at once: an answer that is quick needs no task for it.
        """
        if self.streams:
            self.begin()
        else:
            self._patience.add(self)

    def begin(self) -> None:
        """Watch from now on."""
        self._watch = asyncio.get_running_loop().create_task(self._until_gone())

    def stop_watching(self) -> None:
        """From now on the client's leaving changes nothing."""
        if self._watch is not None:
            self._watch.cancel()
        else:
            self._patience.discard(self)

    def cancelled_for_it(self) -> bool:
        """Whether a cancellation that has come is ours and nobody else's: then it is dealt with."""
        return self.gone and self._task is not None and self._task.uncancel() == 0

    async def _until_gone(self) -> None:
        if self._body_read is not None:
            await self._body_read.wait()
        while not self.gone:
            self.gone = (await self._receive())["type"] == "http.disconnect"
        if self._task is not None:
            self._task.cancel()
