"""`memproxy bench scale`: a store as it grows: recall warm and cold, ingest beside the embedder, file size, memory.

One person has a share of all turns, everybody else 10, 30, 100, 300 or 1,000 of them, in turn. What is said is invented
(`past.py`). The embedder's own rate is measured in the same run, over texts of the same store.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from memproxy.bench import past
from memproxy.bench.dataset import Recorded, RecordedTurn
from memproxy.bench.load import quantile
from memproxy.bench.searched import SearchedMemory, kept_or_temporary, moment, searched_memory

SIZES = (10, 30, 100, 300, 1000)
SESSION = 50  # turns of one conversation
QUESTIONS = 40  # put to each memory that is measured
MEASURED = 5  # memories of each size
SAMPLE = 200  # texts by which the embedder is measured alone
_REBUILDABLE = ("vec_", "passage_index")  # tables of the vector index and of the text index
COLD = 8  # questions that find nothing held in memory


@dataclass(frozen=True, slots=True)
class Plan:
    """How large the store is to be."""

    turns: int = 10_000
    largest: float = 0.5  # the share of one person
    provider: str = "local"
    store: Path | None = None


def people(plan: Plan) -> list[tuple[str, int]]:
    """Everybody with how many turns they have: the one with most first."""
    found = [("largest", max(1, int(plan.turns * plan.largest)))]
    left = plan.turns - found[0][1]
    while left > 0:
        size = min(SIZES[len(found) % len(SIZES)], left)
        found.append((f"person {len(found)}", size))
        left -= size
    return found


async def measure(plan: Plan, console: Console, json_output: bool) -> int:
    """Fill a store, measure it and report; the exit code."""
    with kept_or_temporary(plan.store) as folder:
        changes = {"embed.provider": plan.provider, "recall.resident": 4 * plan.turns}
        async with searched_memory(folder, changes) as memory:
            report = await _measured(memory, plan, folder)
    if json_output:
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
    else:
        _print(report, console)
    return 0


async def _measured(memory: SearchedMemory, plan: Plan, folder: Path) -> dict[str, Any]:
    everybody = people(plan)
    empty = _rss_mb()
    alone = await _embedder_alone(memory)
    seconds, stored = await _fill(memory, everybody)
    rate = stored / seconds if seconds else 0.0
    chosen = _chosen(everybody)
    cold = {size: await _cold(memory, names) for size, names in chosen.items()}
    warm = {size: await _warm(memory, names) for size, names in chosen.items()}
    held = _size(folder)
    return {
        "turns": plan.turns,
        "people": len(everybody),
        "embedder": memory.model,
        "ingest_per_second": rate,
        "embedder_per_second": alone,
        "ingest_share": rate / alone if alone else 0.0,
        "bytes_per_turn": held / plan.turns,
        "of_them": {part: size / plan.turns for part, size in _sizes(folder).items()},
        "rss_mb": {"empty": empty, "full": _rss_mb()},
        "recall": [
            {"turns": size, "people": len(chosen[size]), "warm": _quantiles(warm[size]), "cold": _quantiles(cold[size])}
            for size in sorted(chosen)
        ],
    }


async def _embedder_alone(memory: SearchedMemory) -> float:
    """Texts a second, in batches as the indexer makes them."""
    texts = [f"user: {turn['content']}" for turn in past.turns(SAMPLE)]
    await memory.embed(texts[:8])
    started = time.perf_counter()
    for at in range(0, len(texts), 32):
        await memory.embed(texts[at : at + 32])
    return len(texts) / (time.perf_counter() - started)


async def _fill(memory: SearchedMemory, everybody: Sequence[tuple[str, int]]) -> tuple[float, int]:
    """Seconds that it took to store and embed everybody's turns, and how many were new."""
    stored = 0
    said = _said(sum(size for _, size in everybody))
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("turns", total=sum(size for _, size in everybody))
        started = time.perf_counter()
        for name, size in everybody:
            turns = [_turn(next(said), at) for at in range(size)]
            stored += await memory.ingest(Recorded(name, turns, []))
            progress.advance(task, size)
    return time.perf_counter() - started, stored


