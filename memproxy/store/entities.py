"""Whose memories there are. Every write for an entity begins with `ensure`: other rows refer to its row."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from memproxy.interfaces import Connection
from memproxy.model import Entity
from memproxy.store import meta
from memproxy.store.rows import scoped, to_time

SHARED = "default"  # the one entity of a machine on which nobody was ever named
_NAMED_SEEN = "named_entity_seen"


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity in a list, with what it has."""

    name: str
    turns: int
    facts: int  # current ones
    sessions: int
    first_seen: datetime
    last_seen: datetime


async def ensure(conn: Connection, entity: Entity, now: datetime) -> None:
    """Know the entity, and that it was active now."""
    # A revision begins anywhere: somebody who was erased and comes back does not meet copies of who they were.
    await conn.run("entities_ensure", **scoped(entity), now=now, revision=secrets.randbelow(1 << 31))
    if entity.name != SHARED:
        await conn.run("meta_put_new", key=_NAMED_SEEN, value="1")


async def know(conn: Connection, entity: Entity, first_seen: datetime, last_seen: datetime) -> None:
    """Know an entity that was seen before, elsewhere."""
    seen = {"first_seen": first_seen, "last_seen": last_seen}
    await conn.run("archive_entity_put", **scoped(entity), **seen, revision=secrets.randbelow(1 << 31))
    if entity.name != SHARED:
        await conn.run("meta_put_new", key=_NAMED_SEEN, value="1")


async def named_seen(conn: Connection) -> bool:
    """Whether an entity other than the shared one was ever known, even if it has been erased since."""
    return await meta.get(conn, _NAMED_SEEN) is not None


async def list_entities(conn: Connection, tenant: str, limit: int, after: str | None = None) -> list[EntityRow]:
    """Entities by name, beginning after the given one."""
    rows = await conn.all("entities_list", tenant=tenant, limit=limit, after=after)
    return [
        EntityRow(
            name=row["name"],
            turns=row["turns"],
            facts=row["facts"],
            sessions=row["sessions"],
            first_seen=to_time(row["first_seen"]),
            last_seen=to_time(row["last_seen"]),
        )
        for row in rows
    ]


async def counts(conn: Connection, entity: Entity) -> dict[str, int]:
    """Rows by kind: turns, facts (current), sessions, summaries, passages, vectors, jobs (not done), receipts."""
    row = await conn.one("entities_count", **scoped(entity))
    return dict(row) if row is not None else {}
