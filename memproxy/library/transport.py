"""An HTTP transport that has the proxy application answer, for httpx and what is shaped like it.

Requests and answers pass piece by piece. A caller that stops reading leaves, as a client of a server would; one that
waits longer than its timeout says gets the error that its own library raises for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from types import ModuleType
from typing import Any

from starlette.types import ASGIApp, Message, Scope

from memproxy.library.hosting import Host, wait

_AHEAD = 4  # pieces of an answer that may wait for their reader


def async_transport(http: ModuleType, host: Host, headers: Mapping[str, str]) -> Any:
    """A transport for an `AsyncClient` of that library."""

    class Body(http.AsyncByteStream):  # type: ignore[name-defined, misc]
        def __init__(self, answer: Answer) -> None:
            self._answer = answer

        async def __aiter__(self) -> AsyncIterator[bytes]:
            while piece := await self._answer.read():
                yield piece

        async def aclose(self) -> None:
            await self._answer.leave()

    class Transport(http.AsyncBaseTransport):  # type: ignore[name-defined, misc]
        async def handle_async_request(self, request: Any) -> Any:
            answer = Answer(http, request)
            proxy = await host.proxy(_origin(request))
            status, fields = await answer.begin(proxy, headers, _pieces(request.stream))
            return http.Response(status, headers=fields, stream=Body(answer))

        async def aclose(self) -> None:
            await host.close()

    return Transport()


def sync_transport(http: ModuleType, host: Host, headers: Mapping[str, str]) -> Any:
    """A transport for a `Client` of that library; the proxy runs in another thread's loop."""

    class Body(http.SyncByteStream):  # type: ignore[name-defined, misc]
        def __init__(self, answer: Answer, loop: asyncio.AbstractEventLoop) -> None:
            self._answer = answer
            self._loop = loop

        def __iter__(self) -> Iterator[bytes]:
            while piece := wait(self._loop, self._answer.read()):
                yield piece

        def close(self) -> None:
            if not self._loop.is_closed():
                wait(self._loop, self._answer.leave())

    class Transport(http.BaseTransport):  # type: ignore[name-defined, misc]
        def handle_request(self, request: Any) -> Any:
            loop = host.enter()
            answer = Answer(http, request)
            body = request.read()

            async def begin() -> tuple[int, list[tuple[bytes, bytes]]]:
                return await answer.begin(await host.proxy(_origin(request)), headers, _once(body))

            status, fields = wait(loop, begin())
            return http.Response(status, headers=fields, stream=Body(answer, loop))

        def close(self) -> None:
            host.leave()

    return Transport()


class Answer:
    """One request to the application, and its answer as it comes."""

    def __init__(self, http: ModuleType, request: Any) -> None:
        self._http = http
        self._request = request
        self._timeout: float | None = request.extensions.get("timeout", {}).get("read")
        self._pieces: asyncio.Queue[bytes] | None = None
        self._task: asyncio.Task[None] | None = None
        self._gone: asyncio.Event | None = None
        self._sent = False  # the request, whole
        self._ended = False  # in form, with a last piece

    async def begin(
        self, app: ASGIApp, headers: Mapping[str, str], body: AsyncIterator[bytes]
    ) -> tuple[int, list[tuple[bytes, bytes]]]:
        """Hand the request over; status and headers of the answer. Raises the library's own errors."""
        self._pieces, self._gone = asyncio.Queue(_AHEAD), asyncio.Event()
        head: asyncio.Future[tuple[int, list[tuple[bytes, bytes]]]] = asyncio.get_running_loop().create_future()
        pieces, gone = self._pieces, self._gone

        async def receive() -> Message:
            piece = await anext(body, None)
            if piece is not None:
                return {"type": "http.request", "body": piece, "more_body": True}
            if not self._sent:
                self._sent = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                head.set_result((message["status"], list(message["headers"])))
                return
            if message.get("body"):
                await pieces.put(message["body"])
            self._ended = self._ended or not message.get("more_body", False)

        self._task = asyncio.ensure_future(app(_scope(self._request, headers), receive, send))
        self._task.add_done_callback(lambda task: self._end(task, head))
        try:
            async with asyncio.timeout(self._timeout):
                return await head
        except asyncio.CancelledError:  # nobody is there any more who could close the answer
            await self.leave()
            raise
        except TimeoutError:
            await self.leave()
            raise self._http.ReadTimeout("no answer in time", request=self._request) from None

    async def read(self) -> bytes:
        """The next piece; b"" at the end. Raises the library's own errors."""
        assert self._pieces is not None
        assert self._task is not None
        taking = asyncio.ensure_future(self._pieces.get())
        ends = {taking, self._task}
        try:
            done, _ = await asyncio.wait(ends, timeout=self._timeout, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            taking.cancel()
            await self.leave()
            raise
        if taking in done:
            return taking.result()
        taking.cancel()
        if not self._pieces.empty():
            return self._pieces.get_nowait()
        if not done:
            await self.leave()
            raise self._http.ReadTimeout("the answer stands still", request=self._request)
        if not self._ended:
            raise self._http.RemoteProtocolError("the answer broke off", request=self._request)
        return b""

    async def leave(self) -> None:
        """The reader has enough. What was said is recorded all the same."""
        if self._gone is None or self._task is None or self._pieces is None:
            return
        self._gone.set()
        while not self._task.done():  # let whatever it still sends go nowhere
            while not self._pieces.empty():
                self._pieces.get_nowait()
            await asyncio.wait({self._task}, timeout=0.05)

    def _end(self, task: asyncio.Task[None], head: asyncio.Future[Any]) -> None:
        if head.done():
            return
        if task.cancelled() or task.exception() is not None:
            head.set_exception(self._http.RemoteProtocolError("no answer", request=self._request))
        else:
            head.set_exception(self._http.ReadError("the request was left", request=self._request))


def _scope(request: Any, headers: Mapping[str, str]) -> Scope:
    raw_path, _, query = request.url.raw_path.partition(b"?")
    own = [(name.encode(), value.encode()) for name, value in headers.items()]
    kept = [(name.lower(), value) for name, value in request.headers.raw if name.lower() != b"host"]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.url.path,
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        # By the name under which the proxy is this machine's own: nobody else can reach it.
        "headers": [(b"host", b"127.0.0.1"), *own, *(pair for pair in kept if pair[0] not in headers)],
        "client": None,
        "server": None,
    }


def _origin(request: Any) -> str:
    url = request.url
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


async def _pieces(stream: Any) -> AsyncIterator[bytes]:
    async for piece in stream:
        yield piece


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
