"""What a person denied: never to be learned again. Kept as keyed hashes; the words themselves are nowhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from memproxy.interfaces import Connection
from memproxy.model import Entity, new_id
from memproxy.store.rows import scoped, to_time

Words = Mapping[str, int]  # keyed hashes, each with the number of content words it stands for; 0: a whole statement


@dataclass(frozen=True, slots=True)
class Denial:
    """That something was denied, and when."""

    id: str
    denied_at: datetime


async def put(conn: Connection, entity: Entity, words: Words, now: datetime) -> Denial:
    """Deny what these hashes stand for, for an entity that is known."""
    denial = Denial(new_id(), now)
    await conn.run("denied_add", **scoped(entity), id=denial.id, now=now)
    await conn.many(
        "denied_add_word",
        [{**scoped(entity), "denied_id": denial.id, "hash": digest, "size": size} for digest, size in words.items()],
    )
    return denial


async def words(conn: Connection, entity: Entity) -> dict[str, int]:
    """The hashes of all that an entity denied."""
    return {row["hash"]: row["size"] for row in await conn.all("denied_words", **scoped(entity))}


async def matching(conn: Connection, entity: Entity, hashes: Collection[str]) -> list[str]:
    """The ids of denials that any of the hashes belongs to."""
    rows = await conn.all("denied_words", **scoped(entity))
    return sorted({row["denied_id"] for row in rows if row["hash"] in hashes})


async def list_denials(conn: Connection, entity: Entity, limit: int, after: str | None = None) -> list[Denial]:
    """Denials, the newest first, beginning after the one with the given id."""
    rows = await conn.all("denied_list", **scoped(entity), limit=limit, after=after)
    return [Denial(row["id"], to_time(row["denied_at"])) for row in rows]


async def remove(conn: Connection, entity: Entity, denied_id: str) -> bool:
    """Deny something no more; whether it was denied."""
    return await conn.run("denied_remove", **scoped(entity), id=denied_id) > 0


async def hide(conn: Connection, entity: Entity, turn_id: str, spans: Iterable[tuple[int, int]]) -> None:
    """Note places in a turn (character spans) that are not to be recalled; see `facts.hidden_spans`."""
    await conn.many(
        "facts_hide_span",
        [{**scoped(entity), "turn_id": turn_id, "start": start, "end": end} for start, end in spans],
    )
