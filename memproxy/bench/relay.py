"""`memproxy bench relay`: what the relay costs.

Every server is a process of its own: a trivial upstream, a floor (raw ASGI and aiohttp, no memory), memproxy with
memory off, and memproxy with memory on and thousands of stored turns. Slices of load go round all of them in turn, so
that a noisy machine is noisy for all; what counts are the ratios inside one run. "direct" is the upstream alone, and
"added" is over it.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.progress import Progress

from memproxy.bench import load, past, relay_report
from memproxy.bench.children import Child, free_port, python, running
from memproxy.bench.load import Load, Requests
from memproxy.bench.others import OTHERS
from memproxy.bench.trivial import CHUNKS
from memproxy.embedders import make_embedder
from memproxy.errors import MemproxyError, SettingsError
from memproxy.interfaces import Embedder
from memproxy.settings import Embed

ENTITY = "bench"
KINDS = ("plain", "stream", "paced")
SOAK, ABANDONED = 10_000, 500
SOAKED = ("floor", "memory off")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure."""

    seconds: float
    rounds: int
    concurrency: tuple[int, ...]
    turns: int
    soak: bool
    also: tuple[str, ...]


@dataclass(slots=True)
class Target:
    """A server under load, and what was seen of it so far, by kind and concurrency."""

    name: str
    child: Child
    path: str = "/v1/chat/completions"
    headers: tuple[tuple[str, str], ...] = ()
    loads: dict[tuple[str, int], Load] = field(default_factory=dict)
    cpu: dict[tuple[str, int], float] = field(default_factory=dict)
    rss_before: float = 0.0
    rss_after: float = 0.0
    rss_soaked: float | None = None


async def measure(plan: Plan, console: Console, json_output: bool) -> int:
    """Run the benchmark and print its report; the exit code. Raises MemproxyError where a server fails."""
    with tempfile.TemporaryDirectory(prefix="memproxy-bench-") as folder:
        async with contextlib.AsyncExitStack() as stack:
            targets = await _targets(plan, Path(folder), stack)
            alone = await stack.enter_async_context(_embedder_alone()) if plan.turns else None
            with Progress(console=Console(stderr=True), transient=True) as progress:
                await _rounds(plan, targets, alone, progress)
                if plan.soak:
                    await _soak([target for target in targets if target.name in SOAKED], progress)
    embedder_ms = alone.medians() if alone is not None else {}
    report = relay_report.report(targets, KINDS, plan.concurrency, embedder_ms)
    if json_output:
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
    else:
        relay_report.show(report, console)
    return 0


# --- the servers ---------------------------------------------------------------------------------------------


async def _targets(plan: Plan, folder: Path, stack: contextlib.AsyncExitStack) -> list[Target]:
    port = free_port()
    upstream = await stack.enter_async_context(running(python("memproxy.bench.trivial", str(port)), port))
    port = free_port()
    floor = await stack.enter_async_context(running(python("memproxy.bench.floor", str(port), upstream.url), port))
    off = await stack.enter_async_context(_memproxy(folder, "off", upstream, {"memory": {"enabled": False}}))
    found = [Target("direct", upstream), Target("floor", floor), Target("memory off", off)]
    if plan.turns:
        on = await stack.enter_async_context(_memproxy(folder, "on", upstream, {"entity": ENTITY}))
        await _store(on, plan.turns)
        found.append(Target("memory on", on))
    for name in plan.also:
        if name not in OTHERS:
            raise SettingsError(f"--also takes {' or '.join(OTHERS)}, not {name}")
        other = OTHERS[name]
        port = free_port()
        child = await stack.enter_async_context(
            running(other.command(folder, port, upstream.url), port, seconds=180, quiet=True)
        )
        found.append(Target(name, child, headers=other.headers(upstream.url)))
    return found


@contextlib.asynccontextmanager
async def _memproxy(folder: Path, name: str, upstream: Child, more: dict[str, Any]) -> AsyncIterator[Child]:
    port = free_port()
    settings = {
        "port": port,
        "target": upstream.url,
        "db": str(folder / f"{name}.db"),
        "extraction": {"daily_calls": 0},
        **more,
    }
    config = folder / f"{name}.json"
    config.write_text(json.dumps(settings))
    async with running(python("memproxy", "serve", "--config", str(config)), port) as child:
        yield child


