"""Assembly: every part of a running memory, opened and closed in one readable place."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from memproxy.archive.exporting import Form, exported
from memproxy.assembly.hop_mark import HopMark
from memproxy.assembly.live import Live
from memproxy.assembly.opening import Opening, told
from memproxy.assembly.page_token import page_token
from memproxy.clock import SystemClock
from memproxy.context.phrases import phrase
from memproxy.embedders import trouble
from memproxy.embedders.live import Embedders
from memproxy.errors import StoreError
from memproxy.events import Metrics, Skip
from memproxy.interfaces import Clock, Connection, Embedder
from memproxy.lifecycle.calibrating import Calibrator
from memproxy.lifecycle.closing import Closer
from memproxy.lifecycle.curation import Curator
from memproxy.lifecycle.disputes import Disputes
from memproxy.lifecycle.embedding import Indexer
from memproxy.lifecycle.expiry import expire
from memproxy.lifecycle.extractor import ExtractionPlan, plan_extraction
from memproxy.lifecycle.learner import Learner, policy_of
from memproxy.lifecycle.profile import Profiles
from memproxy.lifecycle.reembedding import Reembedder
from memproxy.lifecycle.steering import Steering
from memproxy.lifecycle.summarizing import Summarizer
from memproxy.lifecycle.worker import Progress, Worker
from memproxy.memory import Memory
from memproxy.model import ContextBlock, Entity, ItemKind, Scored
from memproxy.providers.client import ChatClient
from memproxy.recall.explaining import Weighed
from memproxy.recall.recall import Recaller
from memproxy.settings import Settings
from memproxy.store import answered, entities, erasure, jobs, meta, placed, receipts, summaries, turns
from memproxy.store import facts as fact_rows
from memproxy.store.sqlite import SqliteDatabase

log = logging.getLogger(__name__)

EXPIRY_POLL = 5.0  # seconds; the row of the next fact that is due is looked at
CLOSING_POLL = 15.0
JOBS_KEPT = timedelta(days=7)  # after they are done; dead ones stay until somebody looks


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a message would get from memory."""

    block: ContextBlock | None
    skip: Skip | None  # why there is no block
    weighed: list[Weighed] | None = None  # every passage that was proposed, where that was asked for


