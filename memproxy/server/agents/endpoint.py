"""`/memproxy/mcp`: the tools over streamable HTTP, for whom the caller's key, header or path says."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memproxy.assembly.parts import Parts
from memproxy.errors import Problem, StoreError
from memproxy.events import Skip
from memproxy.model import Entity
from memproxy.server import identity
from memproxy.server.access import Access, Caller, Headers
from memproxy.server.api.application import authorise, problem_response, unauthorised

PATH = b"/memproxy/mcp"
_SCOPE = "memproxy.whose"
_NOT_INSTALLED = Problem(501, "The MCP SDK is not installed", "pip install 'memproxy[mcp]', and start again.")
_NO_STORE = Problem(503, "The database cannot be used now", "See /memproxy/ready.")
_WAYS = "Send X-MemG-Entity, use a key of one entity, or /memproxy/as/{entity}/memproxy/mcp as the address."


class Agents:
    """The endpoint. The SDK is loaded with the first request: who has no agents pays nothing for it."""

    def __init__(self, parts: Parts, access: Access) -> None:
        self._parts = parts
        self._access = access
        self._starting = asyncio.Lock()
        self._manager: Any = None
        self._running: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One HTTP request."""
        request = Request(scope)
        try:
            whose = await self._whose(request)
            if request.method != "POST":
                response = problem_response(Problem(405, "No such method here", "Allowed: POST."), {"allow": "POST"})
                await response(scope, receive, send)
                return
            manager = await self._ready()
        except Problem as problem:
            await self._refused(request, problem)(scope, receive, send)
            return
        except StoreError:
            await problem_response(_NO_STORE)(scope, receive, send)
            return
        await manager.handle_request({**scope, _SCOPE: whose}, receive, send)

    async def close(self) -> None:
        """Let go of what is under way."""
        self._over.set()
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)

    def _refused(self, request: Request, problem: Problem) -> Response:
        return unauthorised(request, problem) if problem.status == 401 else problem_response(problem)

    async def _whose(self, request: Request) -> tuple[Caller, Entity]:
        """Who calls, and about whom. Raises Problem."""
        headers = Headers(request.scope["headers"])
        caller = authorise(request, self._access, self._parts.page_token)
        path = identity.split_path(request.scope["raw_path"])
        try:
            name = identity.entity_name(headers, path, {}, self._parts.settings, caller)
        except identity.Refused as refused:
            raise Problem(400, f"Whose memory is not clear: {Skip(refused.reason).value}", _WAYS) from None
        if name is None:
            if not self._parts.settings.loopback or self._access.keyed or not await self._parts.default_is_open():
                raise Problem(400, "Whose memory is it", _WAYS)
            name = "default"
        return caller, Entity(name)

    async def _ready(self) -> Any:
        """The SDK's manager, running. Raises Problem 501."""
        async with self._starting:
            if self._manager is None:
                if importlib.util.find_spec("mcp") is None:
                    raise _NOT_INSTALLED
                sdk = await asyncio.to_thread(importlib.import_module, "memproxy.server.agents.sdk")
                manager = sdk.manager_of(self._parts, lambda context: context.request.scope[_SCOPE])
                up = asyncio.Event()
                self._running = asyncio.create_task(self._run(manager, up))
                await up.wait()
                self._manager = manager
        return self._manager

    async def _run(self, manager: Any, up: asyncio.Event) -> None:
        async with manager.run():
            up.set()
            await self._over.wait()


def is_agents(raw_path: bytes) -> bool:
    """Whether a path is that of the endpoint, with or without an entity in front."""
    return raw_path == PATH or (raw_path.startswith(identity.AS_PREFIX) and identity.split_path(raw_path).path == PATH)
