"""What memory does with one chat: `prepare` before the reply, `record` after it.

These two fail open, on purpose and in view: trouble here never breaks a chat, it becomes a skip reason and a counter.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memproxy.chores import is_chore
from memproxy.errors import NotUnderstood, StoreError, places
from memproxy.events import Metrics, Skip
from memproxy.extraction.gate import ignored, trivial
from memproxy.interfaces import Clock, Connection, Database
from memproxy.lifecycle.composing import Composed, Composer, Conversation
from memproxy.lifecycle.extractor import ExtractionPlan
from memproxy.lifecycle.history import History, Place, Said, marks_of, own_words, place, place_named, read_history
from memproxy.lifecycle.indexing import Indexer, reindex_turn, turn_passages
from memproxy.lifecycle.worker import EXTRACT, Worker
from memproxy.model import Addition, ChatRequest, ContextBlock, Entity, Exchange, Message, Placement, Turn
from memproxy.recall.recall import Recaller
from memproxy.settings import Settings
from memproxy.store import entities, jobs, passages, sessions, turns
from memproxy.trust import mask_secrets

__all__ = ["Conversation", "Memory", "Prepared"]

log = logging.getLogger(__name__)

LARGE_TEXT = 64 * 1024  # characters from which masking leaves the event loop


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `prepare` decided: a block to inject, or why there is none."""

    block: ContextBlock | None
    skip: Skip | None
    milliseconds: float
    additions: tuple[Addition, ...] = ()  # the block as it goes into the request


