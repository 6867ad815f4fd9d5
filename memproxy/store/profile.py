"""What is known of a person in structured form: entries by field and key, each with what says so. History is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from memproxy.interfaces import Connection, Row
from memproxy.model import Entity, new_id
from memproxy.store.rows import scoped, to_time, to_time_or_none

SHOWN = "profile:"  # before the id of an entry that stands in a block
Value = str | Mapping[str, str]  # a name, or a record


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """One entry: of a list (a name) or of records, under a key of its field."""

    id: str
    field: str
    key: str
    value: Value
    fact_id: str | None  # the fact that says so; None: written by hand
    recorded_at: datetime
    removed_at: datetime | None

    @property
    def text(self) -> str:
        """What it says, in words."""
        if isinstance(self.value, str):
            return self.value
        named = self.value.get("name") or self.value.get("key") or ""
        more = [f"{part} {said}" for part, said in self.value.items() if part not in ("name", "key") and said]
        return f"{named} ({', '.join(more)})" if more else named

    @property
    def shown_id(self) -> str:
        """The id it has in a block, where it stands as a fact does."""
        return f"{SHOWN}{self.id}"


async def current(conn: Connection, entity: Entity) -> list[ProfileEntry]:
    """The entries that hold. One whose fact is no longer current does not."""
    return [_from_row(row) for row in await conn.all("profile_current", **scoped(entity))]


async def by_hand(conn: Connection, entity: Entity) -> list[ProfileEntry]:
    """The entries that hold and that no fact says."""
    return [_from_row(row) for row in await conn.all("profile_by_hand", **scoped(entity))]


async def history(
    conn: Connection, entity: Entity, field: str | None = None, limit: int = 500, after: str | None = None
) -> list[ProfileEntry]:
    """What ever held, the newest first, beginning after the entry with the given id."""
    rows = await conn.all("profile_history", **scoped(entity), field=field, limit=limit, after=after)
    return [_from_row(row) for row in rows]


async def put(
    conn: Connection, entity: Entity, field: str, key: str, value: Value, fact_id: str | None, now: datetime
) -> bool:
    """Set an entry; the one before is closed. The same value again changes nothing. Whether anything changed."""
    row = await conn.one("profile_get", **scoped(entity), field=field, key=key)
    if row is not None and json.loads(row["value"]) == value and row["fact_id"] == fact_id:
        return False
    if row is not None:
        await remove(conn, entity, field, key, now)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    await conn.run(
        "profile_add", **scoped(entity), id=new_id(), field=field, key=key, value=text, fact_id=fact_id, now=now
    )
    return True


async def remove(conn: Connection, entity: Entity, field: str, key: str, now: datetime) -> bool:
    """Close the entry under a key; whether there was one."""
    return await conn.run("profile_close", **scoped(entity), field=field, key=key, now=now) > 0


def _from_row(row: Row) -> ProfileEntry:
    return ProfileEntry(
        row["id"],
        row["field"],
        row["key"],
        json.loads(row["value"]),
        row["fact_id"],
        to_time(row["recorded_at"]),
        to_time_or_none(row["removed_at"]),
    )
