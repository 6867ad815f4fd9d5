"""uvicorn's WebSocket protocol, for which an HTTP answer ends a handshake too.

As it is, it reports every refused handshake as an error of the application. Named in `serve` by its import path, so
that it is loaded with the server only.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """One connection."""

    async def send(self, message: Any) -> None:
        """Take a message of the application."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True
