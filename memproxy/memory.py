"""What memory does with one chat: `prepare` before the reply, `record` after it.

These two fail open, on purpose and in view: trouble here never breaks a chat, it becomes a skip reason and a counter.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memproxy.chores import is_chore
from memproxy.context.budget import estimate_tokens, fit
from memproxy.context.placement import place
from memproxy.context.render import render
from memproxy.errors import NotUnderstood, StoreError, places
from memproxy.events import Metrics, Skip
from memproxy.extraction.gate import ignored, trivial
from memproxy.interfaces import Clock, Connection, Database
from memproxy.lifecycle import history as conversations
from memproxy.lifecycle.extractor import ExtractionPlan
from memproxy.lifecycle.history import History, Place, Said, place_named, read_history
from memproxy.lifecycle.indexing import Indexer, reindex_turn, turn_passages
from memproxy.lifecycle.worker import EXTRACT, Worker
from memproxy.model import (
    Addition,
    ChatRequest,
    ContextBlock,
    Entity,
    Exchange,
    ItemKind,
    MemoryMode,
    Message,
    Receipt,
    Turn,
)
from memproxy.recall.recall import Found, Recaller
from memproxy.settings import Settings
from memproxy.store import entities, jobs, passages, receipts, search, sessions, turns
from memproxy.store import facts as fact_rows
from memproxy.trust import cut_blocks, mask_secrets

log = logging.getLogger(__name__)

REPLY_TOKENS = 512  # room kept for the answer where the client sets no limit of its own
KEPT_BLOCKS = 1000  # of read-only requests, which leave no row
LARGE_TEXT = 64 * 1024  # characters from which masking leaves the event loop


@dataclass(frozen=True, slots=True)
class Conversation:
    """Who speaks in which conversation, as one request says it."""

    entity: Entity
    session_name: str | None
    mode: MemoryMode
    time: datetime  # when it is said
    timezone: str


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
        self._recaller = recaller
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
        self._kept: OrderedDict[tuple[Entity, str], ContextBlock] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    def is_chore(self, request: ChatRequest) -> bool:
        """Whether the request is a front end's own call: relayed, neither injected nor learned from."""
        return is_chore(request, self._chores)

    # --- before the reply ----------------------------------------------------------------------------------

    async def prepare(self, conversation: Conversation, request: ChatRequest, request_id: str) -> Prepared:
        """The block for a request, inside the deadline; never raises."""
        started = time.perf_counter()
        block: ContextBlock | None = None
        skip: Skip | None = None
        additions: tuple[Addition, ...] = ()
        try:
            async with asyncio.timeout(self._settings.memory.deadline_ms / 1000):
                block, skip = await self._block(conversation, request, request_id)
            if block is not None:
                additions = place(block.text, self._settings.memory.placement, request)
        except NotUnderstood as error:
            skip = Skip(error.reason)
        except TimeoutError:
            skip = Skip.DEADLINE
        except StoreError:
            skip = Skip.STORE
        except Exception as error:  # fail open: a fault in memory must not cost the person their answer
            log.error("recall failed: %s at %s", type(error).__name__, places(error))
            skip = Skip.ERROR
        seconds = time.perf_counter() - started
        self._metrics.recall.observe(seconds)
        return Prepared(block if skip is None else None, skip, seconds * 1000, additions)

    async def _block(
        self, conversation: Conversation, request: ChatRequest, request_id: str
    ) -> tuple[ContextBlock | None, Skip | None]:
        entity = conversation.entity
        messages = own_words(request.messages)
        history = read_history(messages, self._secret, entity)
        said = [s.message.text for s in history.new if s.message.role == "user"]
        if not said:
            return await self._kept_block(entity, history)
        budget = self._budget(request)
        if budget <= 0:
            return None, Skip.NO_ROOM
        present = asyncio.create_task(self._present(entity, history))
        query = "\n".join(mask_secrets(text) for text in said)
        try:
            found = await self._recaller.find(entity, query, now=conversation.time, present=present)
        finally:
            present.cancel()
        block, skip = self._render(found, budget, conversation.timezone)
        if block is not None:
            self._keep(conversation, history, block, found, request_id)
        return block, skip

    async def _present(self, entity: Entity, history: History) -> set[tuple[str, int]]:
        """The stored turns (session, place) that the request itself holds: no need to recall them."""
        marks = await self._db.read(lambda conn: _marks(conn, entity, history))
        return {(mark.session_id, mark.seq) for mark in marks.values()}

    async def recall(
        self,
        entity: Entity,
        query: str,
        now: datetime,
        timezone: str,
    ) -> tuple[ContextBlock | None, Skip | None]:
        """The block for a message, or why there is none. Stores nothing. Raises StoreError."""
        found = await self._recaller.find(entity, query, now=now)
        return self._render(found, self._settings.memory.token_budget, timezone)

    def _render(self, found: Found, budget: int, timezone: str) -> tuple[ContextBlock | None, Skip | None]:
        if found.query.small_talk:
            return None, Skip.SMALL_TALK
        pinned = any(fact.pinned for fact in found.standing)
        if not found.scored and not pinned:
            return None, Skip.NOTHING_RELEVANT
        block = render(found.scored, found.standing, budget_tokens=budget, timezone=timezone)
        return (block, None) if block.items else (None, Skip.NO_ROOM)

    def _budget(self, request: ChatRequest) -> int:
        memory = self._settings.memory
        asked = sum(estimate_tokens(message.text) + 4 for message in request.messages)
        return fit(memory.token_budget, memory.context_window, asked, request.max_tokens or REPLY_TOKENS)

    async def _kept_block(self, entity: Entity, history: History) -> tuple[ContextBlock | None, Skip | None]:
        """In a tool loop the block of the turn that began it goes in again, byte for byte."""
        key = history.turn_key
        if key is None:
            return None, Skip.NO_QUERY
        block = self._kept.get((entity, key)) or await self._db.read(lambda conn: receipts.block_for(conn, entity, key))
        return (block, None) if block is not None else (None, Skip.NO_QUERY)

    def _keep(
        self, conversation: Conversation, history: History, block: ContextBlock, found: Found, request_id: str
    ) -> None:
        key = history.turn_key
        if conversation.mode == "read":
            if key is not None:
                self._kept[conversation.entity, key] = block
                while len(self._kept) > KEPT_BLOCKS:
                    self._kept.popitem(last=False)
            return
        receipt = Receipt(request_id, conversation.entity, None, key, self._clock.now(), block)
        # Not awaited: the one writer keeps order, so the receipt is there before the exchange is recorded.
        self._background(self._put_receipt(receipt, found))

    async def _put_receipt(self, receipt: Receipt, found: Found) -> None:
        facts = [item.id for item in receipt.block.items if item.kind == "fact"]

        async def put(conn: Connection) -> None:
            await receipts.put(conn, receipt)
            for kind, owner_id in await _hidden_since(conn, receipt, found):
                await receipts.redact(conn, receipt.entity, kind, owner_id)
            await fact_rows.count_recalled(conn, receipt.entity, facts, receipt.time)

        try:
            await self._db.write(put)
        except StoreError as error:
            log.warning("a receipt could not be stored: %s", type(error).__name__)

    def _background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        """Wait for writes under way."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    def drop_kept(self, entity: Entity) -> None:
        """Something of this entity was forgotten, corrected or erased: blocks kept in memory may still say it."""
        for key in [key for key in self._kept if key[0] == entity]:
            del self._kept[key]

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
        messages = own_words(exchange.messages)
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
        marks = await _marks(conn, entity, history)
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
            return conversations.place(history, marks, last, now, self._timeout)
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


def own_words(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages without blocks of ours that a client echoed."""
    return tuple(replace(message, text=cut_blocks(message.text)) for message in messages)


