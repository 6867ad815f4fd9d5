"""What people and operators do to a memory by hand, each in one transaction.

What a person says of one fact is in `corrections`, what removes facts in `removals`; here they meet the database, the
embedder, and the rule that a memory which is switched off takes nothing in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memproxy.embedders.live import Embedders
from memproxy.errors import Problem, SwitchedOff
from memproxy.extraction.reconcile import Insert, Policy
from memproxy.interfaces import Clock, Connection, Database, Vectors
from memproxy.lifecycle import corrections, removals
from memproxy.lifecycle.corrections import existing
from memproxy.lifecycle.denials import Denials
from memproxy.lifecycle.embedding import embedder_of, vectors_of
from memproxy.lifecycle.learning import Grounds, learn
from memproxy.lifecycle.past import Bringing, Brought, PastTurn, made_ready, signs
from memproxy.lifecycle.under_way import UnderWay
from memproxy.lifecycle.wanted import wanted
from memproxy.lifecycle.worker import EXTRACT
from memproxy.model import Entity, Fact, FactDraft
from memproxy.store import denied, entities, jobs, preferences, sessions, turns
from memproxy.store import facts as fact_rows
from memproxy.store.denied import Denial
from memproxy.store.preferences import Preferences
from memproxy.trust import mask_secrets

Deed = Callable[[Connection, Fact, datetime], Awaitable[Fact]]


class Curator:
    """Changes made on purpose, each in one transaction. Raises Problem where one cannot be made."""

    def __init__(
        self,
        db: Database,
        embedders: Embedders,
        secret: bytes,
        clock: Clock,
        learning: bool,
        policy: Policy | None = None,
    ) -> None:
        self._db = db
        self._embedders = embedders
        self._secret = secret
        self._clock = clock
        self._learning = learning
        self._policy = policy or Policy()

    # --- new facts -------------------------------------------------------------------------------------------

    async def add(self, entity: Entity, draft: FactDraft) -> Fact:
        """Store a statement; the row that says it (an existing one, where it was known already).

        What was denied before is said on purpose now: it is denied no more.
        """
        quote = mask_secrets(draft.quote) if draft.quote else None
        draft = replace(draft, text=mask_secrets(draft.text), quote=quote, stated=True)
        vectors, grounds = await self._embedded(entity, [draft])

        async def apply(conn: Connection) -> Fact | None:
            now = self._clock.now()
            await _switched_on(conn, entity)
            await entities.ensure(conn, entity, now)
            for denied_id in await denied.matching(conn, entity, Denials(self._secret, entity).words(draft.text)):
                await denied.remove(conn, entity, denied_id)
            fact = (await learn(conn, entity, [draft], vectors, grounds, None, now))[0].fact
            if fact is None:
                return None
            return await self._as_stated(conn, entity, fact, draft, now)

        fact = await self._db.write(apply)
        if fact is None:
            raise Problem(409, "The fact was not stored", f"It was forgotten before. {corrections.RESTORE}")
        return fact

    async def note(self, entity: Entity, text: str, fields: Mapping[str, Any]) -> Fact:
        """Store what the person wants to be remembered, as their own word: no extraction overrides it."""
        given = {"type": "identity", "confidence": 1.0, **fields, "source_role": "user_explicit"}
        return await self.add(entity, FactDraft(text, **given))

    async def _as_stated(self, conn: Connection, entity: Entity, fact: Fact, draft: FactDraft, now: datetime) -> Fact:
        """The stored row, with what is news where it was known: that it stands, that it is the person's own word."""
        if draft.source_role == "user_explicit" != fact.source_role:
            told = {"source_role": "user_explicit", "confidence": 1.0, "said_at": now}
            await fact_rows.update(conn, entity, fact.id, told, "noted", now)
        fact = await existing(conn, entity, fact.id)
        return await corrections.pin(conn, entity, fact, now) if draft.pinned and fact.status == "current" else fact

    async def _embedded(self, entity: Entity, drafts: Sequence[FactDraft]) -> tuple[Vectors | None, Grounds]:
        embedder = await embedder_of(self._db, self._embedders, entity)
        vectors = await vectors_of(embedder, drafts)
        info = embedder.info if embedder is not None and vectors is not None else None
        return vectors, Grounds(info, self._policy)

    # --- what a person says of one fact ----------------------------------------------------------------------

    async def edit(self, entity: Entity, fact_id: str, changes: Mapping[str, Any]) -> Fact:
        """Change fields of a fact. A new text corrects it; see `corrections.edit`."""
        given = _masked(changes)

        async def apply(conn: Connection) -> Fact:
            return await corrections.edit(conn, entity, fact_id, given, self._policy, self._clock.now())

        return await self._db.write(apply)

    async def correct(self, entity: Entity, fact_id: str, changes: Mapping[str, Any]) -> Fact:
        """Let a fact say `changes["text"]`, as the person's own word; what it said before was true at no time."""
        given = _masked(changes)
        return await self._on(
            entity, fact_id, lambda conn, fact, now: corrections.correct(conn, entity, fact, given, self._policy, now)
        )

    async def confirm(self, entity: Entity, fact_id: str) -> Fact:
        """The person says that it is so: sure, theirs, lasting."""
        return await self._on(entity, fact_id, lambda conn, fact, now: corrections.confirm(conn, entity, fact, now))

    async def pin(self, entity: Entity, fact_id: str) -> Fact:
        """Keep it in view whatever is asked, for good."""
        return await self._on(entity, fact_id, lambda conn, fact, now: corrections.pin(conn, entity, fact, now))

    async def unpin(self, entity: Entity, fact_id: str) -> Fact:
        """Let it be one like others again."""
        return await self._on(
            entity, fact_id, lambda conn, fact, now: corrections.unpin(conn, entity, fact, self._policy, now)
        )

    async def resolve(self, entity: Entity, fact_id: str) -> Fact:
        """An open thread is settled."""
        return await self._on(entity, fact_id, lambda conn, fact, now: corrections.resolve(conn, entity, fact, now))

    async def restore(self, entity: Entity, fact_id: str) -> Fact:
        """Undo forgetting."""
        return await self._db.write(
            lambda conn: corrections.restore(conn, entity, fact_id, self._policy, self._clock.now())
        )

    async def _on(self, entity: Entity, fact_id: str, deed: Deed) -> Fact:
        """Do something to a fact that is there. Raises Problem 404."""

        async def apply(conn: Connection) -> Fact:
            return await deed(conn, await existing(conn, entity, fact_id), self._clock.now())

        return await self._db.write(apply)

    # --- what removes ----------------------------------------------------------------------------------------

    async def forget(self, entity: Entity, fact_id: str) -> None:
        """Forget a fact, in a way that can be undone: it and its words in the turns are never recalled or shown."""

        async def apply(conn: Connection) -> None:
            await removals.forget(conn, entity, await existing(conn, entity, fact_id), self._clock.now())

        await self._db.write(apply)

    async def erase(self, entity: Entity, fact_id: str) -> int:
        """Remove a fact with its history for good, a forgotten one too; how many rows went. The files are the caller's
        to scrub.
        """

        async def apply(conn: Connection) -> int:
            return await removals.erase(conn, entity, [await existing(conn, entity, fact_id, forgotten=True)])

        return await self._db.write(apply)

    async def deny(self, entity: Entity, fact_id: str) -> tuple[Denial, int]:
        """Erase a fact and all rows with the same words, and do not learn it again; how many rows went."""

        async def apply(conn: Connection) -> tuple[Denial, int]:
            fact = await existing(conn, entity, fact_id, forgotten=True)
            return await removals.deny(conn, entity, self._secret, fact.text, fact, self._clock.now())

        return await self._db.write(apply)

    async def deny_text(self, entity: Entity, text: str) -> tuple[Denial, int]:
        """The same by its words, whether or not a fact says so."""

        async def apply(conn: Connection) -> tuple[Denial, int]:
            now = self._clock.now()
            await entities.ensure(conn, entity, now)
            return await removals.deny(conn, entity, self._secret, text, None, now)

        return await self._db.write(apply)

    async def allow(self, entity: Entity, denied_id: str) -> None:
        """Deny something no more: it may be learned again. What was hidden in turns stays so. Raises Problem 404."""
        if not await self._db.write(lambda conn: denied.remove(conn, entity, denied_id)):
            raise Problem(404, "Nothing was denied under that id", "See GET …/denied, or memproxy denied list.")

    async def forget_turn(self, entity: Entity, turn_id: str) -> None:
        """Remove a turn for good, with the facts that stand on it and what was made of either. Raises Problem 404."""
        if not await self._db.write(lambda conn: removals.remove_turn(conn, entity, turn_id)):
            raise Problem(404, "No such turn")

    # --- what is learned at all ------------------------------------------------------------------------------

    async def prefer(self, entity: Entity, changes: Mapping[str, Any]) -> Preferences:
        """Change what a person wants of their memory. Not retroactive; but nothing that still waits is learned from."""

        async def apply(conn: Connection) -> Preferences:
            now = self._clock.now()
            await entities.ensure(conn, entity, now)
            wanted = replace(await preferences.get(conn, entity), **changes)
            await preferences.put(conn, entity, wanted, now)
            return wanted

        return await self._db.write(apply)

    async def import_turns(
        self,
        entity: Entity,
        session_name: str,
        past: Sequence[PastTurn],
        learn_from: bool,
        under_way: UnderWay | None = None,
    ) -> Brought:
        """Store turns of a past conversation with their own dates and speakers.

        The same session, time, role and content again is no second turn: its existing id is returned. `under_way`: they
        are part of a longer import. Raises Problem 409 where the entity was erased since it began.
        """
        under_way = under_way or UnderWay()
        known_by = signs(self._secret, entity, past)
        there = await self._db.read(lambda conn: self._there(conn, entity, session_name, known_by))
        made = await made_ready(past, known_by, there)

        async def apply(conn: Connection) -> Brought:
            now = self._clock.now()
            wishes = await _switched_on(conn, entity)
            learns = learn_from and self._learning and wishes.learning
            await under_way.check(conn, entity)
            await entities.ensure(conn, entity, now)
            session = await sessions.by_name(conn, entity, session_name)
            if session is None:
                first = min((turn.time for turn in past), default=now)
                session = await sessions.open_session(conn, entity, session_name, first)
            brought = await Bringing(conn, entity, self._secret, session.id, learns).bring(past, known_by, made, now)
            if learns and await turns.pending(conn, entity, session.id, None):
                await jobs.enqueue(conn, entity, EXTRACT, session.id, now, None, now)
            return brought

        brought = await self._db.write(apply)
        under_way.brought(brought.session_id)
        return brought

    async def _there(
        self, conn: Connection, entity: Entity, session_name: str, known_by: Sequence[turns.Sign]
    ) -> list[str | None]:
        """The ids of those turns that are there, so that they need not be made ready."""
        session = await sessions.by_name(conn, entity, session_name)
        return [None] * len(known_by) if session is None else await turns.find(conn, entity, session.id, known_by)

    async def import_facts(self, entity: Entity, drafts: Sequence[FactDraft], under_way: UnderWay | None = None) -> int:
        """Learn statements that another memory kept; how many are new. What was denied or is not wanted is left out.

        Nobody says them now: they neither lift a denial nor count as the person's own word.
        """
        under_way = under_way or UnderWay()
        drafts = [replace(draft, text=mask_secrets(draft.text)) for draft in drafts]
        vectors, grounds = await self._embedded(entity, drafts)

        async def apply(conn: Connection) -> int:
            now = self._clock.now()
            await _switched_on(conn, entity)
            await under_way.check(conn, entity)
            await entities.ensure(conn, entity, now)
            asked, _ = await wanted(conn, entity, drafts, self._secret)
            kept = [index for index, draft in enumerate(drafts) if draft in asked]
            rows = vectors[kept] if vectors is not None and kept else None
            learned = await learn(conn, entity, [drafts[index] for index in kept], rows, grounds, None, now)
            return sum(isinstance(item.change, Insert) for item in learned)

        new = await self._db.write(apply)
        under_way.brought()
        return new


def _masked(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: mask_secrets(value) if name in ("text", "quote") and value else value for name, value in changes.items()
    }


async def _switched_on(conn: Connection, entity: Entity) -> Preferences:
    """What the person wants. Raises SwitchedOff where that is no memory: nothing is taken in then."""
    wanted = await preferences.get(conn, entity)
    if not wanted.memory:
        raise SwitchedOff
    return wanted
