"""What was said in an exchange, written down in one transaction: turns, their passages, marks, and the job to learn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from memproxy.extraction.gate import ignored, trivial
from memproxy.interfaces import Connection
from memproxy.lifecycle import artifacts
from memproxy.lifecycle.chains import CONVERSATION, mark_thread
from memproxy.lifecycle.closing import ask, sums_up, wanted
from memproxy.lifecycle.denials import hide_denied
from memproxy.lifecycle.engaging import notice_engagement
from memproxy.lifecycle.extractor import ExtractionPlan
from memproxy.lifecycle.history import History, Place, Said, marks_of, of_the_person, place, place_named
from memproxy.lifecycle.indexing import reindex_turn, turn_passages
from memproxy.lifecycle.kinds import CONDENSE, EXTRACT
from memproxy.lifecycle.noticing import notice
from memproxy.model import Entity, Exchange, Message, Speaker, Turn
from memproxy.settings import Settings
from memproxy.store import entities, jobs, passages, preferences, receipts, sessions, turns
from memproxy.store.sessions import Mark
from memproxy.store.turns import LearnState


class Recorder:
    """Writes exchanges down."""

    def __init__(self, settings: Settings, secret: bytes, plan: ExtractionPlan) -> None:
        self._secret = secret
        self._plan = plan
        self._timeout = timedelta(seconds=settings.session.timeout)
        self._ignore = [re.compile(pattern) for pattern in settings.extraction.ignore]
        self._batch = settings.extraction.turns
        self._quiet = timedelta(seconds=settings.extraction.quiet_seconds)
        self._notices = settings.facts.inline_contradictions
        self._stretch = settings.working_memory.turns if sums_up(settings, plan) else 0

    async def write(
        self,
        conn: Connection,
        exchange: Exchange,
        history: History,
        masked: Mapping[str, str],
        reply: str,
        now: datetime,
    ) -> list[Turn]:
        """Store the new turns of an exchange; they are returned. None of somebody who switched memory off.

        `history` is the exchange's; `masked` has what may be stored of its new messages, by their keys, and `reply`
        what may be stored of the answer.
        """
        entity = exchange.entity
        wanted = await preferences.get(conn, entity)
        if not wanted.memory:
            return []
        exchange = replace(exchange, learn=exchange.learn and wanted.learning)
        await entities.ensure(conn, entity, now)
        marks = await marks_of(conn, entity, history)
        where = await self._place(conn, exchange, history, marks, now)
        session_id = where.session_id
        if session_id is None:
            opened = await sessions.open_session(
                conn, entity, exchange.session_name, exchange.time, parent_id=where.parent_id
            )
            session_id = opened.id
            if history.old:
                await sessions.put_mark(conn, entity, history.said[history.old - 1].key, session_id, 0, "said", now)
        await receipts.settle(conn, entity, exchange.request_id, session_id)
        await _name_assistant(conn, entity, history, marks)
        stored = await self._write_news(conn, exchange, session_id, where.news, masked, now)
        answer_key = history.extended(self._secret, entity, exchange.reply.text) if reply.strip() else None
        if answer_key is not None:
            stored += await self._write_reply(conn, exchange, history, session_id, answer_key, reply, where, now)
        await mark_thread(conn, exchange, history, session_id, answer_key, self._secret, now)
        head = answer_key or (where.news[-1].key if where.news else None)
        await sessions.touch(conn, entity, session_id, head, exchange.time)
        if any(turn.role == "user" for turn in stored):
            await sessions.speak(conn, entity, session_id, now)
            await self._condense(conn, entity, session_id, history, stored, now)
            before = [said.key for said in of_the_person(history.said[: history.old])]
            if before:
                own = [turn.content for turn in stored if turn.role == "user"]
                await notice_engagement(conn, entity, before[-1], own)
            await self._schedule(conn, entity, session_id, exchange.credential, now)
        if self._notices and exchange.learn:
            await notice(conn, entity, stored, now)
        return stored

    async def _place(
        self, conn: Connection, exchange: Exchange, history: History, marks: Mapping[str, Mark], now: datetime
    ) -> Place:
        entity, start = exchange.entity, marks.get(history.start)
        from_an_answer = start is not None and start.kind != CONVERSATION
        if exchange.session_name is None and (from_an_answer or not history.start):
            last = await sessions.last_user_seq(conn, entity, {mark.session_id for mark in marks.values()})
            return place(history, marks, last, now, self._timeout)
        session_id = start.session_id if start is not None else None
        if exchange.session_name is not None:
            named = await sessions.by_name(conn, entity, exchange.session_name)
            session_id = named.id if named is not None else None
        if session_id is None:
            return Place(None, None, of_the_person(history.new))
        last = await sessions.last_user_seq(conn, entity, {session_id})
        return place_named(history, marks, session_id, last.get(session_id, 0), now, self._timeout)

    async def _write_news(
        self,
        conn: Connection,
        exchange: Exchange,
        session_id: str,
        news: Sequence[Said],
        masked: Mapping[str, str],
        now: datetime,
    ) -> list[Turn]:
        stored = []
        for said in news:
            text = masked[said.key]
            turn = await say(
                conn,
                exchange.entity,
                session_id,
                said.key,
                "user",
                text,
                exchange.time,
                now,
                self._secret,
                name=said.message.name,
                learn="pending" if self._teaches(exchange, said.message, text) else "no",
                credential=exchange.credential,
                timezone=exchange.timezone,
            )
            stored.append(turn)
        return stored

    def _teaches(self, exchange: Exchange, message: Message, text: str) -> bool:
        """Whether a turn is offered to extraction."""
        names = {m.name for m in exchange.messages if m.role == "user" and m.name}
        return (
            exchange.learn
            and self._plan.learns_with(exchange.credential)
            and len(names) < 2  # a shared room: nobody said which of them this memory belongs to
            and not trivial(text)
            and not ignored(text, self._ignore)
        )

    async def _write_reply(
        self,
        conn: Connection,
        exchange: Exchange,
        history: History,
        session_id: str,
        key: str,
        reply: str,
        where: Place,
        now: datetime,
    ) -> list[Turn]:
        entity = exchange.entity
        known = (await sessions.marks(conn, entity, [key])).get(key)
        if known is not None and known.session_id == session_id and not where.news:
            return []  # the same answer again; in another conversation it is an answer of its own
        turn = await say(
            conn,
            entity,
            session_id,
            key,
            "assistant",
            reply,
            exchange.time,
            now,
            self._secret,
            name=_assistant_name(exchange.messages),
            complete=exchange.reply.complete,
        )
        tail = history.next_tail(self._secret, entity, exchange.reply.text)
        if tail is not None:
            await sessions.put_mark(conn, entity, tail, session_id, turn.seq, "tail", now)
        return [turn]

    async def _schedule(
        self, conn: Connection, entity: Entity, session_id: str, credential: str | None, now: datetime
    ) -> None:
        waiting = await turns.pending(conn, entity, session_id, credential)
        if not waiting:
            return
        run_after = now if len(waiting) >= self._batch else now + self._quiet
        await jobs.enqueue(conn, entity, EXTRACT, session_id, run_after, credential, now)

    async def _condense(
        self,
        conn: Connection,
        entity: Entity,
        session_id: str,
        history: History,
        stored: Sequence[Turn],
        now: datetime,
    ) -> None:
        """Have the next stretch of a long conversation summed up, once its turns are no more carried by requests."""
        newest = max(turn.seq for turn in stored if turn.role == "user")
        dropped = newest - max(len(history.said), self._stretch)
        if not self._stretch or history.start or dropped < self._stretch:
            return
        known = await sessions.dropped(conn, entity, session_id) or 0
        if dropped - known < self._stretch or not await wanted(conn, entity):
            return
        said = await sessions.measure(conn, entity, session_id)
        if await ask(conn, entity, CONDENSE, session_id, said, self._plan, now):
            await sessions.drop(conn, entity, session_id, dropped)


async def say(
    conn: Connection,
    entity: Entity,
    session_id: str,
    key: str,
    role: Speaker,
    text: str,
    time: datetime,
    now: datetime,
    secret: bytes,
    *,
    name: str | None = None,
    complete: bool = True,
    learn: LearnState = "no",
    credential: str | None = None,
    timezone: str | None = None,
) -> Turn:
    """Store the next turn of a session, searchable, and under the key of the conversation up to and including it.

    `secret` is the store's: what the person denied is known by keyed hashes.
    """
    turn = await turns.append(
        conn,
        entity,
        session_id,
        role=role,
        name=name,
        content=text,
        time=time,
        complete=complete,
        learn=learn,
        credential=credential,
        timezone=timezone,
        text_key=key,
    )
    denied = await hide_denied(conn, entity, secret, turn)
    await passages.add(conn, entity, turn_passages(turn, hidden_spans=denied))
    await artifacts.note(conn, entity, turn)
    await sessions.put_mark(conn, entity, key, session_id, turn.seq, "said", now)
    return turn


async def _name_assistant(conn: Connection, entity: Entity, history: History, marks: Mapping[str, Mark]) -> None:
    """An answer comes without its speaker's name; a client that uses one says it when it sends the answer back."""
    if not history.old:
        return
    newest = history.said[history.old - 1]
    mark = marks.get(newest.key)
    if newest.message.role == "assistant" and newest.message.name and mark is not None:
        turn = await turns.give_name(conn, entity, mark.session_id, mark.seq, newest.message.name)
        if turn is not None:
            await reindex_turn(conn, entity, turn)


def _assistant_name(messages: Sequence[Message]) -> str | None:
    """The name that the client uses for its assistant, where it gives one in the history."""
    return next((message.name for message in reversed(messages) if message.role == "assistant" and message.name), None)
