"""Answers that are fetched after the request which asked for them: work in the background, streams that broke off."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from memproxy.interfaces import Connection
from memproxy.lifecycle import artifacts
from memproxy.lifecycle.chains import ANSWER, CONVERSATION
from memproxy.lifecycle.denials import hide_denied
from memproxy.lifecycle.history import link
from memproxy.lifecycle.indexing import reindex_turn
from memproxy.lifecycle.recording import say
from memproxy.model import Entity, Reply, Turn
from memproxy.store import preferences, sessions, turns
from memproxy.store.sessions import Mark


def ended(reply: Reply) -> bool:
    """Whether an answer says something, and how it ended: it is not under way, and did not break off."""
    return bool(reply.text.strip()) and reply.finish_reason is not None


async def awaited(conn: Connection, entity: Entity, key: str) -> Mark | None:
    """Where an answer belongs that was asked for in a recorded exchange; `key` is its `history.kept_key`."""
    mark = (await sessions.marks(conn, entity, [key])).get(key)
    return mark if mark is not None and mark.kind != CONVERSATION else None


async def put_fetched(
    conn: Connection, entity: Entity, key: str, reply: Reply, text: str, time: datetime, secret: bytes, now: datetime
) -> Turn | None:
    """Store an answer (`text` is what may be stored of it) in its conversation; None where there is nothing to store.

    It takes the place of its own beginning, or of a piece of it. What has been removed since is not brought back.
    """
    mark = await awaited(conn, entity, key)
    if mark is None or mark.thread is None or not (await preferences.get(conn, entity)).memory:
        return None
    there = await turns.at(conn, entity, mark.session_id, mark.seq)
    text_key = link(secret, entity, mark.thread.turn, "assistant", reply.text)
    if mark.kind == ANSWER:
        if there is None or not _says_more(reply, text, there):
            return None
        turn = await turns.replace(conn, entity, there, content=text, complete=reply.complete, text_key=text_key)
        await hide_denied(conn, entity, secret, turn)
        await reindex_turn(conn, entity, turn)
        await artifacts.note(conn, entity, turn)
        await sessions.put_mark(conn, entity, text_key, turn.session_id, turn.seq, "said", now)
        return turn
    if there is None and mark.seq:
        return None
    turn = await say(
        conn, entity, mark.session_id, text_key, "assistant", text, time, now, secret, complete=reply.complete
    )
    thread = replace(mark.thread, held=mark.thread.held | {(turn.session_id, turn.seq)})
    await sessions.put_mark(conn, entity, key, turn.session_id, turn.seq, ANSWER, now, thread)
    return turn


def _says_more(reply: Reply, text: str, there: Turn) -> bool:
    return there.content in text and (len(text) > len(there.content) or (reply.complete and not there.complete))
