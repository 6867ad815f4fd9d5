"""Running the server: bind, say what it is, answer until asked to stop, drain."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable
from types import FrameType

import uvicorn

from memproxy.errors import SettingsError
from memproxy.interfaces import Clock
from memproxy.server.app import App, open_app
from memproxy.server.interpreter import spare_the_collector, take_turns_quickly
from memproxy.server.websocket import LARGEST_MESSAGE
from memproxy.settings import Settings

DRAIN_SECONDS = 30  # streams under way may finish
# Longer than clients and load balancers keep an idle connection (5 to 60 s), so that the end of one is never ours and a
# request never meets it.
KEEP_ALIVE_SECONDS = 75


class _Server(uvicorn.Server):
    """uvicorn, telling when it listens and when it drains."""

    def __init__(self, config: uvicorn.Config, app: App, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first Ctrl-C drains, a second one ends at once. Not raised again after it: stopping is no failure."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.parts.drain()
        await super().shutdown(sockets)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Raises SettingsError that says what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Said to be TCP: only then does asyncio switch off that small writes wait for what was sent before to arrive.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host.strip("[]"), port))
    except OSError as error:
        sock.close()
        raise SettingsError(f"cannot listen on {host}:{port}: {error.strerror}; choose another with --port") from None
    return sock


def _config(app: App) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="memproxy.server.http_protocol:HttpProtocol",
        ws="memproxy.server.websocket_protocol:WebSocketProtocol",
        ws_max_size=LARGEST_MESSAGE,
        ws_ping_interval=None,  # no frames of our own
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        log_level=logging.WARNING,  # below that it logs the paths of WebSocket connections
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )


async def serve(settings: Settings, started: Callable[[App, int], None]) -> None:
    """Run until SIGINT or SIGTERM; `started` is called once with the application and the port it listens on.

    Raises SettingsError, StoreError.
    """
    sock = bind(settings.host, settings.port)
    try:
        async with open_app(settings) as app:
            port = sock.getsockname()[1]
            server = _Server(_config(app), app, lambda: started(app, port))
            spare_the_collector(memory=settings.memory.enabled)
            take_turns_quickly()
            await server.serve(sockets=[sock])
    finally:
        sock.close()


@contextlib.asynccontextmanager
async def serving(settings: Settings, clock: Clock | None = None) -> AsyncIterator[tuple[App, str]]:
    """The same server inside this event loop, without signal handlers: for the demo, the benchmark and tests.

    Gives the application and its base URL.
    """
    ready = asyncio.Event()
    with contextlib.closing(bind(settings.host, settings.port)) as sock:
        async with open_app(settings, clock) as app:
            server = _Server(_config(app), app, ready.set)
            server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
            running = asyncio.create_task(server.serve(sockets=[sock]))
            try:
                await ready.wait()
                yield app, f"http://{settings.host}:{sock.getsockname()[1]}"
            finally:
                server.should_exit = True
                await running
