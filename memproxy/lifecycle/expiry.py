"""Facts whose time has come stop being current: temporary ones, those about a moment, and those with a time to live.

They are kept as `expired`, out of recall, and can be said again. Nothing is read or deleted to find out: the rows say
when they are due.
"""

from __future__ import annotations

from datetime import datetime

from memproxy.interfaces import Connection
from memproxy.lifecycle.learning import withdraw
from memproxy.model import Entity
from memproxy.store import contradictions
from memproxy.store import facts as fact_rows

BATCH = 500


async def expire(conn: Connection, now: datetime, batch: int = BATCH) -> list[tuple[Entity, str]]:
    """Let facts end whose time has come, the longest overdue first; whose they were."""
    ended = []
    for entity, fact_id, due in await fact_rows.due(conn, now, batch):
        fact = await fact_rows.get(conn, entity, fact_id)
        if fact is None:
            continue
        until = due if fact.valid_until is None else min(due, fact.valid_until)
        changed = {"status": "expired", "valid_until": max(until, fact.valid_from or until)}
        await fact_rows.update(conn, entity, fact_id, changed, "its time has come", now, "expired")
        await withdraw(conn, entity, fact_id)
        await contradictions.lapse(conn, entity, fact_id, now)
        ended.append((entity, fact_id))
    return ended
