"""From a message to what bears on it: embed, propose, rank."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from memproxy.embedders.live import Embedders
from memproxy.errors import EmbedderError
from memproxy.events import Metrics
from memproxy.interfaces import Connection, Database, Embedder, Vectors
from memproxy.model import Candidate, Entity, Fact, FactStatus, ItemKind, Scored
from memproxy.recall.ageing import aged
from memproxy.recall.evidence import Evidence
from memproxy.recall.explaining import Weighed, weighed
from memproxy.recall.linked import BEST, FETCHED, things
from memproxy.recall.on_disk import OnDisk
from memproxy.recall.profiles import profile_of
from memproxy.recall.query import Query, focus, is_small_talk, read_query
from memproxy.recall.ranking import DEFAULT_WEIGHTS, Manner, Weights, rank
from memproxy.recall.reranking import reranked, reranker_named
from memproxy.recall.resident import Note
from memproxy.recall.residents import Residents
from memproxy.recall.speakers import addressed
from memproxy.recall.standing import Standing
from memproxy.settings import Recall as RecallSettings
from memproxy.settings import Settings
from memproxy.store import facts as fact_rows
from memproxy.store import search

Present: TypeAlias = Callable[[Connection], Awaitable[Collection[tuple[str, int]]]]

# By each index; the turns beside them come with them. More find little more and take longer.
PROPOSED = 200
RERANKED_BY = 0.85  # of the deadline that has passed when a second opinion has to be there
EMBEDDING_SHARE = 0.6  # of the deadline that the query's vector may take before recall goes on without it


@dataclass(frozen=True, slots=True)
class Question:
    """A message as it is put to memory."""

    query: Query
    now: datetime
    embedding: Embedding | None  # under way
    begun: float = field(default_factory=time.monotonic)
    standing: list[Fact] = field(default_factory=list)  # what is always true of the person, once that was read

    async def vector(self, embedder: Embedder | None) -> Vectors | None:
        """Its vector by a model, once it is there; None where there will be none."""
        return await self.embedding.of(embedder, self.query.embedded) if self.embedding is not None else None


class Embedding:
    """The making of a question's vector: by the likeliest model and in the likeliest words from the start, by another
    or in others where they are wanted.
    """

    def __init__(
        self,
        make: Callable[[Embedder | None, str], Awaitable[Vectors | None]],
        likeliest: Embedder | None,
        words: str,
    ) -> None:
        self._make = make
        self._tasks: dict[tuple[Embedder | None, str], asyncio.Task[Vectors | None]] = {}
        self._begin(likeliest, words)

    def _begin(self, embedder: Embedder | None, words: str) -> asyncio.Task[Vectors | None]:
        async def make() -> Vectors | None:
            return await self._make(embedder, words)

        wanted = embedder, words
        if wanted not in self._tasks:
            self._tasks[wanted] = asyncio.create_task(make())
        return self._tasks[wanted]

    async def of(self, embedder: Embedder | None, words: str) -> Vectors | None:
        """The vector, once it is there."""
        return await self._begin(embedder, words)

    def cancel(self) -> None:
        """Whoever asked has gone."""
        for task in self._tasks.values():
            task.cancel()


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for a message, best first."""

    query: Query
    scored: tuple[Scored, ...]
    standing: tuple[Fact, ...] = ()  # pinned facts, and who the person is
    facts: Mapping[str, Fact] = field(default_factory=dict)  # those among what was found, whole, by id
    now: datetime | None = None  # when it was asked
    revision: int = -1  # of the entity, when all of it was read
    notes: dict[int, Any] = field(default_factory=dict)  # what is worked out of a passage, kept by its id as long as it


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one snapshot of the database says to a query."""

    query: Query  # with the speakers that it names
    extent: search.Extent
    evidence: Evidence
    told: Sequence[Fact]  # the facts taken from the proposed turns, where any was superseded
    standing: Sequence[Fact]
    present: Collection[tuple[str, int]]  # turns that the request carries itself
    notes: dict[int, Any]
    floor: float  # the cosine below which nothing is related, of the model whose vectors serve


class Recaller:
    """Finds what bears on a message. Reads only."""

    def __init__(
        self,
        db: Database,
        embedders: Embedders,
        settings: Settings,
        metrics: Metrics,
        weights: Weights = DEFAULT_WEIGHTS,
        manner: Manner | None = None,
        note: Note | None = None,
    ) -> None:
        """`manner` as the settings have it, unless another is given; `note` is for residents (see there)."""
        self._db = db
        self._embedders = embedders
        self._limit = settings.recall.limit
        self._threshold = settings.recall.threshold
        self._ages = settings.recall.decay
        self._standing = Standing(settings)
        self._patience = settings.memory.deadline_ms / 1000 * EMBEDDING_SHARE
        self._deadline = settings.memory.deadline_ms / 1000
        self._reranker = reranker_named(settings.recall.reranker)
        self._metrics = metrics
        self._weights = weights
        self._manner = manner or manner_of(settings.recall)
        self._residents = Residents(db, embedders, settings.recall.resident, note)
        self._models: dict[Entity, str] = {}  # of those who were last seen to be searched by an earlier model
        self._asking = 0  # questions under way
        self._answered = -math.inf  # when the last of them was

    @contextlib.asynccontextmanager
    async def asked(
        self, text: str, *, now: datetime, floor: bool = True, entity: Entity | None = None
    ) -> AsyncIterator[Question]:
        """Read a message as a question, which is being embedded from now on, for as long as it takes to `find`.

        `now` resolves "last week"; for `floor` see there; `entity` tells by which model it is likely to be asked, and
        who is known there by name.
        """
        if floor and is_small_talk(text):
            yield Question(read_query(text, now=now), now, None)
            return
        model, speakers = None, frozenset[str]()
        if entity is not None:
            model, speakers = self._models.get(entity), self._residents.speakers(entity)
        begun = addressed(Query(focus(text), ()), speakers)
        self._asking += 1
        embedding = Embedding(self._vector, self._embedders.named(model), begun.embedded)
        try:
            await asyncio.sleep(0)  # it begins, and the rest is read meanwhile
            query = replace(read_query(text, now=now), named=begun.named, nameless=begun.nameless)
            yield Question(query, now, embedding)
        finally:
            embedding.cancel()
            self._asking -= 1
            self._answered = time.monotonic()

    def quiet(self) -> float:
        """For how many seconds nobody has asked anything; 0 while a question is under way."""
        return 0.0 if self._asking else time.monotonic() - self._answered

    async def find(
        self,
        entity: Entity,
        question: Question,
        *,
        kinds: Sequence[ItemKind] | None = None,
        floor: bool = True,
        meanwhile: Present | None = None,
        trace: list[Weighed] | None = None,
    ) -> Found:
        """What bears on a message. Without `floor` weak matches count too, as in an explicit search. `meanwhile` reads
        in the same snapshot and trip (see `Connection.in_one_go`), while the question is being embedded, and gives the
        turns (session, place) that stand in the request already. `trace` is given every passage that was proposed, and
        what became of it. Raises StoreError.
        """
        query = question.query
        if query.shortened:
            self._metrics.shortened.labels("query").inc()
        if query.small_talk and floor:
            if meanwhile is not None:
                await self._db.read(meanwhile)
            return Found(query, ())
        seen = await self._db.snapshot(lambda conn: self._look(conn, entity, question, kinds, meanwhile))
        self._residents.load(entity, seen.extent)
        query, evidence, said = seen.query, seen.evidence, seen.present
        # What was never true is told at no time; what was true once, where the past is asked about.
        superseded = [f for f in seen.told if f.status == "historical" and (not query.past or f.never_true)]
        proposed, bar = evidence, seen.floor if floor else None
        if said or superseded:
            evidence = evidence.only(_worth_saying(evidence, said, superseded))
        if trace is not None:
            trace += self._weighed(query, proposed, evidence, said, bar)
        limit = profile_of(self._manner.profile, query).depth(self._limit)
        scored = rank(query, evidence, floor=bar, weights=self._weights, manner=self._manner, limit=limit)
        if self._reranker is not None and floor:
            left = RERANKED_BY * self._deadline - (time.monotonic() - question.begun)
            scored = await reranked(self._reranker, query.text, scored, left, self._metrics)
        facts = await self._whole(entity, scored)
        if self._ages and facts and not query.past:
            scored = aged(scored, facts, question.now)
        standing = tuple(seen.standing)
        return Found(query, tuple(scored), standing, facts, question.now, seen.extent.revision, seen.notes)

    def _weighed(
        self,
        query: Query,
        proposed: Evidence,
        evidence: Evidence,
        said: Collection[tuple[str, int]],
        bar: float | None,
    ) -> list[Weighed]:
        left = {candidate.passage_id for candidate in evidence.candidates}
        gone = [candidate for candidate in proposed.candidates if candidate.passage_id not in left]
        present = {c.passage_id for c in gone if (c.session_id, c.seq) in said}
        return weighed(
            query,
            proposed,
            floor=bar,
            limit=profile_of(self._manner.profile, query).depth(self._limit),
            weights=self._weights,
            manner=self._manner,
            present=present,
            overtaken={c.passage_id for c in gone} - present,
        )

    async def _whole(self, entity: Entity, scored: Sequence[Scored]) -> dict[str, Fact]:
        """The facts among what was found; nothing is asked where there is none."""
        ids = [item.candidate.owner_id for item in scored if item.candidate.kind == "fact"]
        if not ids:
            return {}
        found = await self._db.read(lambda conn: fact_rows.get_many(conn, entity, ids))
        return {fact.id: fact for fact in found}

    async def standing(self, entity: Entity) -> list[Fact]:
        """What is always true of a person: pinned facts, and who they are. Raises StoreError."""
        return await self._db.read(lambda conn: self._standing.read(conn, entity))

    async def _look(
        self,
        conn: Connection,
        entity: Entity,
        question: Question,
        kinds: Sequence[ItemKind] | None,
        meanwhile: Present | None,
    ) -> _Seen:
        """Everything the database (or a copy of it in memory) says to a question, in one snapshot.

        What needs no vector goes first: the question is being embedded meanwhile.
        """

        async def first(here: Connection) -> tuple[search.Extent, list[Fact], Collection[tuple[str, int]]]:
            extent = await search.readable(here, entity)
            standing = await self._standing.read(here, entity) if extent.standing else []
            return extent, standing, await meanwhile(here) if meanwhile is not None else ()

        extent, standing, present = await conn.in_one_go(first)
        embedder = self._embedder(entity, extent)
        question.standing.extend(standing)
        resident = await self._residents.in_step(conn, entity, extent)
        speakers = resident.speakers if resident is not None else await search.speakers(conn, entity)
        question = replace(question, query=addressed(question.query, speakers))
        if resident is not None:
            notes = resident.notes
            match = resident.match(question.query.terms, PROPOSED, kinds, _statuses(question.query))
            if self._follows(extent):
                best = [candidate.text for candidate in resident.matched(match)[:BEST]]
                names = things(best, question.query.terms, resident.frequency, extent.passages)
                match = resident.also(match, names, FETCHED)
            evidence = resident.propose(match, await question.vector(embedder))
        else:
            notes = {}
            asked = OnDisk(entity, extent, question.query, self._weights, follows=self._follows(extent))
            evidence = await asked.propose(
                conn,
                lambda: question.vector(embedder),
                embedder.info.model if embedder is not None else None,
                limit=PROPOSED,
                kinds=kinds,
                statuses=_statuses(question.query),
            )
        self._metrics.recall_from.labels("disk" if resident is None else "memory").inc()
        turn_ids = list({c.turn_id for c in evidence.candidates if c.turn_id}) if extent.superseded else []
        told = await fact_rows.of_turns(conn, entity, turn_ids)
        return _Seen(question.query, extent, evidence, told, standing, present, notes, self._floor(embedder))

    def _follows(self, extent: search.Extent) -> bool:
        """Whether names lead to passages that are not proposed anyway."""
        return bool(self._weights.linked) and extent.passages > PROPOSED

    def forget(self, entity: Entity) -> None:
        """Let go of what is held in memory of an entity."""
        self._residents.drop(entity)
        self._models.pop(entity, None)

    async def settled(self) -> None:
        """Wait until no copy of a memory is being made."""
        await self._residents.settled()

    async def close(self) -> None:
        """Let go of everything held in memory."""
        await self._residents.close()

    def _embedder(self, entity: Entity, extent: search.Extent) -> Embedder | None:
        """The embedder of the model by whose vectors somebody is searched: an earlier one until they are made anew."""
        current = self._embedders.current
        if extent.model is None or (current is not None and extent.model == current.info.model):
            self._models.pop(entity, None)
        else:
            self._models[entity] = extent.model
        return self._embedders.named(extent.model)

    def _floor(self, embedder: Embedder | None) -> float:
        """The cosine below which nothing counts as related: set, or calibrated for the embedder."""
        if self._threshold is not None:
            return self._threshold
        return self._embedders.floor(embedder) if embedder is not None else 0.0

    async def _vector(self, embedder: Embedder | None, text: str) -> Vectors | None:
        """A question's vector, or None where there is no embedder or it takes too long: words alone will do then."""
        if embedder is None:
            if reason := self._embedders.why_none:
                self._metrics.recall_lexical.labels(reason).inc()
            return None
        try:
            async with asyncio.timeout(self._patience):
                vector = await embedder.embed_query(text)
            if math.isfinite(float(vector.sum())):
                return vector
            self._metrics.recall_lexical.labels("failed").inc()  # a model that gives no numbers is as good as none
        except TimeoutError:
            self._metrics.recall_lexical.labels("slow").inc()
        except EmbedderError:
            self._metrics.recall_lexical.labels("failed").inc()
        return None


def manner_of(settings: RecallSettings) -> Manner:
    """How the settings want passages ranked."""
    return Manner(settings.fusion, settings.profile, settings.mmr, settings.recency, settings.recency_days)


def _statuses(query: Query) -> tuple[FactStatus, ...]:
    """The facts that may be proposed: those that hold, and of those that held only where the past is asked about."""
    return ("current", "historical") if query.past else ("current",)


def _worth_saying(evidence: Evidence, present: Collection[tuple[str, int]], told: Sequence[Fact]) -> list[int]:
    """The rows without what is present anyway, and without what a later fact superseded: that is for questions about
    the past.
    """
    rows = [row for row, there in enumerate(evidence.at(list(present)).tolist()) if not there]
    if not told:
        return rows
    gone = [(fact.turn_id, " ".join((fact.quote or fact.text).split())) for fact in told]
    candidates = evidence.candidates

    def superseded(candidate: Candidate) -> bool:
        words = " ".join(candidate.text.split()) if candidate.kind == "turn" else ""
        return any(candidate.owner_id == turn and quote in words for turn, quote in gone)

    return [row for row in rows if not superseded(candidates[row])]
