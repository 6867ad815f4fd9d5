"""What a person wants of their memory: which kinds of facts are not to be learned, whether anything is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from memproxy.interfaces import Connection
from memproxy.model import Entity
from memproxy.store.rows import scoped


@dataclass(frozen=True, slots=True)
class Preferences:
    """What an entity decided; as it is here until it decides. Nothing of it is retroactive."""

    excluded_tags: tuple[str, ...] = ()  # facts with these tags are not learned
    learning: bool = True  # False: turns are stored and recalled, nothing is learned from them
    memory: bool = True  # False: nothing is recalled, stored or learned
    patterns: bool = True  # False: no facts of type `pattern` are learned


DEFAULT = Preferences()


async def get(conn: Connection, entity: Entity) -> Preferences:
    """What an entity decided."""
    row = await conn.one("preferences_get", **scoped(entity))
    if row is None:
        return DEFAULT
    tags = tuple(json.loads(row["excluded_tags"]))
    return Preferences(tags, bool(row["learning"]), bool(row["memory"]), bool(row["patterns"]))


async def put(conn: Connection, entity: Entity, wanted: Preferences, now: datetime) -> None:
    """Keep what an entity (which is known) decided. Where it ends learning, what waits to be learned from is let go."""
    await conn.run(
        "preferences_put",
        **scoped(entity),
        excluded_tags=json.dumps(list(wanted.excluded_tags)),
        learning=wanted.learning,
        memory=wanted.memory,
        patterns=wanted.patterns,
        now=now,
    )
    if not (wanted.learning and wanted.memory):
        await conn.run("preferences_unlearn", **scoped(entity))
