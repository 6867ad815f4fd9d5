"""Summaries written: of closed conversations, and of the stretches of long ones that a client no longer sends.

The model reads what may be shown of the turns, no more. What it writes is held against that: names and numbers must
stand there. A summary takes the place of an earlier one of the same conversation in one transaction, so that whoever
reads sees the one or the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from memproxy.errors import EmptyAnswer, ProviderBusy, TruncatedCompletion
from memproxy.events import Metrics
from memproxy.extraction.gate import ignored
from memproxy.extraction.grounding import Grounded, grounded
from memproxy.interfaces import Clock, Connection, Database
from memproxy.lifecycle.closing import wanted
from memproxy.lifecycle.denials import Denials
from memproxy.lifecycle.indexing import summary_passages
from memproxy.lifecycle.kinds import SUMMARIZE, SUMMARY
from memproxy.model import Entity, Job, Turn, new_id
from memproxy.prompts import summary as prompt
from memproxy.providers.client import ChatClient, Completion, Endpoint
from memproxy.store import denied, jobs, passages, search, sessions, summaries, turns, unasked, usage
from memproxy.store.summaries import Summary

CHANGED = "changed"  # something of it was forgotten, erased or corrected meanwhile
LONGEST = 12_000  # characters of a conversation that the model reads, its end
MOST_TURNS = 1_000
_TOKENS, _TOKENS_TO_THINK = 1_024, 4_096
_SENTENCES: dict[prompt.What, int] = {"conversation": 5, "range": 4, "overview": 6}

# Stretches of a long conversation: so many as they were written, all older ones in one overview.
MOST_RANGES = 3


@dataclass(frozen=True, slots=True)
class _Source:
    """What is to be summed up, as of when the entity's memory had this revision."""

    turns: Sequence[Turn]
    spoken: Sequence[prompt.Spoken]
    revision: int


@dataclass(frozen=True, slots=True)
class _Written:
    """What the model made of it, as far as it stands on it, and what it cost."""

    grounded: Grounded | None  # None: nothing worth keeping
    completion: Completion
    calls: int


