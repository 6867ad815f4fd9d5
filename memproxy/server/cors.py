"""What lets web pages of the allowed origins use the management API (the Fetch standard's CORS protocol).

Upstream routes have none of it: there the upstream's own answers pass through, preflights included.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memproxy.server.access import Access, Headers

METHODS = b"GET, POST, PUT, PATCH, DELETE"
MAX_AGE = b"600"  # seconds for which a browser need not ask again


class Cors:
    """The API, answering browsers that ask on behalf of an allowed origin."""

    def __init__(self, app: ASGIApp, access: Access, origins: Sequence[str]) -> None:
        self._app = app
        self._access = access
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. A preflight carries no key, so it is answered before keys are asked for."""
        headers = Headers(scope["headers"])
        origin = headers.get("origin")
        if origin is None or origin.lower() not in self._origins or self._access.foreign(headers):
            await self._app(scope, receive, send)
            return
        allowed = [(b"access-control-allow-origin", origin.encode()), (b"vary", b"Origin")]
        if scope["method"] == "OPTIONS" and headers.get("access-control-request-method") is not None:
            asked = (headers.get("access-control-request-headers") or "").encode("utf-8", "surrogateescape")
            await _preflight(send, [*allowed, (b"access-control-allow-headers", asked)])
            return

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *allowed]}
            await send(message)

        await self._app(scope, receive, add)


async def _preflight(send: Send, allowed: Sequence[tuple[bytes, bytes]]) -> None:
    headers = [*allowed, (b"access-control-allow-methods", METHODS), (b"access-control-max-age", MAX_AGE)]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