def _head(history: History, where: Place, secret: bytes, exchange: Exchange) -> str | None:
    """The key of the conversation as it stands after the exchange."""
    if exchange.reply.text.strip():
        return history.extended(secret, exchange.entity, exchange.reply.text)
    return where.news[-1].key if where.news else None


async def _marks(conn: Connection, entity: Entity, history: History) -> dict[str, sessions.Mark]:
    keys = [said.key for said in history.said]
    return await sessions.marks(conn, entity, [*keys, history.tail] if history.tail else keys)


async def _hidden_since(conn: Connection, receipt: Receipt, found: Found) -> set[tuple[ItemKind, str]]:
    """What a receipt quotes that was forgotten, corrected or removed between its recall and its being stored."""
    quoted = {(item.kind, item.id) for item in receipt.block.items}
    read = [s.candidate for s in found.scored if (s.candidate.kind, s.candidate.owner_id) in quoted]
    hidden = await search.gone(conn, receipt.entity, read)
    standing = await fact_rows.get_many(conn, receipt.entity, [fact.id for fact in found.standing])
    current = {(fact.id, fact.text) for fact in standing if fact.status == "current"}
    return hidden | {("fact", fact.id) for fact in found.standing if (fact.id, fact.text) not in current}


async def _masked(text: str) -> str:
    if len(text) < LARGE_TEXT:
        return mask_secrets(text)
    return await asyncio.to_thread(mask_secrets, text)
