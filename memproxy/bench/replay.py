"""`memproxy bench replay`: a data file through the real proxy, as a client would play it.

The proxy runs as a child process on free ports, with a temporary store. Each conversation's turns are sent in order
with their dates, the upstream answering with the recorded lines; then each labelled question opens a new conversation,
and what counts is the block that the upstream really received for it:

- RB: the share of the evidence turns of which a passage stands verbatim in the block (white space folded);
- AB: the share of the answer's words that stand in it;
- tokens: characters / 4 of the whole block, marker lines included.

Added latency is the time to the first byte through the proxy less that of the same request sent to the upstream
directly, question by question in the same run.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import anyio.abc
import httpx
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from memproxy.bench.dataset import Dataset, Question, Recorded, load
from memproxy.errors import MemproxyError
from memproxy.recall.passages import split
from memproxy.testing import ScriptedUpstream
from memproxy.trust import CLOSE, OPEN

UNANSWERABLE = ("adversarial", "abstention")  # counted, but no part of the mean: nothing stands for them to be found
_STOPWORDS = frozenset(
    "a an the and or of to in on at for with by from as is are was were be been it its this that these those he she "
    "they his her their them i you we my your our not no yes do does did has have had will would can could so if but "
    "about into than then there".split()
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one question got."""

    category: str
    evidence: float | None  # RB, where evidence is labelled
    answer: float | None  # AB
    tokens: int
    through_ms: float
    direct_ms: float


async def replay(file: Path, conversations: int | None, budget: int | None, console: Console, json_output: bool) -> int:
    """Run the benchmark and print its report; the exit code."""
    data = load(file)
    chosen = data.conversations[:conversations]
    with tempfile.TemporaryDirectory(prefix="memproxy-bench-") as folder:
        async with ScriptedUpstream() as upstream, _proxy(Path(folder), upstream.url, budget) as url:
            player = _Player(upstream, url)
            with Progress(console=Console(stderr=True), transient=True) as progress:
                await player.play(chosen, progress)
                await player.ask(chosen, progress)
            size = _size(Path(folder))
    report = _report(data, player, size, budget or 2000)
    if json_output:
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
    else:
        _print(report, console)
    return 0


