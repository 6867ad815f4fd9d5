"""What was said: list, import, remove."""

from __future__ import annotations

from datetime import datetime

from starlette.responses import Response

from memproxy.errors import Problem
from memproxy.lifecycle.past import PastTurn
from memproxy.names import clean_name
from memproxy.server import views
from memproxy.server.api.call import Call, answer
from memproxy.server.api.parameters import AFTER, LIMIT, SESSION, TIMEOUT
from memproxy.server.identity import read_time
from memproxy.server.requests import SegmentsBody, TurnsBody
from memproxy.store import facts as fact_rows
from memproxy.store import turns as turn_rows


async def list_turns(call: Call) -> Response:
    """Turns in the order they were said."""
    entity, limit = call.entity, call.get(LIMIT)
    session, after = call.get(SESSION), call.get(AFTER)
    rows = await call.parts.db.read(
        lambda conn: turn_rows.list_turns(
            conn, entity, session_id=session, limit=limit, after=after[0] if after else None
        )
    )
    return answer(
        {"items": [views.turn(row) for row in rows], "next_cursor": rows[-1].id if len(rows) == limit else None}
    )


async def import_turns(call: Call) -> Response:
    """Record history with its own dates and speakers."""
    entity, body = call.entity, await call.read(TurnsBody)
    session = _session(body.session)
    now = call.parts.clock.now()
    past = [PastTurn(t.role, t.content, _past(t.time.isoformat(), now, i), t.name) for i, t in enumerate(body.turns)]
    brought = await call.parts.curator.import_turns(entity, session, past, body.learn)
    call.parts.changed(entity)
    return answer({"ids": brought.ids}, 201)


async def extract(call: Call) -> Response:
    """Store segments and learn from them at once; what was learned, as far as it is done in time."""
    entity, body = call.entity, await call.read(SegmentsBody)
    parts, session, now = call.parts, _session(body.session), call.parts.clock.now()
    if parts.plan.own is None:
        raise Problem(409, "No model learns here", f"Extraction is {parts.plan.description}.")
    past = [
        PastTurn(turn.role, turn.content, _past(turn.time.isoformat(), now, index), turn.name, part.topic, part.label)
        for part in body.segments
        for index, turn in enumerate(part.turns)
    ]
    ids = (await parts.curator.import_turns(entity, session, past, True)).ids
    parts.changed(entity)
    done = await parts.learned(entity, ids, call.get(TIMEOUT))
    facts = await parts.db.read(lambda conn: fact_rows.of_turns(conn, entity, ids))
    shown = [views.fact(fact) for fact in facts if fact.status == "current"]
    return answer({"ids": ids, "facts": shown, "done": done}, 201 if done else 202)


async def delete_turn(call: Call) -> Response:
    """Remove a turn for good."""
    entity = call.entity
    await call.parts.curator.forget_turn(entity, call.segment("turn"))
    call.parts.changed(entity)
    return answer({"deleted": {"turns": 1}})


def _session(name: str) -> str:
    try:
        return clean_name(name)
    except ValueError as error:
        raise Problem(400, "That is no session's name", f"{error}.") from None


def _past(text: str, now: datetime, index: int) -> datetime:
    try:
        return read_time(text, now)
    except ValueError as error:
        raise Problem(400, f"turns[{index}].time cannot be used", f"{error}.") from None
