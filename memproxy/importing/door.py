"""One way in for files, whoever brings them: the command line, the management API, a program."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

from memproxy.archive.restoring import Restorer
from memproxy.assembly.parts import Parts
from memproxy.importing import ours
from memproxy.importing.bringing import Importer, Report, Wish
from memproxy.importing.formats import OURS, named, records
from memproxy.importing.reading import LARGEST_MEMBER, values
from memproxy.importing.records import Record
from memproxy.lifecycle.embedding import Indexer
from memproxy.model import Entity

T = TypeVar("T")

NEXT_LOOK = 0.05  # seconds after which it is looked again for what lacks vectors
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


async def with_vectors(
    parts: Parts, work: Awaitable[Report], told: Callable[[int], None] = lambda count: None
) -> Report:
    """Do the work of bringing something in, and make the vectors of what it stores while it goes on.

    For whoever has no background work running. `told` is given how many vectors were made, step by step. Raises what
    the work raises, and EmbedderError: what lacks vectors then is made up for later.
    """
    if parts.indexer is None or parts.embedder is None:
        return await work
    return await embedding_meanwhile(parts.indexer, work, told)


async def embedding_meanwhile(
    indexer: Indexer, work: Awaitable[T], told: Callable[[int], None] = lambda count: None
) -> T:
    """The same with an indexer of one's own."""
    bringing = asyncio.ensure_future(work)
    try:
        while True:
            over = bringing.done()
            if not await indexer.catch_up(told):
                if over:
                    break
                await asyncio.wait([bringing], timeout=NEXT_LOOK)
        return await bringing
    finally:
        if not bringing.done():  # the embedder failed: nothing of what is read is lost for that
            await asyncio.wait([bringing])


def _some(found: Iterator[Record]) -> list[Record]:
    return list(islice(found, READ_AHEAD))
