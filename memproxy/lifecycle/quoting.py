"""What a receipt quotes that went between its being read and its being stored."""

from __future__ import annotations

from collections.abc import Collection

from memproxy.interfaces import Connection
from memproxy.model import Entity, ItemKind, Receipt
from memproxy.recall.recall import Found
from memproxy.store import facts as fact_rows
from memproxy.store import profile, search, summaries, turns
from memproxy.store.profile import SHOWN


async def hidden_since(
    conn: Connection, receipt: Receipt, revision: int, found: Found | None
) -> set[tuple[ItemKind, str]]:
    """What a receipt quotes that was forgotten, corrected or removed between its recall, when the entity's memory had
    this revision, and its being stored."""
    if found is None or (await search.extent(conn, receipt.entity)).revision == revision:
        return set()
    quoted = {(item.kind, item.id) for item in receipt.block.items}
    read = [s.candidate for s in found.scored if (s.candidate.kind, s.candidate.owner_id) in quoted]
    hidden = await search.gone(conn, receipt.entity, read)
    standing = await fact_rows.get_many(conn, receipt.entity, [fact.id for fact in found.standing])
    current = {(fact.id, fact.text) for fact in standing if fact.status == "current"}
    if any(fact.id.startswith(SHOWN) for fact in found.standing):
        current |= {(entry.shown_id, entry.text) for entry in await profile.by_hand(conn, receipt.entity)}
    hidden |= {("fact", fact.id) for fact in found.standing if (fact.id, fact.text) not in current}
    looked_at = {(c.kind, c.owner_id) for c in read} | {("fact", fact.id) for fact in found.standing}
    return hidden | await _gone(conn, receipt.entity, quoted - looked_at)


async def _gone(
    conn: Connection, entity: Entity, quoted: Collection[tuple[ItemKind, str]]
) -> set[tuple[ItemKind, str]]:
    """What of that which stood beside what was found is not there any more, or not believed."""
    if not quoted:
        return set()
    ids: dict[ItemKind, list[str]] = {"turn": [], "fact": [], "summary": []}
    for kind, owner_id in quoted:
        ids[kind].append(owner_id)
    there: set[tuple[ItemKind, str]] = {("turn", turn.id) for turn in await turns.get_many(conn, entity, ids["turn"])}
    believed = await fact_rows.get_many(conn, entity, ids["fact"])
    there |= {("fact", fact.id) for fact in believed if fact.status == "current"}
    if any(owner_id.startswith(SHOWN) for owner_id in ids["fact"]):
        there |= {("fact", entry.shown_id) for entry in await profile.by_hand(conn, entity)}
    there |= {("summary", i) for i in ids["summary"] if await summaries.get(conn, entity, i) is not None}
    return set(quoted) - there
