"""Answers to writes that may be sent again, by their Idempotency-Key: for a day, and no longer than what they tell of.

An answer shows rows as they were. Once any row of its entity is forgotten or erased, nobody knows which answers told of
it: the bodies of all that have words go, in the same transaction, and so does what an answer under way would put there.
That the write was done is remembered.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from memproxy.interfaces import Connection
from memproxy.model import DEFAULT_TENANT, Entity
from memproxy.store.rows import scoped, to_time

KEPT = timedelta(hours=24)
NOBODY = ""  # the entity of what is of no entity; no entity is called so


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer is kept."""

    entity: str
    key: str  # keyed hash of who wrote, and under which Idempotency-Key

    def columns(self) -> dict[str, str]:
        """The key of its row."""
        return {"tenant": DEFAULT_TENANT, "entity": self.entity, "key": self.key}


@dataclass(frozen=True, slots=True)
class Answered:
    """What was answered."""

    request: str  # keyed hash
    status: int
    body: bytes | None  # None: no longer known


async def get(conn: Connection, place: Place, now: datetime) -> Answered | None:
    """The answer that was given, if that was within a day."""
    row = await conn.one("answered_get", **place.columns())
    if row is None or row["status"] is None or to_time(row["time"]) <= now - KEPT:
        return None
    return Answered(row["request"], row["status"], row["body"])


async def begin(conn: Connection, place: Place, request: str, now: datetime, *, words: bool) -> None:
    """A write is under way. `words`: its answer says something that was said."""
    await conn.run("answered_begin", **place.columns(), request=request, body=b"", words=int(words), now=now)


async def finish(conn: Connection, place: Place, status: int, body: bytes) -> None:
    """Keep its answer, as far as nothing that it may tell of went meanwhile; nothing where its entity was erased."""
    await conn.run("answered_finish", **place.columns(), status=status, body=body)


async def give_up(conn: Connection, place: Place) -> None:
    """It was refused: as if it had never been sent."""
    await conn.run("answered_give_up", **place.columns())


async def silence(conn: Connection, entity: Entity) -> int:
    """Let go of what was answered about an entity; how many answers that were."""
    return await conn.run("answered_silence", **scoped(entity))


async def prune(conn: Connection, now: datetime) -> int:
    """Remove what is older than a day; how many."""
    return await conn.run("answered_prune", before=now - KEPT)
