"""Passages into vectors, in the background; and which model's vectors somebody is searched by."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from memproxy.embedders.each import embed_each
from memproxy.embedders.live import Embedders
from memproxy.errors import EmbedderError, MemproxyError, StoreError, places
from memproxy.interfaces import Connection, Database, Embedder, Vectors
from memproxy.model import Entity, FactDraft, speaker_of
from memproxy.recall.passages import embedding_text
from memproxy.store import search
from memproxy.store import vectors as vectors_rows
from memproxy.store.search import Unembedded

log = logging.getLogger(__name__)

_Rows: TypeAlias = "Mapping[Entity, Sequence[tuple[int, Vectors]]]"

BATCH = 32
# Seconds in which new passages wait for their vectors: a program asks the next thing as soon as it has its answer, and
# that question's own vector is waited for.
PAUSE = 0.1
# While somebody asks, a batch gives way: it goes on in small steps, each once there was no question for a moment. With
# question after question, that is in vain; then it goes on all the same.
LATELY = 2.0  # seconds since the last question
MOMENT = 0.05  # seconds
STEP = 2  # passages
PATIENCE = 1.0  # seconds that a batch waits in all
PAUSE_WITHOUT_STORE = 0.5
PAUSE_AFTER_FAILURE = 5.0  # seconds; an embedder that is down is asked again, not hammered


async def embedder_of(db: Database, embedders: Embedders, entity: Entity) -> Embedder | None:
    """The embedder of the model by whose vectors somebody is searched. Raises StoreError."""
    return embedders.named(await db.read(lambda conn: vectors_rows.model_of(conn, entity)))


async def embed(embedder: Embedder, passages: Sequence[Unembedded]) -> dict[Entity, list[tuple[int, Vectors]]]:
    """A vector of each passage, by whose it is. Raises EmbedderError."""
    vectors = await embed_each(embedder, [embedding_text(passage.text, passage.speaker) for passage in passages])
    by_entity: dict[Entity, list[tuple[int, Vectors]]] = {}
    for passage, vector in zip(passages, vectors, strict=True):
        by_entity.setdefault(passage.entity, []).append((passage.passage_id, vector))
    return by_entity


async def vectors_of(embedder: Embedder | None, drafts: Sequence[FactDraft]) -> Vectors | None:
    """A vector a draft; None where there are none to be had: stored without, the indexer catches up."""
    if embedder is None or not drafts:
        return None
    try:
        return await embed_each(
            embedder, [embedding_text(draft.text, speaker_of(draft.source_role)) for draft in drafts]
        )
    except EmbedderError:
        return None


class Indexer:
    """Gives vectors to passages that have none, newest entity's first, for as long as the server runs."""

    def __init__(self, db: Database, embedders: Embedders, quiet: Callable[[], float] = lambda: math.inf) -> None:
        """`quiet` tells for how many seconds nobody has asked anything."""
        self._db = db
        self._embedders = embedders
        self._quiet = quiet
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._hurry = asyncio.Event()  # somebody waits
        self.failing: str | None = None  # why no vectors are made at the moment

    def wake(self) -> None:
        """There may be new passages."""
        self._idle.clear()
        self._wake.set()

    async def idle(self) -> None:
        """Wait until every passage has a vector (or making them fails)."""
        if not self._idle.is_set():
            self._hurry.set()
        await self._idle.wait()

    async def run(self) -> None:
        """Work until cancelled."""
        self.wake()
        while True:
            await self._wake.wait()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), PAUSE)
            self._wake.clear()
            try:
                await self.catch_up(gently=True)
                self.failing = None
            except StoreError as error:  # `ready` tells of it by itself, and it may be over in a moment
                log.warning("passages wait for the database: %s", type(error).__name__)
                self._idle.set()
                await asyncio.sleep(PAUSE_WITHOUT_STORE)
                self.wake()
                continue
            except Exception as error:  # whatever it is, words go on being found and the next try is in a moment
                self.failing = type(error).__name__
                where = "" if isinstance(error, MemproxyError) else f" at {places(error)}"
                log.warning("passages wait for their vectors: %s%s", self.failing, where)
                self._idle.set()
                await asyncio.sleep(PAUSE_AFTER_FAILURE)
                self.wake()
                continue
            if not self._wake.is_set():
                self._hurry.clear()
                self._idle.set()

    async def step(self) -> int:
        """Embed one batch; how many passages it had. Those of a model that is not at hand wait."""
        waiting = await self._waiting(frozenset())
        for model, vectors in await self._embedded(waiting):
            await self._store(model, vectors)
        return len(waiting)

    async def catch_up(self, told: Callable[[int], None] = lambda count: None, *, gently: bool = False) -> int:
        """Embed all that waits; how many passages that were. A batch is stored while the next one is embedded.

        `told` is given the size of each batch. `gently` gives way to questions. Raises EmbedderError, StoreError.
        """
        made = 0
        storing: asyncio.Task[None] | None = None
        held: frozenset[int] = frozenset()  # what is being stored
        try:
            while waiting := await self._waiting(held):
                vectors = await self._embedded(waiting, gently)
                if storing is not None:
                    await storing
                storing = asyncio.create_task(self._store_all(vectors))
                held = frozenset(passage.passage_id for passage in waiting)
                made += len(waiting)
                told(len(waiting))
            if storing is not None:
                await storing
        finally:
            if storing is not None:
                await asyncio.wait([storing])  # whatever became of the next batch, this one is whole
        return made

    async def _waiting(self, held: frozenset[int]) -> list[Unembedded]:
        """The next batch, without what is held already."""
        current = self._embedders.current
        if current is None:
            return []
        model, earlier = current.info.model, list(self._embedders.earlier)
        found = await self._db.read(lambda conn: search.unembedded(conn, model, BATCH + len(held), earlier))
        return [passage for passage in found if passage.passage_id not in held][:BATCH]

    async def _embedded(self, waiting: Sequence[Unembedded], gently: bool = False) -> list[tuple[str, _Rows]]:
        """The vectors of a batch, by the models that made them."""
        found: list[tuple[str, _Rows]] = []
        until = time.monotonic() + PATIENCE if gently else 0.0
        for name in {passage.model for passage in waiting}:
            embedder = self._embedders.named(name)
            if embedder is not None:
                of_it = [one for one in waiting if one.model == name]
                step = STEP if gently and self._quiet() < LATELY else len(of_it)
                for start in range(0, len(of_it), step):
                    await self._give_way(until)
                    found.append((name, await embed(embedder, of_it[start : start + step])))
        return found

    async def _give_way(self, until: float) -> None:
        """Wait while somebody asks, but not any longer than that, nor where somebody waits for the vectors."""
        while self._quiet() < MOMENT and time.monotonic() < until and not self._hurry.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), MOMENT / 2)

    async def _store_all(self, vectors: Sequence[tuple[str, _Rows]]) -> None:
        for model, rows in vectors:
            await self._store(model, rows)

    async def _store(self, model: str, vectors: _Rows) -> None:
        async def store(conn: Connection) -> None:
            for entity, rows in vectors.items():
                await vectors_rows.add_vectors(conn, entity, model, rows)

        await self._db.write(store)
