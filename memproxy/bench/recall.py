"""`memproxy bench recall`: how much of the evidence for labelled questions recall brings, and in how few tokens.

The product's own store, index, search and ranking answer, in this process, with one configuration for all data.
Beside it, mechanisms can be taken out one by one (`--without`) or set otherwise (`--with`), all asked over the same
stored vectors.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from rich.console import Console
from rich.progress import Progress

from memproxy import __version__
from memproxy.bench import recall_report
from memproxy.bench.dataset import Dataset, Recorded
from memproxy.bench.needless import REQUESTS
from memproxy.bench.scoring import score
from memproxy.bench.searched import SearchedMemory, kept_or_temporary, moment, searched_memory
from memproxy.bench.sources import read
from memproxy.errors import SettingsError
from memproxy.recall.ranking import DEFAULT_WEIGHTS, PLAIN, Manner, Weights
from memproxy.recall.recall import Recaller
from memproxy.recall.weights import Fusion, ProfileName

FULL = "all"  # mechanisms, as they are by default
FLOOR = "floor"  # the bar of relevance: without it every question gets its best matches, as in an explicit search
MECHANISMS = (*(field.name for field in fields(Weights)), FLOOR)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured."""

    data: Sequence[Path]
    without: Sequence[str] = ()  # each is a run of its own; names joined by + are taken out together
    changed: Sequence[str] = ()  # NAME=VALUE, a run each; several joined by +
    conversations: int | None = None
    store: Path | None = None  # kept, so that a later run need not embed everything again
    json: Path | None = None
    compare: Path | None = None
    html: Path | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to ask."""

    name: str
    weights: Weights = DEFAULT_WEIGHTS
    floor: bool = True
    manner: Manner = PLAIN


@dataclass
class Run:
    """What one data set gave, asked in one way."""

    data: str
    variant: str
    rows: list[dict[str, Any]] = field(default_factory=list)  # a question each: qid, category, conversation, measures
    unlabelled: int = 0
    needless: list[float] = field(
        default_factory=list
    )  # for each memory, the share of needless requests that got nothing


def variants(without: Sequence[str], changed: Sequence[str] = ()) -> list[Variant]:
    """The full configuration, those without something, and those with something else.

    Raises SettingsError for a mechanism nobody knows.
    """
    found = [Variant(FULL)]
    for said in without:
        names = said.split("+")
        for name in names:
            if name not in MECHANISMS:
                raise SettingsError(f"--without {name}: there is no such mechanism; known: {', '.join(MECHANISMS)}")
        off = {name: type(getattr(DEFAULT_WEIGHTS, name))(0) for name in names if name != FLOOR}
        found.append(Variant(f"without {said}", replace(DEFAULT_WEIGHTS, **off), FLOOR not in names))
    for said in changed:
        weights, manner = DEFAULT_WEIGHTS, PLAIN
        for one in said.split("+"):
            name, value = _changed(one)
            if name in MECHANISMS:
                weights = replace(weights, **{name: value})
            else:
                manner = replace(manner, **{name: value})
        found.append(Variant(f"with {said}", weights, manner=manner))
    return found


def _changed(said: str) -> tuple[str, Any]:
    """A weight, or a setting of the ranking, and its value. Raises SettingsError."""
    name, _, text = said.partition("=")
    known: dict[str, Any] = {**asdict(DEFAULT_WEIGHTS), **asdict(PLAIN)}
    if name not in known:
        raise SettingsError(f"--with {said}: there is no {name}; known: {', '.join(known)}")
    try:
        value: Any = type(known[name])(text)
    except ValueError:
        raise SettingsError(f"--with {said}: {text!r} is no number") from None
    choices = {"fusion": get_args(Fusion), "profile": get_args(ProfileName)}.get(name)
    if choices is not None and value not in choices:
        raise SettingsError(f"--with {said}: choose among {', '.join(choices)}")
    return name, value


async def measure(plan: Plan, console: Console) -> int:
    """Run the benchmark and report; the exit code. Raises SettingsError."""
    chosen = variants(plan.without, plan.changed)
    data = [_first(read(path), plan.conversations) for path in plan.data]
    before = recall_report.read(plan.compare) if plan.compare is not None else None
    with kept_or_temporary(plan.store) as folder:
        async with searched_memory(folder) as memory:
            report = await measured(memory, data, chosen)
    recall_report.show(report, console)
    if before is not None:
        recall_report.show_comparison(before, report, console)
    if plan.json is not None:
        plan.json.write_text(json.dumps(report, indent=1) + "\n")
    if plan.html is not None:
        from memproxy.bench.recall_page import page

        plan.html.write_text(page(report), encoding="utf-8")
    return 0


async def measured(memory: SearchedMemory, data: Sequence[Dataset], chosen: Sequence[Variant]) -> dict[str, Any]:
    """Everything that was measured, as it is written to a file."""
    runs: list[Run] = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for one in data:
            filling = progress.add_task(f"{one.name}: turns", total=sum(len(c.turns) for c in one.conversations))
            for conversation in one.conversations:
                await memory.ingest(conversation)
                progress.advance(filling, len(conversation.turns))
            for variant in chosen:
                asking = progress.add_task(f"{one.name}: {variant.name}", total=len(one.conversations))
                runs.append(Run(one.name, variant.name))
                recaller = memory.asking(variant.weights, variant.manner)
                try:
                    for conversation in one.conversations:
                        if variant.name == FULL:
                            runs[-1].needless.append(await _needless(memory, recaller, conversation))
                        await _ask(memory, recaller, variant, conversation, runs[-1])
                        progress.advance(asking)
                finally:
                    await recaller.close()
    return {
        "version": __version__,
        "date": datetime.now(UTC).date().isoformat(),
        "embedder": memory.model,
        "runs": [asdict(run) for run in runs],
    }


async def _needless(memory: SearchedMemory, recaller: Recaller, conversation: Recorded) -> float:
    """The share of requests that need no memory, for which this one gives nothing."""
    now = moment(conversation.turns[-1].time)
    found = [await memory.search(conversation.id, request, now, recaller=recaller) for request in REQUESTS]
    return sum(not searched.items for searched in found) / len(found)


async def _ask(memory: SearchedMemory, recaller: Recaller, variant: Variant, conversation: Recorded, run: Run) -> None:
    """Every labelled question of a conversation, once it is held in memory as that of whoever speaks is."""
    turns = {turn.id: turn for turn in conversation.turns}
    passages = await memory.warm(conversation.id, recaller)
    for question in conversation.questions:
        evidence = [id for id in question.evidence if id in turns]
        if not evidence and not question.evidence_sessions:
            run.unlabelled += 1
            continue
        searched = await memory.search(
            conversation.id, question.question, moment(question.time), floor=variant.floor, recaller=recaller
        )
        run.rows.append(
            {
                "qid": question.qid,
                "category": question.category_name,
                "conversation": conversation.id,
                "passages": passages,
                "milliseconds": round(searched.milliseconds, 3),
                "found": len(searched.items),
                "measures": score(searched.items, question, turns),
            }
        )


def _first(data: Dataset, conversations: int | None) -> Dataset:
    return Dataset(data.name, data.conversations[:conversations])