@dataclass
class Parts:
    """The parts of one memory, wired. Made by `open_parts`."""

    settings: Settings
    db: SqliteDatabase
    opening: Opening
    plan: ExtractionPlan
    recaller: Recaller
    indexer: Indexer | None
    reembedder: Reembedder
    learner: Learner
    worker: Worker
    memory: Memory
    curator: Curator
    disputes: Disputes
    profiles: Profiles
    closer: Closer
    clock: Clock
    metrics: Metrics
    page_token: str  # by which writes from our page are known
    mark: HopMark  # of what this memory's proxies send upstream
    named_at_start: bool  # whether the store had seen a named entity when it was opened
    live: Live = field(default_factory=Live)
    opened: float = field(default_factory=time.monotonic)
    draining: bool = False
    importing: asyncio.Lock = field(default_factory=asyncio.Lock)  # a file is read whole: one at a time
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _named: bool = False

    @property
    def embedders(self) -> Embedders:
        """What can be embedded with now."""
        return self.opening.embedders

    @property
    def embedder(self) -> Embedder | None:
        """The configured embedder."""
        return self.embedders.current

    # --- background work -------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin the background work: vectors, extraction, pruning."""
        if reembedding := self.reembedding():
            log.warning("%s", reembedding["told"])
        loops = [self._prune(), self._expire(), self._close()]
        if self.indexer is not None:
            loops += [self.indexer.run(), self._reembed(self.indexer), Calibrator(self.db, self.embedders).run()]
        if self.plan.off is None:
            loops += [self.worker.run() for _ in range(self.settings.extraction.concurrency)]
        self._tasks = [asyncio.get_running_loop().create_task(loop) for loop in loops]

    async def stop(self) -> None:
        """End the background work; what was under way is left as rows and goes on at the next start."""
        self.drain()
        await self.memory.drain()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    def drain(self) -> None:
        """No new work is taken up, and nobody is kept waiting."""
        self.draining = True
        self.live.close()

    async def _reembed(self, indexer: Indexer) -> None:
        """Wait for the embedder, where it is away, and then bring everybody over who is searched by another model."""
        await self.opening.arrive()
        indexer.wake()
        if self.embedders.replaced:
            with contextlib.suppress(StoreError):
                await self.reembedder.count()
            if self.settings.embed.reembed == "background":
                await self.reembedder.run(indexer)

    async def _prune(self) -> None:
        """Drop old receipts, summaries and finished jobs, for as long as the server runs."""
        limits, days = self.settings.receipts, self.settings.summaries.days

        async def prune(conn: Connection) -> None:
            now = self.clock.now()
            await receipts.prune(conn, limits.days, limits.max, now)
            await placed.prune(conn, limits.days, now)
            await jobs.prune(conn, now - JOBS_KEPT)
            await answered.prune(conn, now)
            if days is not None:
                await summaries.prune(conn, now - timedelta(days=days))

        while True:
            try:
                await self.db.write(prune)
            except StoreError as error:
                log.warning("old receipts stay for now: %s", type(error).__name__)
            await asyncio.sleep(max(1.0, self.settings.prune_interval))

    async def _expire(self) -> None:
        """Let facts end when their time has come, for as long as the server runs."""
        while True:
            try:
                await self.expire()
            except StoreError as error:
                log.warning("facts whose time has come stay for now: %s", type(error).__name__)
            await asyncio.sleep(EXPIRY_POLL)

    async def _close(self) -> None:
        """Close conversations that have rested, for as long as the server runs."""
        while True:
            try:
                await self.close()
            except StoreError as error:
                log.warning("conversations stay open for now: %s", type(error).__name__)
            await asyncio.sleep(CLOSING_POLL)

    async def close(self) -> int:
        """Close all conversations that have rested for the timeout; how many are to be summed up."""
        asked = await self.closer.close(self.clock.now())
        if asked:
            self.worker.wake()
        return len(asked)

    async def expire(self) -> int:
        """Let all facts end whose time has come; how many there were."""
        total = 0
        while True:
            now = self.clock.now()
            due = await self.db.read(fact_rows.next_due)
            if due is None or due > now:
                return total
            ended = await self.db.write(lambda conn: expire(conn, now))  # noqa: B023 - awaited here
            for entity in {entity for entity, _ in ended}:
                self.changed(entity)
            self.metrics.facts.labels("expired").inc(len(ended))
            total += len(ended)

    async def learned(self, entity: Entity, turn_ids: Sequence[str], seconds: float) -> bool:
        """Wait until nothing waits to be learned from these turns, `seconds` at most; whether that is so."""
        try:
            async with asyncio.timeout(seconds):
                while await self.db.read(lambda conn: turns.waiting(conn, entity, turn_ids)):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)  # other processes learn too: only rows tell
        except TimeoutError:
            return False
        return True

    async def flush(self, seconds: float) -> Progress:
        """Run debounced jobs now and wait until background work is idle."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        await self.expire()
        await self.close()
        progress = await self.worker.flush(seconds)
        if self.indexer is None:
            return progress
        self.indexer.wake()
        try:
            async with asyncio.timeout_at(until):
                await self.indexer.idle()
        except TimeoutError:
            return Progress(False, progress.pending, progress.dead)
        return progress

    # --- state -----------------------------------------------------------------------------------------------

    async def readiness(self) -> dict[str, Any]:
        """`memory: ok | degraded` and the reasons."""
        reasons = []
        if not self.settings.memory.enabled:
            reasons.append("memory.enabled is false")
        try:
            await self.db.read(jobs.counts)
            await self.db.write(lambda conn: meta.put(conn, "checked", self.clock.now().isoformat()))
        except StoreError as error:
            reasons.append(f"store: {error}")
        if self.embedder is None:
            reasons.append(f"embedder: {self.embedders.problem}")
        elif self.indexer is not None and self.indexer.failing:
            reasons.append(f"embedder: {trouble(self.embedder) or self.indexer.failing}")
        elif failing := trouble(self.embedder):
            reasons.append(f"embedder: {failing}")
        reembedding = self.reembedding()
        if reembedding is not None and self.embedders.missing:
            reasons.append(f"vectors: {reembedding['told']}")
        return {
            "status": "draining" if self.draining else "ready",
            "memory": "degraded" if reasons else "ok",
            "reasons": reasons,
            "extraction": self.plan.description,
            "reembedding": reembedding,
        }

    def reembedding(self) -> dict[str, Any] | None:
        """What is told where somebody's vectors are not of the configured model."""
        found, progress = self.embedders, self.reembedder.progress
        if found.current is None or not found.replaced:
            return None
        return {
            "model": found.current.info.model,
            "of": found.replaced,
            "unavailable": found.missing,
            "mode": self.settings.embed.reembed,
            "total": progress.total,
            "done": progress.done,
            "failing": self.reembedder.failing,
            "told": told(found, progress, self.settings.embed.reembed),
        }

    async def measure(self) -> None:
        """Bring gauges up to date."""
        with contextlib.suppress(StoreError):
            for state, count in (await self.db.read(jobs.counts)).items():
                self.metrics.jobs.labels(state).set(count)

    async def default_is_open(self) -> bool:
        """Whether nobody has named an entity yet, so that the one person of one machine may be `default`."""
        if not self._named:
            self._named = await self.db.read(entities.named_seen)
        return not self._named

    # --- use -------------------------------------------------------------------------------------------------

    async def dry_run(self, entity: Entity, query: str, *, explain: bool = False) -> DryRun:
        """What would be injected for a message; with `explain` every candidate and its fate. Stores nothing."""
        trace: list[Weighed] | None = [] if explain else None
        block, skip = await self.memory.recall(entity, query, self.clock.now(), self.settings.timezone, trace)
        return DryRun(block, skip, trace)

    async def search(self, entity: Entity, query: str, kinds: Sequence[ItemKind], limit: int) -> list[Scored]:
        """Passages that bear on a query, best first."""
        async with self.recaller.asked(query, now=self.clock.now(), floor=False, entity=entity) as question:
            found = await self.recaller.find(entity, question, kinds=kinds or None, floor=False)
        return list(found.scored[:limit])

    async def export(self, entity: Entity, form: Form) -> AsyncIterator[bytes]:
        """Everything that is remembered of an entity as the bytes of a file. Raises Problem 404, StoreError."""
        return await exported(self.db, entity, form, self.clock.now())

    def changed(self, entity: Entity) -> None:
        """Rows of an entity changed by hand: passages may lack vectors, jobs may be due."""
        if self.indexer is not None:
            self.indexer.wake()
        self.worker.wake()

    async def erase(self, entity: Entity) -> dict[str, int]:
        """Remove everything of an entity and its traces in the files; how many rows of each kind went."""
        counts = await self.db.write(lambda conn: erasure.erase(conn, entity))
        self.live.forget(entity.name)
        await self.removed(entity)
        return counts

    async def removed(self, entity: Entity) -> None:
        """Rows of an entity were removed for good: nothing of them is left in memory or in the files."""
        self.memory.forget(entity)
        self.recaller.forget(entity)
        await self.db.scrub()


