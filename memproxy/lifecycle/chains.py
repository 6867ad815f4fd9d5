"""Conversations that the upstream keeps: a request goes on from an answer, or in a conversation, by its id alone.

Such an id has a key as a history has (`history.kept_key`), and the mark under it says where the conversation stands.
An answer's mark stays with the answer, so that a second request from there branches off. A conversation's mark goes
along with it; so does that of an id which is met for the first time in a request: nobody can tell which of the two it
is.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from memproxy.interfaces import Connection
from memproxy.lifecycle.history import History, kept_key, link
from memproxy.model import Entity, Exchange
from memproxy.store import sessions
from memproxy.store.sessions import Thread

# Kinds of marks.
CONVERSATION = "conversation"
ANSWER = "answer"  # its place is the answer's turn
ASKED = "asked"  # an answer that said nothing, so far: its place is where it was asked for


def thread_of(
    history: History, session_name: str | None, before: Thread | None, secret: bytes, entity: Entity
) -> Thread:
    """Where a request stands; `before` is where the answer or the conversation stood that it goes on from.

    The stable part of its blocks is kept under the conversation's name, else under how it began.
    """
    if session_name is not None:
        opening = link(secret, entity, "", "session", session_name)
    elif before is not None:
        opening = before.opening
    else:
        opening = history.start or (history.said[0].key if history.said else "")
    turn = history.turn_key or (before.turn if before is not None else history.start)
    return Thread(opening, turn, before.held if before is not None else frozenset())


async def mark_thread(
    conn: Connection,
    exchange: Exchange,
    history: History,
    session_id: str,
    answer_key: str | None,
    secret: bytes,
    now: datetime,
) -> None:
    """Mark where a recorded exchange left what the upstream keeps; `answer_key` is the history's with the answer."""
    entity, answer_id = exchange.entity, exchange.reply.id
    if answer_id is None and not history.start:
        return
    keys = [*(said.key for said in history.said), *([answer_key] if answer_key is not None else [])]
    known = await sessions.marks(conn, entity, [history.start, *keys])
    start = known.pop(history.start, None)
    before = start.thread if start is not None else None
    thread = thread_of(history, exchange.session_name, before, secret, entity)
    thread = replace(thread, held=thread.held | {(mark.session_id, mark.seq) for mark in known.values()})
    path = [mark for mark in (start, *map(known.get, keys)) if mark is not None and mark.session_id == session_id]
    seq = path[-1].seq if path else 0
    if history.start and (start is None or start.kind == CONVERSATION):
        await sessions.put_mark(conn, entity, history.start, session_id, seq, CONVERSATION, now, thread)
    if answer_id is not None:
        key = kept_key(secret, entity, answer_id)
        kind = ASKED if answer_key is None else ANSWER
        await sessions.put_mark(conn, entity, key, session_id, seq, kind, now, thread)
