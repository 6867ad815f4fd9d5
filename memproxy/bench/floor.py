"""The least that a proxy can be: raw ASGI and aiohttp, no memory. `python -m memproxy.bench.floor PORT TARGET`."""

from __future__ import annotations

import contextlib
import sys

import aiohttp
import uvicorn
from starlette.types import Receive, Scope, Send


class Floor:
    """Sends each request on and its answer back."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._session: aiohttp.ClientSession  # from the start of the server to its end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the server's own span of life."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await self._pass_on(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), auto_decompress=False) as session:
            self._session = session
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        sent = {name.decode(): value.decode() for name, value in scope["headers"] if name != b"host"}
        url = self._target + scope["path"]
        async with self._session.request(scope["method"], url, headers=sent, data=body) as response:
            headers = [pair for pair in response.raw_headers if pair[0].lower() != b"transfer-encoding"]
            await send({"type": "http.response.start", "status": response.status, "headers": headers})
            async for data in response.content.iter_any():
                await send({"type": "http.response.body", "body": data, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


def main(port: int, target: str) -> None:
    """Serve until killed."""
    config = uvicorn.Config(
        Floor(target), port=port, http="httptools", lifespan="on", log_config=None, access_log=False,
        server_header=False, date_header=False,
    )  # fmt: skip
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
