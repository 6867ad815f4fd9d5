"""Conversations, and the marks by which a replayed history is recognised as one of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memproxy.interfaces import Connection, Row
from memproxy.model import Entity, Session, new_id
from memproxy.store.rows import scoped, to_time

MOST_SPANS = 100  # in which the turns of a kept conversation are remembered


@dataclass(frozen=True, slots=True)
class Thread:
    """What has to be known of a conversation that the upstream keeps, to go on from where it stands."""

    opening: str  # the key under which the stable part of its blocks is kept
    turn: str  # the key under which the recalled part of its newest turn is kept
    held: frozenset[tuple[str, int]] = frozenset()  # the stored turns (session, place) that it holds


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a conversation that is known by the keyed hash of everything up to it."""

    key: str
    session_id: str
    seq: int  # of the turn there
    kind: str
    created_at: datetime
    thread: Thread | None = None  # where the upstream keeps what led here


def from_row(row: Row) -> Session:
    """The single door from the table."""
    return Session(
        id=row["id"],
        name=row["name"],
        started_at=to_time(row["started_at"]),
        last_at=to_time(row["last_at"]),
        turns=row["turns"],
    )


async def open_session(
    conn: Connection, entity: Entity, name: str | None, now: datetime, parent_id: str | None = None
) -> Session:
    """Begin a conversation; where the name is taken, the session that has it. `parent_id`: the one it branched off."""
    existing = await by_name(conn, entity, name) if name is not None else None
    if existing is not None:
        return existing
    session = Session(id=new_id(), name=name, started_at=now, last_at=now, turns=0)
    await conn.run("sessions_insert", **scoped(entity), id=session.id, name=name, parent_id=parent_id, now=now)
    return session


async def by_name(conn: Connection, entity: Entity, name: str) -> Session | None:
    """The session a client gave this name."""
    row = await conn.one("sessions_by_name", **scoped(entity), name=name)
    return None if row is None else from_row(row)


async def get(conn: Connection, entity: Entity, session_id: str) -> Session | None:
    """One session."""
    row = await conn.one("sessions_get", **scoped(entity), id=session_id)
    return None if row is None else from_row(row)


async def head(conn: Connection, entity: Entity, session_id: str) -> str | None:
    """The history key of a session's newest known message."""
    row = await conn.one("sessions_get", **scoped(entity), id=session_id)
    return None if row is None else row["head"]


async def touch(conn: Connection, entity: Entity, session_id: str, head_key: str | None, now: datetime) -> None:
    """Note that a session went on, and (unless None) where its history stands now."""
    await conn.run("sessions_touch", **scoped(entity), id=session_id, head=head_key, now=now)


async def speak(conn: Connection, entity: Entity, session_id: str, now: datetime) -> None:
    """Note that somebody speaks in a session now, by the server's clock: it is open from then on."""
    await conn.run("sessions_speak", **scoped(entity), id=session_id, now=now)


async def resting(conn: Connection, since: datetime, limit: int) -> list[tuple[Entity, str]]:
    """Open sessions in which nobody spoke since a moment, those that rest longest first."""
    rows = await conn.all("sessions_resting", since=since, limit=limit)
    return [(Entity(row["entity"], row["tenant"]), row["id"]) for row in rows]


async def close(conn: Connection, entity: Entity, session_id: str, since: datetime) -> bool:
    """Close a session; False where somebody spoke in it since that moment, or it is closed already."""
    return await conn.run("sessions_close", **scoped(entity), id=session_id, since=since) > 0


async def drop(conn: Connection, entity: Entity, session_id: str, seq: int) -> None:
    """Note that requests carry the turns of a session up to this one no more."""
    await conn.run("sessions_drop", **scoped(entity), id=session_id, seq=seq)


async def dropped(conn: Connection, entity: Entity, session_id: str) -> int | None:
    """Up to which turn requests carry none of a session any more; None where there is no such session."""
    row = await conn.one("sessions_get", **scoped(entity), id=session_id)
    return None if row is None else int(row["dropped_seq"])


@dataclass(frozen=True, slots=True)
class Measure:
    """How much was said in a session, and with which credentials."""

    turns: int
    own: int  # of the person
    characters: int
    credentials: int  # how many different ones the person's turns came with
    credential: str | None  # that of all of them, where it is one
    newest: int  # the place of the last turn


async def measure(conn: Connection, entity: Entity, session_id: str, after: int = 0) -> Measure:
    """How much was said in a session after the turn at a place."""
    row = await conn.one("sessions_measure", **scoped(entity), id=session_id, after=after)
    assert row is not None  # an aggregate
    return Measure(row["turns"], row["own"], row["characters"], row["credentials"], row["credential"], row["newest"])


async def list_sessions(conn: Connection, entity: Entity, limit: int, after: str | None = None) -> list[Session]:
    """Sessions, the most recent first, beginning after the one with the given id."""
    return [from_row(row) for row in await conn.all("sessions_list", **scoped(entity), limit=limit, after=after)]


async def last_user_seq(conn: Connection, entity: Entity, session_ids: Collection[str]) -> dict[str, int]:
    """The place of the last user turn of each session; sessions without one are left out."""
    if not session_ids:
        return {}
    rows = await conn.all("sessions_last_user_seq", **scoped(entity), sessions=json.dumps(sorted(session_ids)))
    return {row["session_id"]: row["seq"] for row in rows}


async def marks(conn: Connection, entity: Entity, keys: Sequence[str]) -> dict[str, Mark]:
    """The marks that are known among the keys."""
    if not keys:
        return {}
    rows = await conn.all("sessions_marks", **scoped(entity), keys=json.dumps(list(dict.fromkeys(keys))))
    return {
        row["key"]: Mark(
            row["key"], row["session_id"], row["seq"], row["kind"], to_time(row["created_at"]), _thread(row["thread"])
        )
        for row in rows
    }


async def put_mark(
    conn: Connection,
    entity: Entity,
    key: str,
    session_id: str,
    seq: int,
    kind: str,
    now: datetime,
    thread: Thread | None = None,
) -> None:
    """Remember a place; where the key is known already, the newer place takes it over."""
    place = {"session_id": session_id, "seq": seq, "kind": kind, "thread": _thread_text(thread)}
    await conn.run("sessions_put_mark", **scoped(entity), key=key, **place, now=now)


async def put_marks(
    conn: Connection, entity: Entity, places: Mapping[str, int], session_id: str, kind: str, now: datetime
) -> None:
    """Remember many places of a session, by their keys."""
    same = {**scoped(entity), "session_id": session_id, "kind": kind, "thread": None, "now": now}
    await conn.many("sessions_put_mark", [{**same, "key": key, "seq": seq} for key, seq in places.items()])


def _thread_text(thread: Thread | None) -> str | None:
    if thread is None:
        return None
    return json.dumps({"opening": thread.opening, "turn": thread.turn, "held": _spans(thread.held)})


def _thread(text: str | None) -> Thread | None:
    if text is None:
        return None
    said = json.loads(text)
    held = frozenset((session, seq) for session, first, last in said["held"] for seq in range(first, last + 1))
    return Thread(said["opening"], said["turn"], held)


def _spans(turns: Iterable[tuple[str, int]]) -> list[tuple[str, int, int]]:
    """The turns as spans (session, first place, last place), the newest: most conversations are one, however long."""
    spans: list[tuple[str, int, int]] = []
    for session, seq in sorted(turns):
        if spans and spans[-1][0] == session and spans[-1][2] == seq - 1:
            spans[-1] = (session, spans[-1][1], seq)
        else:
            spans.append((session, seq, seq))
    return spans[-MOST_SPANS:]
