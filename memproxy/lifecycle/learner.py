"""What one extraction reply becomes: drafts embedded, doubts put to the merge gate, all written in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from memproxy.embedders.live import Embedders
from memproxy.events import Metrics
from memproxy.extraction.drafts import Drafts
from memproxy.extraction.extract import Extracted
from memproxy.extraction.lifetimes import Lifetimes
from memproxy.extraction.packs import load
from memproxy.extraction.reconcile import Policy
from memproxy.extraction.slots import Slots
from memproxy.interfaces import Clock, Connection, Database, Vectors
from memproxy.lifecycle.embedding import embedder_of, vectors_of
from memproxy.lifecycle.kinds import EXTRACT, MERGE, PURPOSES, REFLECT, SUMMARY
from memproxy.lifecycle.known import Known
from memproxy.lifecycle.learning import Grounds, Learned, learn
from memproxy.lifecycle.merging import Doubt, Judged, find_doubts, judge
from memproxy.lifecycle.neighbours import Neighbours, neighbours
from memproxy.lifecycle.reflecting import Reflected, reflect
from memproxy.lifecycle.wanted import wanted
from memproxy.model import Entity, Fact, FactDraft, Job
from memproxy.prompts.extraction import Window
from memproxy.providers.client import ChatClient, Endpoint
from memproxy.settings import Facts
from memproxy.store import search, turns, usage
from memproxy.store.search import Extent

KNOWN = 20  # known facts that a second look is shown
RESERVED = 10  # calls of the daily budget that the merge gate leaves to extraction


def policy_of(facts: Facts) -> Policy:
    """What the settings decide about facts."""

    def days(number: int | None) -> timedelta | None:
        return timedelta(days=number) if number is not None else None

    lifetimes = Lifetimes(
        timedelta(days=facts.temporary_days),
        timedelta(hours=facts.ephemeral_hours),
        days(facts.low_days),
        days(facts.medium_days),
    )
    return Policy(Slots.with_more(facts.single_slots, facts.slot_names), lifetimes, load(facts.rule_packs))


class Learner:
    """Stores what windows of turns teach."""

    def __init__(
        self,
        db: Database,
        embedders: Embedders,
        client: ChatClient,
        policy: Policy,
        clock: Clock,
        metrics: Metrics,
        secret: bytes,
        daily_calls: int,
        asks: bool,
        reflects: ZoneInfo | None = None,
    ) -> None:
        """`asks`: whether the merge gate may ask the model; else rules alone decide. `reflects`: the configured time
        zone, where a second look is wanted.
        """
        self._db = db
        self._embedders = embedders
        self._client = client
        self._policy = policy
        self._clock = clock
        self._metrics = metrics
        self._secret = secret
        self._daily_calls = daily_calls
        self._asks = asks
        self._reflects = reflects

    async def calls_left(self, now: datetime) -> int:
        """How many calls the daily budget still allows, for all entities together."""
        day = now.date().isoformat()

        async def count(conn: Connection) -> int:
            return sum([await usage.today(conn, day, purpose) for purpose in PURPOSES])

        return self._daily_calls - await self._db.read(count)

    async def spent(self, job: Job, calls: int) -> None:
        """Count calls whose answers were of no use: they were paid for all the same."""
        failed = Extracted(Drafts((), {}), calls, 0, 0)
        purpose = EXTRACT if job.kind == EXTRACT else SUMMARY
        await self._db.write(lambda conn: _count(conn, job, {purpose: failed}, self._clock.now()))

    async def store(self, job: Job, endpoint: Endpoint, window: Window, found: Extracted) -> list[Learned]:
        """Reconcile and write what a window taught, count what it cost, and mark its turns as learned from."""
        proposed = found.drafts.accepted
        accepted, unwanted = await self._db.read(lambda conn: wanted(conn, job.entity, proposed, self._secret))
        reflected = await self._reflected(job, endpoint, window, accepted, found.calls)
        accepted = reflected.drafts
        vectors, grounds = await self._embedded(job.entity, accepted)
        seen = await self._db.read(lambda conn: _look(conn, job.entity, accepted, vectors, grounds))
        doubts = [doubt for doubt in seen.doubts if doubt.key not in reflected.verdicts] if self._asks else []
        judged = await self._judged(endpoint, doubts, found.calls + reflected.calls)
        grounds = replace(grounds, verdicts={**judged.verdicts, **reflected.verdicts})
        now = self._clock.now()

        async def apply(conn: Connection) -> list[Learned]:
            # An erasure, a forgotten turn, a denial or a wish since the request was sent counts for what came of it.
            there = {turn.id for turn in await turns.get_many(conn, job.entity, [turn.id for turn in window.turns])}
            asked, withdrawn = await wanted(conn, job.entity, accepted, self._secret)
            kept = [(i, draft) for i, draft in enumerate(accepted) if draft.turn_id in there and draft in asked]
            rows = vectors[[i for i, _ in kept]] if vectors is not None and kept else None
            fresh = await search.extent(conn, job.entity) == seen.extent
            nearby = [seen.nearby[i] for i, _ in kept] if fresh else None
            learned = await learn(conn, job.entity, [d for _, d in kept], rows, grounds, job.session_id, now, nearby)
            await turns.set_learn(conn, job.entity, sorted(there), "done")
            if there:
                await _count(conn, job, {EXTRACT: found, MERGE: judged, REFLECT: reflected}, now)
            return learned + unwanted + withdrawn

        return await self._db.write(apply)

    async def _reflected(
        self, job: Job, endpoint: Endpoint, window: Window, notes: tuple[FactDraft, ...], spent: int
    ) -> Reflected:
        """What a second look leaves of the notes, beside what is known of the same things."""
        if self._reflects is None or await self.calls_left(self._clock.now()) - spent < RESERVED:
            return Reflected(notes)
        vectors, grounds = await self._embedded(job.entity, notes)
        known = await self._db.read(lambda conn: _known(conn, job.entity, notes, vectors, grounds))
        reflected = await reflect(self._client, endpoint, window, notes, known, self._reflects)
        for what, count in reflected.counts.items():
            self._metrics.reflections.labels(what).inc(count)
        return reflected

    async def _embedded(self, entity: Entity, drafts: tuple[FactDraft, ...]) -> tuple[Vectors | None, Grounds]:
        """Vectors of drafts; None, and words alone to decide by, where there are none to be had."""
        embedder = await embedder_of(self._db, self._embedders, entity) if drafts else None
        vectors = await vectors_of(embedder, drafts)
        info = embedder.info if embedder is not None and vectors is not None else None
        return vectors, Grounds(info, self._policy)

    async def _judged(self, endpoint: Endpoint, doubts: Sequence[Doubt], spent: int) -> Judged:
        if not doubts or await self.calls_left(self._clock.now()) - spent < RESERVED:
            return Judged({})
        judged = await judge(self._client, endpoint, doubts)
        for verdict in judged.verdicts.values():
            self._metrics.merges.labels(verdict.separation).inc()
        return judged


@dataclass(frozen=True, slots=True)
class _Seen:
    """What stands near the drafts, as of when the entity's memory had this extent."""

    extent: Extent
    nearby: list[Neighbours]
    doubts: list[Doubt]