class Summarizer:
    """Writes summaries. Raises ProviderError and its kinds, and StoreError."""

    def __init__(
        self,
        db: Database,
        client: ChatClient,
        clock: Clock,
        metrics: Metrics,
        secret: bytes,
        timezone: ZoneInfo,
        ignore: Sequence[str] = (),
        stored: Callable[[], None] = lambda: None,
    ) -> None:
        """`stored` is called when there are new passages, which need their vectors."""
        self._db = db
        self._client = client
        self._clock = clock
        self._metrics = metrics
        self._secret = secret
        self._timezone = timezone
        self._stored = stored
        self._ignore = [re.compile(pattern) for pattern in ignore]

    async def work(self, job: Job, session_id: str, endpoint: Endpoint) -> None:
        """Do a job: the summary of a conversation, or of the next stretch of a long one."""
        if job.kind == SUMMARIZE:
            await self._conversation(job, session_id, endpoint)
        else:
            await self._stretch(job, session_id, endpoint)

    # --- whole conversations ---------------------------------------------------------------------------------

    async def _conversation(self, job: Job, session_id: str, endpoint: Endpoint) -> None:
        entity = job.entity
        source = await self._db.read(lambda conn: self._read(conn, entity, session_id))
        if source is None:
            self._metrics.summaries.labels("unwanted").inc()
            return
        written = await self._write("conversation", source.spoken, endpoint)
        summary = _summary(session_id, source.turns, written, self._clock.now())

        async def store(conn: Connection) -> str:
            await self._count(conn, job, written)
            if not await self._unchanged(conn, entity, source):
                return CHANGED
            for old in await summaries.of_session(conn, entity, session_id):
                if old.kind == "conversation":
                    await summaries.delete(conn, entity, old.id)
            return await self._put(conn, entity, summary, written)

        self._became(await self._db.write(store))

    async def _read(
        self, conn: Connection, entity: Entity, session_id: str, first: int = 1, last: int | None = None
    ) -> _Source | None:
        """What may be told of turns; None where the person wants none of it told, or nobody can say whose it is."""
        if not await wanted(conn, entity) or await sessions.get(conn, entity, session_id) is None:
            return None
        end = last if last is not None else (await sessions.measure(conn, entity, session_id)).newest
        said = await turns.span(conn, entity, session_id, max(first, end - MOST_TURNS + 1), end)
        if len({turn.name for turn in said if turn.role == "user" and turn.name}) > 1:
            return None  # a shared room: nobody said which of them this memory belongs to
        shown = await unasked.visible(conn, entity, [turn.id for turn in said])
        told = [turn for turn in said if turn.id in shown and not self._left_out(turn)]
        if not any(turn.role == "user" for turn in told):
            return None
        spoken = [prompt.Spoken(t.role, t.name, t.time, t.timezone, " ".join(shown[t.id])) for t in told]
        return _Source(said, spoken, (await search.extent(conn, entity)).revision)

    def _left_out(self, turn: Turn) -> bool:
        return turn.role == "user" and ignored(turn.content, self._ignore)

    # --- stretches of long ones ------------------------------------------------------------------------------

    async def _stretch(self, job: Job, session_id: str, endpoint: Endpoint) -> None:
        entity = job.entity
        span = await self._db.read(lambda conn: sessions.dropped(conn, entity, session_id))
        known = [s for s in await self._summaries(entity, session_id) if s.kind != "conversation"]
        first = max((s.last_seq for s in known), default=0) + 1
        if span is None or first > span:
            return
        source = await self._db.read(lambda conn: self._read(conn, entity, session_id, first, span))
        if source is None:
            self._metrics.summaries.labels("unwanted").inc()
            return
        written = await self._write("range", source.spoken, endpoint)
        summary = _summary(session_id, source.turns, written, self._clock.now(), "range")

        async def store(conn: Connection) -> str:
            await self._count(conn, job, written)
            if not await self._unchanged(conn, entity, source):
                return CHANGED
            return await self._put(conn, entity, summary, written)

        self._became(await self._db.write(store))
        await self._merge(job, session_id, endpoint)

    async def _merge(self, job: Job, session_id: str, endpoint: Endpoint) -> None:
        """Where there are too many stretches, the two oldest and the overview become a new overview."""
        known = [s for s in await self._summaries(job.entity, session_id) if s.kind != "conversation"]
        ranges = [s for s in known if s.kind == "range"]
        if len(ranges) <= MOST_RANGES:
            return
        merged = [*(s for s in known if s.kind == "overview"), *ranges[:2]]
        revision = (await self._db.read(lambda conn: search.extent(conn, job.entity))).revision
        lines = [prompt.Spoken("note", None, s.started_at, None, s.text) for s in merged]
        written = await self._write("overview", lines, endpoint)
        first, last = merged[0], merged[-1]
        overview = Summary(
            new_id(),
            session_id,
            written.grounded.text if written.grounded is not None else "",
            first.started_at,
            last.ended_at,
            self._clock.now(),
            "overview",
            first.first_seq,
            last.last_seq,
        )

        async def store(conn: Connection) -> str:
            await self._count(conn, job, written)
            if (await search.extent(conn, job.entity)).revision != revision:
                return CHANGED  # the stretches stay; the next one brings it up again
            if not overview.text:
                return "nothing"
            for old in merged:
                await summaries.delete(conn, job.entity, old.id)
            return await self._put(conn, job.entity, overview, written)

        self._metrics.summaries.labels(await self._db.write(store)).inc()

    async def _summaries(self, entity: Entity, session_id: str) -> list[Summary]:
        return await self._db.read(lambda conn: summaries.of_session(conn, entity, session_id))

    # --- common ----------------------------------------------------------------------------------------------

    def _became(self, outcome: str) -> None:
        """Count what became of a summary. Raises ProviderBusy where it has to be written again."""
        self._metrics.summaries.labels(outcome).inc()
        if outcome == "stored":
            self._stored()
        if outcome == CHANGED:
            raise ProviderBusy("changed-meanwhile")

    async def _write(self, what: prompt.What, spoken: Sequence[prompt.Spoken], endpoint: Endpoint) -> _Written:
        said = prompt.transcript(spoken, self._timezone, LONGEST)
        asked = prompt.messages(what, said)
        calls = 1
        try:
            completion = await self._client.complete(endpoint, asked, prompt.SCHEMA, _TOKENS)
        except (EmptyAnswer, TruncatedCompletion):  # a model that thinks aloud needs room for it
            calls = 2
            try:
                completion = await self._client.complete(endpoint, asked, prompt.SCHEMA, _TOKENS_TO_THINK)
            except TruncatedCompletion:
                raise ProviderBusy("truncated") from None
        text = prompt.parse(completion.text)
        return _Written(grounded(text, said, _SENTENCES[what]) if text is not None else None, completion, calls)

    async def _unchanged(self, conn: Connection, entity: Entity, source: _Source) -> bool:
        """Whether nothing was forgotten, erased or changed since the source was read."""
        there = await sessions.get(conn, entity, source.turns[0].session_id) is not None
        same = (await search.extent(conn, entity)).revision == source.revision
        return there and same and await wanted(conn, entity)

    async def _put(self, conn: Connection, entity: Entity, summary: Summary, written: _Written) -> str:
        """Store a summary as far as it stands; what became of it."""
        if written.grounded is None:
            return "nothing"
        dropped = Counter(written.grounded.dropped)
        spans = Denials(self._secret, entity).spans(summary.text, await denied.words(conn, entity))
        text = summary.text
        for start, end in reversed(spans):
            text = f"{text[:start]}{text[end:]}"
            dropped["denied"] += 1
        for reason, count in dropped.items():
            self._metrics.ungrounded.labels(reason).inc(count)
        text = " ".join(text.split())
        if not text:
            return "ungrounded"
        kept = replace(summary, text=text)
        await summaries.insert(conn, entity, kept)
        if kept.kind == "conversation":
            await passages.add(conn, entity, summary_passages(kept))
        return "stored"

    async def _count(self, conn: Connection, job: Job, written: _Written) -> None:
        """What was asked counts, whatever became of it; of somebody erased meanwhile there is nothing to count."""
        if await jobs.get(conn, job.id) is None:
            return
        await usage.add(
            conn,
            job.entity,
            self._clock.now().date().isoformat(),
            SUMMARY,
            calls=written.calls,
            input_tokens=written.completion.input_tokens or 0,
            output_tokens=written.completion.output_tokens or 0,
        )


def _summary(
    session_id: str,
    said: Sequence[Turn],
    written: _Written,
    now: datetime,
    kind: summaries.SummaryKind = "conversation",
) -> Summary:
    return Summary(
        new_id(),
        session_id,
        written.grounded.text if written.grounded is not None else "",
        said[0].time,
        said[-1].time,
        now,
        kind,
        said[0].seq,
        said[-1].seq,
    )
