"""One entity's memory, opened in process. Every method does what the route and the command of that name do."""

from __future__ import annotations

import builtins
import contextlib
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

import msgspec

from memproxy import settings_sources
from memproxy.archive.exporting import Form
from memproxy.assembly.parts import Parts, open_parts
from memproxy.errors import Problem, SettingsError
from memproxy.importing.bringing import Report, Wish
from memproxy.importing.door import bring_file
from memproxy.interfaces import Clock
from memproxy.lifecycle.past import PastTurn
from memproxy.lifecycle.worker import Progress
from memproxy.model import (
    DEFAULT_TENANT,
    ChatRequest,
    ContextBlock,
    Entity,
    Exchange,
    Fact,
    FactStatus,
    FactType,
    ItemKind,
    Lifetime,
    Message,
    Reply,
    SourceRole,
    ThreadStatus,
    Turn,
)
from memproxy.names import clean_name
from memproxy.server.requests import CorrectionFields, FactFields, NoteFields, PreferenceFields, Words
from memproxy.settings import Settings
from memproxy.store import denied as denied_rows
from memproxy.store import entities, evidence, overview, preferences
from memproxy.store import facts as fact_rows
from memproxy.store import turns as turn_rows
from memproxy.store.denied import Denial
from memproxy.store.entities import EntityRow
from memproxy.store.evidence import Behind
from memproxy.store.overview import Happening, SessionRow
from memproxy.store.preferences import Preferences

S = TypeVar("S")
SHARED = entities.SHARED