async def _look(
    conn: Connection, entity: Entity, drafts: Sequence[FactDraft], vectors: Vectors | None, grounds: Grounds
) -> _Seen:
    extent = await search.extent(conn, entity)
    nearby = await neighbours(conn, entity, drafts, vectors, grounds.info)
    known = await Known.read(conn, entity, drafts, nearby, grounds.policy)
    return _Seen(extent, nearby, find_doubts(drafts, nearby, known, grounds))


async def _known(
    conn: Connection, entity: Entity, drafts: Sequence[FactDraft], vectors: Vectors | None, grounds: Grounds
) -> list[Fact]:
    """The current facts nearest to any of the drafts, and those that fill their slots."""
    found: dict[str, tuple[float, Fact]] = {}
    nearby = await neighbours(conn, entity, drafts, vectors, grounds.info)
    known = await Known.read(conn, entity, drafts, nearby, grounds.policy)
    for draft, cosines in zip(drafts, nearby, strict=True):
        for near in known.near(draft, cosines):
            closest = max(near.cosine or 0.0, found[near.fact.id][0] if near.fact.id in found else 0.0)
            found[near.fact.id] = (closest, near.fact)
    ranked = sorted(found.values(), key=lambda pair: pair[0], reverse=True)
    return [fact for _, fact in ranked[:KNOWN]]


async def _count(
    conn: Connection, job: Job, costs: Mapping[str, Extracted | Judged | Reflected], now: datetime
) -> None:
    for purpose, cost in costs.items():
        if cost.calls:
            await usage.add(
                conn,
                job.entity,
                now.date().isoformat(),
                purpose,
                calls=cost.calls,
                input_tokens=cost.input_tokens,
                output_tokens=cost.output_tokens,
            )
