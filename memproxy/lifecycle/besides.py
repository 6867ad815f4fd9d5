"""What a block may say beside what was found for a message: read from the store, as far as it is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from memproxy.context.render import NOTHING, Beside
from memproxy.interfaces import Connection, Database
from memproxy.lifecycle.suggesting import suggest
from memproxy.model import Entity
from memproxy.recall.recall import Found
from memproxy.settings import Memory
from memproxy.store import evidence, unasked

MOST_FEELINGS = 5
FEELINGS_FOR = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request calls for."""

    opening: bool = True  # it begins a conversation
    unasked: bool = True  # who the person is is said with it


class Besides:
    """Reads what stands beside. Raises StoreError."""

    def __init__(self, db: Database, memory: Memory) -> None:
        self._db = db
        self._threads = memory.open_threads
        self._feels = memory.emotional
        self._suggests = memory.proactive
        self._quotes = memory.quotes

    async def read(self, entity: Entity, now: datetime, wanted: Wanted, found: Found | None = None) -> Beside:
        """What stands beside what was found. Nothing is asked where there is nothing to ask for."""
        quoting = [fact for fact in found.facts.values() if fact.quote] if found is not None and self._quotes else []
        threads = self._threads if wanted.opening and wanted.unasked else 0
        feels = self._feels and wanted.unasked
        suggests = self._suggests and wanted.opening
        if not (quoting or threads or feels or suggests):
            return NOTHING

        async def look(conn: Connection) -> Beside:
            return Beside(
                threads=await evidence.open_threads(conn, entity, threads) if threads else (),
                feelings=await unasked.feelings(conn, entity, now - FEELINGS_FOR, MOST_FEELINGS) if feels else (),
                suggestions=suggest(entity, await unasked.noteworthy(conn, entity), now) if suggests else (),
                quotable=await unasked.quotable(conn, entity, quoting) if quoting else (),
            )

        return await self._db.read(look)
