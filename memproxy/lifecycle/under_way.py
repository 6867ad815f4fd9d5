"""One import under way. It is many transactions; whoever is erased between two of them stays erased."""

from __future__ import annotations

from dataclasses import dataclass

from memproxy.errors import Problem
from memproxy.interfaces import Connection
from memproxy.model import Entity
from memproxy.store import archive


@dataclass(slots=True)
class UnderWay:
    """What an import has brought so far, by which an erasure shows: conversations do not go alone."""

    begun: bool = False
    session_id: str | None = None  # one that it brought

    async def check(self, conn: Connection, entity: Entity) -> None:
        """To be asked in each transaction, before it writes. Raises Problem 409 where the entity was erased since."""
        if not self.begun:
            return
        there = await archive.one(conn, entity, "entity") is not None
        if there and self.session_id is not None:
            there = bool(await archive.there(conn, entity, "sessions", [self.session_id]))
        if not there:
            raise Problem(409, "Erased meanwhile", "What was brought in is gone, and the rest was left out.")

    def brought(self, session_id: str | None = None) -> None:
        """A transaction was written."""
        self.begun = True
        self.session_id = self.session_id or session_id
