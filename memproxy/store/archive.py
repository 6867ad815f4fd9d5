"""Rows of an entity as they are, a page at a time, for taking them away and bringing them back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from memproxy.interfaces import Connection, Row
from memproxy.model import Entity
from memproxy.store.rows import scoped

PAGE = 500


async def one(conn: Connection, entity: Entity, what: str) -> Row | None:
    """The one row of an entity in a table that has one for each: `entity` or `preferences`."""
    return await conn.one(f"archive_{what}", **scoped(entity))


async def pages(conn: Connection, entity: Entity, table: str) -> AsyncIterator[list[dict[str, Any]]]:
    """All rows of a table by their ids; turns by their sessions."""
    last: Mapping[str, Any] = {"after": "", "after_seq": 0}
    while rows := await conn.all(f"archive_{table}", **scoped(entity), **last, limit=PAGE):
        found = [dict(row) for row in rows]
        yield found
        if table == "turns":
            last = {"after": found[-1]["session_id"], "after_seq": found[-1]["seq"]}
        else:
            last = {"after": found[-1]["id"]}


async def beside(conn: Connection, entity: Entity, what: str, ids: Sequence[str]) -> dict[str, list[Row]]:
    """What hangs on the given rows, by their ids: `spans`, `changes`, `repeated`, `words`."""
    rows = await conn.all(f"archive_{what}", **scoped(entity), ids=json.dumps(list(ids)))
    of = {"spans": "turn_id", "words": "denied_id"}.get(what, "fact_id")
    return {key: list(part) for key, part in groupby(rows, lambda row: str(row[of]))}


async def there(conn: Connection, entity: Entity, table: str, ids: Sequence[str]) -> set[str]:
    """Which of the ids an entity has in a table."""
    if not ids:
        return set()
    return {
        str(row["id"])
        for row in await conn.all("archive_there", **scoped(entity), table=table, ids=json.dumps(list(ids)))
    }


async def elsewhere(conn: Connection, entity: Entity, table: str, ids: Sequence[str]) -> bool:
    """Whether any of the ids is somebody else's."""
    return await conn.one("archive_elsewhere", **scoped(entity), table=table, ids=json.dumps(list(ids))) is not None


async def put(conn: Connection, entity: Entity, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store rows as they are; those whose place is taken are left out."""
    await conn.many(f"archive_{table}_put", [{**scoped(entity), **row} for row in rows])


async def grow(conn: Connection, entity: Entity, sessions: Sequence[Mapping[str, Any]]) -> None:
    """Sessions that went on elsewhere: their places are given out once."""
    await conn.many("archive_sessions_grow", [{**scoped(entity), **row} for row in sessions])


async def unindexed(conn: Connection, entity: Entity, table: str, after: str, limit: int) -> list[Row]:
    """Rows of turns, facts or summaries that could be searched and have no passage."""
    return await conn.all(f"archive_{table}_unindexed", **scoped(entity), after=after, limit=limit)


async def waiting(conn: Connection, entity: Entity) -> list[str]:
    """The sessions with turns that wait to be learned from."""
    return [str(row["session_id"]) for row in await conn.all("archive_pending_sessions", **scoped(entity))]


async def head(conn: Connection, entity: Entity, session_id: str, key: str) -> None:
    """Note where a session's history stands, and nothing else of it."""
    await conn.run("archive_session_head", **scoped(entity), id=session_id, head=key)
