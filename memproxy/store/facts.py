"""Facts: bi-temporal rows that are never overwritten silently. Every change leaves a row in `fact_changes`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from memproxy.errors import StoreError
from memproxy.folding import content_key, fold
from memproxy.interfaces import Connection, Row
from memproxy.model import Entity, Fact, FactStatus, Turn
from memproxy.store import answered, passages, receipts, turns
from memproxy.store.rows import column, scoped, to_time, to_time_or_none

TIMES = (
    "valid_from",
    "valid_until",
    "superseded_at",
    "reference_time",
    "expires_at",
    "reinforced_at",
    "recalled_at",
    "said_at",
)
_FIELDS = tuple(field.name for field in fields(Fact))
_NOT_SHOWN: tuple[FactStatus, ...] = ("forgotten", "quarantined")


@dataclass(frozen=True, slots=True)
class FactChange:
    """One entry of a fact's history."""

    fact_id: str
    time: datetime
    kind: str  # created, updated, superseded, reinforced, or the status it was given
    reason: str
    before: Mapping[str, Any]  # the fields that changed, as they were
    after: Mapping[str, Any]  # … and as they became


@dataclass(frozen=True, slots=True)
class FactText:
    """A fact as far as finding near ones needs it."""

    id: str
    text: str
    slot: str | None


def from_row(row: Row) -> Fact:
    """The single door from the table."""
    values = {name: row[name] for name in _FIELDS}
    values.update({name: to_time_or_none(values[name]) for name in TIMES})
    values["recorded_at"] = to_time(values["recorded_at"])
    values["updated_at"] = to_time(values["updated_at"])
    values["pinned"] = bool(values["pinned"])
    return Fact(**values)


# --- reading ---


async def get(conn: Connection, entity: Entity, fact_id: str) -> Fact | None:
    """One fact, whatever its status."""
    row = await conn.one("facts_get", **scoped(entity), id=fact_id)
    return None if row is None else from_row(row)


async def get_many(conn: Connection, entity: Entity, fact_ids: Sequence[str]) -> list[Fact]:
    """The facts that are there, in the order of the ids, whatever their status."""
    if not fact_ids:
        return []
    rows = await conn.all("facts_get_many", **scoped(entity), ids=json.dumps(list(dict.fromkeys(fact_ids))))
    return [from_row(row) for row in rows]


async def with_content_key(conn: Connection, entity: Entity, key: str) -> list[Fact]:
    """The facts that say the same thing, whatever their status, the newest first."""
    return [from_row(row) for row in await conn.all("facts_with_content_key", **scoped(entity), content_key=key)]


async def with_content_keys(conn: Connection, entity: Entity, keys: Sequence[str]) -> list[Fact]:
    """The facts with any of these content keys, whatever their status."""
    rows = await conn.all("facts_with_content_keys", **scoped(entity), keys=json.dumps(list(dict.fromkeys(keys))))
    return [from_row(row) for row in rows]


async def with_slots(conn: Connection, entity: Entity, slots: Sequence[str]) -> list[Fact]:
    """The current facts that fill any of these attributes."""
    if not slots:
        return []
    rows = await conn.all("facts_with_slots", **scoped(entity), slots=json.dumps(list(slots)))
    return [from_row(row) for row in rows]


async def by_content_key(conn: Connection, entity: Entity, key: str, status: FactStatus = "current") -> Fact | None:
    """The newest fact of a status that says the same thing."""
    return next((fact for fact in await with_content_key(conn, entity, key) if fact.status == status), None)


async def with_slot(conn: Connection, entity: Entity, slot: str) -> list[Fact]:
    """The current facts that fill a slot, the newest first."""
    return [from_row(row) for row in await conn.all("facts_with_slot", **scoped(entity), slot=slot)]


async def everything(conn: Connection, entity: Entity) -> list[Fact]:
    """Every fact of whatever status, in the order they were made."""
    return [from_row(row) for row in await conn.all("facts_all", **scoped(entity))]


async def single_valued(conn: Connection, entity: Entity) -> list[Fact]:
    """The current facts of attributes that have one value at a time."""
    return [from_row(row) for row in await conn.all("facts_single_valued", **scoped(entity))]


async def of_turns(conn: Connection, entity: Entity, turn_ids: Sequence[str]) -> list[Fact]:
    """The facts taken from turns, whatever their status."""
    if not turn_ids:
        return []
    rows = await conn.all("facts_of_turns", **scoped(entity), turns=json.dumps(list(turn_ids)))
    return [from_row(row) for row in rows]


async def current_texts(conn: Connection, entity: Entity) -> list[FactText]:
    """Every current fact, without its other fields."""
    return [FactText(row["id"], row["text"], row["slot"]) for row in await conn.all("facts_light", **scoped(entity))]


async def due(conn: Connection, now: datetime, limit: int) -> list[tuple[Entity, str, datetime]]:
    """Current facts of anybody whose time has come, with when it came; the longest overdue first."""
    rows = await conn.all("facts_due", now=now, limit=limit)
    return [(Entity(row["entity"], row["tenant"]), row["id"], to_time(row["expires_at"])) for row in rows]


