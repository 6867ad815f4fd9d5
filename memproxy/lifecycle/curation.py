"""What people and operators do to a memory by hand: add, correct, forget, restore, import, erase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memproxy.errors import EmbedderError, Problem
from memproxy.extraction.gate import trivial
from memproxy.extraction.reconcile import AHEAD, Policy
from memproxy.folding import content_key
from memproxy.interfaces import Clock, Connection, Database, Embedder, Vectors
from memproxy.lifecycle.history import link
from memproxy.lifecycle.indexing import reindex_fact, reindex_turn, turn_passages
from memproxy.lifecycle.learning import Grounds, hide_quote, learn, supersede, withdraw
from memproxy.lifecycle.worker import EXTRACT
from memproxy.model import EmbedderInfo, Entity, Fact, FactDraft, FactStatus, Speaker, Turn, new_id
from memproxy.recall.passages import embedding_text
from memproxy.store import entities, jobs, passages, receipts, sessions, turns
from memproxy.store import facts as fact_rows
from memproxy.trust import cut_blocks, looks_like_instruction, mask_secrets


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn of an imported conversation."""

    role: Speaker
    content: str
    time: datetime
    name: str | None = None


class Curator:
    """Changes made on purpose, each in one transaction."""

    def __init__(
        self,
        db: Database,
        embedder: Embedder | None,
        secret: bytes,
        clock: Clock,
        learning: bool,
        policy: Policy | None = None,
    ) -> None:
        self._db = db
        self._embedder = embedder
        self._secret = secret
        self._clock = clock
        self._learning = learning
        self._policy = policy or Policy()

    async def add(self, entity: Entity, draft: FactDraft) -> Fact:
        """Store a statement; the row that says it (an existing one, where it was known already)."""
        quote = mask_secrets(draft.quote) if draft.quote else None
        draft = replace(draft, text=mask_secrets(draft.text), quote=quote, stated=True)
        vectors = await self._vectors([draft.text])
        info = self._embedder.info if self._embedder is not None and vectors is not None else None

        async def apply(conn: Connection) -> Fact | None:
            now = self._clock.now()
            await entities.ensure(conn, entity, now)
            fact = (await learn(conn, entity, [draft], vectors, self._grounds(info), None, now))[0].fact
            if fact is not None and draft.pinned and not fact.pinned:  # known already; that it is to stand is news
                return await fact_rows.update(conn, entity, fact.id, {"pinned": True}, "pinned", now)
            return await fact_rows.get(conn, entity, fact.id) if fact is not None else None  # with its vector's model

        fact = await self._db.write(apply)
        if fact is None:
            raise Problem(409, "The fact was not stored", "It was forgotten before; restore it instead.")
        return fact

    def _grounds(self, info: EmbedderInfo | None) -> Grounds:
        return Grounds(info, self._policy)

    async def correct(self, entity: Entity, fact_id: str, changes: Mapping[str, Any]) -> Fact:
        """Change fields of a fact. A new text keeps the id; what it said before stays as a historical row.

        Raises Problem 404 where the entity has no such fact, 409 where another one says the same already.
        """
        changes = dict(changes)
        for name in ("text", "quote"):
            if changes.get(name):
                changes[name] = mask_secrets(changes[name])
        if "slot" in changes:
            changes["slot"] = self._policy.slots.canonical(changes["slot"])
        if changes.get("status") == "current":
            changes = {"superseded_at": None, "superseded_by": None, "valid_until": None, **changes}

        async def apply(conn: Connection) -> Fact:
            now = self._clock.now()
            fact = await _existing(conn, entity, fact_id, any_status=changes.get("status") == "current")
            text = changes.get("text", fact.text)
            if changes.get("status", "current" if text != fact.text else fact.status) == "current":
                await _check_alone(conn, entity, fact, text)
                changes["slot_key"] = await self._make_room(conn, entity, fact, changes, now)
            if text != fact.text:
                await self._replace_text(conn, entity, fact, changes, now)
            else:
                await fact_rows.update(conn, entity, fact_id, changes, "edited", now)
            changed = await _existing(conn, entity, fact_id, any_status=True)
            await reindex_fact(conn, entity, changed)
            await receipts.redact(conn, entity, "fact", fact_id)
            if fact.turn_id:
                turn = await turns.get(conn, entity, fact.turn_id)
                if turn is not None:
                    await reindex_turn(conn, entity, turn)
            return changed

        return await self._db.write(apply)

    async def _make_room(
        self, conn: Connection, entity: Entity, fact: Fact, changes: Mapping[str, Any], now: datetime
    ) -> str | None:
        """The single-valued attribute that a fact fills once it is changed; what fills it now becomes history."""
        slot, text = changes.get("slot", fact.slot), changes.get("text", fact.text)
        when = changes.get("reference_time", fact.reference_time)
        key = self._policy.slots.key(slot, text) if when is None or when <= now + AHEAD else None
        for other in await fact_rows.with_slot(conn, entity, slot) if key is not None else ():
            if other.slot_key == key and other.id != fact.id:
                await supersede(conn, entity, other.id, replace(fact, valid_from=now), now)
        return key

    async def _replace_text(
        self, conn: Connection, entity: Entity, fact: Fact, changes: dict[str, Any], now: datetime
    ) -> None:
        text = changes["text"]
        # The row leaves "current" first, so that its new text and its old one never collide on the unique key.
        # What was forgotten or held back stays so.
        kept: FactStatus = fact.status if fact.status in ("forgotten", "quarantined") else "historical"
        begin = fact.valid_from or now
        past = replace(  # believed from now on at no time: it was put wrongly
            fact,
            id=new_id(),
            status=kept,
            superseded_at=now,
            superseded_by=fact.id,
            valid_from=begin,
            valid_until=begin,
        )
        status = "quarantined" if looks_like_instruction(text) else "current"
        await fact_rows.update(
            conn,
            entity,
            fact.id,
            {
                "status": status,
                "confidence": 1.0,
                "source_role": "user_explicit",
                "recorded_at": now,
                **changes,
                "content_key": content_key(text),
                "quote": None,
                "turn_id": None,
            },
            "corrected",
            now,
        )
        await fact_rows.insert(conn, entity, past)

    async def forget(self, entity: Entity, fact_id: str) -> None:
        """Forget a fact, in a way that can be undone: it and its words in the turn are never recalled or shown.

        Raises Problem 404 where the entity has no such fact.
        """

        async def apply(conn: Connection) -> None:
            now = self._clock.now()
            fact = await _existing(conn, entity, fact_id)
            await fact_rows.set_status(conn, entity, fact_id, "forgotten", "forgotten", now)
            await withdraw(conn, entity, fact_id)
            await hide_quote(conn, entity, replace(fact, status="forgotten"))

        await self._db.write(apply)

    async def import_turns(
        self, entity: Entity, session_name: str, past: Sequence[PastTurn], learn_from: bool
    ) -> list[str]:
        """Store turns of a past conversation with their own dates and speakers; their ids, in order.

        The same session, time, role and content again is no second turn: its existing id is returned.
        """

        async def apply(conn: Connection) -> list[str]:
            now = self._clock.now()
            await entities.ensure(conn, entity, now)
            session = await sessions.by_name(conn, entity, session_name)
            if session is None:
                first = min((turn.time for turn in past), default=now)
                session = await sessions.open_session(conn, entity, session_name, first)
            ids = [await self._import(conn, entity, session.id, turn, learn_from, now) for turn in past]
            if learn_from and self._learning and await turns.pending(conn, entity, session.id, None):
                await jobs.enqueue(conn, entity, EXTRACT, session.id, now, None, now)
            return ids

        return await self._db.write(apply)

    async def _import(
        self, conn: Connection, entity: Entity, session_id: str, past: PastTurn, learn_from: bool, now: datetime
    ) -> str:
        content = mask_secrets(cut_blocks(past.content))
        text_key = link(self._secret, entity, "imported", past.role, past.content)
        existing = await turns.find(conn, entity, session_id, past.time, past.role, text_key)
        if existing is not None:
            return existing
        teaches = learn_from and self._learning and past.role == "user" and not trivial(content)
        turn = await turns.append(
            conn,
            entity,
            session_id,
            role=past.role,
            name=past.name,
            content=content,
            time=past.time,
            learn="pending" if teaches else "no",
            credential=None,
            text_key=text_key,
        )
        await passages.add(conn, entity, turn_passages(turn))
        key = link(self._secret, entity, await sessions.head(conn, entity, session_id) or "", past.role, past.content)
        await sessions.put_mark(conn, entity, key, session_id, turn.seq, "said", now)
        await sessions.touch(conn, entity, session_id, key, past.time)
        return turn.id

    async def forget_turn(self, entity: Entity, turn_id: str) -> None:
        """Remove a turn for good, with its passages and vectors, the facts that stand on it, and what was injected of
        either. Raises Problem 404.
        """

        async def apply(conn: Connection) -> Turn | None:
            turn = await turns.get(conn, entity, turn_id)
            if turn is not None:
                for fact in await fact_rows.of_turns(conn, entity, [turn_id]):
                    await fact_rows.delete(conn, entity, fact.id)
                await passages.remove(conn, entity, "turn", turn_id)
                await receipts.redact(conn, entity, "turn", turn_id)
                await turns.delete(conn, entity, turn_id)
            return turn

        if await self._db.write(apply) is None:
            raise Problem(404, "No such turn")

    async def _vectors(self, texts: Sequence[str]) -> Vectors | None:
        if self._embedder is None:
            return None
        try:
            return await self._embedder.embed_documents([embedding_text(text, "user") for text in texts])
        except EmbedderError:
            return None  # stored without a vector; the indexer catches up


async def _check_alone(conn: Connection, entity: Entity, fact: Fact, text: str) -> None:
    """Raises Problem 409 where another current fact says already what this one is to say."""
    for other in await fact_rows.with_content_key(conn, entity, content_key(text)):
        if other.status == "current" and other.id != fact.id:
            raise Problem(409, "Another fact says that already", f"It is {other.id}.")


async def _existing(conn: Connection, entity: Entity, fact_id: str, any_status: bool = False) -> Fact:
    fact = await fact_rows.get(conn, entity, fact_id)
    if fact is None or (fact.status == "forgotten" and not any_status):
        raise Problem(404, "No such fact")
    return fact
