"""What was injected into which request. Personal data: bounded in time and number, and gone with its sources."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from memproxy.interfaces import Connection, Row
from memproxy.model import BlockItem, ContextBlock, Entity, ItemKind, Receipt
from memproxy.store import placed
from memproxy.store.rows import scoped, to_time


async def put(conn: Connection, receipt: Receipt) -> None:
    """Store a receipt with its lines."""
    key = {**scoped(receipt.entity), "request_id": receipt.request_id}
    await conn.run(
        "receipts_insert",
        **key,
        session_id=receipt.session_id,
        turn_key=receipt.turn_key,
        time=receipt.time,
        block=receipt.block.text,
        tokens=receipt.block.tokens,
    )
    await conn.many(
        "receipts_insert_item", [{**key, **_item_row(i, item)} for i, item in enumerate(receipt.block.items)]
    )


async def settle(conn: Connection, entity: Entity, request_id: str, session_id: str) -> None:
    """Note in which conversation a request turned out to stand; nothing where it got no block."""
    await conn.run("receipts_settle", **scoped(entity), request_id=request_id, session_id=session_id)


async def get(conn: Connection, request_id: str) -> Receipt | None:
    """A receipt, of whatever entity: the caller checks whether it may be seen."""
    row = await conn.one("receipts_get", request_id=request_id)
    return None if row is None else await _receipt(conn, row)


async def redact(conn: Connection, entity: Entity, kind: ItemKind, owner_id: str) -> int:
    """Drop the words of a forgotten or erased source, and every block that held them or would say them again; how many
    receipts that met.

    The line itself stays, without text: that something was injected is no secret from the person.
    """
    await placed.drop(conn, entity, kind, owner_id)
    rows = await conn.all("receipts_of_owner", **scoped(entity), kind=kind, owner_id=owner_id)
    for row in rows:
        await conn.run("receipts_redact", **scoped(entity), request_id=row["request_id"])
    if rows:
        await conn.run("receipts_redact_items", **scoped(entity), kind=kind, owner_id=owner_id)
    return len(rows)


async def prune(conn: Connection, keep_days: float, keep_max: int, now: datetime) -> int:
    """Remove receipts that are too old or too many (the oldest first); how many."""
    removed = await conn.run("receipts_prune_old", before=now - timedelta(days=keep_days))
    return removed + await conn.run("receipts_prune_many", keep=keep_max)


async def _receipt(conn: Connection, row: Row) -> Receipt:
    entity = Entity(name=row["entity"], tenant=row["tenant"])
    items = await conn.all("receipts_items", **scoped(entity), request_id=row["request_id"])
    return Receipt(
        request_id=row["request_id"],
        entity=entity,
        session_id=row["session_id"],
        turn_key=row["turn_key"],
        time=to_time(row["time"]),
        block=ContextBlock(row["block"], row["tokens"], _items(items)),
    )


def _item_row(ordinal: int, item: BlockItem) -> dict[str, object]:
    return {
        "ordinal": ordinal,
        "kind": item.kind,
        "owner_id": item.id,
        "section": item.section,
        "text": item.text,
        "score": float(item.score),
        "reasons": msgspec.json.encode(dict(item.reasons.items())).decode(),
    }


def _items(rows: Sequence[Row]) -> tuple[BlockItem, ...]:
    return tuple(
        BlockItem(row["kind"], row["owner_id"], row["text"], row["score"], row["section"], json.loads(row["reasons"]))
        for row in rows
    )
