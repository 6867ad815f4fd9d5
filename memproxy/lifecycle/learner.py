"""What one extraction reply becomes: drafts embedded, doubts put to the merge gate, all written in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memproxy.errors import EmbedderError
from memproxy.extraction.extract import Extracted
from memproxy.extraction.lifetimes import Lifetimes
from memproxy.extraction.packs import load
from memproxy.extraction.reconcile import Policy, Reject
from memproxy.extraction.slots import Slots
from memproxy.interfaces import Clock, Connection, Database, Embedder, Vectors
from memproxy.lifecycle.denials import Denials
from memproxy.lifecycle.learning import Grounds, Learned, learn
from memproxy.lifecycle.merging import Doubt, Judged, find_doubts, judge
from memproxy.lifecycle.neighbours import Neighbours, neighbours
from memproxy.model import Entity, FactDraft, Job, speaker_of
from memproxy.prompts.extraction import Window
from memproxy.providers.client import ChatClient, Endpoint
from memproxy.recall.passages import embedding_text
from memproxy.settings import Facts
from memproxy.store import denied, preferences, search, turns, usage
from memproxy.store.preferences import Preferences
from memproxy.store.search import Extent

EXTRACT = "extract"  # what calls are made for, as `usage` counts them
MERGE = "merge"
PURPOSES = (EXTRACT, MERGE)
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
        embedder: Embedder | None,
        client: ChatClient,
        policy: Policy,
        clock: Clock,
        secret: bytes,
        daily_calls: int,
        asks: bool,
    ) -> None:
        """`asks`: whether the merge gate may ask the model; else rules alone decide."""
        self._db = db
        self._embedder = embedder
        self._client = client
        self._policy = policy
        self._clock = clock
        self._secret = secret
        self._daily_calls = daily_calls
        self._asks = asks

    async def calls_left(self, now: datetime) -> int:
        """How many calls the daily budget still allows, for all entities together."""
        day = now.date().isoformat()

        async def count(conn: Connection) -> int:
            return sum([await usage.today(conn, day, purpose) for purpose in PURPOSES])

        return self._daily_calls - await self._db.read(count)

    async def store(self, job: Job, endpoint: Endpoint, window: Window, found: Extracted) -> list[Learned]:
        """Reconcile and write what a window taught, count what it cost, and mark its turns as learned from."""
        accepted, unwanted = await self._db.read(lambda conn: self._wanted(conn, job.entity, found.drafts.accepted))
        vectors, grounds = await self._embedded(accepted)
        seen = await self._db.read(lambda conn: _look(conn, job.entity, accepted, vectors, grounds))
        judged = await self._judged(endpoint, seen.doubts if self._asks else (), found.calls)
        grounds = replace(grounds, verdicts=judged.verdicts)
        now = self._clock.now()

        async def apply(conn: Connection) -> list[Learned]:
            # An erasure or a forgotten turn since the request was sent: what came from it is dropped with it.
            there = {turn.id for turn in await turns.get_many(conn, job.entity, [turn.id for turn in window.turns])}
            kept = [(i, draft) for i, draft in enumerate(accepted) if draft.turn_id in there]
            rows = vectors[[i for i, _ in kept]] if vectors is not None and kept else None
            fresh = await search.extent(conn, job.entity) == seen.extent
            nearby = [seen.nearby[i] for i, _ in kept] if fresh else None
            learned = await learn(conn, job.entity, [d for _, d in kept], rows, grounds, job.session_id, now, nearby)
            await turns.set_learn(conn, job.entity, sorted(there), "done")
            if there:
                await _count(conn, job, found, judged, now)
            return learned + unwanted

        return await self._db.write(apply)

    async def _wanted(
        self, conn: Connection, entity: Entity, drafts: Sequence[FactDraft]
    ) -> tuple[tuple[FactDraft, ...], list[Learned]]:
        """The drafts that the person lets be learned, and the others with the reason."""
        wishes = await preferences.get(conn, entity)
        known = await denied.words(conn, entity)
        denials = Denials(self._secret, entity)
        kept, unwanted = [], []
        for draft in drafts:
            reason = _excluded(draft, wishes) or ("denied" if denials.forbid(draft.text, draft.quote, known) else None)
            if reason is None:
                kept.append(draft)
            else:
                unwanted.append(Learned(draft, Reject(reason), None))
        return tuple(kept), unwanted

    async def _embedded(self, drafts: tuple[FactDraft, ...]) -> tuple[Vectors | None, Grounds]:
        """Vectors of drafts; None, and words alone to decide by, where there are none to be had."""
        if self._embedder is not None and drafts:
            texts = [embedding_text(draft.text, speaker_of(draft.source_role)) for draft in drafts]
            try:
                return await self._embedder.embed_documents(texts), Grounds(self._embedder.info, self._policy)
            except EmbedderError:
                pass  # stored without: the indexer catches up when the embedder returns
        return None, Grounds(None, self._policy)

    async def _judged(self, endpoint: Endpoint, doubts: Sequence[Doubt], spent: int) -> Judged:
        if not doubts or await self.calls_left(self._clock.now()) - spent < RESERVED:
            return Judged({})
        return await judge(self._client, endpoint, doubts)


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
    return _Seen(extent, nearby, await find_doubts(conn, entity, drafts, nearby, grounds))


def _excluded(draft: FactDraft, wishes: Preferences) -> str | None:
    if not (wishes.learning and wishes.memory):
        return "switched-off"
    if draft.tag in wishes.excluded_tags:
        return "excluded-tag"
    return "excluded-patterns" if draft.type == "pattern" and not wishes.patterns else None


async def _count(conn: Connection, job: Job, found: Extracted, judged: Judged, now: datetime) -> None:
    for purpose, cost in ((EXTRACT, found), (MERGE, judged)):
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