@contextlib.asynccontextmanager
async def _proxy(folder: Path, target: str, budget: int | None) -> AsyncIterator[str]:
    """The real server in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings: dict[str, Any] = {
        "port": port,
        "target": target,
        "db": str(folder / "memory.db"),
        "client_time": True,
        "extraction": {"daily_calls": 0},
    }
    if budget is not None:
        settings["memory"] = {"token_budget": budget}
    config = folder / "memg.json"
    config.write_text(json.dumps(settings))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMG_")}
    command = [sys.executable, "-m", "memproxy", "serve", "--config", str(config)]
    async with await anyio.open_process(command, stdout=subprocess.DEVNULL, stderr=None, env=environment) as child:
        url = f"http://127.0.0.1:{port}"
        try:
            await _listening(url, child)
            yield url
        finally:
            with contextlib.suppress(ProcessLookupError):
                child.send_signal(signal.SIGINT)
            with anyio.move_on_after(60):
                await child.wait()


async def _listening(url: str, child: anyio.abc.Process) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        for _ in range(600):
            if child.returncode is not None:
                raise MemproxyError(f"the proxy ended at once with exit code {child.returncode}")
            with contextlib.suppress(httpx.TransportError):
                if (await client.get(f"{url}/memproxy/health")).is_success:
                    return
            await anyio.sleep(0.1)
    raise MemproxyError("the proxy did not start within a minute")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("memory.db*"))


class _Player:
    """Plays recorded conversations and asks their questions."""

    def __init__(self, upstream: ScriptedUpstream, url: str) -> None:
        self._upstream = upstream
        self._url = url
        self.turns = 0
        self.seconds = 0.0
        self.answers: list[Answer] = []

    async def play(self, recorded: Sequence[Recorded], progress: Progress) -> None:
        """Every turn, in order, then wait until all of it is indexed."""
        task = progress.add_task("turns", total=sum(len(r.turns) for r in recorded))
        started = time.perf_counter()
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            for conversation in recorded:
                history: list[dict[str, str]] = []
                for exchange in conversation.exchanges():
                    history = [] if exchange.opens else history
                    history += [_message(conversation, turn) for turn in exchange.said]
                    answer = "\n".join(turn.content for turn in exchange.answered)
                    self._upstream.reply(answer)
                    turns = exchange.said + exchange.answered
                    asked = history if exchange.said else [{"role": "user", "content": ""}]
                    await self._chat(client, conversation, asked, turns[0].time, "full")
                    history += [_message(conversation, turn, answer) for turn in exchange.answered[:1]]
                    self.turns += len(turns)
                    progress.advance(task, len(turns))
            waiting = progress.add_task("indexing", total=None)
            while not (await client.post(f"{self._url}/memproxy/v1/flush?timeout=30")).json()["idle"]:
                progress.advance(waiting)
        self.seconds = time.perf_counter() - started

    async def ask(self, recorded: Sequence[Recorded], progress: Progress) -> None:
        """Every question as a new conversation; measured against the upstream alone."""
        task = progress.add_task("questions", total=sum(len(r.questions) for r in recorded))
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            for conversation in recorded:
                contents = {turn.id: turn.content for turn in conversation.turns}
                for question in conversation.questions:
                    messages = [{"role": "user", "content": question.question}]
                    direct = await self._direct(client, messages)
                    through = await self._chat(client, conversation, messages, question.time, "read")
                    block = _block(self._upstream.requests[-1].body)
                    self.answers.append(_score(question, contents, block, through, direct))
                    progress.advance(task)

    async def _chat(
        self,
        client: httpx.AsyncClient,
        conversation: Recorded,
        messages: Sequence[Mapping[str, str]],
        when: str | None,
        mode: str,
    ) -> float:
        headers = {"X-MemG-Entity": quote(conversation.id), "X-MemG-Memory": mode, "Authorization": "Bearer bench"}
        if when is not None:
            headers["X-MemG-Time"] = when
        return await _first_byte(client, f"{self._url}/v1/chat/completions", messages, headers)

    async def _direct(self, client: httpx.AsyncClient, messages: Sequence[Mapping[str, str]]) -> float:
        return await _first_byte(client, f"{self._upstream.url}/v1/chat/completions", messages, {})


async def _first_byte(
    client: httpx.AsyncClient, url: str, messages: Sequence[Mapping[str, str]], headers: Mapping[str, str]
) -> float:
    """Milliseconds to the first byte of a streamed answer, which is then read to its end."""
    body = {"model": "recorded", "stream": True, "messages": list(messages)}
    started = time.perf_counter()
    first = None
    async with client.stream("POST", url, json=body, headers=headers) as response:
        async for _ in response.aiter_raw():
            first = first or time.perf_counter()
        response.raise_for_status()
    return ((first or time.perf_counter()) - started) * 1000


def _message(conversation: Recorded, turn: Any, content: str | None = None) -> dict[str, str]:
    message = {"role": "user" if conversation.is_user(turn) else "assistant", "content": content or turn.content}
    return {**message, "name": turn.speaker} if conversation.named else message


def _block(body: bytes) -> str:
    """The block in a request that the upstream received; "" where there is none."""
    text = "\n".join(str(message.get("content")) for message in json.loads(body)["messages"])
    start, end = text.find(OPEN), text.rfind(CLOSE)
    return text[start : end + len(CLOSE)] if 0 <= start < end else ""


def _score(question: Question, contents: Mapping[str, str], block: str, through_ms: float, direct_ms: float) -> Answer:
    folded = _fold(block)
    evidence = [turn for turn in question.evidence if turn in contents]
    found = [turn for turn in evidence if any(_fold(contents[turn][a:b]) in folded for a, b in split(contents[turn]))]
    words = _words(str(question.answer)) if question.answer is not None else set()
    return Answer(
        category=question.category_name,
        evidence=len(found) / len(evidence) if evidence else None,
        answer=len(words & _words(block)) / len(words) if words else None,
        tokens=math.ceil(len(block) / 4),
        through_ms=through_ms,
        direct_ms=direct_ms,
    )


def _fold(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower())) - _STOPWORDS


def _report(data: Dataset, player: _Player, size: int, budget: int) -> dict[str, Any]:
    by_category: dict[str, list[Answer]] = defaultdict(list)
    for answer in player.answers:
        by_category[answer.category].append(answer)
    answerable = [a for a in player.answers if a.category not in UNANSWERABLE]
    through = sorted(a.through_ms for a in player.answers)
    direct = sorted(a.direct_ms for a in player.answers)
    return {
        "data": data.name,
        "budget": budget,
        "overall": _mean(answerable),
        "categories": {name: _mean(answers) for name, answers in sorted(by_category.items())},
        "first_byte_ms": {
            "through_p50": statistics.median(through),
            "through_p95": _quantile(through, 0.95),
            "direct_p50": statistics.median(direct),
            "direct_p95": _quantile(direct, 0.95),
            "added_p50": statistics.median(a.through_ms - a.direct_ms for a in player.answers),
            "added_p95": _quantile(sorted(a.through_ms - a.direct_ms for a in player.answers), 0.95),
        },
        "turns": player.turns,
        "turns_per_second": player.turns / player.seconds,
        "database_bytes": size,
    }


def _mean(answers: Sequence[Answer]) -> dict[str, Any]:
    evidence = [a.evidence for a in answers if a.evidence is not None]
    words = [a.answer for a in answers if a.answer is not None]
    return {
        "questions": len(answers),
        "RB": 100 * statistics.mean(evidence) if evidence else None,
        "AB": 100 * statistics.mean(words) if words else None,
        "tokens": statistics.mean(a.tokens for a in answers) if answers else 0.0,
        "empty": sum(a.tokens == 0 for a in answers),
    }


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _print(report: Mapping[str, Any], console: Console) -> None:
    table = Table("category", "questions", "RB", "AB", "tokens", "no block", box=None)
    rows = {**report["categories"], f"all but {' and '.join(UNANSWERABLE)}": report["overall"]}
    for name, row in rows.items():
        shown = ["-" if row[key] is None else f"{row[key]:.1f}" for key in ("RB", "AB", "tokens")]
        table.add_row(name, str(row["questions"]), *shown, str(row["empty"]))
    console.print(f"{report['data']}, budget {report['budget']} tokens", highlight=False)
    console.print(table)
    first = report["first_byte_ms"]
    console.print(
        f"first byte, ms: p50 {first['through_p50']:.1f} through the proxy, {first['direct_p50']:.1f} direct, "
        f"{first['added_p50']:.1f} added; p95 {first['through_p95']:.1f}, {first['direct_p95']:.1f}, "
        f"{first['added_p95']:.1f}",
        highlight=False,
    )
    console.print(
        f"{report['turns']} turns, {report['turns_per_second']:.1f} a second (stored, indexed and embedded); "
        f"database {report['database_bytes'] / 1e6:.1f} MB",
        highlight=False,
    )
