"""Requests as they pass, for whoever looks on: a bounded ring in memory, without a word of what was said.

Nothing of it is stored.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from memproxy.memory import Prepared

RING = 1000  # requests that are kept


class Passed(NamedTuple):
    """One request that passed through: a tuple, since one is made for each."""

    seq: int
    time: datetime
    request_id: str
    entity: str | None
    format: str
    route: str  # how the path of its format ends: nothing of this request's own
    status: int
    memory: Literal["injected", "skipped"]
    reason: str | None  # of a skip
    items: int
    tokens: int
    ms: float  # memory's own
    ttfb_ms: float | None  # until the answer's head was there, the upstream's time included
    streamed: bool


class Live:
    """The ring. Readers wait for what comes after a number that they have seen."""

    def __init__(self, size: int = RING) -> None:
        self._rows: deque[Passed] = deque(maxlen=size)
        self._next = 1
        self._news = asyncio.Event()
        self._closed = False

    @property
    def newest(self) -> int:
        """The number of the newest row; 0 before the first."""
        return self._next - 1

    def add(
        self,
        time: datetime,
        request_id: str,
        entity: str | None,
        form: str,
        route: str,
        prepared: Prepared,
        status: int,
        started: float,
        first: float | None,
        streamed: bool,
    ) -> None:
        """Note a request that is over.

        `started` and `first` are the time.perf_counter() at which it came in, and at which its answer's head was there.
        """
        block = prepared.block
        row = Passed(
            self._next,
            time,
            request_id,
            entity,
            form,
            route,
            status,
            "skipped" if block is None else "injected",
            None if block is not None else prepared.skip,
            0 if block is None else len(block.items),
            0 if block is None else block.tokens,
            round(prepared.milliseconds, 3),
            None if first is None else round((first - started) * 1000, 3),
            streamed,
        )
        self._next += 1
        self._rows.append(row)
        self._news.set()  # wakes whoever waits now
        self._news.clear()

    def after(self, seq: int, limit: int) -> list[Passed]:
        """The rows after a number, in order, the first of them where there are more than `limit`."""
        return [row for row in self._rows if row.seq > seq][:limit]

    async def wait(self, seq: int, limit: int, seconds: float) -> list[Passed]:
        """The same; where there are none yet, wait for one, `seconds` at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.after(seq, 1) and not self._closed:
                    await self._news.wait()
        return self.after(seq, limit)

    def forget(self, entity: str) -> None:
        """An entity was erased: its requests are nobody's."""
        rows = [row._replace(entity=None) if row.entity == entity else row for row in self._rows]
        self._rows.clear()
        self._rows.extend(rows)

    def close(self) -> None:
        """Let go of everybody who waits, for good."""
        self._closed = True
        self._news.set()

    def latencies(self) -> tuple[list[float], list[float]]:
        """Milliseconds of memory and until the first byte, of the requests in the ring."""
        rows = list(self._rows)
        return [row.ms for row in rows], [row.ttfb_ms for row in rows if row.ttfb_ms is not None]


def percentile(values: Sequence[float], share: float) -> float | None:
    """The least value that `share` of them do not exceed (nearest rank); None of no values."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
