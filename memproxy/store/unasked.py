"""What may be said of a person unasked: what they said with feeling, what is worth taking up; and which words of theirs
may be shown.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime

from memproxy.interfaces import Connection
from memproxy.model import Entity, Fact
from memproxy.store.facts import from_row
from memproxy.store.rows import scoped

MOST_LOOKED_AT = 200


async def feelings(conn: Connection, entity: Entity, since: datetime, limit: int) -> list[Fact]:
    """Current facts that were said with feeling since a moment, the newest first."""
    rows = await conn.all("facts_with_feeling", **scoped(entity), since=since, limit=limit)
    return [from_row(row) for row in rows]


async def noteworthy(conn: Connection, entity: Entity) -> list[Fact]:
    """Current facts that somebody may want to come back to: open, expected, felt, or weighty; the weightiest first.

    What a person wrote down themselves is not among them: that is for them to bring up.
    """
    return [from_row(row) for row in await conn.all("facts_noteworthy", **scoped(entity), limit=MOST_LOOKED_AT)]


async def visible(conn: Connection, entity: Entity, turn_ids: Collection[str]) -> dict[str, list[str]]:
    """What may be shown of turns, in pieces in their order: without what was forgotten, erased or held back in them."""
    if not turn_ids:
        return {}
    rows = await conn.all("turns_visible", **scoped(entity), ids=json.dumps(sorted(turn_ids)))
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["turn_id"], []).append(row["text"])
    return found


async def quotable(conn: Connection, entity: Entity, facts: Sequence[Fact]) -> set[str]:
    """Ids of the facts whose quotes may be shown: every word of them stands in what may be shown of their turns."""
    quoting = [fact for fact in facts if fact.quote and fact.turn_id]
    shown = await visible(conn, entity, {fact.turn_id for fact in quoting if fact.turn_id})
    texts = {turn_id: _folded(" ".join(pieces)) for turn_id, pieces in shown.items()}
    return {fact.id for fact in quoting if _folded(fact.quote or "") in texts.get(fact.turn_id or "", "")}


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
