"""What memory does with one chat: `prepare` before the reply, `record` after it.

These two fail open, on purpose and in view: trouble here never breaks a chat, it becomes a skip reason and a counter.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memproxy.chores import is_chore
from memproxy.errors import NotUnderstood, StoreError, SwitchedOff, places
from memproxy.events import Metrics, Skip
from memproxy.interfaces import Clock, Database
from memproxy.lifecycle.asking import Conversation, Heard, hear
from memproxy.lifecycle.composing import Composed, Composer, SoFar
from memproxy.lifecycle.embedding import Indexer
from memproxy.lifecycle.extractor import ExtractionPlan
from memproxy.lifecycle.fetched import awaited, ended, put_fetched
from memproxy.lifecycle.history import kept_key, read_history
from memproxy.lifecycle.recording import Recorder
from memproxy.lifecycle.steering import Steering
from memproxy.lifecycle.worker import Worker
from memproxy.model import Addition, ChatRequest, ContextBlock, Entity, Exchange, Placement, Reply, Turn
from memproxy.recall.explaining import Weighed
from memproxy.recall.recall import Recaller
from memproxy.settings import Settings
from memproxy.store.sessions import Thread
from memproxy.trust import mask_secrets

__all__ = ["Conversation", "Heard", "Memory", "Prepared"]

log = logging.getLogger(__name__)

LARGE_TEXT = 64 * 1024  # characters from which masking leaves the event loop


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `prepare` decided: a block to inject, or why there is none."""

    block: ContextBlock | None
    skip: Skip | None
    milliseconds: float
    additions: tuple[Addition, ...] = ()  # the block as it goes into the request
    thread: Thread | None = None  # where the request stands, should another go on from its answer


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
        steering: Steering | None = None,
    ) -> None:
        self._db = db
        self._indexer = indexer
        self._worker = worker
        self._settings = settings
        self._secret = secret
        self._clock = clock
        self._metrics = metrics
        self._chores = [re.compile(pattern) for pattern in settings.chores]
        self._composer = Composer(db, recaller, settings, secret, clock, metrics, steering)
        self._recorder = Recorder(settings, secret, plan)

    def hear(self, request: ChatRequest) -> Heard:
        """A request with what its speakers said, apart from what programs put in."""
        return hear(request, self._settings.added_elements)

    def is_chore(self, heard: Heard) -> bool:
        """Whether the request is a front end's own call: relayed, neither injected nor learned from."""
        return is_chore(heard.said, self._chores)

    # --- before the reply ----------------------------------------------------------------------------------

    async def prepare(
        self, conversation: Conversation, heard: Heard, request_id: str, placement: Placement
    ) -> Prepared:
        """The block for a request, inside the deadline; never raises."""
        started = time.perf_counter()
        so_far = SoFar()
        try:
            async with asyncio.timeout(self._settings.memory.deadline_ms / 1000):
                composed = await self._composer.compose(conversation, heard, request_id, placement, so_far)
        except NotUnderstood as error:
            composed = Composed(Skip(error.reason))
        except SwitchedOff:
            composed = Composed(Skip.SWITCHED_OFF)
        except TimeoutError:
            composed = self._in_haste(so_far, placement)
        except StoreError:
            composed = Composed(Skip.STORE)
        except Exception as error:  # fail open: a fault in memory must not cost the person their answer
            log.error("recall failed: %s at %s", type(error).__name__, places(error))
            composed = Composed(Skip.ERROR)
        seconds = time.perf_counter() - started
        self._metrics.recall.observe(seconds)
        return Prepared(composed.block, composed.skip, seconds * 1000, composed.additions, composed.thread)

    def _in_haste(self, so_far: SoFar, placement: Placement) -> Composed:
        """What is known when time has run out."""
        try:
            composed = self._composer.in_haste(so_far, placement)
        except Exception as error:  # fail open, as in `prepare`
            log.error("recall failed: %s at %s", type(error).__name__, places(error))
            return Composed(Skip.ERROR)
        if composed is None:
            return Composed(Skip.DEADLINE)
        self._metrics.recall_standing.inc()
        return composed

    async def recall(
        self, entity: Entity, query: str, now: datetime, timezone: str, trace: list[Weighed] | None = None
    ) -> tuple[ContextBlock | None, Skip | None]:
        """The block for a message, or why there is none. Stores nothing. Raises StoreError.

        `trace` is given every passage that was proposed, and what became of it.
        """
        try:
            return await self._composer.recall(entity, query, now, timezone, trace)
        except SwitchedOff:
            return None, Skip.SWITCHED_OFF

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
        await self._store(self._record(exchange))

    async def store(self, exchange: Exchange) -> Sequence[Turn]:
        """The same for whoever wants to know: the turns that were stored. Raises StoreError."""
        return self._stored(await self._record(exchange))

    async def awaits(self, entity: Entity, answer_id: str) -> bool:
        """Whether an answer that the upstream keeps was asked for in a recorded exchange; never raises."""
        key = kept_key(self._secret, entity, answer_id)
        try:
            async with asyncio.timeout(self._settings.memory.deadline_ms / 1000):
                return await self._db.read(lambda conn: awaited(conn, entity, key)) is not None
        except (TimeoutError, StoreError):
            return False

    async def record_fetched(self, conversation: Conversation, answer_id: str, reply: Reply) -> None:
        """Store an answer that was fetched later than it was asked for, durably; never raises (but for cancellation).

        One that is under way, broke off, failed or says nothing is left for the next time.
        """
        if ended(reply) and reply.error is None:
            await self._store(self._record_fetched(conversation, answer_id, reply))

    def follow(self, conversation: Conversation, request: ChatRequest, prepared: Prepared, reply: Reply) -> None:
        """Know again what a request may go on from, where nothing is to be recorded. In memory only."""
        for id in (request.previous, reply.id):
            if id is not None and prepared.thread is not None:
                self._composer.follow(conversation.entity, id, prepared.thread)

    async def _store(self, recording: Awaitable[Sequence[Turn]]) -> None:
        try:
            stored = await recording
        except StoreError as error:
            log.warning("a turn could not be stored: %s", type(error).__name__)
            self._metrics.unrecorded.labels("store").inc()
            return
        except Exception as error:  # fail open: the answer has been given, and stays given
            log.error("record failed: %s at %s", type(error).__name__, places(error))
            self._metrics.unrecorded.labels("error").inc()
            return
        self._stored(stored)

    def _stored(self, turns: Sequence[Turn]) -> Sequence[Turn]:
        """Count turns, and let background work see to them."""
        for turn in turns:
            self._metrics.turns.labels(turn.role).inc()
        if self._indexer is not None and turns:
            self._indexer.wake()
        self._worker.wake()
        return turns

    async def _record(self, exchange: Exchange) -> list[Turn]:
        history = read_history(exchange.messages, self._secret, exchange.entity, exchange.previous)
        masked = {}
        for said in history.new:
            masked[said.key] = await _masked(said.message.text)
        reply = await _masked(exchange.reply.text)
        now = self._clock.now()
        return await self._db.write(lambda conn: self._recorder.write(conn, exchange, history, masked, reply, now))

    async def _record_fetched(self, conversation: Conversation, answer_id: str, reply: Reply) -> list[Turn]:
        entity, time, now = conversation.entity, conversation.time, self._clock.now()
        key = kept_key(self._secret, entity, answer_id)
        text = await _masked(reply.text)
        turn = await self._db.write(lambda conn: put_fetched(conn, entity, key, reply, text, time, self._secret, now))
        return [turn] if turn is not None else []


async def _masked(text: str) -> str:
    if len(text) < LARGE_TEXT:
        return mask_secrets(text)
    return await asyncio.to_thread(mask_secrets, text)
