"""What was said: list, import, remove."""

from __future__ import annotations

from datetime import datetime

from starlette.responses import Response

from memproxy.errors import Problem
from memproxy.lifecycle.curation import PastTurn
from memproxy.server import views
from memproxy.server.api.call import Call, answer
from memproxy.server.identity import clean_name, read_time
from memproxy.server.requests import TurnsBody, decode
from memproxy.store import turns as turn_rows


async def list_turns(call: Call) -> Response:
    """Turns in the order they were said."""
    entity, limit = call.entity, call.limit
    session, after = call.query.text("session"), call.cursor
    rows = await call.parts.db.read(
        lambda conn: turn_rows.list_turns(conn, entity, session_id=session, limit=limit, after=after)
    )
    return answer(
        {"items": [views.turn(row) for row in rows], "next_cursor": rows[-1].id if len(rows) == limit else None}
    )


async def import_turns(call: Call) -> Response:
    """Record history with its own dates and speakers."""
    entity, body = call.entity, decode(await call.body(), TurnsBody)
    try:
        session = clean_name(body.session)
    except ValueError as error:
        raise Problem(400, "That is no session's name", f"{error}.") from None
    now = call.parts.clock.now()
    past = [PastTurn(t.role, t.content, _past(t.time.isoformat(), now, i), t.name) for i, t in enumerate(body.turns)]
    ids = await call.parts.curator.import_turns(entity, session, past, body.learn)
    call.parts.changed(entity)
    return answer({"ids": ids}, 201)


async def delete_turn(call: Call) -> Response:
    """Remove a turn for good."""
    entity = call.entity
    await call.parts.curator.forget_turn(entity, call.segment("turn"))
    call.parts.changed(entity)
    return answer({"deleted": {"turns": 1}})


def _past(text: str, now: datetime, index: int) -> datetime:
    try:
        return read_time(text, now)
    except ValueError as error:
        raise Problem(400, f"turns[{index}].time cannot be used", f"{error}.") from None
