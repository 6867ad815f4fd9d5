"""The whole server looked at while it runs: requests as they pass, and the figures of the process."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

from prometheus_client.registry import Collector
from starlette.responses import Response

from memproxy import __version__
from memproxy.assembly.live import percentile
from memproxy.assembly.parts import Parts
from memproxy.providers.prices import price_of
from memproxy.server import answers
from memproxy.server.api.call import Call, answer
from memproxy.server.api.parameters import LIMIT, Number
from memproxy.store import overview
from memproxy.store.usage import Usage

SEEN = Number("after", "The number of the last row seen.", 0, 0, 10**14)
WAIT = Number("wait", "How many seconds to wait for a row, where there is none.", 0, 0, 30)
LIVE = (SEEN, LIMIT, WAIT)


async def live(call: Call) -> Response:
    """Requests that passed after a number; where there are none yet, those that pass while this one waits."""
    ring, after = call.parts.live, call.get(SEEN)
    if after > ring.newest:
        after = 0  # a number of before the restart
    rows = await ring.wait(after, call.get(LIMIT), call.get(WAIT))
    items = [
        answers.Passed(
            row.seq, row.time, row.request_id, row.entity, row.format, row.route, row.status, row.memory,
            row.reason, row.items, row.tokens, row.ms, row.ttfb_ms, row.streamed,
        )
        for row in rows
    ]  # fmt: skip
    return answer(answers.LiveView(items, rows[-1].seq if rows else after))


async def stats(call: Call) -> Response:
    """The process at a glance."""
    parts, now = call.parts, call.parts.clock.now()
    used = await parts.db.read(lambda conn: overview.used_on(conn, now.date().isoformat()))
    memory, first_byte = parts.live.latencies()
    return answer(
        answers.Stats(
            version=__version__,
            uptime_seconds=round(time.monotonic() - parts.opened, 1),
            rss_bytes=await asyncio.to_thread(_resident),
            store_bytes=await asyncio.to_thread(_size, Path(parts.db.describe().path)),
            queue=await parts.db.read(overview.queue),
            today=_today(parts, now.date().isoformat(), used),
            since_start=answers.SinceStart(
                _counted(parts.metrics.injections).get("", 0),
                _counted(parts.metrics.skips),
                _counted(parts.metrics.rejected),
            ),
            latency=answers.Latency(len(memory), _percentiles(memory), _percentiles(first_byte)),
        )
    )


def _today(parts: Parts, day: str, used: Sequence[Usage]) -> answers.Today:
    read, written = sum(row.input_tokens for row in used), sum(row.output_tokens for row in used)
    return answers.Today(
        day,
        sum(row.calls for row in used),
        parts.settings.extraction.daily_calls,
        read,
        written,
        _cost(parts, read, written),
        [answers.PurposeUse(row.purpose, row.calls, row.input_tokens, row.output_tokens) for row in used],
    )


def _cost(parts: Parts, read: int, written: int) -> float | None:
    llm = parts.settings.llm
    price = price_of(parts.plan.own.model if parts.plan.own else "", llm.input_price, llm.output_price)
    return None if price is None else round((read * price.read + written * price.written) / 1e6, 6)


def _counted(counter: Collector) -> dict[str, int]:
    """What a counter stands at, by its only label."""
    return {
        next(iter(sample.labels.values()), ""): int(sample.value)
        for metric in counter.collect()
        for sample in metric.samples
        if sample.name.endswith("_total")
    }


def _percentiles(values: Sequence[float]) -> answers.Percentiles:
    return answers.Percentiles(*(percentile(values, share) for share in (0.5, 0.95, 0.99)))


def _size(database: Path) -> int:
    """Bytes of a database with its journals."""
    return sum(file.stat().st_size for file in database.parent.glob(database.name + "*") if file.is_file())


def _resident() -> int | None:
    """Bytes of memory that the process holds; None where the system has no /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