async def next_due(conn: Connection) -> datetime | None:
    """When the next fact's time comes, if any has one."""
    row = await conn.one("facts_next_due")
    return to_time_or_none(row["due"]) if row is not None else None


async def standing(conn: Connection, entity: Entity, significance: int, limit: int) -> list[Fact]:
    """What is always true of a person: pinned facts, then identity facts of this significance, the newest first."""
    rows = await conn.all("facts_standing", **scoped(entity), significance=significance, limit=limit)
    return [from_row(row) for row in rows]


async def list_facts(
    conn: Connection,
    entity: Entity,
    *,
    statuses: Sequence[str] = ("current",),
    types: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    slots: Sequence[str] | None = None,
    min_confidence: float | None = None,
    pinned: bool | None = None,
    source_role: str | None = None,
    query: str | None = None,
    limit: int = 100,
    after: str | None = None,
) -> list[Fact]:
    """Facts, the newest first, beginning after the one with the given id.

    Empty or missing filters filter nothing. `query` is a part of the text, found regardless of case and white space.
    """
    rows = await conn.all(
        "facts_list",
        **scoped(entity),
        statuses=json.dumps(list(statuses)),
        types=_json_or_none(types),
        tags=_json_or_none(tags),
        slots=_json_or_none(slots),
        min_confidence=min_confidence,
        pinned=pinned,
        source_role=source_role,
        words=fold(query) if query and query.strip() else None,
        limit=limit,
        after=after,
    )
    return [from_row(row) for row in rows]


async def changes(conn: Connection, entity: Entity, fact_id: str) -> list[FactChange]:
    """What happened to a fact, in order."""
    return [
        FactChange(
            row["fact_id"],
            to_time(row["time"]),
            row["kind"],
            row["reason"],
            json.loads(row["before"]),
            json.loads(row["after"]),
        )
        for row in await conn.all("facts_changes", **scoped(entity), fact_id=fact_id)
    ]


async def hidden_quotes(conn: Connection, entity: Entity, turn_id: str) -> list[str]:
    """The words of forgotten and quarantined facts of a turn: it is not shown with them."""
    return [row["words"] for row in await conn.all("facts_hidden", **scoped(entity), turn_id=turn_id)]


async def forgotten_elsewhere(conn: Connection, entity: Entity, turn_id: str) -> list[str]:
    """The words of forgotten facts that came from other turns, and that this turn does not say anew."""
    rows = await conn.all("facts_forgotten_elsewhere", **scoped(entity), turn_id=turn_id)
    return [words for row in rows for words in (row["quote"], row["text"]) if words]


async def hidden_spans(conn: Connection, entity: Entity, turn_id: str) -> list[tuple[int, int]]:
    """Where facts that were erased since stood in a turn (character spans): not shown either."""
    rows = await conn.all("facts_hidden_spans", **scoped(entity), turn_id=turn_id)
    return [(row["start"], row["end"]) for row in rows]


# --- writing ---


async def insert(conn: Connection, entity: Entity, fact: Fact, reason: str = "") -> Fact:
    """Store a fact. Where a current fact says the same already (equal content key), that one is returned instead."""
    added = await conn.run("facts_insert", **scoped(entity), **_values(fact))
    if not added:
        existing = await by_content_key(conn, entity, fact.content_key)
        if existing is None:
            raise StoreError("a fact was neither stored nor there")
        return existing
    await _note(conn, entity, fact.id, fact.recorded_at, "created", reason, {}, {"text": fact.text})
    return fact


async def update(
    conn: Connection,
    entity: Entity,
    fact_id: str,
    changes: Mapping[str, Any],
    reason: str,
    now: datetime,
    kind: str = "updated",
) -> Fact | None:
    """Change fields of a fact; as it is now, or None where there is none.

    A new text takes the old passages and vectors with it; the caller adds new ones. The content key follows the text.
    Raises StoreError where another current fact says the same.
    """
    return await _change(conn, entity, fact_id, dict(changes), kind, reason, now)


async def set_status(
    conn: Connection, entity: Entity, fact_id: str, status: FactStatus, reason: str, now: datetime
) -> Fact | None:
    """Give a fact another status; as it is now, or None where there is none.

    Forgotten and quarantined facts leave the indexes and the receipts. Back to current, the caller adds passages.
    """
    return await _change(conn, entity, fact_id, {"status": status}, status, reason, now)


async def supersede(
    conn: Connection,
    entity: Entity,
    fact_id: str,
    by_id: str | None,
    now: datetime,
    reason: str = "",
    until: datetime | None = None,
) -> Fact | None:
    """A newer fact takes the place of this one, which was true until then (or until now) and becomes history.

    As it is now, or None where there is none.
    """
    fact = await get(conn, entity, fact_id)
    if fact is None:
        return None
    ends = max(min(until or now, now), fact.valid_from or datetime.min.replace(tzinfo=UTC))
    changed: dict[str, Any] = {"status": "historical", "superseded_at": now, "superseded_by": by_id}
    if fact.valid_until is None or fact.valid_until > ends:
        changed["valid_until"] = ends
    return await _change(conn, entity, fact_id, changed, "superseded", reason, now)


