"""uvicorn's HTTP protocol, over which the head of an answer can leave together with what follows it.

As it is, it hands head and body to the socket one after the other, and the event loop writes each at once: two system
calls and two segments for a short answer that is all there. Named in `serve` by its import path, so that it is loaded
with the server only.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from memproxy.server.relay import TOGETHER


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    scope: Scope  # type: ignore[assignment]
    transport: Joining  # type: ignore[assignment]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The connection is there."""
        super().connection_made(Joining(transport))  # type: ignore[arg-type]

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self.scope["extensions"] = {TOGETHER: self.transport.hold_next}


class Joining:
    """A transport that can be told to keep the next write until the one after it. The rest is the transport's own."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._holds = False
        self._held = b""

    def hold_next(self) -> None:
        """Keep what is written next: something will follow it at once."""
        self._holds = True

    def write(self, data: bytes) -> None:
        """Write, or keep."""
        if self._holds:
            self._holds, self._held = False, data
        else:
            self._transport.write(self._held + data)
            self._held = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
