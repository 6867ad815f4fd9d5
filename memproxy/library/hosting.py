"""Where the proxy of a wrapped client runs: in the event loop at hand, or in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import msgspec

from memproxy.assembly.parts import Parts, open_parts
from memproxy.server.access import Access
from memproxy.server.proxy import Proxy
from memproxy.server.upstream import UpstreamClient, open_client
from memproxy.settings import Settings, Targets

T = TypeVar("T")
DRAIN_SECONDS = 10.0  # for what answers have left to record


class Host(Protocol):
    """Gives the proxy to a base URL, and ends what it opened."""

    loop: asyncio.AbstractEventLoop | None  # in which it runs, once it does; None: in that of whoever calls

    async def proxy(self, base_url: str) -> Proxy:
        """The proxy of requests to that address. Raises StoreError, SettingsError."""
        ...

    async def close(self) -> None:
        """End it."""
        ...

    def enter(self) -> asyncio.AbstractEventLoop:
        """For sync clients: the loop in which it runs, begun where that is its own."""
        ...

    def leave(self) -> None:
        """For sync clients: end the loop, where it is its own."""
        ...


class Here:
    """A proxy over parts that somebody else opened, in the loop in which they did."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._stack = contextlib.AsyncExitStack()
        self._client: UpstreamClient | None = None
        self._proxies: dict[str, Proxy] = {}
        self._opening = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None  # where nobody can wait for it
        self.loop: asyncio.AbstractEventLoop | None = _running()

    async def proxy(self, base_url: str) -> Proxy:
        """See `Host`."""
        async with self._opening:
            if self._client is None:
                self._client = await self._stack.enter_async_context(open_client())
            if base_url not in self._proxies:
                self._proxies[base_url] = _proxy(self._parts, base_url, self._client)
        return self._proxies[base_url]

    async def close(self) -> None:
        """See `Host`: what answers have left to record is recorded; the memory stays open."""
        if self._client is not None:
            await self._client.drain(DRAIN_SECONDS)
        self._client = None
        self._proxies.clear()
        await self._stack.aclose()

    def enter(self) -> asyncio.AbstractEventLoop:
        """See `Host`."""
        if self.loop is None:
            raise RuntimeError("wrap a sync client inside the event loop in which its Memory is open")
        if self.loop is _running():
            raise RuntimeError("a sync client would wait for the event loop it is called from; use it in a thread")
        return self.loop

    def leave(self) -> None:
        """See `Host`: the memory stays open, what was opened for the client ends."""
        if self.loop is None or self.loop.is_closed():
            return
        if self.loop is _running():
            self._closing = self.loop.create_task(self.close())
        else:
            wait(self.loop, self.close())


class Owned:
    """A proxy over a store of its own, opened when it is first needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._used_in: asyncio.AbstractEventLoop | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._begin()

    def _begin(self) -> None:
        self._stack = contextlib.AsyncExitStack()
        self._here: Here | None = None
        self._opening = asyncio.Lock()

    def _at_hand(self) -> None:
        """Be of the running loop. What another one had open ended with it, if it is over. Raises RuntimeError."""
        running = asyncio.get_running_loop()
        if self._used_in not in (None, running):
            if self._here is not None and not self._used_in.is_closed():
                raise RuntimeError("a wrapped async client is in use in another event loop; wrap one for each loop")
            self._begin()
        self._used_in = running

    async def proxy(self, base_url: str) -> Proxy:
        """See `Host`."""
        self._at_hand()
        async with self._opening:
            if self._here is None:
                parts = await self._stack.enter_async_context(open_parts(self._settings))
                self._stack.push_async_callback(parts.stop)
                parts.start()
                self._here = Here(parts)
                self._stack.push_async_callback(self._here.close)
        return await self._here.proxy(base_url)

    async def close(self) -> None:
        """See `Host`."""
        self._at_hand()
        await self._stack.aclose()
        self._here = None

    def enter(self) -> asyncio.AbstractEventLoop:
        """See `Host`: of a sync client it runs in a thread (`Threaded`)."""
        raise RuntimeError("no loop of its own")

    def leave(self) -> None:
        """See `Host`."""


class Threaded:
    """The same with an event loop in a thread, begun with the first request: for sync clients."""

    def __init__(self, owned: Owned) -> None:
        self._owned = owned
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    async def proxy(self, base_url: str) -> Proxy:
        """See `Host`."""
        return await self._owned.proxy(base_url)

    async def close(self) -> None:
        """See `Host`."""
        await self._owned.close()

    def enter(self) -> asyncio.AbstractEventLoop:
        """See `Host`."""
        with self._starting:
            if self.loop is None:
                self.loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self.loop.run_forever, name="memproxy", daemon=True)
                self._thread.start()
        return self.loop

    def leave(self) -> None:
        """See `Host`."""
        with self._starting:
            if self.loop is not None and self._thread is not None:
                wait(self.loop, self._owned.close())
                self.loop.call_soon_threadsafe(self.loop.stop)
                self._thread.join()
                self.loop.close()
                self.loop = self._thread = None


def wait(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """Have work done in another thread's loop."""
    return asyncio.run_coroutine_threadsafe(work, loop).result()


def _proxy(parts: Parts, base_url: str, client: UpstreamClient) -> Proxy:
    """The proxy to one address. It is reached from this process alone, so no key is asked for."""
    structs = msgspec.structs
    settings = structs.replace(parts.settings, target=base_url, targets=Targets(), keys=(), host="127.0.0.1")
    return Proxy(replace(parts, settings=settings), Access(settings), client)


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
