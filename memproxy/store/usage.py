"""How much models were used, by entity, day and purpose."""

from __future__ import annotations

from dataclasses import dataclass

from memproxy.interfaces import Connection
from memproxy.model import Entity
from memproxy.store.rows import scoped


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls and tokens of one day for one purpose."""

    day: str  # ISO date
    purpose: str
    calls: int
    input_tokens: int
    output_tokens: int


async def add(
    conn: Connection,
    entity: Entity,
    day: str,
    purpose: str,
    *,
    calls: int = 1,
    input_tokens: int = 0,
    output_tokens: int = 0,
) -> None:
    """Count calls made for an entity."""
    await conn.run(
        "usage_add",
        **scoped(entity),
        day=day,
        purpose=purpose,
        calls=calls,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
    )


async def today(conn: Connection, day: str, purpose: str) -> int:
    """Calls made for all entities on a day: what a daily ceiling is held against."""
    row = await conn.one("usage_today", day=day, purpose=purpose)
    return int(row["calls"]) if row is not None else 0


async def list_usage(
    conn: Connection, entity: Entity, limit: int = 100, after: tuple[str, str] | None = None
) -> list[Usage]:
    """An entity's use, the newest day first, after a place (day, purpose)."""
    day, purpose = after or (None, None)
    place = {"after_day": day, "after_purpose": purpose}
    return [Usage(**row) for row in await conn.all("usage_list", **scoped(entity), limit=limit, **place)]
