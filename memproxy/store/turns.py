"""What was said, verbatim, in order."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from memproxy.errors import StoreError
from memproxy.interfaces import Connection, Row
from memproxy.model import Entity, Speaker, Turn, new_id
from memproxy.store import answered, passages, receipts
from memproxy.store.rows import scoped, to_text, to_time

LearnState = Literal["no", "pending", "done", "dead"]
Sign: TypeAlias = tuple[str, datetime, Speaker]  # what a turn that was brought in is known by: text key, time and role


def from_row(row: Row) -> Turn:
    """The single door from the table."""
    return Turn(
        id=row["id"],
        session_id=row["session_id"],
        seq=row["seq"],
        role=row["role"],
        name=row["name"],
        content=row["content"],
        time=to_time(row["time"]),
        complete=bool(row["complete"]),
        timezone=row["timezone"],
        topic=row["topic"],
        label=row["label"],
    )


async def waiting(conn: Connection, entity: Entity, turn_ids: Sequence[str]) -> int:
    """How many of these turns wait to be learned from."""
    row = await conn.one("turns_waiting", **scoped(entity), ids=json.dumps(list(turn_ids)))
    return int(row["number"]) if row is not None else 0


async def append(
    conn: Connection,
    entity: Entity,
    session_id: str,
    *,
    role: Speaker,
    content: str,
    time: datetime,
    learn: LearnState,
    text_key: str,
    name: str | None = None,
    complete: bool = True,
    credential: str | None = None,
    timezone: str | None = None,
    topic: str | None = None,
    label: str | None = None,
) -> Turn:
    """Store the next turn of a session; its place is assigned here. Raises StoreError where there is no such session.

    `learn` says whether extraction is to see it, `credential` is the fingerprint of the one it may use, `text_key` a
    keyed hash of the normalised content.
    """
    place = await conn.one("turns_next_seq", **scoped(entity), session_id=session_id, time=time)
    if place is None:
        raise StoreError("no such session")
    turn_id = new_id()
    await conn.run(
        "turns_insert",
        **scoped(entity),
        id=turn_id,
        session_id=session_id,
        seq=place["seq"],
        role=role,
        name=name,
        content=content,
        time=time,
        complete=complete,
        learn=learn,
        credential=credential,
        text_key=text_key,
        timezone=timezone,
        topic=topic,
        label=label,
        recorded_at=datetime.now(UTC),
    )
    return Turn(turn_id, session_id, place["seq"], role, name, content, time, complete, timezone, topic, label)


@dataclass(frozen=True, slots=True)
class Past:
    """A turn of a conversation that is brought in: what the table has of it."""

    turn: Turn  # its place in the session is assigned when it is stored
    learn: LearnState
    text_key: str


async def extend(conn: Connection, entity: Entity, session_id: str, past: Sequence[Past], head: str) -> list[Turn]:
    """Store the next turns of a session, in order, as if each was appended; they with their places.

    `head` is the history key after the last of them. Raises StoreError where there is no such session.
    """
    newest = max(one.turn.time for one in past)
    row = await conn.one(
        "sessions_extend", **scoped(entity), session_id=session_id, count=len(past), head=head, time=newest
    )
    if row is None:
        raise StoreError("no such session")
    first, now = row["turns"] - len(past) + 1, datetime.now(UTC)
    turns = [dataclasses.replace(one.turn, seq=first + place) for place, one in enumerate(past)]
    await conn.many(
        "turns_insert",
        [
            {
                **scoped(entity),
                **{field.name: getattr(turn, field.name) for field in dataclasses.fields(turn)},
                "learn": one.learn,
                "credential": None,
                "text_key": one.text_key,
                "recorded_at": now,
            }
            for turn, one in zip(turns, past, strict=True)
        ],
    )
    return turns


async def get(conn: Connection, entity: Entity, turn_id: str) -> Turn | None:
    """One turn."""
    row = await conn.one("turns_get", **scoped(entity), id=turn_id)
    return None if row is None else from_row(row)


async def get_many(conn: Connection, entity: Entity, turn_ids: Sequence[str]) -> list[Turn]:
    """The turns that are there, in the order they were said."""
    if not turn_ids:
        return []
    rows = await conn.all("turns_get_many", **scoped(entity), ids=json.dumps(list(dict.fromkeys(turn_ids))))
    return [from_row(row) for row in rows]


async def list_turns(
    conn: Connection, entity: Entity, *, session_id: str | None = None, limit: int = 100, after: str | None = None
) -> list[Turn]:
    """Turns ordered by time, then session, then place, beginning after the turn with the given id."""
    rows = await conn.all("turns_list", **scoped(entity), session_id=session_id, limit=limit, after=after)
    return [from_row(row) for row in rows]


async def span(conn: Connection, entity: Entity, session_id: str, first: int, last: int) -> list[Turn]:
    """The turns of a session from one place to another, both included, in order."""
    rows = await conn.all("turns_span", **scoped(entity), session_id=session_id, first=first, last=last)
    return [from_row(row) for row in rows]


async def find(conn: Connection, entity: Entity, session_id: str, said: Sequence[Sign]) -> list[str | None]:
    """The ids of the turns that say the same at the same time in the same session, where there are any."""
    keys = json.dumps([[text_key, to_text(time), role] for text_key, time, role in said])
    rows = await conn.all("turns_find_many", **scoped(entity), session_id=session_id, said=keys)
    found = {row["place"]: row["id"] for row in rows}
    return [found.get(place) for place in range(len(said))]


async def give_name(conn: Connection, entity: Entity, session_id: str, seq: int, name: str) -> Turn | None:
    """Name the speaker of a turn that has none yet; the turn as it is now, or None where there was nothing to name."""
    if not await conn.run("turns_name", **scoped(entity), session_id=session_id, seq=seq, name=name):
        return None
    return await at(conn, entity, session_id, seq)


async def at(conn: Connection, entity: Entity, session_id: str, seq: int) -> Turn | None:
    """The turn at a place in a session."""
    row = await conn.one("turns_at", **scoped(entity), session_id=session_id, seq=seq)
    return None if row is None else from_row(row)


async def replace(conn: Connection, entity: Entity, turn: Turn, *, content: str, complete: bool, text_key: str) -> Turn:
    """Let a turn say something else; the turn as it is now. Its passages are the caller's to write anew."""
    said = {"content": content, "complete": complete}
    await conn.run("turns_replace", **scoped(entity), id=turn.id, **said, text_key=text_key)
    return dataclasses.replace(turn, content=content, complete=complete)


