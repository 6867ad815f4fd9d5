"""Vectors of a new model, made beside the old ones, which serve until somebody's are complete.

One person after the other is brought over, each at once: whoever speaks is found by one model or by the other, never by
half of both. What was made is stored batch by batch, and whoever is interrupted goes on there.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from memproxy.embedders.live import Embedders
from memproxy.errors import MemproxyError, StoreError, places
from memproxy.interfaces import Connection, Database
from memproxy.lifecycle.embedding import PAUSE_WITHOUT_STORE, Indexer, embed
from memproxy.model import Entity
from memproxy.store import reembedding as rows
from memproxy.store import vectors as vectors_rows

log = logging.getLogger(__name__)

BATCH = 128
PAUSE_AFTER_FAILURE, LONGEST_PAUSE = 5.0, 300.0  # seconds; twice as long after each failure


@dataclass(slots=True)
class Progress:
    """How far it is, in passages, of those that were counted."""

    total: int = 0
    done: int = 0


class Reembedder:
    """Brings whoever is searched by an earlier model over to the configured one."""

    def __init__(self, db: Database, embedders: Embedders) -> None:
        self._db = db
        self._embedders = embedders
        self._entity: Entity | None = None  # who is being brought over
        self._after = 0  # the last passage of theirs that was looked at
        self.progress = Progress()
        self.failing: str | None = None  # why no vectors are made at the moment

    async def count(self, entity: Entity | None = None) -> Progress:
        """See how much there is to do, and how much of it was done before. Raises StoreError."""
        model = self._model()
        if entity is not None:
            total = await self._db.read(lambda conn: rows.left(conn, entity, model))
            done = await self._db.read(lambda conn: rows.staged_of(conn, entity, model))
        else:
            found = await self._db.read(rows.models)
            total = sum(found.get(name, 0) for name in self._embedders.replaced)
            done = await self._db.read(lambda conn: rows.staged(conn, model))
        self.progress = Progress(total, min(done, total))
        return self.progress

    async def run(self, indexer: Indexer) -> None:
        """Work until nobody is left; what was said just now goes ahead. Never raises (but for cancellation)."""
        pause = PAUSE_AFTER_FAILURE
        while True:
            await indexer.idle()
            try:
                if not await self.step():
                    return
            except StoreError:
                await asyncio.sleep(PAUSE_WITHOUT_STORE)
            except Exception as error:  # whatever it is, the old vectors go on serving and the next try is in a moment
                self.failing = str(error) if isinstance(error, MemproxyError) else type(error).__name__
                where = self.failing if isinstance(error, MemproxyError) else f"{self.failing} at {places(error)}"
                log.warning("vectors are not made anew for now: %s", where)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                self.failing, pause = None, PAUSE_AFTER_FAILURE

    async def step(self, only: Entity | None = None) -> bool:
        """One batch of somebody's (`only` of one entity); False where nothing is left to do.

        Raises StoreError, EmbedderError.
        """
        if self._entity is None:
            self._entity, self._after = await self._next(only), 0
        if self._entity is None:
            if only is None:
                await self._finish()
            return False
        entity, embedder, model = self._entity, self._embedders.current, self._model()
        assert embedder is not None
        waiting = await self._db.read(lambda conn: rows.unstaged(conn, entity, model, self._after, BATCH))
        if waiting:
            made = (await embed(embedder, waiting)).get(entity, [])
            await self._db.write(lambda conn: rows.stage(conn, entity, model, made))
            self._after = waiting[-1].passage_id
            self.progress.done = min(self.progress.done + len(waiting), self.progress.total)
        elif await self._db.write(lambda conn: rows.switch(conn, entity, model)):
            self._entity = None
        else:
            self._after = 0  # something was said meanwhile
        return True

    async def _next(self, only: Entity | None) -> Entity | None:
        if only is None:
            return await self._db.read(lambda conn: rows.somebody(conn, self._embedders.replaced))
        model = self._model()
        return only if await self._db.read(lambda conn: rows.behind(conn, only, model)) else None

    async def _finish(self) -> None:
        async def finish(conn: Connection) -> None:
            await rows.sweep(conn)
            await vectors_rows.drop_unused_indexes(conn)

        if self._embedders.replaced:
            await self._db.write(finish)
            await self._embedders.retire()

    def _model(self) -> str:
        assert self._embedders.current is not None
        return self._embedders.current.info.model
