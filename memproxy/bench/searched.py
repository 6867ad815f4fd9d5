"""A memory filled with recorded conversations and asked as the proxy asks it: the product's own store and search.

Each conversation is an entity of its own. What is found is shown passage by passage as the block says it, so that it
can be charged with the text that would be injected.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from memproxy.assembly.parts import Parts, open_parts
from memproxy.bench.dataset import Recorded, RecordedTurn
from memproxy.bench.scoring import Item
from memproxy.context.days import day_of
from memproxy.context.phrases import phrase
from memproxy.context.render import render
from memproxy.embedders import open_embedder
from memproxy.embedders.live import Embedders
from memproxy.interfaces import Embedder, Vectors
from memproxy.lifecycle.embedding import Indexer
from memproxy.lifecycle.past import PastTurn
from memproxy.model import EmbedderInfo, Entity, Scored
from memproxy.recall.explaining import Weighed
from memproxy.recall.ranking import DEFAULT_WEIGHTS, PLAIN, Manner, Weights
from memproxy.recall.recall import Found, Recaller
from memproxy.settings import Settings
from memproxy.settings_sources import load
from memproxy.store import search
from memproxy.store import turns as turn_rows

PATIENCE = 600_000  # milliseconds a recall may take: what is measured must not depend on how busy the machine is
_PAGE = 500


class RememberedQueries:
    """An embedder that makes the vector of one question once, so that many ways to rank can be compared."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    @property
    def info(self) -> EmbedderInfo:
        """The model's own."""
        return self._embedder.info

    async def embed_query(self, text: str) -> Vectors:
        """One vector, from memory the second time."""
        if text not in self._known:
            self._known[text] = await self._embedder.embed_query(text)
        return self._known[text]

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """As the model does."""
        return await self._embedder.embed_documents(texts)

    async def close(self) -> None:
        """Give back threads and memory."""
        await self._embedder.close()


@dataclass(frozen=True, slots=True)
class Searched:
    """What one question found, and how long it took without the question's own vector."""

    found: Found
    items: tuple[Item, ...]
    milliseconds: float


class SearchedMemory:
    """Recorded conversations in a store, to be asked. Made by `searched_memory`."""

    def __init__(self, parts: Parts, embedder: Embedder) -> None:
        self.parts = parts
        self.embedder = embedder
        self._recorded: dict[str, dict[str, list[str]]] = {}  # by conversation: our ids of turns to those in the file
        self.indexer = Indexer(parts.db, Embedders(embedder))
        self.recaller = self.asking()

    def asking(self, weights: Weights = DEFAULT_WEIGHTS, manner: Manner = PLAIN) -> Recaller:
        """A way to ask this memory."""
        parts = self.parts
        return Recaller(parts.db, Embedders(self.embedder), parts.settings, parts.metrics, weights, manner, phrase)

    async def ingest(self, conversation: Recorded) -> int:
        """Store and embed a conversation, unless it is there; how many turns were new."""
        entity = Entity(conversation.id)
        ids: list[str] = []
        before = await self._stored(entity)
        for session, group in groupby(conversation.turns, key=lambda turn: turn.session):
            past = [_past(conversation, turn) for turn in group]
            ids += (await self.parts.curator.import_turns(entity, session, past, False)).ids
        recorded: dict[str, list[str]] = defaultdict(list)
        for id, turn in zip(ids, conversation.turns, strict=True):
            recorded[id].append(turn.id)
        self._recorded[conversation.id] = recorded
        await self.indexer.catch_up()
        return await self._stored(entity) - before

    async def search(
        self,
        conversation_id: str,
        question: str,
        now: datetime,
        *,
        floor: bool = True,
        recaller: Recaller | None = None,
    ) -> Searched:
        """What would be put into a request that asks this, best first; then rendered, as it would be, for the clock."""
        entity, asks = Entity(conversation_id), recaller or self.recaller
        async with asks.asked(question, now=now, floor=floor, entity=entity) as asked:
            await asked.vector(self.embedder)
            started = time.perf_counter()
            found = await asks.find(entity, asked, floor=floor)
            render(found.scored, found.standing, budget_tokens=2000, timezone="UTC", phrases=found.notes)
            milliseconds = (time.perf_counter() - started) * 1000
        recorded = self._recorded.get(conversation_id, {})
        return Searched(found, tuple(_items(found.scored, recorded)), milliseconds)

    async def explain(self, conversation_id: str, question: str, now: datetime) -> list[Weighed]:
        """Every passage that was proposed for this, and what became of it."""
        trace: list[Weighed] = []
        async with self.recaller.asked(question, now=now, entity=Entity(conversation_id)) as asked:
            await self.recaller.find(Entity(conversation_id), asked, trace=trace)
        return trace

    async def passages(self, conversation_id: str) -> int:
        """How many passages a conversation has."""
        entity = Entity(conversation_id)
        return (await self.parts.db.read(lambda conn: search.extent(conn, entity))).passages

    async def warm(self, conversation_id: str, recaller: Recaller) -> int:
        """Have a conversation held in memory, as that of somebody who has just spoken; how many passages it has."""
        await self.search(conversation_id, "What was said?", moment(None), floor=False, recaller=recaller)
        await recaller.settled()
        return await self.passages(conversation_id)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The embedder by itself."""
        return await self.embedder.embed_documents(texts)

    @property
    def model(self) -> str:
        """The embedding model's name."""
        return self.embedder.info.model

    async def reset(self) -> None:
        """Remove every conversation."""
        for name in self._recorded:
            await self.parts.erase(Entity(name))
            self.recaller.forget(Entity(name))
        self._recorded.clear()

    async def _stored(self, entity: Entity) -> int:
        count, after = 0, None
        while True:
            rows = await self.parts.db.read(
                lambda conn: turn_rows.list_turns(conn, entity, session_id=None, limit=_PAGE, after=after)  # noqa: B023
            )
            count += len(rows)
            if len(rows) < _PAGE:
                return count
            after = rows[-1].id


