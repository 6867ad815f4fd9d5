"""What is behind a fact, what it replaced and which conversations said it again; and what is not settled yet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memproxy.interfaces import Connection
from memproxy.model import Entity, Fact
from memproxy.store.facts import from_row
from memproxy.store.rows import scoped, to_time


@dataclass(frozen=True, slots=True)
class Repetition:
    """A session in which a fact was said again, and when."""

    session_id: str
    time: datetime


async def superseded_by(conn: Connection, entity: Entity, fact_id: str) -> list[Fact]:
    """The facts whose place this one took, and its own earlier wordings, the newest first."""
    return [from_row(row) for row in await conn.all("facts_superseded_by", **scoped(entity), id=fact_id)]


async def repetitions(conn: Connection, entity: Entity, fact_id: str) -> list[Repetition]:
    """The sessions that said a fact again, in order."""
    rows = await conn.all("facts_repeated_in", **scoped(entity), fact_id=fact_id)
    return [Repetition(row["session_id"], to_time(row["time"])) for row in rows]


async def open_threads(conn: Connection, entity: Entity, limit: int) -> list[Fact]:
    """What is not settled yet: the weightiest first, then the oldest."""
    return [from_row(row) for row in await conn.all("facts_threads", **scoped(entity), limit=limit)]


async def with_letters(conn: Connection, entity: Entity, letters: str) -> list[Fact]:
    """The facts of any status in whose text these letters stand, case aside (of ASCII)."""
    return [from_row(row) for row in await conn.all("facts_with_letters", **scoped(entity), letters=letters)]
