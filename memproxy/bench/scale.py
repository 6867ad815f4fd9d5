"""`memproxy bench scale`: a store as it grows: recall warm and cold, ingest beside the embedder, file size, memory.

One person has a share of all turns, everybody else 10, 30, 100, 300 or 1,000 of them, in turn (`filling.py`). A store
of a few people with 1,000 turns each is asked in turn with the large one: what a thousand turns cost more among many
others is told within one run, on one machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from memproxy.bench import past
from memproxy.bench.filling import SIZES, Plan, fill, ingest, people
from memproxy.bench.importing import Measured
from memproxy.bench.load import quantile
from memproxy.bench.scale_report import show
from memproxy.bench.searched import SearchedMemory, kept_or_temporary, moment, searched_memory
from memproxy.model import Entity
from memproxy.recall.recall import PROPOSED, Recaller
from memproxy.server.interpreter import as_served
from memproxy.settings import Recall
from memproxy.store import vectors

QUESTIONS = 40  # put to each memory that is measured
MEASURED = 5  # memories of each size
COLD = 8  # questions that find nothing held in memory
COMPARED = 3 * max(SIZES)  # turns of a store that is large enough to be compared with a small one
_REBUILDABLE = ("vec_", "passage_index")  # tables of the vector index and of the text index


async def measure(plan: Plan, console: Console, json_output: bool) -> int:
    """Fill a store, measure it and report; the exit code."""
    with kept_or_temporary(plan.store) as folder:
        everybody = people(plan)
        empty = _rss_mb()
        report = {"turns": plan.turns, "people": len(everybody), **await _filled(folder, plan, everybody)}
        report |= _shares(folder, plan)
        started = time.perf_counter()
        async with searched_memory(folder, _asking(plan, everybody)) as memory:
            report["start_seconds"] = time.perf_counter() - started
            with as_served():
                report |= await _asked(memory, everybody)
                report["rss_mb"] = {"empty": empty, "full": _rss_mb()}
                report["beside_small"] = await _beside_small(memory, plan, everybody)
        report |= _ingest(await ingest(folder, plan))
    if json_output:
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
    else:
        show(report, console)
    return 0


async def _filled(folder: Path, plan: Plan, everybody: Sequence[tuple[str, int]]) -> dict[str, Any]:
    async with searched_memory(folder, plan.filling) as memory:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("turns", total=plan.turns)
            started = time.perf_counter()
            new = await fill(memory, everybody, lambda count: progress.advance(task, count))
            seconds = time.perf_counter() - started
        return {"vectors": memory.model, "filled": {"turns": new, "per_second": new / seconds}}


def _asking(plan: Plan, everybody: Sequence[tuple[str, int]]) -> dict[str, object]:
    """The settings: whoever is measured warm can be held in memory."""
    return {**plan.filling, "recall.resident": max(Recall().resident, 2 * everybody[0][1])}


async def _asked(memory: SearchedMemory, everybody: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Recall by the size of whoever is asked about."""
    rows = []
    for size, names in sorted(_chosen(everybody).items()):
        cold = [await _cold(memory, names[number % len(names)], number) for number in range(COLD)]
        async with _recaller(memory) as recaller:
            for name in names:
                await memory.warm(name, recaller)
            warm = [await _warm(memory, name, n, recaller) for name in names for n in range(QUESTIONS)]
        nearest = [await _nearest(memory, names[number % len(names)], number) for number in range(QUESTIONS)]
        rows.append(
            {
                "turns": size,
                "people": len(names),
                "warm": _quantiles(warm),
                "cold": _quantiles(cold),
                "nearest_on_disk": _quantiles(nearest),
            }
        )
    return {"recall": rows, "nearest_by": memory.parts.db.describe().vectors}


async def _beside_small(memory: SearchedMemory, plan: Plan, everybody: Sequence[tuple[str, int]]) -> Any:
    """The same questions in turn to people of 1,000 turns here and in a small store; None where this one is small."""
    names = _chosen(everybody).get(max(SIZES), [])
    if plan.turns < COMPARED or not names:
        return None
    with tempfile.TemporaryDirectory(prefix="memproxy-bench-") as folder:
        async with searched_memory(Path(folder), plan.filling) as small:
            await fill(small, [(name, max(SIZES)) for name in names], lambda count: None)
            found: dict[str, dict[str, list[float]]] = {way: defaultdict(list) for way in ("warm", "cold")}
            for number in range(COLD):
                for which, one in (("large", memory), ("small", small)):
                    found["cold"][which].append(await _cold(one, names[number % len(names)], number))
            async with _recaller(memory) as here, _recaller(small) as there:
                for name in names:
                    await memory.warm(name, here)
                    await small.warm(name, there)
                for number in range(QUESTIONS):
                    for name in names:
                        found["warm"]["large"].append(await _warm(memory, name, number, here))
                        found["warm"]["small"].append(await _warm(small, name, number, there))
    return {way: {which: _quantiles(values) for which, values in both.items()} for way, both in found.items()}


@contextlib.asynccontextmanager
async def _recaller(memory: SearchedMemory) -> AsyncIterator[Recaller]:
    recaller = memory.asking()
    yield recaller
    await recaller.close()


def _chosen(everybody: Sequence[tuple[str, int]]) -> dict[int, list[str]]:
    by_size: dict[int, list[str]] = defaultdict(list)
    for name, size in everybody:
        if len(by_size[size]) < MEASURED:
            by_size[size].append(name)
    return dict(by_size)


async def _cold(memory: SearchedMemory, name: str, number: int) -> float:
    """Milliseconds of a question that is answered from disk: the first of a new way to ask."""
    async with _recaller(memory) as recaller:
        asked = await memory.search(name, past.question(number), moment(None), recaller=recaller)
    return asked.milliseconds


async def _warm(memory: SearchedMemory, name: str, number: int, recaller: Recaller) -> float:
    """Milliseconds of a question to a memory that is held."""
    return (await memory.search(name, past.question(number), moment(None), recaller=recaller)).milliseconds


async def _nearest(memory: SearchedMemory, name: str, number: int) -> float:
    """Milliseconds in which the nearest are found on disk: by vec0, where it can be loaded."""
    vector = await memory.embedder.embed_query(past.question(number))
    started = time.perf_counter()
    await memory.parts.db.read(lambda conn: vectors.nearest(conn, Entity(name), vector, memory.model, PROPOSED))
    return (time.perf_counter() - started) * 1000


def _ingest(measured: Measured) -> dict[str, float]:
    return {
        "ingest_per_second": measured.passages / measured.importing,
        "embedder_per_second": measured.passages / measured.embedding,
        "ingest_share": measured.ratio,
    }


def _shares(folder: Path, plan: Plan) -> dict[str, Any]:
    held = sum(file.stat().st_size for file in folder.glob("memory.db*"))
    parts = {part: size / plan.turns for part, size in _sizes(folder).items()}
    return {"bytes_per_turn": held / plan.turns, "of_them": parts}


def _sizes(folder: Path) -> Mapping[str, int]:
    """Bytes of what was said, of the rows beside it (vectors are most of them), and of the indexes, which could be made
    anew from the rows. Empty where this SQLite does not tell (`dbstat`).
    """
    with contextlib.closing(sqlite3.connect(folder / "memory.db")) as conn:
        try:
            held = conn.execute("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE").fetchall()
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
