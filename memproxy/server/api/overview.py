"""A memory looked over: conversations, receipts, what happened when, how it grew, in what condition it is."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Literal

from starlette.responses import Response

from memproxy.errors import Problem
from memproxy.lifecycle import hygiene
from memproxy.server import answers, views
from memproxy.server.api.call import Call, answer
from memproxy.server.api.parameters import (
    AFTER_KIND,
    AFTER_TIME,
    LIMIT,
    MAX_PAGE,
    SESSION,
    Choice,
    Moment,
    Number,
    cursor,
)
from memproxy.server.requests import Valence
from memproxy.store import overview
from memproxy.store.rows import to_text

TITLE = 80  # characters

FROM = Moment("from", "Nothing from before that time.")
TO = Moment("to", "Nothing from that time on.")
ORDER = Choice("order", "What comes first; the oldest unless said otherwise.", Literal["oldest", "newest"])
DAYS = Number("days", "How many days back, today included.", 90, 1, 3660)
FIRST = Number("limit", "How many of each condition are shown at most.", 20, 1, MAX_PAGE)
VALENCE = Choice("valence", "Said with this feeling.", Valence)
RECEIPTS = (SESSION, LIMIT, AFTER_TIME)
TIMELINE = (FROM, TO, ORDER, LIMIT, AFTER_KIND)


async def list_sessions(call: Call) -> Response:
    """Conversations, the most recent first."""
    entity, limit, after = call.entity, call.get(LIMIT), call.get(AFTER_TIME)
    rows = await call.parts.db.read(lambda conn: overview.sessions(conn, entity, limit, after))
    items = [_session(row) for row in rows]
    place = cursor(to_text(rows[-1].last_at), rows[-1].id) if len(rows) == limit else None
    return answer(answers.Page(items, place))


async def get_session(call: Call) -> Response:
    """One conversation."""
    entity, session_id = call.entity, call.segment("session")
    row = await call.parts.db.read(lambda conn: overview.session(conn, entity, session_id))
    if row is None:
        raise Problem(404, "No such conversation")
    return answer(_session(row))


async def close_session(call: Call) -> Response:
    """Say that a conversation is over, so that it is summed up now."""
    entity, session_id = call.entity, call.segment("session")
    asked = await call.parts.closer.close_one(entity, session_id, call.parts.clock.now())
    call.parts.changed(entity)
    return answer(answers.Closed(session_id, asked))


async def list_moments(call: Call) -> Response:
    """What was said with feeling, the strongest first."""
    entity, valence, limit = call.entity, call.get(VALENCE), call.get(LIMIT)
    rows = await call.parts.db.read(lambda conn: overview.moments(conn, entity, valence, limit))
    return answer({"items": [views.fact(row) for row in rows], "next_cursor": None})


async def list_receipts(call: Call) -> Response:
    """What was injected into which request, the newest first."""
    entity, session = call.entity, call.get(SESSION)
    limit, after = call.get(LIMIT), call.get(AFTER_TIME)
    rows = await call.parts.db.read(lambda conn: overview.receipts(conn, entity, session, limit, after))
    items = [answers.ReceiptLine(row.request_id, row.session_id, row.time, row.tokens, row.items) for row in rows]
    place = cursor(to_text(rows[-1].time), rows[-1].request_id) if len(rows) == limit else None
    return answer(answers.Page(items, place))


async def timeline(call: Call) -> Response:
    """What happened when, the oldest first unless the newest are asked for."""
    entity, limit, after = call.entity, call.get(LIMIT), call.get(AFTER_KIND)
    since, until, newest = call.get(FROM), call.get(TO), call.get(ORDER) == "newest"
    rows = await call.parts.db.read(
        lambda conn: overview.timeline(conn, entity, since=since, until=until, newest=newest, limit=limit, after=after)
    )
    place = cursor(to_text(rows[-1].time), rows[-1].kind, rows[-1].id) if len(rows) == limit else None
    return answer(answers.Page([_happening(row) for row in rows], place))


async def growth(call: Call) -> Response:
    """How many turns and facts were stored on each of the last days."""
    entity, days = call.entity, call.get(DAYS)
    midnight = call.parts.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    since = midnight - timedelta(days=days - 1)
    rows = await call.parts.db.read(lambda conn: overview.growth(conn, entity, since))
    return answer(answers.Growth([answers.Day(row.day, row.turns, row.facts) for row in rows]))


async def get_hygiene(call: Call) -> Response:
    """How many facts say the same twice, went stale, were never recalled, ended or are held back."""
    entity, first = call.entity, call.get(FIRST)
    facts = await call.parts.db.read(lambda conn: overview.conditions(conn, entity))
    found = await asyncio.to_thread(
        hygiene.look, facts, call.parts.clock.now()
    )  # of thousands, some tenths of a second

    def some(ids: list[str]) -> answers.Found:
        return answers.Found(len(ids), ids[:first])

    return answer(
        answers.Hygiene(
            answers.Duplicates(len(found.duplicates), found.duplicates[:first]),
            some(found.stale),
            some(found.never_recalled),
            some(found.expired),
            some(found.quarantined),
        )
    )


def _happening(row: overview.Happening) -> answers.Happening:
    by = answers.Mention(row.by_id, row.by_text) if row.by_id is not None and row.by_text is not None else None
    return answers.Happening(row.time, row.kind, row.id, row.text, row.status, row.dated_by, by)


def _session(row: overview.SessionRow) -> answers.Session:
    return answers.Session(row.id, row.name, row.started_at, row.last_at, row.turns, _title(row.opening))


def _title(opening: str | None) -> str | None:
    """The first words, cut between two of them."""
    if opening is None:
        return None
    words = " ".join(opening.split())
    if len(words) <= TITLE:
        return words
    cut = words[:TITLE]
    return (cut.rpartition(" ")[0] if " " in cut[TITLE // 2 :] else cut) + "…"
