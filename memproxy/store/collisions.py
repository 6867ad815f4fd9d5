"""Collisions of facts that exclude each other: open, settled with a side, or gone by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memproxy.interfaces import Connection, Row
from memproxy.model import Entity, new_id
from memproxy.store.rows import scoped, to_time, to_time_or_none

CollisionStatus = Literal["open", "settled", "resolved"]


@dataclass(frozen=True, slots=True)
class Collision:
    """A subject on several sides of a family."""

    id: str
    family: str
    subject: str
    status: CollisionStatus
    kept_side: str | None
    note: str | None
    created_at: datetime
    updated_at: datetime
    settled_at: datetime | None


async def list_collisions(conn: Connection, entity: Entity) -> list[Collision]:
    """All of them, the newest first."""
    return [_from_row(row) for row in await conn.all("collisions_list", **scoped(entity))]


async def get(conn: Connection, entity: Entity, collision_id: str) -> Collision | None:
    """One collision."""
    row = await conn.one("collisions_get", **scoped(entity), id=collision_id)
    return None if row is None else _from_row(row)


async def raise_new(conn: Connection, entity: Entity, family: str, subject: str, now: datetime) -> bool:
    """Open a collision unless it is known (one that was gone by itself opens again); whether that opened it."""
    return bool(
        await conn.run("collisions_raise", **scoped(entity), id=new_id(), family=family, subject=subject, now=now)
    )


async def set_status(
    conn: Connection,
    entity: Entity,
    collision_id: str,
    status: CollisionStatus,
    now: datetime,
    kept_side: str | None = None,
    note: str | None = None,
) -> bool:
    """Settle with a side, or note that it is gone; whether there was one."""
    return bool(
        await conn.run(
            "collisions_set_status",
            **scoped(entity),
            id=collision_id,
            status=status,
            kept_side=kept_side,
            note=note,
            settled_at=now if status == "settled" else None,
            now=now,
        )
    )


def _from_row(row: Row) -> Collision:
    values = {name: row[name] for name in Collision.__dataclass_fields__}
    values["created_at"] = to_time(values["created_at"])
    values["updated_at"] = to_time(values["updated_at"])
    values["settled_at"] = to_time_or_none(values["settled_at"])
    return Collision(**values)