class Fields(TypedDict, total=False):
    """What can be said of a fact beside its text; see the API's page for what each means."""

    type: FactType
    tag: str
    slot: str | None
    significance: int
    confidence: float
    source_role: SourceRole
    quote: str | None
    valid_from: datetime | None
    valid_until: datetime | None
    reference_time: datetime | None
    started_at: str | None
    lifetime: Lifetime
    pinned: bool
    thread_status: ThreadStatus | None


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that bears on a query."""

    kind: ItemKind
    id: str  # of the turn, fact or summary
    text: str
    score: float
    turn_id: str | None


class Memory:
    """One entity's memory in a store. Open one with `Memory.open`; `of` gives another entity's in the same store.

    All methods raise StoreError where the store cannot be used, and Problem where what is asked for cannot be:
    `status` and `detail` say why, as the management API does (404: no such row; 409: not in its state; memory off).
    """

    def __init__(self, parts: Parts, entity: Entity) -> None:
        self._parts = parts
        self._entity = entity

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls,
        db: str | os.PathLike[str] | None = None,
        *,
        entity: str = SHARED,
        config: str | os.PathLike[str] | None = None,
        background: bool = True,
        clock: Clock | None = None,
        **settings: object,
    ) -> AsyncIterator[Memory]:
        """Open a store, creating it where it is not there; everything is closed at the end.

        Settings come from `config` (else memg.json and others, as for the command), the environment, and `settings` by
        their dotted names with two underscores for the dot: `embed__provider="hash"`. With `background` facts are
        learned, vectors made and conversations summed up while it is open; other processes, a server among them, may
        have the same store open. Raises SettingsError, StoreError.
        """
        loaded = load(db, config, settings)
        async with open_parts(loaded, clock) as parts:
            if background:
                parts.start()
            try:
                yield cls(parts, named(entity))
            finally:
                await parts.stop()

    def of(self, entity: str) -> Memory:
        """Another entity's memory in the same store."""
        return Memory(self._parts, named(entity))

    @property
    def entity(self) -> str:
        """Whose memory this is."""
        return self._entity.name

    @property
    def parts(self) -> Parts:
        """What it is made of; for programs that need more than these methods. No promise of its shape."""
        return self._parts

    # --- facts -----------------------------------------------------------------------------------------------

    async def add(self, text: str, **fields: Unpack[Fields]) -> Fact:
        """Remember a statement; the row that says it, an existing one where it was known."""
        draft = _checked({"text": text, **fields}, FactFields).draft()
        return self._changed(await self._parts.curator.add(self._entity, draft))

    async def note(self, text: str, **fields: Unpack[Fields]) -> Fact:
        """Remember what the person says on purpose: no extraction overrides it."""
        said, given = _checked({"text": text, **fields}, NoteFields).note()
        return self._changed(await self._parts.curator.note(self._entity, said, given))

    async def get(self, fact_id: str) -> Fact | None:
        """One fact, whatever its status; None where there is none."""
        return await self._parts.db.read(lambda conn: fact_rows.get(conn, self._entity, fact_id))

    async def list(
        self,
        *,
        status: FactStatus | Sequence[FactStatus] = "current",
        type: FactType | None = None,
        tag: str | None = None,
        query: str | None = None,
        pinned: bool | None = None,
        limit: int = 100,
        after: str | None = None,
    ) -> list[Fact]:
        """Facts, the newest first, after the one with the id `after`. `query` is a part of the text."""
        statuses = [status] if isinstance(status, str) else status
        return await self._parts.db.read(
            lambda conn: fact_rows.list_facts(
                conn,
                self._entity,
                statuses=statuses,
                types=[type] if type else None,
                tags=[tag] if tag else None,
                query=query,
                pinned=pinned,
                limit=limit,
                after=after,
            )
        )

    async def history(self, fact_id: str) -> Behind:
        """A fact with its source, what it replaced, and every change with its reason. Raises Problem 404."""
        fact = await self.get(fact_id)
        if fact is None:
            raise Problem(404, "No such fact")
        return await self._parts.db.read(lambda conn: evidence.behind(conn, self._entity, fact))

    async def correct(self, fact_id: str, text: str, **fields: Unpack[Fields]) -> Fact:
        """Let a fact say something else, as the person's own word."""
        given = _checked({"text": text, **fields}, CorrectionFields).correction()
        return self._changed(await self._parts.curator.correct(self._entity, fact_id, given))

    async def confirm(self, fact_id: str) -> Fact:
        """It is so: sure, the person's, lasting."""
        return self._changed(await self._parts.curator.confirm(self._entity, fact_id))

    async def pin(self, fact_id: str) -> Fact:
        """Keep a fact in view whatever is asked."""
        return self._changed(await self._parts.curator.pin(self._entity, fact_id))

    async def unpin(self, fact_id: str) -> Fact:
        """Let it be one like others again."""
        return self._changed(await self._parts.curator.unpin(self._entity, fact_id))

    async def resolve(self, fact_id: str) -> Fact:
        """An open thread is settled."""
        return self._changed(await self._parts.curator.resolve(self._entity, fact_id))

    async def forget(self, fact_id: str) -> None:
        """Never recall or show a fact and its words again. `restore` undoes it."""
        await self._parts.curator.forget(self._entity, fact_id)
        self._parts.changed(self._entity)

    async def restore(self, fact_id: str) -> Fact:
        """Undo forgetting."""
        return self._changed(await self._parts.curator.restore(self._entity, fact_id))

    async def deny(self, text: str) -> Denial:
        """Erase every fact that says this, and do not learn it again."""
        denial, _ = await self._parts.curator.deny_text(self._entity, _checked({"text": text}, Words).checked())
        await self._parts.removed(self._entity)
        return denial

    async def denied(self, limit: int = 100) -> builtins.list[Denial]:
        """That something was denied, the newest first; not what."""
        return await self._parts.db.read(lambda conn: denied_rows.list_denials(conn, self._entity, limit))

    async def allow(self, denied_id: str) -> None:
        """Deny something no more."""
        await self._parts.curator.allow(self._entity, denied_id)

    # --- recall ----------------------------------------------------------------------------------------------

    async def search(self, query: str, *, kinds: Sequence[ItemKind] = (), limit: int = 10) -> builtins.list[Found]:
        """Facts, turns and summaries that bear on a query, best first."""
        rows = [(row.score, row.candidate) for row in await self._parts.search(self._entity, query, kinds, limit)]
        return [Found(of.kind, of.owner_id, of.text, score, of.turn_id) for score, of in rows]

    async def context(self, message: str) -> ContextBlock | None:
        """The block that a message would get, with the items it is made of; None where nothing bears on it."""
        return (await self._parts.dry_run(self._entity, message)).block

    # --- what is said ----------------------------------------------------------------------------------------

    async def record(
        self,
        messages: str | Sequence[Mapping[str, str]],
        reply: str,
        *,
        session: str | None = None,
        time: datetime | None = None,
    ) -> builtins.list[Turn]:
        """Store what is new of an exchange, and learn from it in the background; the turns that were stored.

        `messages` are what the model was given (`{"role", "content"}`, a resent history is recognised), or what the
        person said. Without a `session` the conversation is known by its history.
        """
        given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        heard = self._parts.memory.hear(ChatRequest(tuple(map(_message, given))))
        exchange = Exchange(
            entity=self._entity,
            session_name=None if session is None else _session(session),
            messages=heard.said.messages,
            reply=Reply(reply, complete=True),
            time=_utc(time) or self._parts.clock.now(),
            request_id="",
            timezone=self._parts.settings.timezone,
        )
        return list(await self._parts.memory.store(exchange))

    async def extract(self, turns: Sequence[PastTurn], *, session: str, seconds: float = 30.0) -> builtins.list[Fact]:
        """Store turns of a conversation with their own dates and learn from them at once; the facts learned in time.

        Raises Problem 409 where no model is configured.
        """
        if self._parts.plan.own is None:
            raise Problem(409, "No model learns here", f"Extraction is {self._parts.plan.description}.")
        brought = await self._parts.curator.import_turns(self._entity, _session(session), turns, True)
        self._parts.changed(self._entity)
        await self._parts.learned(self._entity, brought.ids, seconds)
        found = await self._parts.db.read(lambda conn: fact_rows.of_turns(conn, self._entity, brought.ids))
        return [fact for fact in found if fact.status == "current"]

    async def turns(
        self, *, session_id: str | None = None, limit: int = 100, after: str | None = None
    ) -> builtins.list[Turn]:
        """What was said, in order, after the turn with the id `after`."""
        return await self._parts.db.read(
            lambda conn: turn_rows.list_turns(conn, self._entity, session_id=session_id, limit=limit, after=after)
        )

    async def sessions(self, limit: int = 100) -> builtins.list[SessionRow]:
        """Conversations, the most recent first."""
        return await self._parts.db.read(lambda conn: overview.sessions(conn, self._entity, limit, None))

    async def timeline(
        self, *, since: datetime | None = None, until: datetime | None = None, newest: bool = False, limit: int = 100
    ) -> builtins.list[Happening]:
        """What happened when, the oldest first unless the newest are asked for."""
        return await self._parts.db.read(
            lambda conn: overview.timeline(
                conn, self._entity, since=_utc(since), until=_utc(until), newest=newest, limit=limit, after=None
            )
        )

    async def preferences(self) -> Preferences:
        """What the person wants of their memory."""
        return await self._parts.db.read(lambda conn: preferences.get(conn, self._entity))

    async def prefer(self, **changes: bool | Sequence[str]) -> Preferences:
        """Want something else from now on: `memory`, `learning`, `patterns`, `excluded_tags`."""
        return await self._parts.curator.prefer(self._entity, _checked(changes, PreferenceFields).given())

    # --- the whole -------------------------------------------------------------------------------------------

    async def export(self, form: Form = "jsonl") -> AsyncIterator[bytes]:
        """Everything that is remembered as the bytes of a file, piece by piece. Raises Problem 404."""
        return await self._parts.export(self._entity, form)

    async def import_(
        self,
        file: str | os.PathLike[str],
        *,
        format: str | None = None,
        date: datetime | None = None,
        learn: bool = True,
        dry_run: bool = False,
    ) -> Report:
        """Bring in a file of any known format; the same again changes nothing. What became of it."""
        return await bring_file(self._parts, self._entity, Path(file), Wish(learn, _utc(date), dry_run), format)

    async def erase(self) -> dict[str, int]:
        """Remove everything of this entity, for good; how many rows of each kind went."""
        return await self._parts.erase(self._entity)

    async def entities(self, limit: int = 10_000) -> builtins.list[EntityRow]:
        """Whose memories the store holds."""
        return await self._parts.db.read(lambda conn: entities.list_entities(conn, DEFAULT_TENANT, limit))

    async def flush(self, seconds: float = 30.0) -> Progress:
        """Learn and index now what waits for it, and wait until that is done."""
        return await self._parts.flush(seconds)

    def _changed(self, fact: Fact) -> Fact:
        self._parts.changed(self._entity)
        return fact


