"""What is behind a fact, what it replaced and which conversations said it again; and what is not settled yet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memproxy.interfaces import Connection
from memproxy.model import Entity, Fact, Turn
from memproxy.store import facts, turns
from memproxy.store.facts import FactChange, from_row
from memproxy.store.rows import scoped, to_time

NOT_TOLD = ("forgotten", "quarantined")


@dataclass(frozen=True, slots=True)
class Repetition:
    """A session in which a fact was said again, and when."""

    session_id: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Behind:
    """A fact and why it is believed."""

    fact: Fact
    turn: Turn | None  # that its quote stands in
    repetitions: list[Repetition]
    supersedes: list[Fact]  # what it took the place of, its own earlier wordings too; the newest first
    superseded_by: Fact | None
    history: list[FactChange]


async def behind(conn: Connection, entity: Entity, fact: Fact) -> Behind:
    """All that stands behind a fact. What has been forgotten is not among it."""
    after = await facts.get(conn, entity, fact.superseded_by) if fact.superseded_by else None
    return Behind(
        fact,
        await turns.get(conn, entity, fact.turn_id) if fact.turn_id else None,
        await repetitions(conn, entity, fact.id),
        [past for past in await superseded_by(conn, entity, fact.id) if past.status not in NOT_TOLD],
        after if after is not None and after.status not in NOT_TOLD else None,
        await facts.changes(conn, entity, fact.id),
    )


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
