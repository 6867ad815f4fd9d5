"""What the local embedding model does on this machine: texts a second by length and batch, start, and memory."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from memproxy.embedders import open_embedder
from memproxy.errors import EmbedderError
from memproxy.interfaces import Embedder
from memproxy.settings import Embed

WORDS = (
    "my sister keeps two bees and a boat behind the red house near the harbour where we row on Tuesdays after work "
    "because the doctor said that moving is better for my left wrist than the old piano lessons ever were"
).split()
LENGTHS = {"8 words": 8, "50 words": 50, "200 words": 200}
BATCHES = (1, 8, 32)
QUERIES = 50
MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Plan:
    """Which model, and how long each figure is measured."""

    embed: Embed
    seconds: float = 1.0


async def measure(plan: Plan, out: Console, json_output: bool) -> int:
    """Run it and print the figures; 1 where there is no model."""
    before = resident()
    started = time.perf_counter()
    try:
        embedder = await open_embedder(plan.embed)
    except EmbedderError as error:
        out.print(f"no embedder: {error}", highlight=False)
        return 1
    ready = time.perf_counter() - started
    loaded = resident()
    try:
        figures: dict[str, Any] = {
            "model": embedder.info.model,
            "dimensions": embedder.info.dimensions,
            "start_seconds": round(ready, 3),
            "query_ms": await _queries(embedder),
            "throughput": [row async for row in _throughput(embedder, plan.seconds, out, json_output)],
        }
    finally:
        await embedder.close()
    figures["rss_mb"] = {"before": before, "loaded": loaded, "after": resident()}
    if json_output:
        out.print_json(data=figures)
    else:
        _show(figures, out)
    return 0


async def _queries(embedder: Embedder) -> dict[str, float]:
    """Median and 95th percentile of one short question at a time."""
    taken = []
    for number in range(QUERIES):
        started = time.perf_counter()
        await embedder.embed_query(f"where does my sister keep boat number {number}?")
        taken.append((time.perf_counter() - started) * 1000)
    return {"p50": round(statistics.median(taken), 2), "p95": round(statistics.quantiles(taken, n=20)[-1], 2)}


async def _throughput(embedder: Embedder, seconds: float, out: Console, quiet: bool) -> Any:
    for length, words in track(LENGTHS.items(), "texts", console=out, disable=quiet):
        for batch in BATCHES:
            texts = _texts(words)
            count, started = 0, time.perf_counter()
            while (taken := time.perf_counter() - started) < seconds:
                await embedder.embed_documents([next(texts) for _ in range(batch)])
                count += batch
            yield {"length": length, "batch": batch, "texts_per_second": round(count / taken, 1)}


def _texts(words: int) -> Iterator[str]:
    """Different texts of so many words."""
    number = 0
    while True:
        number += 1
        yield " ".join([str(number), *(WORDS[(number + i) % len(WORDS)] for i in range(words - 1))])


def resident() -> float | None:
    """Megabytes of memory this process holds; None where the system does not say."""
    status = Path("/proc/self/statm")
    if status.exists():
        import resource

        return round(int(status.read_text().split()[1]) * resource.getpagesize() / MEGABYTE, 1)
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (MEGABYTE if sys.platform == "darwin" else 1024), 1)


def _show(figures: dict[str, Any], out: Console) -> None:
    out.print(
        f"{figures['model']}, {figures['dimensions']} dimensions; ready after {figures['start_seconds']:.2f} s;"
        f" a short question takes {figures['query_ms']['p50']:.1f} ms (95 %: {figures['query_ms']['p95']:.1f})",
        highlight=False,
    )
    table = Table("texts", *(f"batch of {batch}" for batch in BATCHES), box=None)
    rows: Sequence[dict[str, Any]] = figures["throughput"]
    for length in LENGTHS:
        table.add_row(length, *(f"{row['texts_per_second']:.0f} /s" for row in rows if row["length"] == length))
    out.print(table, highlight=False)
    rss = figures["rss_mb"]
    if rss["before"] is not None:
        out.print(f"memory: {rss['before']:.0f} MB before, {rss['loaded']:.0f} loaded, {rss['after']:.0f} after")
