"""Rows as the management API shows them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from memproxy.model import BlockItem, ContextBlock, Fact, Job, Receipt, Turn
from memproxy.store.facts import FactChange

FACT_FIELDS = (
    "id text type tag slot significance confidence source_role quote turn_id status valid_from valid_until recorded_at "
    "updated_at superseded_at superseded_by reference_time started_at lifetime expires_at reinforced_count "
    "reinforced_at recall_count recalled_at pinned thread_status emotional_weight emotional_valence engagement "
    "embedding_model"
).split()


def plain(value: object) -> Any:
    """A value as JSON holds it: times in ISO 8601 with a zone."""
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


def fact(row: Fact) -> dict[str, Any]:
    """A fact with the fields of the documented shape."""
    return {name: plain(getattr(row, name)) for name in FACT_FIELDS}


def change(row: FactChange) -> dict[str, Any]:
    """One entry of a fact's history: what was done, and the fields that it changed."""
    before, after = ({k: v for k, v in side.items() if k in FACT_FIELDS} for side in (row.before, row.after))
    return {"time": plain(row.time), "kind": row.kind, "reason": row.reason, "before": before, "after": after}


def turn(row: Turn) -> dict[str, Any]:
    """A turn."""
    return {
        "id": row.id,
        "session_id": row.session_id,
        "seq": row.seq,
        "role": row.role,
        "name": row.name,
        "content": row.content,
        "time": plain(row.time),
        "complete": row.complete,
    }


def item(row: BlockItem) -> dict[str, Any]:
    """One line of a block."""
    return {
        "kind": row.kind,
        "id": row.id,
        "text": row.text,
        "score": round(row.score, 6),
        "section": row.section,
        "reasons": {name: round(value, 6) for name, value in row.reasons.items()},
    }


def block(row: ContextBlock | None) -> dict[str, Any]:
    """A block and what it is made of."""
    if row is None:
        return {"block": "", "tokens": 0, "items": []}
    return {"block": row.text, "tokens": row.tokens, "items": [item(entry) for entry in row.items]}


def receipt(row: Receipt) -> dict[str, Any]:
    """What was injected into one request."""
    return {
        "request_id": row.request_id,
        "entity": row.entity.name,
        "session_id": row.session_id,
        "time": plain(row.time),
        **block(row.block),
    }


def job(row: Job) -> dict[str, Any]:
    """A job, without its credential's fingerprint."""
    shown = {name: plain(value) for name, value in asdict(row).items() if name not in ("entity", "credential")}
    return {**shown, "entity": row.entity.name}