def load(
    db: str | os.PathLike[str] | None, config: str | os.PathLike[str] | None, settings: Mapping[str, object]
) -> Settings:
    """The settings of a program that opens a store. Raises SettingsError."""
    flags: dict[str, Any] = {name.replace("__", "."): value for name, value in settings.items()}
    if db is not None:
        flags["db"] = os.fspath(db)
    return settings_sources.load(os.fspath(config) if config is not None else None, flags).settings


def named(entity: str) -> Entity:
    """An entity by its name. Raises SettingsError."""
    try:
        return Entity(clean_name(entity))
    except ValueError as error:
        raise SettingsError(f"entity: {error}") from None


def _checked(given: Mapping[str, object], kind: type[S]) -> S:
    """What a program says, under the rules of the API. Raises Problem 400."""
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise Problem(400, "That does not fit", str(error)) from None


def _session(name: str) -> str:
    try:
        return clean_name(name)
    except ValueError as error:
        raise Problem(400, "That is no session's name", f"{error}.") from None


def _message(given: Mapping[str, str]) -> Message:
    role, content = given.get("role"), given.get("content")
    if not isinstance(role, str) or not isinstance(content, str):
        raise Problem(400, "A message has a role and a content, both text", 'Write {"role": "user", "content": "…"}.')
    return Message(role, content)


def _utc(moment: datetime | None) -> datetime | None:
    """A time without a zone is UTC, as everywhere."""
    return moment if moment is None or moment.tzinfo is not None else moment.replace(tzinfo=UTC)