async def _store(child: Child, turns: int) -> None:
    """Give the entity its past, and wait until it is indexed and embedded."""
    said = past.turns(turns)
    api = f"{child.url}/memproxy/v1"
    async with httpx.AsyncClient(trust_env=False, timeout=600) as client:
        for start in range(0, turns, 500):
            body = {"session": f"past {start}", "turns": said[start : start + 500], "learn": False}
            stored = await client.post(f"{api}/entities/{ENTITY}/turns", json=body)
            if not stored.is_success:
                raise MemproxyError(f"the past could not be stored: {stored.text}")
        until = time.monotonic() + 900
        while not (await client.post(f"{api}/flush?timeout=30")).json()["idle"]:
            if time.monotonic() > until:
                raise MemproxyError("the stored turns were not indexed within 15 minutes")


# --- the load ------------------------------------------------------------------------------------------------


def _pace(kind: str, concurrency: int) -> int:
    """Milliseconds between two chunks of a paced stream: not more chunks in all than this machine can send."""
    return max(5, concurrency // 12) if kind == "paced" else 0


def _requests(target: Target, kind: str, concurrency: int = 1) -> Requests:
    """Requests of one kind, each a conversation of its own."""
    lines = [f"POST {target.path} HTTP/1.1", "host: localhost", "content-type: application/json"]
    lines += ["authorization: Bearer bench", *(f"{name}: {value}" for name, value in target.headers)]
    options = {"model": "bench", "stream": kind != "plain", "seed": _pace(kind, concurrency)}

    def make(number: int) -> bytes:
        message = {"role": "user", "content": past.question(number)}
        body = json.dumps({**options, "messages": [message]}).encode()
        return "\r\n".join([*lines, f"content-length: {len(body)}"]).encode() + b"\r\n\r\n" + body

    return make


async def _rounds(plan: Plan, targets: Sequence[Target], alone: EmbedderAlone | None, progress: Progress) -> None:
    slices = [(kind, concurrency) for kind in KINDS for concurrency in plan.concurrency]
    task = progress.add_task("load", total=len(targets) * (1 + plan.rounds * len(slices)))
    for target in targets:
        await load.run(target.child.port, _requests(target, "plain"), 8, min(1.0, plan.seconds))
        target.rss_before = target.child.rss_mb()
        progress.advance(task)
    for number in range(plan.rounds):
        for kind, concurrency in slices:
            for turn in range(len(targets)):
                await _slice(targets[(number + turn) % len(targets)], kind, concurrency, plan.seconds)
                progress.advance(task)
            if alone is not None and concurrency == plan.concurrency[0]:
                await alone.slice(kind, plan.seconds)
    for target in targets:
        target.rss_after = target.child.rss_mb()


async def _slice(target: Target, kind: str, concurrency: int, seconds: float) -> None:
    key = (kind, concurrency)
    before = target.child.cpu_seconds()
    try:
        seen = await load.run(target.child.port, _requests(target, kind, concurrency), concurrency, seconds)
    except MemproxyError:
        if target.name not in OTHERS:
            raise
        return  # another gateway that cannot do it has no figures for it
    target.cpu[key] = target.cpu.get(key, 0.0) + target.child.cpu_seconds() - before
    target.loads.setdefault(key, Load()).add(seen)


async def _soak(targets: Sequence[Target], progress: Progress) -> None:
    """Many whole streams and many abandoned ones: memory has to come back."""
    task = progress.add_task("soak", total=len(targets) * SOAK)
    for target in targets:
        requests = _requests(target, "stream")
        done = 0
        while done < SOAK:
            done += len((await load.run(target.child.port, requests, 32, 2.0)).whole)
            progress.update(task, advance=0)
        await load.abandon(target.child.port, requests(0), ABANDONED)
        target.rss_soaked = target.child.rss_mb()
        progress.advance(task, SOAK)


# --- beside it -----------------------------------------------------------------------------------------------


class EmbedderAlone:
    """The embedder's own time for a question, by itself in this process, in the same rounds as the load.

    Between two questions it rests as long as a paced answer takes: a model that has not run for a moment takes longer.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._seen: dict[str, list[float]] = {}

    async def slice(self, kind: str, seconds: float) -> None:
        """Embed one question after another for so long."""
        rest = _pace(kind, 1) * CHUNKS / 1000
        numbers, until = itertools.count(), time.perf_counter() + seconds
        while (started := time.perf_counter()) < until:
            await self._embedder.embed_query(past.question(next(numbers)))
            self._seen.setdefault(kind, []).append((time.perf_counter() - started) * 1000)
            await asyncio.sleep(rest)

    def medians(self) -> dict[str, float]:
        """Milliseconds, by kind of load."""
        return {kind: load.quantile(seen, 0.5) for kind, seen in self._seen.items()}


@contextlib.asynccontextmanager
async def _embedder_alone() -> AsyncIterator[EmbedderAlone]:
    embedder = make_embedder(Embed())
    try:
        await embedder.embed_query(past.question(0))  # loads the model
        yield EmbedderAlone(embedder)
    finally:
        await embedder.close()
