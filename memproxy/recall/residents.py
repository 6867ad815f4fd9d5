"""The copies in memory of those who spoke last."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from memproxy.embedders.live import Embedders
from memproxy.errors import StoreError
from memproxy.interfaces import Connection, Database
from memproxy.model import EmbedderInfo, Entity
from memproxy.recall.resident import Note, Resident
from memproxy.store import search
from memproxy.store.search import Extent


class Residents:
    """The copies held now, of those who spoke last, `room` passages in all."""

    def __init__(self, db: Database, embedders: Embedders, room: int, note: Note | None = None) -> None:
        self._db = db
        self._embedders = embedders
        self._room = room
        self._note = note
        self._held: OrderedDict[Entity, Resident] = OrderedDict()
        self._loading: dict[Entity, asyncio.Task[None]] = {}

    async def settled(self) -> None:
        """Wait until no copy is being made."""
        await asyncio.gather(*self._loading.values(), return_exceptions=True)

    async def in_step(self, conn: Connection, entity: Entity, extent: Extent) -> Resident | None:
        """The copy of an entity's passages that holds what this snapshot of the database holds, if there is one."""
        resident = self._held.get(entity)
        if resident is None:
            return None
        if resident.embedder == self._info(extent) and await resident.catch_up(conn, extent):
            if entity in self._held:
                self._held.move_to_end(entity)
            return resident
        if self._held.get(entity) is resident:
            del self._held[entity]
        return None

    def speakers(self, entity: Entity) -> frozenset[str]:
        """Who is known by name, as far as is known without asking the database."""
        resident = self._held.get(entity)
        return resident.speakers if resident is not None else frozenset()

    def load(self, entity: Entity, extent: Extent) -> None:
        """Make a copy, behind the scenes, of a memory that has room here."""
        if 0 < extent.passages <= self._room and entity not in self._held and entity not in self._loading:
            self._loading[entity] = asyncio.get_running_loop().create_task(self._load(entity))

    async def _load(self, entity: Entity) -> None:
        async def read(conn: Connection) -> Resident | None:
            extent = await search.extent(conn, entity)
            resident = Resident(entity, extent.revision, self._info(extent), self._note)
            return resident if await resident.catch_up(conn, extent) else None

        try:
            resident = await self._db.snapshot(read)
        except StoreError:
            return  # fail open: the indexes on disk answer, or say what is wrong
        finally:
            self._loading.pop(entity, None)
        if resident is not None:
            self._held[entity] = resident
            while sum(map(len, self._held.values())) > self._room:
                self._held.popitem(last=False)

    def _info(self, extent: Extent) -> EmbedderInfo | None:
        """The model that somebody is searched by, where there is an embedder of it."""
        embedder = self._embedders.named(extent.model)
        return embedder.info if embedder is not None else None

    def drop(self, entity: Entity) -> None:
        """Let go of everything of an entity."""
        self._held.pop(entity, None)
        if loading := self._loading.pop(entity, None):
            loading.cancel()

    async def close(self) -> None:
        """Let go of everything."""
        for entity in [*self._held, *self._loading]:
            self.drop(entity)
