"""Jobs claimed and done: a session's new turns through the extraction model, into facts, or into a summary.

Jobs are rows: leased, retried with back-off, buried after the last attempt, visible and replayable. "Failed" and
"nothing to remember" are different states.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from memproxy.errors import EmptyAnswer, ProviderBusy, ProviderError, StoreError, UnusableReply, places
from memproxy.events import Metrics
from memproxy.extraction.extract import Extracted, extract
from memproxy.extraction.reconcile import Dispute, Insert, Reinforce, Reject
from memproxy.extraction.windows import windows
from memproxy.interfaces import Clock, Connection, Database
from memproxy.lifecycle.dead_letters import bury
from memproxy.lifecycle.extractor import ExtractionPlan
from memproxy.lifecycle.kinds import EXTRACT as EXTRACT
from memproxy.lifecycle.learner import RESERVED, Learner
from memproxy.lifecycle.learning import Learned
from memproxy.lifecycle.summarizing import Summarizer
from memproxy.model import Job, Turn, new_id
from memproxy.providers.client import ChatClient
from memproxy.settings import Extraction
from memproxy.store import jobs, turns

log = logging.getLogger(__name__)

LEASE_SECONDS = 300.0
FIRST_BACKOFF = 1.0  # seconds; doubled with each attempt
LONGEST_BACKOFF = 600.0
LONGEST_TOLD = 24 * 3600.0  # a server may ask for a day of patience, not for ever
POLL_SECONDS = 5.0  # other processes may have left jobs behind


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of the background work, as `flush` reports it."""

    idle: bool
    pending: int
    dead: int


