"""One way in for files, whoever brings them: the command line, the management API, a program."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from memproxy.archive.restoring import Restorer
from memproxy.assembly.parts import Parts
from memproxy.importing import ours
from memproxy.importing.bringing import Importer, Report, Wish
from memproxy.importing.formats import OURS, named, records
from memproxy.importing.reading import LARGEST_MEMBER, values
from memproxy.importing.records import Record
from memproxy.model import Entity

READ_AHEAD = 64  # records that are parsed at a time, away from the event loop


async def bring_file(
    parts: Parts,
    entity: Entity,
    file: Path,
    wish: Wish,
    form: str | None = None,
    told: Callable[[int], None] = lambda count: None,
    largest: int = LARGEST_MEMBER,
) -> Report:
    """Bring in what a file (or a folder) holds; the same again changes nothing. What became of it.

    `form` names its format where that is not plain, `told` is given how much was done, step by step. Raises
    SettingsError for what cannot be opened or is no format, Problem where the entity takes nothing in, StoreError.
    """
    if form == OURS or (form is None and ours.begins(file)):
        learns = wish.learn and parts.plan.own is not None
        restorer = Restorer(parts.db, entity, parts.clock, learns=learns, dry=wish.dry)
        report = await ours.bring_back(file, restorer, told)
        parts.changed(entity)
        return report
    importer = Importer(parts, entity, wish)
    found = records(values(file, largest), named(form) if form is not None else None, importer.report.read_as)
    while part := await asyncio.to_thread(_some, found):
        await importer.take(part)
        told(len(part))
    return await importer.finish()


def _some(found: Iterator[Record]) -> list[Record]:
    return list(islice(found, READ_AHEAD))