def _said(number: int) -> Iterator[dict[str, str]]:
    """So many turns, each but once said by anybody."""
    for at, turn in enumerate(past.turns(number)):
        yield {**turn, "content": f"{turn['content']} That was number {at}."}


def _turn(said: dict[str, str], at: int) -> RecordedTurn:
    return RecordedTurn(str(at), str(at // SESSION), said["time"], "user", said["content"], "user")


def _chosen(everybody: Sequence[tuple[str, int]]) -> dict[int, list[str]]:
    by_size: dict[int, list[str]] = defaultdict(list)
    for name, size in everybody:
        if len(by_size[size]) < MEASURED:
            by_size[size].append(name)
    return dict(by_size)


async def _cold(memory: SearchedMemory, names: Sequence[str]) -> list[float]:
    """Milliseconds of questions that are answered from disk: each is the first of a new way to ask."""
    found = []
    for number in range(COLD):
        recaller = memory.asking()
        asked = await memory.search(names[number % len(names)], past.question(number), moment(None), recaller=recaller)
        found.append(asked.milliseconds)
        await recaller.close()
    return found


async def _warm(memory: SearchedMemory, names: Sequence[str]) -> list[float]:
    """Milliseconds of questions to memories that are held, one after the other."""
    found = []
    recaller = memory.asking()
    for name in names:
        await memory.warm(name, recaller)
        for number in range(QUESTIONS):
            found.append(
                (await memory.search(name, past.question(number), moment(None), recaller=recaller)).milliseconds
            )
    await recaller.close()
    return found


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("memory.db*"))


def _sizes(folder: Path) -> dict[str, int]:
    """Bytes of what was said, of the rows beside it (vectors are most of them), and of the indexes, which could be made
    anew from the rows. Empty where this SQLite does not tell (`dbstat`).
    """
    with contextlib.closing(sqlite3.connect(folder / "memory.db")) as conn:
        try:
            held = conn.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall()
        except sqlite3.OperationalError:
            return {}
        tables = {name for (name,) in conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        [text] = conn.execute("SELECT coalesce(sum(length(CAST(content AS BLOB))), 0) FROM turns").fetchone()
    indexes = sum(size for name, size in held if name not in tables or name.startswith(_REBUILDABLE))
    return {"text": text, "rows": sum(size for _, size in held) - indexes - text, "indexes": indexes}


def _quantiles(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {f"p{int(100 * share)}_ms": quantile(ordered, share) for share in (0.5, 0.95, 0.99)}


def _rss_mb() -> float:
    """Memory that this process holds, in MB; 0 where the system does not tell (Linux does)."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _print(report: dict[str, Any], console: Console) -> None:
    table = Table("turns of one person", "people", "warm p50", "p95", "p99", "cold p50", "p95", box=None)
    for row in report["recall"]:
        warm, cold = row["warm"], row["cold"]
        shown = [warm["p50_ms"], warm["p95_ms"], warm["p99_ms"], cold["p50_ms"], cold["p95_ms"]]
        table.add_row(str(row["turns"]), str(row["people"]), *(f"{value:.1f}" for value in shown))
    console.print(f"{report['turns']} turns of {report['people']} people, {report['embedder']}", highlight=False)
    console.print("recall and rendering without the question's vector, ms", highlight=False)
    console.print(table)
    share, rss = report["ingest_share"], report["rss_mb"]
    lines = (
        f"ingest {report['ingest_per_second']:.0f} turns a second, {share:.2f} x the embedder alone",
        f"file {report['bytes_per_turn']:.0f} bytes a turn{_apart(report['of_them'])}",
        f"RSS {rss['empty']:.0f} MB empty, {rss['full']:.0f} MB full",
    )
    console.print("; ".join(lines), highlight=False)


def _apart(sizes: dict[str, float]) -> str:
    return f": {', '.join(f'{part} {size:.0f}' for part, size in sizes.items())}" if sizes else ""
