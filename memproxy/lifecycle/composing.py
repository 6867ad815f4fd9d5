"""What goes into one request: recalled for its message, or put in again as it stood."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memproxy.context.budget import estimate_tokens, fit
from memproxy.context.control import with_control
from memproxy.context.placement import MOST_BUDGETS, InPlace, make_room
from memproxy.context.render import NOTHING, Beside
from memproxy.errors import StoreError
from memproxy.events import Metrics, Skip
from memproxy.interfaces import Clock, Connection, Database
from memproxy.lifecycle.asking import Ask, Conversation, Heard
from memproxy.lifecycle.besides import Besides, Wanted
from memproxy.lifecycle.chains import thread_of
from memproxy.lifecycle.followups import resolved
from memproxy.lifecycle.history import kept_key, marks_of, read_history
from memproxy.lifecycle.mentions import FEW, is_vague, names
from memproxy.lifecycle.placing import PlacedParts, in_place, still_stored
from memproxy.lifecycle.quoting import hidden_since
from memproxy.lifecycle.recovering import Recovered, newest_words, recover, wants
from memproxy.lifecycle.saying import Sayer
from memproxy.lifecycle.steering import Steering
from memproxy.model import (
    Addition,
    ChatRequest,
    ContextBlock,
    Entity,
    Part,
    Placement,
    Receipt,
)
from memproxy.providers.windows import window_of
from memproxy.recall.explaining import Weighed
from memproxy.recall.recall import Found, Question, Recaller
from memproxy.settings import Settings
from memproxy.store import facts as fact_rows
from memproxy.store import placed, receipts
from memproxy.store.sessions import Thread
from memproxy.trust import mask_secrets

log = logging.getLogger(__name__)

# Seconds that what is kept of a request may wait to be written along with its exchange, where the answer comes at once.
WITH_THE_EXCHANGE = 0.05
REPLY_TOKENS = 512  # room kept for the answer where the client sets no limit of its own


@dataclass(frozen=True, slots=True)
class Composed:
    """What goes into a request, or why nothing does."""

    skip: Skip | None
    block: ContextBlock | None = None  # all of it
    additions: tuple[Addition, ...] = ()
    thread: Thread | None = None  # where the request stands, should another go on from its answer


@dataclass(slots=True)
class SoFar:
    """How far the composing of a request has come: enough to say who the person is, should time run out."""

    ask: Ask | None = None
    question: Question | None = None
    standing: InPlace | None = None  # what stands in the conversation already


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

    def __init__(
        self,
        db: Database,
        recaller: Recaller,
        settings: Settings,
        secret: bytes,
        clock: Clock,
        metrics: Metrics,
        steering: Steering | None = None,
    ) -> None:
        """Raises SettingsError for a format that nobody offers."""
        self._db = db
        self._recaller = recaller
        self._budget = settings.memory.token_budget
        self._window = settings.memory.context_window
        self._window_share = settings.memory.window_share
        self._sayer = Sayer(settings, metrics)
        self._besides = Besides(db, settings)
        self._timeout = timedelta(seconds=settings.session.timeout)
        self._turns = settings.working_memory.turns
        self._tokens = settings.working_memory.tokens
        self._secret = secret
        self._clock = clock
        self._placed = PlacedParts(db)
        self._steering = steering
        self._tasks: set[asyncio.Task[None]] = set()

    async def compose(
        self, conversation: Conversation, heard: Heard, request_id: str, placement: Placement, so_far: SoFar
    ) -> Composed:
        """The additions to a request. What has to be kept of them is stored behind the scenes."""
        entity = conversation.entity
        history = read_history(heard.said.messages, self._secret, entity, heard.said.previous)
        before = await self._placed.stood(entity, history.start) if history.start else None
        thread = thread_of(history, conversation.session_name, before, self._secret, entity)
        ask = Ask(conversation, heard.sent, request_id, history, thread)
        if not thread.turn:
            return Composed(Skip.NO_QUERY, thread=thread)
        earlier = await self._earlier(ask)
        ask = replace(ask, thread=replace(thread, held=thread.held | earlier.turns))
        so_far.ask = ask
        composed = await (self._split(ask, so_far) if placement == "split" else self._whole(ask, placement, so_far))
        return replace(composed, additions=(*earlier.additions, *composed.additions), thread=thread)

    def in_haste(self, so_far: SoFar, placement: Placement) -> Composed | None:
        """What can be said at once where time has run out: what stands anyway, else who the person is.

        None where neither is known, or the message is small talk. At once means that nothing is read for it.
        """
        ask, question = so_far.ask, so_far.question
        if so_far.standing is not None and so_far.standing.items:
            return Composed(None, so_far.standing.block(), so_far.standing.additions())
        if ask is None or question is None or question.query.small_talk or not question.standing:
            return None
        conversation = ask.conversation
        budget = self._room(ask.request, self._budget)
        block = self._sayer.stable(question.standing, NOTHING, budget, conversation.timezone, conversation.time)
        if not block.items:
            return None
        place = ask.turns[-1][1] if placement == "user" else None
        self._keep(ask, _Kept(self._receipt(ask, block), -1, ()))
        return Composed(None, block, (Addition(block.text, place),), ask.thread)

    async def _earlier(self, ask: Ask) -> Recovered:
        """What is put back into a request that brings only its newest message, where that is wanted."""
        if not wants(ask) or self._turns == 0:
            return Recovered()
        room = self._room(ask.request, self._tokens)
        return await self._db.read(lambda conn: recover(conn, ask, self._turns, room, self._timeout))

    def follow(self, entity: Entity, id: str, thread: Thread) -> None:
        """Keep in memory where an answer or a conversation stands of which nothing is recorded."""
        self._placed.follow(entity, kept_key(self._secret, entity, id), thread, self._clock.now())

    async def recall(
        self, entity: Entity, query: str, now: datetime, timezone: str, trace: list[Weighed] | None = None
    ) -> tuple[ContextBlock | None, Skip | None]:
        """The block for a message, or why there is none. Stores nothing. For `trace` see `Recaller.find`."""
        async with self._recaller.asked(query, now=now, entity=entity) as question:
            found = await self._recaller.find(entity, question, trace=trace)
        beside = await self._besides.of_found(entity, found, (), await self._unasked(entity, now, recalls=True))
        return self._sayer.whole(found, beside, self._budget, timezone)

    # --- one block a request ---------------------------------------------------------------------------------

    async def _whole(self, ask: Ask, placement: Placement, so_far: SoFar) -> Composed:
        entity, key = ask.conversation.entity, ask.thread.turn
        place = ask.turns[-1][1] if placement == "user" else None
        if not ask.new:  # in a tool loop the block of the turn that began it goes in again, byte for byte
            parts = await self._placed.of_keys(entity, [key])
            part = parts.get("recalled", key)
            if part is not None:
                self._keep(ask, _Kept(self._receipt(ask, part.block), parts.revision, (), [part]))
                return Composed(None, part.block, (Addition(part.block.text, place),))
        if not ask.query:
            return Composed(Skip.NO_QUERY)
        budget = self._room(ask.request, self._budget)
        if budget <= 0:
            return Composed(Skip.NO_ROOM)
        told = await self._steered(ask)
        async with self._asked(ask) as question:
            so_far.question = question
            wanted = Wanted(ask.opening, session_name=ask.conversation.session_name)
            found, beside = await self._find(ask, question, wanted)
        block, skip = self._sayer.whole(found, beside, budget, ask.conversation.timezone)
        block = with_control(block, told, budget)
        if block is None:
            return Composed(skip)
        part = Part("recalled", key, block, self._clock.now())
        self._keep(ask, _Kept(self._receipt(ask, block), found.revision, [part], found=found))
        return Composed(None, block, (Addition(block.text, place),))

    # --- a stable part, and one a turn -----------------------------------------------------------------------

    async def _split(self, ask: Ask, so_far: SoFar) -> Composed:
        # The question is embedded while it is looked up what stands; hardly ever is the answer to it among that.
        async with self._asked(ask) as question:
            so_far.question = question
            return await self._in_parts(ask, question, so_far)

    async def _in_parts(self, ask: Ask, question: Question, so_far: SoFar) -> Composed:
        entity, timezone, now = ask.conversation.entity, ask.conversation.timezone, self._clock.now()
        opening, turn, place = ask.thread.opening, *ask.turns[-1]
        told = await self._steered(ask)  # before what stands is looked up: it may be what is to be forgotten
        fresh: list[Part] = []
        parts = await self._placed.of_keys(entity, [opening, *(key for key, _ in ask.turns)])
        standing = in_place(parts, opening, ask.turns, now, self._timeout, turn if ask.new else "")
        again = standing.parts
        if standing.stable is None:
            facts, said_at = await self._recaller.standing(entity), ask.conversation.time
            beside = await self._unasked(entity, said_at)
            stable = self._sayer.stable(facts, beside, self._budget, timezone, said_at)
            fresh.append(Part("stable", opening, stable, now))
            standing = InPlace(fresh[0], standing.recalled)
        so_far.standing = standing
        gone: Sequence[Part] = ()
        skip: Skip | None = Skip.NO_QUERY
        found: Found | None = None
        if ask.query and all(part.key != turn for _, part in standing.recalled):
            room = self._room(ask.request, MOST_BUDGETS * self._budget) // MOST_BUDGETS
            standing, budget, gone = make_room(standing, room)
            wanted = Wanted(ask.opening, False, ask.conversation.session_name)
            found, beside = await self._find(ask, question, wanted)
            block, skip = self._sayer.recalled(found, standing, beside, budget, timezone)
            block = with_control(block, told, budget)
            if block is not None:
                fresh.append(Part("recalled", turn, block, now))
                standing = InPlace(standing.stable, (*standing.recalled, (place, fresh[-1])))
        whole = standing.block()
        kept = [part for part in again if part not in gone]
        self._keep(ask, _Kept(self._receipt(ask, whole), parts.revision, fresh, kept, gone, found))
        return Composed(None, whole, standing.additions()) if whole.text else Composed(skip)

    async def _steered(self, ask: Ask) -> list[tuple[str, str | None]]:
        """What the person just asked of their memory, done; lines about it for the model."""
        if self._steering is None or not ask.new:
            return []
        message = "\n".join(one.message.text for one in ask.new)
        told = await self._steering.steer(ask.conversation.entity, message, acts=ask.conversation.mode == "full")
        return [(one.text, one.fact_id) for one in told]

    # --- recalling -------------------------------------------------------------------------------------------

    def _asked(self, ask: Ask) -> AbstractAsyncContextManager[Question]:
        words = mask_secrets(resolved("\n".join(one.message.text for one in ask.query), ask.before))
        return self._recaller.asked(words, now=ask.conversation.time, entity=ask.conversation.entity)

    async def _find(self, ask: Ask, question: Question, wanted: Wanted) -> tuple[Found, Beside]:
        """What bears on a request, and what may be said beside it."""
        of, beside, present = ask.conversation, NOTHING, set[tuple[str, int]]()

        async def meanwhile(conn: Connection) -> set[tuple[str, int]]:
            nonlocal beside, present
            present = await self._present(conn, ask)
            beside = await self._besides.read(conn, of.entity, of.time, replace(wanted, present=present))
            return present

        found = await self._recaller.find(of.entity, question, meanwhile=meanwhile)
        found = _elsewhere(await self._again(ask, found), present)
        return found, await self._besides.of_found(of.entity, found, present, beside)

    async def _unasked(self, entity: Entity, now: datetime, *, recalls: bool = False) -> Beside:
        return await self._db.read(lambda conn: self._besides.read(conn, entity, now, Wanted(recalls=recalls)))

    async def _again(self, ask: Ask, found: Found) -> Found:
        """A vague question that found next to nothing, asked once more with the names in the stored conversation.

        Only of clients that bring no history: what a request says itself is known without that.
        """
        name = ask.conversation.session_name
        if name is None or not ask.opening or len(found.scored) >= FEW or not is_vague(found.query):
            return found
        said = names(await self._db.read(lambda conn: newest_words(conn, ask.conversation.entity, name)))
        if not said:
            return found
        words = mask_secrets(f"{found.query.text}\n{', '.join(said)}")
        async with self._recaller.asked(words, now=ask.conversation.time, entity=ask.conversation.entity) as question:
            again = await self._recaller.find(ask.conversation.entity, question)
        return replace(again, revision=found.revision) if len(again.scored) > len(found.scored) else found

    async def _present(self, conn: Connection, ask: Ask) -> set[tuple[str, int]]:
        """The stored turns (session, place) that the request or what it goes on from holds: no need to recall them."""
        marks = await marks_of(conn, ask.conversation.entity, ask.history)
        return {(mark.session_id, mark.seq) for mark in marks.values()} | ask.thread.held

    def _room(self, request: ChatRequest, budget: int) -> int:
        """What of a budget the model's window leaves, as it is set, or known by the model's name."""
        window = self._window or window_of(request.model)
        if window is None:
            return max(budget, 0)
        texts = [request.system, *(message.text for message in request.messages)]
        asked = sum(estimate_tokens(text) + 4 for text in texts)
        if self._window is None and asked >= window:  # its window is larger than is known here
            return max(budget, 0)
        return fit(budget, window, asked, min(request.max_tokens or REPLY_TOKENS, window // 4), self._window_share)

    # --- keeping ---------------------------------------------------------------------------------------------

    def _receipt(self, ask: Ask, block: ContextBlock) -> Receipt:
        return Receipt(ask.request_id, ask.conversation.entity, None, ask.thread.turn, self._clock.now(), block)

    def _keep(self, ask: Ask, kept: _Kept) -> None:
        entity = ask.conversation.entity
        if ask.conversation.mode == "read":
            self._placed.keep(entity, [*kept.fresh, *self._used(kept.again)], kept.revision)
            return
        # That nothing stands there is remembered even of somebody who is not known yet, and of whom no row may be.
        self._placed.keep(entity, [part for part in kept.fresh if not part.block.text], kept.revision)
        # Not awaited: the one writer keeps order, so all of it is there before the exchange is recorded.
        self._background(self._store(kept))

    def _used(self, parts: Iterable[Part]) -> list[Part]:
        now = self._clock.now()
        return [Part(part.kind, part.key, part.block, now) for part in parts]

    async def _store(self, kept: _Kept) -> None:
        receipt = kept.receipt
        facts = [item.id for part in kept.fresh for item in part.block.items if item.kind == "fact"]

        async def put(conn: Connection) -> None:
            there = await still_stored(conn, receipt.entity, kept.again) if kept.again else set()
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
            for kind, owner_id in lost | await hidden_since(conn, receipt, kept.revision, kept.found):
                await receipts.redact(conn, receipt.entity, kind, owner_id)
            await fact_rows.count_recalled(conn, receipt.entity, facts, receipt.time)

        try:
            await self._db.write(put, within=WITH_THE_EXCHANGE)
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


def _elsewhere(found: Found, present: set[tuple[str, int]]) -> Found:
    """What was found, without summaries of the conversation that goes on: the request tells more of it."""
    here = {session_id for session_id, _ in present}
    scored = tuple(s for s in found.scored if s.candidate.kind != "summary" or s.candidate.session_id not in here)
    return replace(found, scored=scored) if len(scored) < len(found.scored) else found
