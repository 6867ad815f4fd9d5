"""The ASGI application: the management API under `/memproxy/`, the proxy everywhere else."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from memproxy.assembly.parts import Parts, open_parts
from memproxy.interfaces import Clock
from memproxy.server.access import Access
from memproxy.server.agents.endpoint import Agents, is_agents
from memproxy.server.api import build_api
from memproxy.server.cors import Cors
from memproxy.server.identity import AS_PREFIX
from memproxy.server.proxy import Proxy
from memproxy.server.upstream import open_client
from memproxy.server.websocket import Upgrades
from memproxy.settings import Settings

OWN_PREFIX = b"/memproxy/"
DRAIN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class App:
    """Routes a connection to the API or the proxy."""

    parts: Parts
    api: ASGIApp
    proxy: Proxy
    upgrades: Upgrades
    agents: Agents

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One ASGI connection."""
        if scope["type"] == "websocket":
            await self.upgrades(scope, receive, send, own_route=_is_own(scope["raw_path"]))
        elif scope["type"] == "http":
            metrics = self.parts.metrics
            metrics.under_way += 1
            try:
                await self._of(scope["raw_path"])(scope, receive, send)
            finally:
                metrics.under_way -= 1

    def _of(self, raw_path: bytes) -> ASGIApp:
        """What answers a path."""
        if is_agents(raw_path):
            return self.agents
        return self.api if _is_own(raw_path) else self.proxy


def _is_own(raw_path: bytes) -> bool:
    return (raw_path + b"/").startswith(OWN_PREFIX) and not raw_path.startswith(AS_PREFIX)


@contextlib.asynccontextmanager
async def open_app(settings: Settings, clock: Clock | None = None) -> AsyncIterator[App]:
    """Open all parts, start the background work, and give the application; stops and closes all of it at the end.

    Raises SettingsError, StoreError.
    """
    access = Access(settings)
    async with open_parts(settings, clock) as parts, open_client() as client:
        parts.start()
        agents = Agents(parts, access)
        try:
            api = Cors(build_api(parts, access), access, settings.allowed_origins)
            yield App(parts, api, Proxy(parts, access, client), Upgrades(parts, access, client), agents)
        finally:
            await agents.close()
            await client.drain(DRAIN_SECONDS)  # what answers have left to record
            await parts.stop()
