"""Records into the store: conversations as turns with their own dates, statements as facts. Again is no second time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memproxy.assembly.parts import Parts
from memproxy.importing.records import Broken, Conversation, Record, Statement
from memproxy.lifecycle.past import PastTurn
from memproxy.lifecycle.under_way import UnderWay
from memproxy.model import Entity, FactDraft
from memproxy.names import clean_name

AT_ONCE = 200  # turns in one transaction: what is stored of a long conversation survives a stop in the middle of it
STATEMENTS_AT_ONCE = 32
APART = timedelta(milliseconds=1)  # between messages without times: "ok" said twice is said twice


@dataclass(slots=True)
class Report:
    """What a file held and what became of it."""

    formats: list[str] = field(default_factory=list)  # as which it was read
    conversations: int = 0
    turns: int = 0
    statements: int = 0
    new_turns: int = 0
    new_facts: int = 0
    known_turns: int = 0
    known_facts: int = 0
    left_out: int = 0  # messages that nobody said
    empty: int = 0  # conversations without a word
    others: dict[str, int] = field(default_factory=dict)  # rows of further kinds, of a memory's own file
    new_others: int = 0
    earliest: datetime | None = None
    latest: datetime | None = None
    broken: list[Broken] = field(default_factory=list)

    def read_as(self, name: str) -> None:
        """A part of it was read as this format."""
        if name not in self.formats:
            self.formats.append(name)

    def dated(self, when: datetime) -> None:
        """Widen the time that the file covers."""
        self.earliest = min(when, self.earliest or when)
        self.latest = max(when, self.latest or when)


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of an import."""

    learn: bool = True
    default_time: datetime | None = None  # of what has no date
    dry: bool = False


def turns_of(conversation: Conversation, default: datetime | None) -> list[PastTurn]:
    """A conversation's turns, each with a time: its own, else just after the one before; the first as the conversation.

    Raises ValueError where there is none at all.
    """
    known = next((said.time for said in conversation.said if said.time is not None), None)
    last = conversation.time or known or default
    if last is None:
        raise ValueError("nothing in it says when it was; give a date with --date")
    turns: list[PastTurn] = []
    for said in conversation.said:
        last = said.time or (last + APART if turns else last)
        turns.append(PastTurn(said.role, said.text, last, said.name))
    return turns


def session_of(conversation: Conversation) -> str:
    """The name of its session here: its own id, or what it says where it has none or one that can be no name."""
    try:
        return clean_name(conversation.key)
    except ValueError:
        pass
    digest = hashlib.sha256()
    for said in conversation.said:
        digest.update(f"{said.role}\0{said.time}\0{said.text}\0".encode("utf-8", "surrogatepass"))
    return f"imported-{digest.hexdigest()[:32]}"


class Importer:
    """Writes records, a conversation after the other. Raises MemproxyError where the store cannot take them,
    and Problem 409 where the entity was erased since the first of them.
    """

    def __init__(self, parts: Parts, entity: Entity, wish: Wish) -> None:
        self._parts = parts
        self._entity = entity
        self._wish = wish
        self._waiting: list[Statement] = []
        self._under_way = UnderWay()
        self.report = Report()

    async def bring(self, found: Iterable[Record]) -> Report:
        """Everything that was found."""
        await self.take(found)
        return await self.finish()

    async def take(self, found: Iterable[Record]) -> None:
        """Some of what there is."""
        for record in found:
            match record:
                case Conversation():
                    await self._conversation(record)
                case Statement():
                    self._waiting.append(record)
                case Broken():
                    self.report.broken.append(record)
            if len(self._waiting) >= STATEMENTS_AT_ONCE:
                await self._statements()

    async def finish(self) -> Report:
        """What is left, after the last of it; what became of all."""
        await self._statements()
        return self.report

    async def _conversation(self, conversation: Conversation) -> None:
        report = self.report
        report.left_out += conversation.left_out
        if not conversation.said:
            report.empty += 1
            return
        try:
            past = turns_of(conversation, self._wish.default_time)
        except ValueError as error:
            report.broken.append(Broken(conversation.where, str(error)))
            return
        ahead = next((turn for turn in past if turn.time > self._parts.clock.now()), None)
        if ahead is not None:
            report.broken.append(Broken(conversation.where, f"said in the future ({ahead.time.isoformat()})"))
            return
        report.conversations += 1
        report.turns += len(past)
        for turn in (past[0], past[-1]):
            report.dated(turn.time)
        if not self._wish.dry:
            await self._store(session_of(conversation), past)

    async def _store(self, session: str, past: Sequence[PastTurn]) -> None:
        for start in range(0, len(past), AT_ONCE):
            part = past[start : start + AT_ONCE]
            brought = await self._parts.curator.import_turns(
                self._entity, session, part, self._wish.learn, self._under_way
            )
            self.report.new_turns += brought.new
            self.report.known_turns += len(part) - brought.new
        self._parts.changed(self._entity)

    async def _statements(self) -> None:
        report, statements, self._waiting = self.report, self._waiting, []
        now = self._parts.clock.now()
        drafts = []
        for statement in statements:
            when = statement.time or self._wish.default_time or now
            report.statements += 1
            report.dated(min(when, now))
            drafts.append(_draft(statement, min(when, now)))
        if not drafts or self._wish.dry:
            return
        new = await self._parts.curator.import_facts(self._entity, drafts, self._under_way)
        report.new_facts += new
        report.known_facts += len(drafts) - new
        self._parts.changed(self._entity)


def _draft(statement: Statement, when: datetime) -> FactDraft:
    return FactDraft(
        statement.text,
        reference_time=when,
        said_at=when,
        valid_from=statement.valid_from,
        valid_until=statement.valid_until,
        pinned=statement.pinned,
    )
