"""`memproxy bench import FILE`: how fast a past comes in, beside the embedder's own rate over the very same passages.

Both are measured in turns, a stretch of the file after the other, so that whatever else the machine does slows both.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from memproxy.assembly.parts import Parts, open_parts
from memproxy.errors import SettingsError
from memproxy.importing.bringing import Importer, Report, Wish
from memproxy.importing.door import with_vectors
from memproxy.importing.formats import records
from memproxy.importing.reading import values
from memproxy.importing.records import Conversation
from memproxy.interfaces import Connection
from memproxy.lifecycle.embedding import BATCH
from memproxy.model import Entity
from memproxy.recall.passages import embedding_text
from memproxy.server.interpreter import taking_turns_quickly
from memproxy.settings import Settings
from memproxy.settings_sources import load
from memproxy.store import search
from memproxy.store.rows import scoped

STRETCH = 200  # turns between two changes from one to the other
_WHO = Entity("past")


@dataclass(slots=True)
class Measured:
    """Seconds and numbers so far."""

    turns: int = 0
    passages: int = 0
    importing: float = 0.0
    embedding: float = 0.0

    @property
    def ratio(self) -> float:
        """How much of the embedder's own rate the import reaches."""
        return self.embedding / self.importing if self.importing else 0.0


async def measure(file: Path, provider: str, console: Console, json_output: bool) -> int:
    """Import a file into a store of its own; 0 once it is done. Raises SettingsError where it holds no conversation."""
    found = [record for record in records(values(file)) if isinstance(record, Conversation)]
    if not found:
        raise SettingsError(f"{file}: no conversation in it")
    with tempfile.TemporaryDirectory(prefix="memproxy-bench-") as folder:
        async with open_parts(_settings(Path(folder), provider)) as parts:
            if parts.embedder is None:
                raise SettingsError(f"no embedder: {parts.embedders.problem}")
            measured = await run(parts, _WHO, found)
    shown = {
        "turns": measured.turns,
        "passages": measured.passages,
        "turns_per_second": round(measured.turns / measured.importing, 1),
        "passages_per_second": round(measured.passages / measured.importing, 1),
        "embedder_passages_per_second": round(measured.passages / measured.embedding, 1),
        "ratio": round(measured.ratio, 3),
    }
    if json_output:
        sys.stdout.write(json.dumps(shown, indent=2) + "\n")
        return 0
    for name, value in shown.items():
        console.print(f"{name.replace('_', ' '):>30}  {value}", highlight=False)
    return 0


async def run(parts: Parts, entity: Entity, found: Sequence[Conversation]) -> Measured:
    """Import conversations for somebody new, with vectors, and make the same vectors again with nothing else to do."""
    with taking_turns_quickly():  # as `memproxy import` does, and a server
        return await _in_turns(parts, entity, found)


async def _in_turns(parts: Parts, entity: Entity, found: Sequence[Conversation]) -> Measured:
    measured, last = Measured(), 0
    for stretch in _stretches(found):
        started = time.perf_counter()
        report = await with_vectors(parts, _bring(parts, entity, stretch))
        measured.importing += time.perf_counter() - started
        measured.turns += report.new_turns
        ids, texts = await parts.db.read(lambda conn: _texts(conn, entity, last))  # noqa: B023 - awaited here
        last = max(ids, default=last)
        measured.passages += len(texts)
        started = time.perf_counter()
        assert parts.embedder is not None
        for start in range(0, len(texts), BATCH):
            await parts.embedder.embed_documents(texts[start : start + BATCH])
        measured.embedding += time.perf_counter() - started
    return measured


async def _bring(parts: Parts, entity: Entity, stretch: Sequence[Conversation]) -> Report:
    return await Importer(parts, entity, Wish(learn=False)).bring(stretch)


def _stretches(found: Sequence[Conversation]) -> Iterator[list[Conversation]]:
    """The conversations in stretches of about as many turns; long ones are cut."""
    stretch: list[Conversation] = []
    room = STRETCH
    for conversation in found:
        said = conversation.said
        while said:
            stretch.append(replace(conversation, said=said[:room]))
            said, room = said[room:], room - len(said[:room])
            if room == 0:
                yield stretch
                stretch, room = [], STRETCH
    if stretch:
        yield stretch


async def _texts(conn: Connection, entity: Entity, after: int) -> tuple[list[int], list[str]]:
    """What was embedded since, as it was embedded."""
    ids: list[int] = []
    while rows := await conn.all("passages_after", **scoped(entity), after=ids[-1] if ids else after, limit=500):
        ids += [int(row["id"]) for row in rows]
    found = await search.sources(conn, dict.fromkeys(ids, ""))
    return ids, [embedding_text(passage.text, passage.speaker) for passage in found]


def _settings(folder: Path, provider: str) -> Settings:
    empty = folder / "memg.json"
    empty.write_text("{}")
    flags = {"db": str(folder / "memory.db"), "embed.provider": provider, "llm.borrow": False}
    return load(str(empty), flags, {}).settings
