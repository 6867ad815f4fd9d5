"""Contradictions that nobody has decided yet, and those that were: open, held, resolved with a named winner."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memproxy.interfaces import Connection, Row
from memproxy.model import Entity, Fact, new_id
from memproxy.store.rows import scoped, to_time, to_time_or_none

ContradictionStatus = Literal["open", "held", "resolved"]
Decision = Literal["user_stated", "stored", "neither"]


@dataclass(frozen=True, slots=True)
class Signal:
    """Something was said against a fact, and who or what noticed."""

    fact: Fact
    stated: Fact
    kind: str  # correction (of what the person put in writing), doubtful (the extractor was not sure), inline
    gate_path: str  # model, rules, inline
    gate_similarity: float | None
    gate_reason: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A signal as it is kept."""

    id: str
    fact_id: str
    stated_id: str
    kind: str
    status: ContradictionStatus
    decision: Decision | None
    note: str | None
    held_value: str | None
    repeat_count: int
    gate_path: str
    gate_similarity: float | None
    gate_reason: str
    created_at: datetime  # when it was first seen
    updated_at: datetime
    resolved_at: datetime | None
    stored: str  # the texts of both sides, as they are now
    stated: str
    slot: str | None


async def signal(conn: Connection, entity: Entity, found: Signal, now: datetime) -> bool:
    """Open a contradiction, or count that it was seen again (what was decided stays so); whether it is a new one."""
    known = await conn.run(
        "contradictions_repeat", **scoped(entity), fact_id=found.fact.id, stated_id=found.stated.id, now=now
    )
    if known:
        return False
    await conn.run(
        "contradictions_insert",
        **scoped(entity),
        id=new_id(),
        fact_id=found.fact.id,
        stated_id=found.stated.id,
        kind=found.kind,
        gate_path=found.gate_path,
        gate_similarity=found.gate_similarity,
        gate_reason=found.gate_reason,
        now=now,
    )
    return True


async def get(conn: Connection, entity: Entity, contradiction_id: str) -> Contradiction | None:
    """One contradiction."""
    row = await conn.one("contradictions_get", **scoped(entity), id=contradiction_id)
    return None if row is None else _from_row(row)


async def list_contradictions(
    conn: Connection,
    entity: Entity,
    statuses: Sequence[str] = ("open",),
    limit: int = 100,
    after: str | None = None,
) -> list[Contradiction]:
    """Contradictions, the newest first, beginning after the one with the given id."""
    rows = await conn.all(
        "contradictions_list", **scoped(entity), statuses=json.dumps(list(statuses)), limit=limit, after=after
    )
    return [_from_row(row) for row in rows]


async def counts(conn: Connection, entity: Entity) -> dict[str, int]:
    """How many there are of each status."""
    return {row["status"]: row["number"] for row in await conn.all("contradictions_counts", **scoped(entity))}


async def set_status(
    conn: Connection,
    entity: Entity,
    contradiction_id: str,
    status: ContradictionStatus,
    now: datetime,
    *,
    decision: Decision | None = None,
    note: str | None = None,
    held_value: str | None = None,
) -> bool:
    """Hold, resolve or open again; whether there was one."""
    return bool(
        await conn.run(
            "contradictions_set_status",
            **scoped(entity),
            id=contradiction_id,
            status=status,
            decision=decision,
            note=note,
            held_value=held_value,
            resolved_at=now if status == "resolved" else None,
            now=now,
        )
    )


async def lapse(conn: Connection, entity: Entity, fact_id: str, now: datetime) -> int:
    """The value of a fact moved: what was held on it is open again; how many holds lapsed."""
    return await conn.run("contradictions_lapse", **scoped(entity), fact_id=fact_id, now=now)


async def overtaken(conn: Connection, entity: Entity, fact_id: str, now: datetime) -> int:
    """What was noticed in passing against a fact has been learned since; how many contradictions that decides."""
    return await conn.run("contradictions_overtaken", **scoped(entity), fact_id=fact_id, now=now)


def _from_row(row: Row) -> Contradiction:
    values = {name: row[name] for name in Contradiction.__dataclass_fields__}
    values["created_at"] = to_time(values["created_at"])
    values["updated_at"] = to_time(values["updated_at"])
    values["resolved_at"] = to_time_or_none(values["resolved_at"])
    return Contradiction(**values)
