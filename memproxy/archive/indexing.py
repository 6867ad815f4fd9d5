"""What was brought back, made findable: passages of turns as their facts now allow, of facts, and of summaries."""

from __future__ import annotations

from datetime import datetime

from memproxy.interfaces import Connection, Database
from memproxy.lifecycle.denials import Denials
from memproxy.lifecycle.indexing import fact_passages, reindex_turn, summary_passages
from memproxy.lifecycle.worker import EXTRACT
from memproxy.model import Entity
from memproxy.store import archive, denied, facts, jobs, passages, summaries, turns

STEP = 100  # rows in one transaction


async def index(db: Database, entity: Entity, secret: bytes) -> None:
    """Give passages to all rows of an entity that could be searched and have none. Begun again, it goes on."""
    for table in ("turns", "facts", "summaries"):
        after: str | None = ""
        while after is not None:
            after = await db.write(lambda conn: _step(conn, entity, secret, table, after or ""))  # noqa: B023 - awaited


async def _step(conn: Connection, entity: Entity, secret: bytes, table: str, after: str) -> str | None:
    """One page; where to go on, or None at the end."""
    found = await archive.unindexed(conn, entity, table, after, STEP)
    known = await denied.words(conn, entity) if table == "summaries" and found else {}
    for row in found:
        if table == "turns":
            await reindex_turn(conn, entity, turns.from_row(row))
        elif table == "facts":
            await passages.add(conn, entity, fact_passages(facts.from_row(row)))
        else:
            summary = summaries.from_row(row)
            if known and Denials(secret, entity).spans(summary.text, known):
                await summaries.delete(conn, entity, summary.id)
            else:
                await passages.add(conn, entity, summary_passages(summary))
    return str(found[-1]["id"]) if found else None


async def learn_later(conn: Connection, entity: Entity, now: datetime) -> None:
    """What still waits to be learned from waits here."""
    for session_id in await archive.waiting(conn, entity):
        await jobs.enqueue(conn, entity, EXTRACT, session_id, now, None, now)