@contextlib.asynccontextmanager
async def searched_memory(folder: Path, changes: Mapping[str, Any] | None = None) -> AsyncIterator[SearchedMemory]:
    """A memory in a folder, with this machine's embedder and the default settings but for `changes`."""
    settings = _settings(folder, changes or {})
    without = msgspec.structs.replace(settings, embed=msgspec.structs.replace(settings.embed, provider="off"))
    async with contextlib.AsyncExitStack() as stack:
        embedder = RememberedQueries(await open_embedder(settings.embed))
        stack.push_async_callback(embedder.close)
        parts = await stack.enter_async_context(open_parts(without))
        memory = SearchedMemory(parts, embedder)
        stack.push_async_callback(memory.recaller.close)
        yield memory


@contextlib.contextmanager
def kept_or_temporary(folder: Path | None) -> Iterator[Path]:
    """Where a store is: a temporary folder, unless one was named."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="memproxy-bench-") as temporary:
        yield Path(temporary)


def _settings(folder: Path, changes: Mapping[str, Any]) -> Settings:
    config = folder / "memg.json"
    config.write_text("{}")
    fixed = {"db": str(folder / "memory.db"), "memory.deadline_ms": PATIENCE, "extraction.daily_calls": 0}
    return load(str(config), {**fixed, **changes}, {}).settings


def moment(text: str | None) -> datetime:
    """A time as data files write it; without a zone it is UTC, without any it is now."""
    if text is None:
        return datetime.now(UTC)
    when = datetime.fromisoformat(text)
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


def _past(conversation: Recorded, turn: RecordedTurn) -> PastTurn:
    role = "user" if conversation.is_user(turn) else "assistant"
    name = turn.speaker if conversation.named else None
    return PastTurn("user" if role == "user" else "assistant", turn.content, moment(turn.time), name)


def _items(found: Sequence[Scored], recorded: Mapping[str, Sequence[str]]) -> Iterator[Item]:
    """Each passage as the block says it: a line, and over the first of a day that day."""
    begun: set[date] = set()
    for scored in found:
        candidate = scored.candidate
        said, day = phrase(candidate), day_of(candidate, UTC)
        heading = "" if day in begun else f"{day.isoformat()}:\n"
        begun.add(day)
        ids = recorded.get(candidate.turn_id or candidate.owner_id, ())
        yield Item(tuple(ids), f"{heading}- {said.label}{said.words}\n")