class Memory:
    """Recall before the reply and record after it, over one store."""

    def __init__(
        self,
        db: Database,
        recaller: Recaller,
        indexer: Indexer | None,
        worker: Worker,
        settings: Settings,
        secret: bytes,
        clock: Clock,
        metrics: Metrics,
        plan: ExtractionPlan,
    ) -> None:
        self._db = db
        self._indexer = indexer
        self._worker = worker
        self._settings = settings
        self._secret = secret
        self._clock = clock
        self._metrics = metrics
        self._plan = plan
        self._timeout = timedelta(seconds=settings.session.timeout)
        self._chores = [re.compile(pattern) for pattern in settings.chores]
        self._ignore = [re.compile(pattern) for pattern in settings.extraction.ignore]
        self._composer = Composer(db, recaller, settings, secret, clock)

    def is_chore(self, request: ChatRequest) -> bool:
        """Whether the request is a front end's own call: relayed, neither injected nor learned from."""
        return is_chore(replace(request, messages=self._own_words(request.messages)), self._chores)

    def _own_words(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        return own_words(messages, self._settings.added_elements)

    # --- before the reply ----------------------------------------------------------------------------------

    async def prepare(
        self, conversation: Conversation, request: ChatRequest, request_id: str, placement: Placement
    ) -> Prepared:
        """The block for a request, inside the deadline; never raises."""
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._settings.memory.deadline_ms / 1000):
                composed = await self._composer.compose(conversation, request, request_id, placement)
        except NotUnderstood as error:
            composed = Composed(Skip(error.reason))
        except TimeoutError:
            composed = Composed(Skip.DEADLINE)
        except StoreError:
            composed = Composed(Skip.STORE)
        except Exception as error:  # fail open: a fault in memory must not cost the person their answer
            log.error("recall failed: %s at %s", type(error).__name__, places(error))
            composed = Composed(Skip.ERROR)
        seconds = time.perf_counter() - started
        self._metrics.recall.observe(seconds)
        return Prepared(composed.block, composed.skip, seconds * 1000, composed.additions)

    async def recall(
        self, entity: Entity, query: str, now: datetime, timezone: str
    ) -> tuple[ContextBlock | None, Skip | None]:
        """The block for a message, or why there is none. Stores nothing. Raises StoreError."""
        return await self._composer.recall(entity, query, now, timezone)

    async def drain(self) -> None:
        """Wait for writes under way."""
        await self._composer.drain()

    def forget(self, entity: Entity) -> None:
        """Let go of everything kept in memory of an entity."""
        self._composer.forget(entity)

    # --- after the reply -----------------------------------------------------------------------------------

    async def record(self, exchange: Exchange) -> None:
        """Store the new turns of an exchange, durably; never raises (but for cancellation)."""
        if exchange.reply.error is not None:
            self._metrics.unrecorded.labels("in-band-error").inc()
            return
        try:
            stored = await self._record(exchange)
        except StoreError as error:
            log.warning("a turn could not be stored: %s", type(error).__name__)
            self._metrics.unrecorded.labels("store").inc()
            return
        except Exception as error:  # fail open: the answer has been given, and stays given
            log.error("record failed: %s at %s", type(error).__name__, places(error))
            self._metrics.unrecorded.labels("error").inc()
            return
        for turn in stored:
            self._metrics.turns.labels(turn.role).inc()
        if self._indexer is not None and stored:
            self._indexer.wake()
        self._worker.wake()

    async def _record(self, exchange: Exchange) -> list[Turn]:
        messages = self._own_words(exchange.messages)
        history = read_history(messages, self._secret, exchange.entity)
        masked = {}
        for said in history.new:
            masked[said.key] = await _masked(said.message.text)
        reply = await _masked(exchange.reply.text)
        return await self._db.write(lambda conn: self._write(conn, exchange, history, masked, reply))

    async def _write(
        self, conn: Connection, exchange: Exchange, history: History, masked: dict[str, str], reply: str
    ) -> list[Turn]:
        entity, now = exchange.entity, self._clock.now()
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
        await _name_assistant(conn, entity, history, marks)
        stored = await self._write_news(conn, exchange, session_id, where.news, masked, now)
        stored += await self._write_reply(conn, exchange, history, session_id, reply, now)
        await sessions.touch(conn, entity, session_id, _head(history, where, self._secret, exchange), exchange.time)
        if any(turn.role == "user" for turn in stored):
            await self._schedule(conn, entity, session_id, exchange.credential, now)
        return stored

    async def _place(
        self,
        conn: Connection,
        exchange: Exchange,
        history: History,
        marks: Mapping[str, sessions.Mark],
        now: datetime,
    ) -> Place:
        entity = exchange.entity
        if exchange.session_name is None:
            last = await sessions.last_user_seq(conn, entity, {mark.session_id for mark in marks.values()})
            return place(history, marks, last, now, self._timeout)
        named = await sessions.by_name(conn, entity, exchange.session_name)
        if named is None:
            news = tuple(said for said in history.new if said.message.role == "user")
            return Place(None, None, news)
        last = await sessions.last_user_seq(conn, entity, {named.id})
        return place_named(history, marks, named.id, last.get(named.id, 0), now, self._timeout)

    async def _write_news(
        self,
        conn: Connection,
        exchange: Exchange,
        session_id: str,
        news: Sequence[Said],
        masked: dict[str, str],
        now: datetime,
    ) -> list[Turn]:
        stored = []
        for said in news:
            text = masked[said.key]
            turn = await turns.append(
                conn,
                exchange.entity,
                session_id,
                role="user",
                name=said.message.name,
                content=text,
                time=exchange.time,
                learn="pending" if self._teaches(exchange, said.message, text) else "no",
                credential=exchange.credential,
                text_key=said.key,
            )
            await passages.add(conn, exchange.entity, turn_passages(turn))
            await sessions.put_mark(conn, exchange.entity, said.key, session_id, turn.seq, "said", now)
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
        self, conn: Connection, exchange: Exchange, history: History, session_id: str, reply: str, now: datetime
    ) -> list[Turn]:
        if not reply.strip():
            return []
        entity = exchange.entity
        key = history.extended(self._secret, entity, exchange.reply.text)
        known = (await sessions.marks(conn, entity, [key])).get(key)
        if known is not None and known.session_id == session_id:
            return []  # the same answer again; in another conversation it is an answer of its own
        turn = await turns.append(
            conn,
            entity,
            session_id,
            role="assistant",
            name=_assistant_name(exchange.messages),
            content=reply,
            time=exchange.time,
            complete=exchange.reply.complete,
            learn="no",
            credential=None,
            text_key=key,
        )
        await passages.add(conn, entity, turn_passages(turn))
        await sessions.put_mark(conn, entity, key, session_id, turn.seq, "said", now)
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
        enough = len(waiting) >= self._settings.extraction.turns
        run_after = now if enough else now + timedelta(seconds=self._settings.extraction.quiet_seconds)
        await jobs.enqueue(conn, entity, EXTRACT, session_id, run_after, credential, now)


async def _name_assistant(
    conn: Connection, entity: Entity, history: History, marks: Mapping[str, sessions.Mark]
) -> None:
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


def _head(history: History, where: Place, secret: bytes, exchange: Exchange) -> str | None:
    """The key of the conversation as it stands after the exchange."""
    if exchange.reply.text.strip():
        return history.extended(secret, exchange.entity, exchange.reply.text)
    return where.news[-1].key if where.news else None


async def _masked(text: str) -> str:
    if len(text) < LARGE_TEXT:
        return mask_secrets(text)
    return await asyncio.to_thread(mask_secrets, text)
