"""What was believed at some moment of the past to be true at some moment: bi-temporal facts, read back.

Nothing is copied when a fact changes: each change leaves what it replaced in `fact_changes`, and a past belief is the
present one with the later changes taken back. (Snodgrass, "Developing Time-Oriented Database Applications in SQL",
1999: valid time is the world's, transaction time the database's.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from memproxy.interfaces import Connection, Row
from memproxy.model import Entity, Fact
from memproxy.store.facts import TIMES, from_row
from memproxy.store.rows import scoped, to_time

_BELIEVED = ("current", "historical", "expired")
_FIELDS = frozenset(field.name for field in fields(Fact))
_MOMENTS = frozenset((*TIMES, "recorded_at", "updated_at"))


async def as_of(conn: Connection, entity: Entity, valid: datetime, txn: datetime) -> list[Fact]:
    """The facts that were believed at `txn` to be true at `valid`, in the order they were learned.

    Each as it stood then. What has been forgotten or erased since was never there: neither comes back.
    """
    later: dict[str, list[Row]] = {}
    for row in await conn.all("facts_changes_since", **scoped(entity), time=txn):
        later.setdefault(row["fact_id"], []).append(row)
    found = []
    for row in await conn.all("facts_all", **scoped(entity)):
        now = from_row(row)
        then = _at(now, later.get(now.id, ())) if now.status in _BELIEVED else None
        if then is not None and then.status in _BELIEVED and _covers(then, valid):
            found.append(then)
    return found


def _at(fact: Fact, later: list[Row] | tuple[()]) -> Fact | None:
    """The fact before later changes (the last one first); None before it was known."""
    for change in later:
        if change["kind"] == "created":
            return None
        fact = replace(fact, **_values(json.loads(change["before"])))
    return fact


def _values(before: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: value for name, value in before.items() if name in _FIELDS}
    for name in values.keys() & _MOMENTS:
        values[name] = to_time(values[name]) if values[name] is not None else None
    if "pinned" in values:
        values["pinned"] = bool(values["pinned"])
    return values


def _covers(fact: Fact, valid: datetime) -> bool:
    begins = fact.valid_from is None or fact.valid_from <= valid
    return begins and (fact.valid_until is None or valid < fact.valid_until)
