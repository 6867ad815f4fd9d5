"""Summaries of past conversations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memproxy.interfaces import Connection, Row
from memproxy.model import Entity
from memproxy.store import passages, receipts
from memproxy.store.rows import scoped, to_time


@dataclass(frozen=True, slots=True)
class Summary:
    """What a conversation was about."""

    id: str
    session_id: str | None
    text: str
    started_at: datetime  # of the conversation
    ended_at: datetime
    created_at: datetime


def from_row(row: Row) -> Summary:
    """The single door from the table."""
    return Summary(
        id=row["id"],
        session_id=row["session_id"],
        text=row["text"],
        started_at=to_time(row["started_at"]),
        ended_at=to_time(row["ended_at"]),
        created_at=to_time(row["created_at"]),
    )


async def insert(conn: Connection, entity: Entity, summary: Summary) -> None:
    """Store a summary (its passages are added like any others)."""
    await conn.run(
        "summaries_insert",
        **scoped(entity),
        id=summary.id,
        session_id=summary.session_id,
        text=summary.text,
        started_at=summary.started_at,
        ended_at=summary.ended_at,
        created_at=summary.created_at,
    )


async def get(conn: Connection, entity: Entity, summary_id: str) -> Summary | None:
    """One summary."""
    row = await conn.one("summaries_get", **scoped(entity), id=summary_id)
    return None if row is None else from_row(row)


async def list_summaries(conn: Connection, entity: Entity, limit: int) -> list[Summary]:
    """Summaries, the most recent conversation first."""
    return [from_row(row) for row in await conn.all("summaries_list", **scoped(entity), limit=limit)]


async def delete(conn: Connection, entity: Entity, summary_id: str) -> bool:
    """Remove a summary with its passages, and its words from receipts; whether there was one."""
    await passages.remove(conn, entity, "summary", summary_id)
    await receipts.redact(conn, entity, "summary", summary_id)
    return await conn.run("summaries_delete", **scoped(entity), id=summary_id) > 0
