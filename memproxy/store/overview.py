"""What is read to look a memory over: conversations, receipts, what happened when, how it grew, how it is kept.

Lists go on after a place in their order, not after a row: a row may move or go meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memproxy.interfaces import Connection
from memproxy.model import Entity, Fact, FactStatus
from memproxy.store.facts import from_row as fact
from memproxy.store.rows import scoped, to_time
from memproxy.store.usage import Usage

TimelineKind = Literal["fact", "summary", "change"]
DatedBy = Literal["reference_time", "started_at", "valid_from", "said_at", "superseded_at"]


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A conversation in a list."""

    id: str
    name: str | None
    started_at: datetime
    last_at: datetime
    turns: int
    opening: str | None  # the beginning of what the person said first


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """A receipt in a list."""

    request_id: str
    session_id: str | None
    time: datetime
    tokens: int
    items: int


@dataclass(frozen=True, slots=True)
class Happening:
    """Something with a date: a fact, a conversation that was summed up, or a statement that lost its place."""

    kind: TimelineKind
    id: str
    text: str
    status: FactStatus | None  # of a fact; None: a summary
    time: datetime
    dated_by: DatedBy
    by_id: str | None  # of a change: what took the place
    by_text: str | None


@dataclass(frozen=True, slots=True)
class Day:
    """What was stored on one day."""

    day: str  # ISO date, UTC
    turns: int
    facts: int


@dataclass(frozen=True, slots=True)
class Condition:
    """A fact as far as looking after a memory needs it."""

    id: str
    status: FactStatus
    pinned: bool
    recall_count: int
    recorded_at: datetime
    recalled_at: datetime  # or recorded, where it never was
    said_at: datetime
    terms: str | None  # of its passage; None where it is not searched


async def sessions(
    conn: Connection, entity: Entity, limit: int, after: tuple[str, str] | None = None
) -> list[SessionRow]:
    """Conversations, the most recent first, after a place (`last_at`, id)."""
    return await _sessions(conn, entity, None, limit, after)


async def session(conn: Connection, entity: Entity, session_id: str) -> SessionRow | None:
    """One conversation."""
    return next(iter(await _sessions(conn, entity, session_id, 1, None)), None)


async def _sessions(
    conn: Connection, entity: Entity, session_id: str | None, limit: int, after: tuple[str, str] | None
) -> list[SessionRow]:
    time, row_id = after or (None, None)
    place = {"after_time": time, "after_id": row_id}
    rows = await conn.all("overview_sessions", **scoped(entity), id=session_id, limit=limit, **place)
    return [
        SessionRow(**{**row, "started_at": to_time(row["started_at"]), "last_at": to_time(row["last_at"])})
        for row in rows
    ]


async def moments(conn: Connection, entity: Entity, valence: str | None, limit: int) -> list[Fact]:
    """Current facts that were said with feeling (of this kind), the strongest first."""
    return [fact(row) for row in await conn.all("overview_moments", **scoped(entity), valence=valence, limit=limit)]


async def receipts(
    conn: Connection, entity: Entity, session_id: str | None, limit: int, after: tuple[str, str] | None = None
) -> list[ReceiptRow]:
    """Receipts of a conversation or of all, the newest first, after a place (time, request id)."""
    time, row_id = after or (None, None)
    place = {"after_time": time, "after_id": row_id}
    rows = await conn.all("overview_receipts", **scoped(entity), session_id=session_id, limit=limit, **place)
    return [ReceiptRow(**{**row, "time": to_time(row["time"])}) for row in rows]


async def timeline(
    conn: Connection,
    entity: Entity,
    *,
    since: datetime | None,
    until: datetime | None,
    newest: bool,
    limit: int,
    after: tuple[str, str, str] | None = None,
) -> list[Happening]:
    """What happened from one moment until before another, in order or (`newest`) backwards, after a place (time, kind,
    id)."""
    time, kind, row_id = after or (None, None, None)
    rows = await conn.all(
        "overview_timeline",
        **scoped(entity),
        since=since,
        until=until,
        newest=int(newest),
        after_time=time,
        after_kind=kind,
        after_id=row_id,
        limit=limit,
    )
    return [Happening(**{**row, "time": to_time(row["time"])}) for row in rows]


async def growth(conn: Connection, entity: Entity, since: datetime) -> list[Day]:
    """What was stored on each day since a moment; days without anything are left out."""
    return [Day(**row) for row in await conn.all("overview_growth", **scoped(entity), since=since)]


async def conditions(conn: Connection, entity: Entity) -> list[Condition]:
    """Every current, expired and quarantined fact, the newest first."""
    times = ("recorded_at", "recalled_at", "said_at")
    return [
        Condition(**{**row, "pinned": bool(row["pinned"]), **{name: to_time(row[name]) for name in times}})
        for row in await conn.all("overview_condition", **scoped(entity))
    ]


async def used_on(conn: Connection, day: str) -> list[Usage]:
    """What models were used for on a day, by all entities together."""
    return [Usage(day, **row) for row in await conn.all("usage_of_day", day=day)]


async def queue(conn: Connection) -> dict[str, dict[str, int]]:
    """How many unfinished jobs there are, by kind and state."""
    found: dict[str, dict[str, int]] = {}
    for row in await conn.all("jobs_queue"):
        found.setdefault(row["kind"], {})[row["state"]] = row["jobs"]
    return found
