"""Turns of the past: many at once come to the same as one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memproxy.interfaces import Connection
from memproxy.lifecycle.denials import Denials
from memproxy.lifecycle.past import Bringing, Brought, PastTurn, made_ready, signs
from memproxy.model import Entity
from memproxy.store import denied, entities, index, sessions, turns
from memproxy.store.rows import scoped
from memproxy.store.sqlite import SqliteDatabase

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 5, 1, tzinfo=UTC)
SECRET = b"k" * 32
SAID = [
    PastTurn("user", "I keep falcons in Brask. The tarn was frozen.", NOW),
    PastTurn("assistant", "```python\ndef falcon():\n    return 'a bird that hunts other birds'\n```", NOW, "Merlin"),
    PastTurn("user", "My key is sk-proj-aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5z", NOW + timedelta(minutes=1)),
    PastTurn("user", "I keep falcons in Brask. The tarn was frozen.", NOW),  # the first one again
    PastTurn("user", "thanks", NOW + timedelta(minutes=2)),
    PastTurn("user", "ünïcode \0 and \ud800 too " + "long and longer. " * 60, NOW + timedelta(minutes=3)),
]


async def bring(db: SqliteDatabase, entity: Entity, past: Sequence[PastTurn]) -> Brought:
    keys = signs(SECRET, entity, past)
    made = await made_ready(past, keys, [None] * len(past))

    async def work(conn: Connection) -> Brought:
        await entities.ensure(conn, entity, NOW)
        session = await sessions.open_session(conn, entity, "walks", NOW)
        if not await denied.words(conn, entity):
            await denied.put(conn, entity, Denials(SECRET, entity).words("The tarn was frozen."), NOW)
        return await Bringing(conn, entity, SECRET, session.id, True).bring(past, keys, made, NOW)

    return await db.write(work)


async def held(db: SqliteDatabase, entity: Entity, brought: Brought) -> dict[str, Any]:
    """Everything that is stored, without what differs by itself."""

    async def read(conn: Connection) -> dict[str, Any]:
        said = await turns.span(conn, entity, brought.session_id, 1, 100)
        rows = await conn.all("passages_after", **scoped(entity), after=0, limit=100)
        found = await index.frequencies(conn, entity, ["falcon", "tarn", "frozen", "brask", "bird", "longer", "merlin"])
        waiting = await turns.pending(conn, entity, brought.session_id)
        session = await conn.one("sessions_get", **scoped(entity), id=brought.session_id)
        assert session is not None
        code = await conn.all("artifacts_list", **scoped(entity), limit=10)
        return {
            "turns": [(turn.seq, turn.role, turn.name, turn.content, turn.time) for turn in said],
            "ids": [turn.id for turn in said] == sorted(turn.id for turn in said),
            "passages": len(rows),
            "frequencies": found,
            "waiting": [turn.seq for turn in waiting],
            "session": (session["turns"], session["last_at"]),
            "code": [(row["seq"], row["description"]) for row in code],
        }

    return await db.read(read)


async def test_many_turns_at_once_come_to_the_same_as_one_after_the_other(db: SqliteDatabase) -> None:
    together = await bring(db, Entity("Ada"), SAID)
    singly = [await bring(db, Entity("Bo"), [turn]) for turn in SAID]
    assert (together.new, [one.new for one in singly]) == (5, [1, 1, 1, 0, 1, 1])
    assert together.ids[3] == together.ids[0]
    assert singly[3].ids == singly[0].ids
    stored = await held(db, Entity("Ada"), together)
    assert stored == await held(db, Entity("Bo"), singly[0])
    assert stored["frequencies"] | {"tarn": 0, "frozen": 0, "falcon": 2, "brask": 1} == stored["frequencies"]
    assert "sk-proj" not in stored["turns"][2][3]


async def test_turns_that_are_there_are_known_and_what_was_not_made_ready_is_made_when_it_is_stored(
    db: SqliteDatabase,
) -> None:
    ada = Entity("Ada")
    first = await bring(db, ada, SAID[:2])
    again = await bring(db, ada, SAID)
    assert (again.new, again.ids[:2]) == (3, first.ids)
    keys = signs(SECRET, ada, SAID)
    assert await db.read(lambda conn: turns.find(conn, ada, first.session_id, keys)) == list(again.ids)
    assert await made_ready(SAID, keys, again.ids) == [None] * len(SAID)

    async def unprepared(conn: Connection) -> Brought:
        late = [PastTurn("user", "I sold the falcons", NOW)]
        return await Bringing(conn, ada, SECRET, first.session_id, False).bring(
            late, signs(SECRET, ada, late), [None], NOW
        )

    assert (await db.write(unprepared)).new == 1


async def test_no_turns_at_all_change_nothing(db: SqliteDatabase) -> None:
    assert (await bring(db, Entity("Ada"), [])).ids == ()
