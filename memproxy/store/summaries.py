"""Summaries: of past conversations, and of stretches of long ones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memproxy.interfaces import Connection, Row
from memproxy.model import Entity
from memproxy.store import answered, passages, receipts
from memproxy.store.rows import scoped, to_time

# Of a whole conversation (recalled for other ones), of a stretch of one, of its older stretches together (shown in it).
SummaryKind = Literal["conversation", "range", "overview"]

# What makes a conversation one whose summary is kept: something that weighty, said with that much feeling.
PEAK_WEIGHT = 0.7
PEAK_SIGNIFICANCE = 7
_PRUNED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Summary:
    """What a conversation, or a stretch of one, was about."""

    id: str
    session_id: str | None
    text: str
    started_at: datetime  # of the conversation
    ended_at: datetime
    created_at: datetime
    kind: SummaryKind = "conversation"
    first_seq: int = 0  # the turns it tells of
    last_seq: int = 0


def from_row(row: Row) -> Summary:
    """The single door from the table."""
    return Summary(
        id=row["id"],
        session_id=row["session_id"],
        text=row["text"],
        started_at=to_time(row["started_at"]),
        ended_at=to_time(row["ended_at"]),
        created_at=to_time(row["created_at"]),
        kind=row["kind"],
        first_seq=row["first_seq"],
        last_seq=row["last_seq"],
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
        kind=summary.kind,
        first_seq=summary.first_seq,
        last_seq=summary.last_seq,
    )


async def get(conn: Connection, entity: Entity, summary_id: str) -> Summary | None:
    """One summary."""
    row = await conn.one("summaries_get", **scoped(entity), id=summary_id)
    return None if row is None else from_row(row)


async def list_summaries(
    conn: Connection, entity: Entity, limit: int, after: tuple[str, str] | None = None
) -> list[Summary]:
    """Summaries, the most recent conversation first, after a place (`ended_at`, id)."""
    time, row_id = after or (None, None)
    place = {"after_time": time, "after_id": row_id}
    return [from_row(row) for row in await conn.all("summaries_list", **scoped(entity), limit=limit, **place)]


async def of_session(conn: Connection, entity: Entity, session_id: str) -> list[Summary]:
    """The summaries of one conversation, in the order of the turns they tell of."""
    return [from_row(row) for row in await conn.all("summaries_of_session", **scoped(entity), session_id=session_id)]


async def prune(conn: Connection, before: datetime) -> int:
    """Remove summaries of conversations that ended before a moment; how many. Those of peak moments stay."""
    rows = await conn.all(
        "summaries_old",
        before=before,
        weight=PEAK_WEIGHT,
        significance=PEAK_SIGNIFICANCE,
        limit=_PRUNED_AT_ONCE,
    )
    for row in rows:
        await delete(conn, Entity(row["entity"], row["tenant"]), row["id"])
    return len(rows)


async def delete(conn: Connection, entity: Entity, summary_id: str) -> bool:
    """Remove a summary with its passages, and its words from receipts; whether there was one."""
    await answered.silence(conn, entity)
    await passages.remove(conn, entity, "summary", summary_id)
    await receipts.redact(conn, entity, "summary", summary_id)
    return await conn.run("summaries_delete", **scoped(entity), id=summary_id) > 0
