"""`memproxy import`: conversations and facts that were kept elsewhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memproxy.commands.console import err, out, print_fields, print_json, tell
from memproxy.commands.opening import ConfigOption, DbOption, EntityOption, JsonOption, moment, on_store

if TYPE_CHECKING:
    from rich.progress import Progress

    from memproxy.assembly.parts import Parts
    from memproxy.importing.bringing import Report
    from memproxy.model import Entity

SHOWN = 10  # of what could not be read, unless rows are wanted as JSON


def bring(
    file: Annotated[Path, typer.Argument(help="A file (.json, .jsonl, .zip) or a folder of such files.", exists=True)],
    entity: EntityOption = "default",
    form: Annotated[str | None, typer.Option("--format", help="What it is, where that is not plain.")] = None,
    date: Annotated[str | None, typer.Option(help="When it was, for what has no date (ISO 8601).")] = None,
    learn: Annotated[bool, typer.Option(help="Learn facts from what was said, with the extraction model.")] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what is in it.")] = False,
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Bring in conversations and facts from elsewhere, with their own dates; the same again changes nothing."""
    from memproxy.importing.bringing import Wish
    from memproxy.importing.door import bring_file
    from memproxy.server.interpreter import taking_turns_quickly

    wish = Wish(learn, moment("--date", date), dry_run)

    async def work(parts: Parts, who: Entity) -> tuple[Report, bool]:
        with _bar() as bar, taking_turns_quickly():
            reading = bar.add_task("reading", total=None)
            bringing = bring_file(parts, who, file, wish, form, lambda count: bar.advance(reading, count))
            report = await (bringing if dry_run else _with_vectors(parts, bringing, bar))
        return report, parts.plan.own is not None

    began = time.perf_counter()
    report, learns = on_store(config, db, work, entity, embed=not dry_run, models=learn)
    if report.new_turns and not dry_run:
        rate = report.new_turns / (time.perf_counter() - began)
        err.print(f"{rate:.0f} turns a second, with their vectors", highlight=False)
    _show(report, json_output, dry_run, waits=learn and learns and not dry_run and report.new_turns > 0)
    if report.broken and not (report.conversations or report.statements):
        raise typer.Exit(1)


def _bar() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=err, transient=True)


async def _with_vectors(parts: Parts, bringing: Coroutine[Any, Any, Report], bar: Progress) -> Report:
    """What was brought in can be found by meaning at once. Stopped or failing, the server makes the rest."""
    from memproxy.errors import EmbedderError
    from memproxy.importing.door import with_vectors

    work = asyncio.ensure_future(bringing)
    vectors = bar.add_task("vectors", total=None)
    try:
        return await with_vectors(parts, work, lambda count: bar.advance(vectors, count))
    except EmbedderError as error:
        tell("warning", f"{error}; what is missing is made up by `memproxy serve`")
        return await work


def _show(report: Report, json_output: bool, dry: bool, waits: bool) -> None:
    broken = [{"where": part.where, "reason": part.reason} for part in report.broken]
    shown = dict(_counts(report, dry))
    if json_output:
        print_json({**shown, "broken": broken})
        return
    print_fields({**shown, "broken": len(broken) or None})
    for part in broken[:SHOWN]:
        tell("not read", f"{part['where']}: {part['reason']}")
    if len(broken) > SHOWN:
        tell("not read", f"and {len(broken) - SHOWN} more; --json lists them all")
    if waits:
        out.print("Facts are learned from it in the background, by `memproxy serve`.", highlight=False)


def _counts(report: Report, dry: bool) -> Iterator[tuple[str, Any]]:
    yield "read as", ", ".join(report.formats) or None
    yield "conversations", report.conversations
    yield "turns", report.turns
    yield "statements", report.statements
    if not dry:
        yield "new turns", report.new_turns
        yield "new facts", report.new_facts
    yield from report.others.items()
    yield "left out", report.left_out
    yield "empty", report.empty
    for label, when in (("from", report.earliest), ("until", report.latest)):
        yield label, when.date().isoformat() if when is not None else None