async def counts_in(conn: Connection, entity: Entity, fact_id: str, session_id: str | None, now: datetime) -> bool:
    """Whether saying a fact again counts: once a session, each time where there is none. Notes that it did."""
    return session_id is None or bool(
        await conn.run("facts_reinforced_in", **scoped(entity), fact_id=fact_id, session_id=session_id, now=now)
    )


async def said_again(conn: Connection, entity: Entity, fact_id: str, said_at: datetime) -> int:
    """Keep when a fact was last said, if that is news. No change of what is believed either."""
    return await conn.run("facts_said_again", **scoped(entity), id=fact_id, said_at=said_at)


async def with_attribute(conn: Connection, entity: Entity, slot_key: str) -> list[Fact]:
    """The facts that fill an attribute of one value or ever did, whatever their status."""
    return [from_row(row) for row in await conn.all("facts_with_attribute", **scoped(entity), slot_key=slot_key)]


async def count_recalled(conn: Connection, entity: Entity, fact_ids: Sequence[str], now: datetime) -> int:
    """Facts went into a prompt; how many there were. No change of what is believed, so no entry in the history."""
    if not fact_ids:
        return 0
    return await conn.run("facts_count_recalled", **scoped(entity), ids=json.dumps(list(fact_ids)), now=now)


async def engage(conn: Connection, entity: Entity, fact_id: str, taken: float, share: float) -> int:
    """Let a time at which a fact came up count: `taken` is how far it was taken up then (0 to 1). No audit row."""
    return await conn.run("facts_engage", **scoped(entity), id=fact_id, taken=taken, share=share)


async def delete(conn: Connection, entity: Entity, fact_id: str) -> bool:
    """Erase a fact with its history, index entries and words in receipts; whether there was one.

    Its turn stays. Where its words stood there is kept (as positions only), so that they are not recalled from it.
    """
    fact = await get(conn, entity, fact_id)
    if fact is None:
        return False
    await _hide(conn, entity, fact)
    if fact.turn_id is not None:
        turn = await turns.get(conn, entity, fact.turn_id)
        for start, end in _spans(turn, fact) if turn is not None else ():
            await conn.run("facts_hide_span", **scoped(entity), turn_id=fact.turn_id, start=start, end=end)
    await conn.run("facts_unlink", **scoped(entity), id=fact_id)
    return await conn.run("facts_delete", **scoped(entity), id=fact_id) > 0


async def _change(
    conn: Connection, entity: Entity, fact_id: str, changed: dict[str, Any], kind: str, reason: str, now: datetime
) -> Fact | None:
    before = await get(conn, entity, fact_id)
    if before is None:
        return None
    if "text" in changed and "content_key" not in changed:
        changed["content_key"] = content_key(changed["text"])
    after = replace(before, **{"updated_at": now, **changed})
    await conn.run("facts_write", **scoped(entity), **_values(after))
    if after.status in _NOT_SHOWN:
        await _hide(conn, entity, after)
    elif after.text != before.text:
        await passages.remove(conn, entity, "fact", fact_id)
    differing = [name for name in changed if getattr(before, name) != getattr(after, name)]
    old, new = ({name: getattr(fact, name) for name in differing} for fact in (before, after))
    await _note(conn, entity, fact_id, now, kind, reason, old, new)
    return await get(conn, entity, fact_id)


async def _hide(conn: Connection, entity: Entity, fact: Fact) -> None:
    """Take a fact out of everything that could show it: indexes, and blocks and answers that were kept."""
    await answered.silence(conn, entity)
    await passages.remove(conn, entity, "fact", fact.id)
    await receipts.redact(conn, entity, "fact", fact.id)
    if fact.turn_id is not None:
        await receipts.redact(conn, entity, "turn", fact.turn_id)


async def _note(
    conn: Connection,
    entity: Entity,
    fact_id: str,
    now: datetime,
    kind: str,
    reason: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> None:
    await conn.run(
        "facts_add_change",
        **scoped(entity),
        fact_id=fact_id,
        time=now,
        kind=kind,
        reason=reason,
        before=_json(before),
        after=_json(after),
    )


def _values(fact: Fact) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in _FIELDS if name != "embedding_model"}


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps({name: column(value) for name, value in values.items()}, ensure_ascii=False)


def _json_or_none(values: Sequence[str] | None) -> str | None:
    return json.dumps(list(values)) if values else None


def _spans(turn: Turn, fact: Fact) -> list[tuple[int, int]]:
    """Where a fact's words stand in its turn; all of the turn where they cannot be found literally."""
    words = fact.quote or fact.text
    start = turn.content.find(words)
    return [(start, start + len(words))] if start >= 0 else [(0, len(turn.content))]
