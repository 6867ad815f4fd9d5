"""Parts of blocks that stand in a conversation, and go in again as they are. Gone as soon as a source is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import msgspec

from memproxy.interfaces import Connection, Row
from memproxy.model import BlockItem, ContextBlock, Entity, ItemKind, Part
from memproxy.store.rows import scoped, to_time


async def put(conn: Connection, entity: Entity, parts: Iterable[Part]) -> None:
    """Store parts, or note that they were used again. Nothing happens for an entity that is not known."""
    await conn.many(
        "placed_put",
        [
            {
                **scoped(entity),
                "kind": part.kind,
                "key": part.key,
                "text": part.block.text,
                "tokens": part.block.tokens,
                "items": msgspec.json.encode(part.block.items, enc_hook=_plain).decode(),
                "used_at": part.used_at,
            }
            for part in parts
        ],
    )


async def of_keys(conn: Connection, entity: Entity, keys: Iterable[str]) -> list[Part]:
    """The parts stored under any of the keys."""
    rows = await conn.all("placed_of_keys", **scoped(entity), keys=json.dumps(list(keys)))
    return [_part(row) for row in rows]


async def drop(conn: Connection, entity: Entity, kind: ItemKind, owner_id: str) -> int:
    """Remove the parts that quote a turn, fact or summary; how many."""
    return await conn.run("placed_drop", **scoped(entity), kind=kind, owner_id=owner_id)


async def remove(conn: Connection, entity: Entity, parts: Iterable[Part]) -> None:
    """Remove parts that make way for others."""
    await conn.many("placed_remove", [{**scoped(entity), "kind": part.kind, "key": part.key} for part in parts])


async def prune(conn: Connection, keep_days: float, now: datetime) -> int:
    """Remove parts that no conversation has used for so long; how many."""
    return await conn.run("placed_prune", before=now - timedelta(days=keep_days))


def _plain(reasons: Mapping[str, float]) -> dict[str, float]:
    """Reasons are read when they are asked for, which msgspec does not do."""
    return dict(reasons.items())


def _part(row: Row) -> Part:
    items = msgspec.json.decode(row["items"], type=tuple[BlockItem, ...])
    return Part(row["kind"], row["key"], ContextBlock(row["text"], row["tokens"], items), to_time(row["used_at"]))
