"""One worker thread with a queue in which urgent work goes ahead of waiting work."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from enum import IntEnum
from typing import Any, TypeVar

from memproxy.errors import EmbedderError

T = TypeVar("T")


class Priority(IntEnum):
    """Smaller goes first."""

    QUERY = 0
    DOCUMENT = 1


class PriorityThread:
    """Runs blocking calls one after another, off the event loop. The thread starts with the first call."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._heap: list[tuple[Priority, int, Future[Any], Callable[[], Any]]] = []
        self._count = itertools.count()
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    async def run(self, priority: Priority, work: Callable[[], T]) -> T:
        """The result of `work`, run on the thread. Cancelled before it began, it never runs. Raises what it raises."""
        return await asyncio.wrap_future(self._submit(priority, work))

    async def close(self) -> None:
        """Let the running call end, and join the thread; what still waits fails with EmbedderError."""
        with self._changed:
            self._closed = True
            waiting, self._heap = self._heap, []
            self._changed.notify()
        for _, _, future, _ in waiting:
            if future.set_running_or_notify_cancel():
                future.set_exception(EmbedderError("the embedder is closed"))
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _submit(self, priority: Priority, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._changed:
            if self._closed:
                raise EmbedderError("the embedder is closed")
            heapq.heappush(self._heap, (priority, next(self._count), future, work))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify()
        return future

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._heap and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                _, _, future, work = heapq.heappop(self._heap)
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = work()
            except BaseException as error:  # handed to whoever waits; the thread itself must live on
                future.set_exception(error)
            else:
                future.set_result(result)
            del future, work  # or the last batch stays in memory until the next
