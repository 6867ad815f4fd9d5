"""The client's side of a request: the rest of its body, and the news that the client has left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from starlette.types import Receive


class Inbound:
    """Owns `receive`: first the body is streamed (where it is not held already), then the connection is watched."""

    def __init__(self, receive: Receive, *, streams: bool) -> None:
        self.streams = streams
        self.gone = False  # the client has left
        self._receive = receive
        self._body_read = asyncio.Event()
        if not streams:
            self._body_read.set()

    async def stream(self) -> AsyncIterator[bytes]:
        """The body as it comes. If the client leaves in the middle, it never ends: `watch` has it cancelled."""
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

    async def watch(self, left: Callable[[], object]) -> None:
        """Call `left` as soon as the client has gone."""
        await self._body_read.wait()
        while not self.gone:
            self.gone = (await self._receive())["type"] == "http.disconnect"
        left()
