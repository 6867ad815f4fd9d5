"""The client's side of a request: the rest of its body, and the news that the client has left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.types import Receive

# Seconds after which the connection begins to be watched: an answer that is quicker needs no task for it.
QUICK = 0.02


class Inbound:
    """Owns `receive`: first the body is streamed (where it is not held already), then the connection is watched.

    Made in the task that answers; `gone` says that the client has left, upon which that task is cancelled.
    """

    __slots__ = ("_body_read", "_receive", "_task", "_watch", "gone", "streams")

    def __init__(self, receive: Receive, *, streams: bool) -> None:
        self.streams = streams
        self.gone = False
        self._receive = receive
        self._body_read = asyncio.Event() if streams else None
        self._task = asyncio.current_task()
        self._watch: asyncio.Task[None] | asyncio.TimerHandle | None = None

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
        """From now on (or, where a body is streamed, from its end on) the task is cancelled when the client leaves."""
        loop = asyncio.get_running_loop()
        if self.streams:
            self._begin()
        else:
            self._watch = loop.call_later(QUICK, self._begin)

    def stop_watching(self) -> None:
        """From now on the client's leaving changes nothing."""
        if self._watch is not None:
            self._watch.cancel()

    def cancelled_for_it(self) -> bool:
        """Whether a cancellation that has come is ours and nobody else's: then it is dealt with."""
        return self.gone and self._task is not None and self._task.uncancel() == 0

    def _begin(self) -> None:
        self._watch = asyncio.get_running_loop().create_task(self._until_gone())

    async def _until_gone(self) -> None:
        if self._body_read is not None:
            await self._body_read.wait()
        while not self.gone:
            self.gone = (await self._receive())["type"] == "http.disconnect"
        if self._task is not None:
            self._task.cancel()