class Worker:
    """Learns in the background. Run `concurrency` of its loops; each does one job at a time."""

    def __init__(
        self,
        db: Database,
        learner: Learner,
        summarizer: Summarizer,
        client: ChatClient,
        plan: ExtractionPlan,
        settings: Extraction,
        timezone: ZoneInfo,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._db = db
        self._learner = learner
        self._summarizer = summarizer
        self._client = client
        self._plan = plan
        self._settings = settings
        self._timezone = timezone
        self._clock = clock
        self._metrics = metrics
        self._name = new_id()
        self._wake = asyncio.Event()
        self._quiet_until: datetime | None = None  # the model's server asked all of us to wait

    def wake(self) -> None:
        """There may be a job to do."""
        self._wake.set()

    async def run(self) -> None:
        """Work until cancelled; a job under way when that happens is done again later (its lease runs out)."""
        while True:
            try:
                busy = await self.step()
            except StoreError as error:
                log.warning("background work waits for the database: %s", type(error).__name__)
                busy = False
            if not busy:
                await self._sleep()

    async def _sleep(self) -> None:
        self._wake.clear()
        try:
            due = await self._db.read(jobs.next_due)
        except StoreError:
            due = None
        now = self._clock.now()
        seconds = POLL_SECONDS if due is None else min(POLL_SECONDS, max(0.05, (due - now).total_seconds()))
        if self._quiet_until is not None:
            seconds = min(POLL_SECONDS, max(seconds, (self._quiet_until - now).total_seconds()))
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass

    async def step(self) -> bool:
        """Do one job that is due. False where there was none."""
        now = self._clock.now()
        if self._quiet_until is not None and now < self._quiet_until:
            return False
        credentials = self._plan.credentials()
        job = await self._db.write(lambda conn: jobs.claim(conn, self._name, now, LEASE_SECONDS, credentials))
        if job is None:
            return False
        try:
            await self._work(job)
        except ProviderBusy as error:
            await self._later(job, error)
        except UnusableReply as error:
            await self._later(job, error)
        except ProviderError as error:
            await self._bury(job, error.reason)
        except asyncio.CancelledError:
            await asyncio.shield(self._db.write(lambda conn: jobs.retry(conn, job, self._clock.now(), "stopped")))
            raise
        except StoreError:
            raise
        except Exception as error:  # one reply that finds a fault in us must not end learning for everybody
            log.error("job %s (%s) found a fault: %s at %s", job.id, job.kind, type(error).__name__, places(error))
            await self._later(job, ProviderError("fault"))
        return True

    async def _work(self, job: Job) -> None:
        if job.session_id is None:
            await self._db.write(lambda conn: jobs.finish(conn, job))
            return
        session_id = job.session_id
        endpoint = self._plan.endpoint(job.credential)
        if endpoint is None:
            raise ProviderBusy("no-credential")
        if job.kind != EXTRACT:
            if await self._within_budget(job, RESERVED):
                await self._summarizer.work(job, session_id, endpoint)
                await self._db.write(lambda conn: jobs.finish(conn, job))
            return
        pending, before = await self._db.read(lambda conn: _pending(conn, job, session_id))
        for window in windows(pending, before, self._settings.max_chars):
            if not await self._within_budget(job) or not await self._renew(job):
                return
            found = await extract(self._client, endpoint, window, self._timezone)
            self._count(found, await self._learner.store(job, endpoint, window, found))
        await self._db.write(lambda conn: jobs.finish(conn, job))

    async def _renew(self, job: Job) -> bool:
        """Keep the job for another call; False where the lease ran out and somebody else has it."""
        return await self._db.write(lambda conn: jobs.renew(conn, job, self._clock.now(), LEASE_SECONDS))

    async def _within_budget(self, job: Job, reserved: int = 0) -> bool:
        """Whether the day allows another call, and so many after it; else the job waits for tomorrow."""
        now = self._clock.now()
        if await self._learner.calls_left(now) > reserved:
            return True
        midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        await self._db.write(lambda conn: jobs.postpone(conn, job, midnight, "daily-limit"))
        self._failed(job, "daily-limit")
        return False

    def _failed(self, job: Job, reason: str) -> None:
        """Count why a job could not be done."""
        (self._metrics.extractions if job.kind == EXTRACT else self._metrics.summaries).labels(reason).inc()

    def _count(self, found: Extracted, learned: Sequence[Learned]) -> None:
        self._metrics.extractions.labels("ok").inc(found.calls - len(found.failures))
        self._metrics.extractions.labels("partial").inc(found.partial)
        for reason in found.failures:
            self._metrics.extractions.labels(reason).inc()
        self._metrics.facts.labels("translated").inc(found.drafts.translated)
        self._metrics.extraction_tokens.labels("input").inc(found.input_tokens)
        self._metrics.extraction_tokens.labels("output").inc(found.output_tokens)
        for reason, count in found.drafts.rejected.items():
            self._metrics.rejected.labels(reason).inc(count)
        for item in learned:
            match item.change:
                case Insert():
                    self._metrics.facts.labels("superseding" if item.change.supersedes else "inserted").inc()
                case Reinforce():
                    self._metrics.facts.labels("reinforced").inc()
                case Dispute():
                    self._metrics.facts.labels("disputed").inc()
                case Reject(reason):
                    self._metrics.rejected.labels(reason).inc()

    async def _later(self, job: Job, error: ProviderError) -> None:
        """Try again with back-off and jitter, as told where the server named a time; bury after the last attempt."""
        self._failed(job, error.reason)
        if isinstance(error, UnusableReply | EmptyAnswer):
            await self._learner.spent(job, 2 if isinstance(error, EmptyAnswer) else 1)  # asked again at once
        if job.attempts >= self._settings.max_attempts:
            await self._bury(job, error.reason)
            return
        told = min(error.retry_after, LONGEST_TOLD) if isinstance(error, ProviderBusy) and error.retry_after else None
        seconds = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** max(0, job.attempts - 1))
        seconds = (told if told is not None else seconds) * random.uniform(1.0, 1.25)
        again = self._clock.now() + timedelta(seconds=seconds)
        if told is not None:
            self._quiet_until = again
        await self._db.write(lambda conn: jobs.retry(conn, job, again, error.reason))

    async def _bury(self, job: Job, reason: str) -> None:
        log.warning("job %s (%s) is dead: %s (memproxy jobs retry brings it back)", job.id, job.kind, reason)
        self._failed(job, "dead")
        await self._db.write(lambda conn: bury(conn, job, reason))

    async def flush(self, seconds: float) -> Progress:
        """Make debounced jobs due now and wait until nothing can run any more, `seconds` at most."""
        try:
            async with asyncio.timeout(seconds):
                while await self._hasten():  # noqa: ASYNC110 - other processes do jobs too: only rows tell
                    await asyncio.sleep(0.02)
                idle = True
        except TimeoutError:
            idle = False
        counts = await self._db.read(jobs.counts)
        return Progress(idle, sum(counts.get(s, 0) for s in ("pending", "waiting", "running")), counts.get("dead", 0))

    async def _hasten(self) -> bool:
        """Make debounced jobs due (also those that came meanwhile); whether any job can run or runs."""
        if self._plan.off:
            return False
        credentials = self._plan.credentials()
        runnable = await self._db.read(lambda conn: jobs.runnable(conn, credentials))
        if runnable:
            await self._db.write(lambda conn: jobs.make_all_due(conn, self._clock.now()))
            self.wake()
        return runnable


async def _pending(conn: Connection, job: Job, session_id: str) -> tuple[list[Turn], list[Turn | None]]:
    pending = await turns.pending(conn, job.entity, session_id, job.credential)
    before = [await turns.context_before(conn, job.entity, session_id, turn.seq) for turn in pending]
    return pending, before