async def with_letters(conn: Connection, entity: Entity, letters: str, limit: int) -> list[Turn]:
    """The newest turns in which these letters stand, case aside (of ASCII)."""
    rows = await conn.all("turns_with_letters", **scoped(entity), letters=letters, limit=limit)
    return [from_row(row) for row in rows]


async def pending(conn: Connection, entity: Entity, session_id: str, credential: str | None = None) -> list[Turn]:
    """The turns of a session that wait for extraction with this credential (None: that need none), in order."""
    rows = await conn.all("turns_pending", **scoped(entity), session_id=session_id, credential=credential)
    return [from_row(row) for row in rows]


async def context_before(conn: Connection, entity: Entity, session_id: str, seq: int) -> Turn | None:
    """The assistant's turn before a place in a session."""
    row = await conn.one("turns_before", **scoped(entity), session_id=session_id, seq=seq)
    return None if row is None else from_row(row)


async def set_learn(conn: Connection, entity: Entity, turn_ids: Sequence[str], state: LearnState) -> int:
    """Note what became of turns in extraction; how many there were."""
    if not turn_ids:
        return 0
    return await conn.run("turns_set_learn", **scoped(entity), ids=json.dumps(list(turn_ids)), learn=state)


async def revive(conn: Connection, entity: Entity, session_id: str) -> int:
    """Offer the turns of a session whose job had died to extraction again; how many there were."""
    return await conn.run("turns_revive", **scoped(entity), session_id=session_id)


async def delete(conn: Connection, entity: Entity, turn_id: str) -> bool:
    """Remove a turn with its passages and vectors, and its words from receipts; whether there was one.

    Facts taken from it stay; whoever calls decides about them (`facts.of_turns`). The marks of its conversation stay
    too, so that a replay does not bring it back.
    """
    await answered.silence(conn, entity)
    await passages.remove(conn, entity, "turn", turn_id)
    await receipts.redact(conn, entity, "turn", turn_id)
    return await conn.run("turns_delete", **scoped(entity), id=turn_id) > 0
