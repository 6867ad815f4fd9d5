"""Summaries of conversations: list, remove."""

from __future__ import annotations

from starlette.responses import Response

from memproxy.errors import Problem
from memproxy.server import views
from memproxy.server.api.call import Call, answer
from memproxy.server.api.parameters import AFTER_TIME, LIMIT, SESSION, cursor
from memproxy.store import summaries
from memproxy.store.rows import to_text


async def list_summaries(call: Call) -> Response:
    """Summaries, the most recent conversation first; those of one conversation in its order."""
    entity, session = call.entity, call.get(SESSION)
    limit, after = call.get(LIMIT), call.get(AFTER_TIME)
    if session:
        rows = await call.parts.db.read(lambda conn: summaries.of_session(conn, entity, session))
    else:
        rows = await call.parts.db.read(lambda conn: summaries.list_summaries(conn, entity, limit, after))
    more = not session and len(rows) == limit
    place = cursor(to_text(rows[-1].ended_at), rows[-1].id) if more else None
    return answer({"items": [views.summary(row) for row in rows[: None if session else limit]], "next_cursor": place})


async def delete_summary(call: Call) -> Response:
    """Remove a summary for good."""
    entity, summary_id = call.entity, call.segment("summary")
    if not await call.parts.db.write(lambda conn: summaries.delete(conn, entity, summary_id)):
        raise Problem(404, "No such summary")
    call.parts.changed(entity)
    return answer({"deleted": {"summaries": 1}})
