"""`memproxy export`: a memory as a file, to be kept, read, or brought in elsewhere."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memproxy.commands.opening import ConfigOption, DbOption, on_store

if TYPE_CHECKING:
    from memproxy.assembly.parts import Parts
    from memproxy.model import Entity


def export(
    entity: Annotated[str, typer.Argument(help="Whose memory.")],
    file: Annotated[Path | None, typer.Option("--out", "-o", help="The file to write; else it is printed.")] = None,
    form: Annotated[str, typer.Option("--format", help="jsonl (to be imported again) or markdown (to be read).")] = (
        "jsonl"
    ),
    config: ConfigOption = None,
    db: DbOption = None,
) -> None:
    """Write down everything that is remembered of an entity, with sources, history and dates."""
    from memproxy.archive.exporting import form_of

    wanted = form_of(form)

    async def work(parts: Parts, who: Entity) -> None:
        pieces = await parts.export(who, wanted)
        with _writing(file) as write:
            async for piece in pieces:
                write(piece)

    on_store(config, db, work, entity)


@contextlib.contextmanager
def _writing(file: Path | None) -> Iterator[Callable[[bytes], object]]:
    """Where the bytes go. A file is its owner's alone, and takes its name only once it is whole."""
    if file is None:
        yield sys.stdout.buffer.write
        sys.stdout.buffer.flush()
        return
    partial = file.with_name(f".{file.name}.partial")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            yield out.write
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