@contextlib.asynccontextmanager
async def open_parts(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Parts]:
    """Open the store and everything on top of it; closes all of it at the end.

    Raises StoreError or SettingsError. An embedder that cannot be had is no error: recall goes by words, and `ready`
    says why.
    """
    clock = clock or SystemClock()
    metrics = Metrics()
    async with contextlib.AsyncExitStack() as stack:
        db = await SqliteDatabase.open(settings.database)
        stack.push_async_callback(db.close)
        secret = await db.write(meta.secret)
        named = await db.read(entities.named_seen)
        opening = Opening(settings, db)
        stack.push_async_callback(opening.embedders.close)
        embedders = await opening.open()
        mark = HopMark(secret, clock)
        client = ChatClient(settings.llm.timeout, settings.llm.options, mark.headers)
        stack.push_async_callback(client.close)
        plan = plan_extraction(settings, secret)
        zone = ZoneInfo(settings.timezone)
        recaller = Recaller(db, embedders, settings, metrics, note=phrase)
        stack.push_async_callback(recaller.close)
        indexer = Indexer(db, embedders, recaller.quiet) if embedders.current is not None or embedders.failing else None
        reembedder = Reembedder(db, embedders)
        if embedders.current is not None and embedders.replaced:
            await reembedder.count()
        policy = policy_of(settings.facts)
        asks = settings.facts.gate == "model" or (settings.facts.gate == "auto" and plan.own is not None)
        learner = Learner(
            db,
            embedders,
            client,
            policy,
            clock,
            metrics,
            secret,
            settings.extraction.daily_calls,
            asks,
            zone if settings.extraction.reflection else None,
        )
        stored = indexer.wake if indexer is not None else lambda: None
        summarizer = Summarizer(db, client, clock, metrics, secret, zone, settings.extraction.ignore, stored)
        worker = Worker(db, learner, summarizer, client, plan, settings.extraction, zone, clock, metrics)
        curator = Curator(db, embedders, secret, clock, learning=plan.own is not None, policy=policy)
        steering = Steering(db, curator, metrics) if settings.chat_control else None
        memory = Memory(db, recaller, indexer, worker, settings, secret, clock, metrics, plan, steering)
        yield Parts(
            settings,
            db,
            opening,
            plan,
            recaller,
            indexer,
            reembedder,
            learner,
            worker,
            memory,
            curator,
            Disputes(db, settings.facts.exclusive_families, clock),
            Profiles(db, policy.packs, clock),
            Closer(db, settings, plan),
            clock,
            metrics,
            page_token(secret),
            mark,
            named,
        )
