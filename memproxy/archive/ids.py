"""Which ids rows have where they are brought: their own, or new ones where somebody else has theirs already.

A new id is made of the old one and of whose it becomes, so that it is the same each time a file is read, and ids still
sort by the moment they were made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from memproxy.archive import rows
from memproxy.errors import Problem
from memproxy.interfaces import Connection
from memproxy.model import Entity
from memproxy.store import archive, entities

Renaming = Callable[[str], str]

_ID_FIELDS = frozenset("id session_id parent_id turn_id fact_id stated_id superseded_by".split())
MADE_AT = 12  # hex characters of an id that say when it was made


def kept(id: str) -> str:
    """An id as it is."""
    return id


def renaming(entity: Entity) -> Renaming:
    """New ids for rows that become an entity's."""
    scope = f"{entity.tenant}\0{entity.name}\0".encode("utf-8", "surrogatepass")

    def rename(id: str) -> str:
        return id[:MADE_AT] + hashlib.sha256(scope + id.encode()).hexdigest()[: len(id) - MADE_AT]

    return rename


async def choose(conn: Connection, entity: Entity, found: Sequence[rows.Line]) -> Renaming | None:
    """How the ids of a file whose first rows these are become those of an entity; None: these rows do not say.

    Raises Problem 409 where the entity holds another memory.
    """
    by_table = _ids(found)
    if not by_table:
        return None
    rename = renaming(entity)
    for how in (kept, rename):
        for table, ids in by_table.items():
            if await archive.there(conn, entity, table, [how(id) for id in ids]):
                return how
    if await _holds_something(conn, entity):
        raise Problem(
            409,
            f"{entity.name} holds another memory already",
            "Bring this one in under another name (--entity), or erase what is there first.",
        )
    taken = [await archive.elsewhere(conn, entity, table, ids) for table, ids in by_table.items()]
    return rename if any(taken) else kept


async def _holds_something(conn: Connection, entity: Entity) -> bool:
    counts = await entities.counts(conn, entity)
    if any(counts.get(name) for name in ("sessions", "summaries")):
        return True
    for table in ("facts", "profile_entries"):
        async for _ in archive.pages(conn, entity, table):
            return True
    return False


def _ids(found: Iterable[rows.Line]) -> Mapping[str, list[str]]:
    by_table: dict[str, list[str]] = {}
    for row in found:
        kind = rows.TABLES.get(type(row))
        if kind is not None:
            by_table.setdefault(kind.table, []).append(row.id)  # type: ignore[union-attr]
    return by_table


def renamed(row: Any, how: Renaming) -> Any:
    """A row with the ids that it has where it is brought."""
    if how is kept:
        return row
    changed: dict[str, Any] = {
        name: how(value)
        for name in row.__struct_fields__
        if name in _ID_FIELDS and (value := getattr(row, name)) is not None
    }
    if isinstance(row, rows.FactRow):
        changed["repeated"] = tuple(renamed(one, how) for one in row.repeated)
        changed["history"] = tuple(
            msgspec.structs.replace(change, before=_side(change.before, how), after=_side(change.after, how))
            for change in row.history
        )
    return msgspec.structs.replace(row, **changed)


def _side(fields: Mapping[str, Any], how: Renaming) -> dict[str, Any]:
    return {
        name: how(value) if name in _ID_FIELDS and isinstance(value, str) else value for name, value in fields.items()
    }
