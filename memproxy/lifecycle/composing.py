"""What goes into one request: recalled for its message, or put in again as it stood."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memproxy.context.budget import estimate_tokens, fit
from memproxy.context.placement import MOST_BUDGETS, InPlace, make_room
from memproxy.context.render import render, render_recalled, render_stable
from memproxy.errors import StoreError
from memproxy.events import Skip
from memproxy.interfaces import Clock, Connection, Database
from memproxy.lifecycle.history import History, Said, marks_of, own_words, read_history
from memproxy.lifecycle.placing import PlacedParts, conversation_key, in_place, still_stored
from memproxy.model import (
    Addition,
    ChatRequest,
    ContextBlock,
    Entity,
    ItemKind,
    MemoryMode,
    Part,
    Placement,
    Receipt,
)
from memproxy.recall.recall import Found, Recaller
from memproxy.settings import Settings
from memproxy.store import facts as fact_rows
from memproxy.store import placed, receipts, search
from memproxy.trust import mask_secrets

log = logging.getLogger(__name__)

REPLY_TOKENS = 512  # room kept for the answer where the client sets no limit of its own


@dataclass(frozen=True, slots=True)
class Conversation:
    """Who speaks in which conversation, as one request says it."""

    entity: Entity
    session_name: str | None
    mode: MemoryMode
    time: datetime  # when it is said
    timezone: str


@dataclass(frozen=True, slots=True)
class Composed:
    """What goes into a request, or why nothing does."""

    skip: Skip | None
    block: ContextBlock | None = None  # all of it
    additions: tuple[Addition, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    """What has to be kept of a request: its receipt, and the parts that may have to go in again."""

    receipt: Receipt
    revision: int  # of the entity, when all of it was read
    fresh: Sequence[Part]  # decided for this request
    again: Sequence[Part] = ()  # put in again
    gone: Sequence[Part] = ()  # not put in any more
    found: Found | None = None  # what was recalled for it


class Composer:
    """Composes what a request is given. Raises StoreError, and NotUnderstood where a block has no place."""

    def __init__(self, db: Database, recaller: Recaller, settings: Settings, secret: bytes, clock: Clock) -> None:
        self._db = db
        self._recaller = recaller
        self._budget = settings.memory.token_budget
        self._window = settings.memory.context_window
        self._timeout = timedelta(seconds=settings.session.timeout)
        self._added = settings.added_elements
        self._secret = secret
        self._clock = clock
        self._placed = PlacedParts(db)
        self._tasks: set[asyncio.Task[None]] = set()

    async def compose(
        self, conversation: Conversation, request: ChatRequest, request_id: str, placement: Placement
    ) -> Composed:
        """The additions to a request. What has to be kept of them is stored behind the scenes."""
        history = read_history(own_words(request.messages, self._added), self._secret, conversation.entity)
        asked = [said for said in history.said if said.message.role == "user"]
        if not asked:
            return Composed(Skip.NO_QUERY)
        if placement == "split":
            return await self._split(conversation, request, request_id, history, asked)
        return await self._whole(conversation, request, request_id, history, asked, placement)

    async def recall(
        self, entity: Entity, query: str, now: datetime, timezone: str
    ) -> tuple[ContextBlock | None, Skip | None]:
        """The block for a message, or why there is none. Stores nothing."""
        found = await self._recaller.find(entity, query, now=now)
        return _rendered(found, self._budget, timezone)

    # --- one block a request ---------------------------------------------------------------------------------

    async def _whole(
        self,
        conversation: Conversation,
        request: ChatRequest,
        request_id: str,
        history: History,
        asked: Sequence[Said],
        placement: Placement,
    ) -> Composed:
        entity, newest = conversation.entity, asked[-1]
        place = newest.index if placement == "user" else None
        said = [one for one in history.new if one.message.role == "user"]
        if not said:  # in a tool loop the block of the turn that began it goes in again, byte for byte
            parts = await self._placed.of_keys(entity, [newest.key])
            part = parts.get("recalled", newest.key)
            if part is not None:
                receipt = self._receipt(entity, request_id, newest.key, part.block)
                self._keep(conversation, _Kept(receipt, parts.revision, (), [part]))
                return Composed(None, part.block, (Addition(part.block.text, place),))
            if not _speaks(request):
                return Composed(Skip.NO_QUERY)
        budget = self._room(request, self._budget)
        if budget <= 0:
            return Composed(Skip.NO_ROOM)
        found = await self._find(conversation, history, said or [newest])
        block, skip = _rendered(found, budget, conversation.timezone)
        if block is None:
            return Composed(skip)
        part = Part("recalled", newest.key, block, self._clock.now())
        receipt = self._receipt(entity, request_id, newest.key, block)
        self._keep(conversation, _Kept(receipt, found.revision, [part], found=found))
        return Composed(None, block, (Addition(block.text, place),))

    # --- a stable part, and one a turn -----------------------------------------------------------------------

    async def _split(
        self,
        conversation: Conversation,
        request: ChatRequest,
        request_id: str,
        history: History,
        asked: Sequence[Said],
    ) -> Composed:
        entity, now, newest = conversation.entity, self._clock.now(), asked[-1]
        fresh: list[Part] = []
        key = conversation_key(history, conversation.session_name, self._secret, entity)
        parts = await self._placed.of_keys(entity, [key, *(said.key for said in asked)])
        said = [one for one in history.new if one.message.role == "user"]
        standing = in_place(parts, key, asked, now, self._timeout, newest.key if said else "")
        again = standing.parts
        if standing.stable is None:
            facts = await self._recaller.standing(entity)
            stable = render_stable(facts, budget_tokens=self._budget, timezone=conversation.timezone)
            fresh.append(Part("stable", key, stable, now))
            standing = InPlace(fresh[0], standing.recalled)
        gone: Sequence[Part] = ()
        skip: Skip | None = Skip.NO_QUERY
        found: Found | None = None
        if (said or _speaks(request)) and all(place != newest.index for place, _ in standing.recalled):
            room = self._room(request, MOST_BUDGETS * self._budget) // MOST_BUDGETS
            standing, budget, gone = make_room(standing, room)
            found = await self._find(conversation, history, said or [newest])
            block, skip = _recalled(found, standing, budget, conversation.timezone)
            if block is not None:
                fresh.append(Part("recalled", newest.key, block, now))
                standing = InPlace(standing.stable, (*standing.recalled, (newest.index, fresh[-1])))
        whole = standing.block()
        kept = [part for part in again if part not in gone]
        receipt = self._receipt(entity, request_id, newest.key, whole)
        self._keep(conversation, _Kept(receipt, parts.revision, fresh, kept, gone, found))
        return Composed(None, whole, standing.additions()) if whole.items else Composed(skip)

    # --- recalling -------------------------------------------------------------------------------------------

    async def _find(self, conversation: Conversation, history: History, said: Iterable[Said]) -> Found:
        query = "\n".join(mask_secrets(one.message.text) for one in said)
        present = asyncio.create_task(self._present(conversation.entity, history))
        try:
            return await self._recaller.find(conversation.entity, query, now=conversation.time, present=present)
        finally:
            present.cancel()

    async def _present(self, entity: Entity, history: History) -> set[tuple[str, int]]:
        """The stored turns (session, place) that the request itself holds: no need to recall them."""
        marks = await self._db.read(lambda conn: marks_of(conn, entity, history))
        return {(mark.session_id, mark.seq) for mark in marks.values()}

    def _room(self, request: ChatRequest, budget: int) -> int:
        texts = [request.system, *(message.text for message in request.messages)]
        asked = sum(estimate_tokens(text) + 4 for text in texts)
        return fit(budget, self._window, asked, request.max_tokens or REPLY_TOKENS)

    # --- keeping ---------------------------------------------------------------------------------------------

    def _receipt(self, entity: Entity, request_id: str, turn_key: str, block: ContextBlock) -> Receipt:
        return Receipt(request_id, entity, None, turn_key, self._clock.now(), block)

    def _keep(self, conversation: Conversation, kept: _Kept) -> None:
        if conversation.mode == "read":
            self._placed.keep(conversation.entity, [*kept.fresh, *self._used(kept.again)], kept.revision)
            return
        # That nothing stands there is remembered even of somebody who is not known yet, and of whom no row may be.
        self._placed.keep(conversation.entity, [part for part in kept.fresh if not part.block.text], kept.revision)
        # Not awaited: the one writer keeps order, so all of it is there before the exchange is recorded.
        self._background(self._store(kept))

    def _used(self, parts: Iterable[Part]) -> list[Part]:
        now = self._clock.now()
        return [Part(part.kind, part.key, part.block, now) for part in parts]

    async def _store(self, kept: _Kept) -> None:
        receipt = kept.receipt
        facts = [item.id for part in kept.fresh for item in part.block.items if item.kind == "fact"]

        async def put(conn: Connection) -> None:
            there = await still_stored(conn, receipt.entity, kept.again)
            await placed.put(conn, receipt.entity, kept.fresh)
            await placed.put(
                conn, receipt.entity, self._used(part for part in kept.again if (part.kind, part.key) in there)
            )
            await placed.remove(conn, receipt.entity, kept.gone)
            if receipt.block.items:
                await receipts.put(conn, receipt)
            lost = {
                (item.kind, item.id)
                for part in kept.again
                if (part.kind, part.key) not in there
                for item in part.block.items
            }
            for kind, owner_id in lost | await _hidden_since(conn, receipt, kept.found):
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

    def forget(self, entity: Entity) -> None:
        """Let go of everything kept in memory of an entity."""
        self._placed.forget(entity)


def _speaks(request: ChatRequest) -> bool:
    """Whether it is the person's turn, be it that a program alone said something in it, and not a tool's answer.

    Then recall goes by the last words they typed.
    """
    newest = request.messages[-1]
    return newest.role == "user" and not newest.answers_tools


def _rendered(found: Found, budget: int, timezone: str) -> tuple[ContextBlock | None, Skip | None]:
    if found.query.small_talk:
        return None, Skip.SMALL_TALK
    pinned = any(fact.pinned for fact in found.standing)
    if not found.scored and not pinned:
        return None, Skip.NOTHING_RELEVANT
    block = render(found.scored, found.standing, budget_tokens=budget, timezone=timezone)
    return (block, None) if block.items else (None, Skip.NO_ROOM)


def _recalled(found: Found, standing: InPlace, budget: int, timezone: str) -> tuple[ContextBlock | None, Skip | None]:
    if found.query.small_talk:
        return None, Skip.SMALL_TALK
    if not found.scored:
        return None, Skip.NOTHING_RELEVANT
    block = render_recalled(found.scored, standing.items, budget_tokens=budget, timezone=timezone)
    return (block, None) if block.items else (None, Skip.NO_ROOM)


async def _hidden_since(conn: Connection, receipt: Receipt, found: Found | None) -> set[tuple[ItemKind, str]]:
    """What a receipt quotes that was forgotten, corrected or removed between its recall and its being stored."""
    if found is None:
        return set()
    quoted = {(item.kind, item.id) for item in receipt.block.items}
    read = [s.candidate for s in found.scored if (s.candidate.kind, s.candidate.owner_id) in quoted]
    hidden = await search.gone(conn, receipt.entity, read)
    standing = await fact_rows.get_many(conn, receipt.entity, [fact.id for fact in found.standing])
    current = {(fact.id, fact.text) for fact in standing if fact.status == "current"}
    return hidden | {("fact", fact.id) for fact in found.standing if (fact.id, fact.text) not in current}
