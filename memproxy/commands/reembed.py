"""`memproxy reembed`: vectors anew, after another embedding model was set."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from memproxy.commands.console import err, out, print_json, tell
from memproxy.commands.opening import ConfigOption, DbOption, JsonOption, on_store
from memproxy.errors import EmbedderDown, Problem, SettingsError

if TYPE_CHECKING:
    from memproxy.assembly.parts import Parts
    from memproxy.model import Entity

TRIES = 5  # of a batch, where the provider fails for now
PAUSE = 5.0  # seconds before the second; twice as long before each other

OneOption = Annotated[str | None, typer.Option("--entity", "-e", help="Of one person only (default: of everybody).")]


def reembed(
    entity: OneOption = None, config: ConfigOption = None, db: DbOption = None, json_output: JsonOption = False
) -> None:
    """Make vectors anew with the embedding model that is set now; can be stopped, and goes on where it was."""

    async def work(parts: Parts, who: Entity) -> int:
        return await _reembed(parts, who if entity is not None else None)

    made = on_store(config, db, work, entity or "default", embed=True)
    if json_output:
        print_json({"made": made})
    else:
        out.print(f"{made:,} passages have new vectors" if made else "nothing to do", highlight=False)


async def _reembed(parts: Parts, only: Entity | None) -> int:
    """Bring everybody (or one) over, with a bar; how many passages got a vector."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from memproxy.store import search

    if parts.embedder is None or parts.indexer is None:
        raise SettingsError(f"embed: there is no embedder: {parts.embedders.problem}")
    if only is not None and not (await parts.db.read(lambda conn: search.extent(conn, only))).passages:
        raise Problem(404, f"Nothing is stored of {only.name}", "See: memproxy entities")
    progress = await parts.reembedder.count(only)
    before = progress.done
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns, console=err, disable=not progress.total) as bar:
            task = bar.add_task(parts.embedder.info.model, total=progress.total, completed=before)
            while await _patiently(parts, only):
                bar.update(task, completed=progress.done)
        made = progress.done - before
        while only is None and (count := await parts.indexer.step()):
            made += count
        return made
    except asyncio.CancelledError:
        tell("stopped", f"{progress.done:,} of {progress.total:,} are made and kept; the same command goes on there")
        raise


async def _patiently(parts: Parts, only: Entity | None) -> bool:
    """One batch, tried again where the provider fails for now; False where nothing is left."""
    for attempt in range(TRIES):
        try:
            return await parts.reembedder.step(only)
        except EmbedderDown as error:
            if attempt == TRIES - 1 or not error.passing:
                done, total = parts.reembedder.progress.done, parts.reembedder.progress.total
                raise Problem(
                    502, str(error), f"{done:,} of {total:,} are made and kept; the same command goes on there"
                ) from None
            tell("warning", f"{error}; trying again in {PAUSE * 2**attempt:.0f} s")
            await asyncio.sleep(PAUSE * 2**attempt)
    raise AssertionError("unreachable")
