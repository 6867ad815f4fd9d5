"""Turns of past conversations into the store, as many at once as come: what each needs is made before, without a lock.

Most of the work on a turn (secrets, terms, hashes) is the program's, not the database's. It is done before the
transaction begins, a few turns at a time between which others have their turn on the event loop; what is stored then
takes a few statements for all turns together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memproxy.extraction.artifacts import artifacts as pieces_of
from memproxy.extraction.gate import trivial
from memproxy.interfaces import Connection
from memproxy.lifecycle import artifacts
from memproxy.lifecycle.denials import Denials
from memproxy.lifecycle.history import link
from memproxy.lifecycle.indexing import turn_passages
from memproxy.model import Entity, Passage, Speaker, Turn, new_id
from memproxy.store import denied, passages, sessions, turns
from memproxy.trust import cut_blocks, mask_secrets

AT_ONCE = 8  # turns that are made ready between two looks at the event loop: some three milliseconds


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn of an imported conversation."""

    role: Speaker
    content: str
    time: datetime
    name: str | None = None
    topic: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Brought:
    """What an import of one conversation's turns came to."""

    ids: tuple[str, ...]  # of the turns, in order
    new: int  # how many of them were not there before
    session_id: str


@dataclass(frozen=True, slots=True)
class Ready:
    """What is stored of a turn, but for its id and its place."""

    past: PastTurn
    content: str  # without secrets and blocks of ours
    text_key: str
    trivial: bool
    passages: Sequence[Passage]  # as long as nothing of it is hidden
    artifacts: bool  # whether code or data stands in it


def signs(secret: bytes, entity: Entity, past: Sequence[PastTurn]) -> list[turns.Sign]:
    """What each is known by again."""
    return [(link(secret, entity, "imported", turn.role, turn.content), turn.time, turn.role) for turn in past]


async def made_ready(
    past: Sequence[PastTurn], known_by: Sequence[turns.Sign], there: Sequence[str | None]
) -> list[Ready | None]:
    """Everything that can be known of turns before they are stored; None for those that are there."""
    found: list[Ready | None] = []
    for place, (turn, (key, _, _), id) in enumerate(zip(past, known_by, there, strict=True)):
        if place % AT_ONCE == 0:
            await asyncio.sleep(0)
        found.append(None if id is not None else ready(turn, key))
    return found


def ready(past: PastTurn, text_key: str) -> Ready:
    """The same for one turn."""
    content = mask_secrets(cut_blocks(past.content))
    turn = Turn("", "", 0, past.role, past.name, content, past.time)
    return Ready(past, content, text_key, trivial(content), turn_passages(turn), bool(pieces_of(content)))


class Bringing:
    """Stores turns of one session, in one transaction."""

    def __init__(self, conn: Connection, entity: Entity, secret: bytes, session_id: str, learns: bool) -> None:
        self._conn = conn
        self._entity = entity
        self._secret = secret
        self._session_id = session_id
        self._learns = learns

    async def bring(
        self, past: Sequence[PastTurn], known_by: Sequence[turns.Sign], made: Sequence[Ready | None], now: datetime
    ) -> Brought:
        """Store those that are not there, nor twice among them. What was not made ready is made now."""
        ids = await turns.find(self._conn, self._entity, self._session_id, known_by)
        first: dict[turns.Sign, int] = {}
        for place, id in enumerate(ids):
            if id is None:
                first.setdefault(known_by[place], place)
        new = [made[place] or ready(past[place], key) for (key, _, _), place in first.items()]
        stored = dict(zip(first, await self._store(new, now), strict=True))
        whole = tuple(id if id is not None else stored[known_by[place]].id for place, id in enumerate(ids))
        return Brought(whole, len(stored), self._session_id)

    async def _store(self, new: Sequence[Ready], now: datetime) -> list[Turn]:
        """Store turns that are not there, in order, as if one came after the other."""
        if not new:
            return []
        conn, entity = self._conn, self._entity
        links = await self._links(new)
        stored = await turns.extend(conn, entity, self._session_id, self._rows(new), links[-1])
        await self._index(stored, new)
        for turn, one in zip(stored, new, strict=True):
            if one.artifacts:
                await artifacts.note(conn, entity, turn)
        places = {key: turn.seq for key, turn in zip(links, stored, strict=True)}
        await sessions.put_marks(conn, entity, places, self._session_id, "said", now)
        return stored

    async def _links(self, new: Sequence[Ready]) -> list[str]:
        """The history keys after each of the turns."""
        key = await sessions.head(self._conn, self._entity, self._session_id) or ""
        found = []
        for one in new:
            key = link(self._secret, self._entity, key, one.past.role, one.past.content)
            found.append(key)
        return found

    def _rows(self, new: Sequence[Ready]) -> list[turns.Past]:
        ids = sorted(new_id() for _ in new)  # in the order of the turns, however many are made in a millisecond
        return [
            turns.Past(self._turn(one, id), self._learn(one), one.text_key) for one, id in zip(new, ids, strict=True)
        ]

    def _turn(self, one: Ready, id: str) -> Turn:
        past = one.past
        return Turn(
            id, self._session_id, 0, past.role, past.name, one.content, past.time, topic=past.topic, label=past.label
        )

    def _learn(self, one: Ready) -> turns.LearnState:
        return "pending" if self._learns and one.past.role == "user" and not one.trivial else "no"

    async def _index(self, stored: Sequence[Turn], new: Sequence[Ready]) -> None:
        """Make the turns searchable, but for what the person denied."""
        words = await denied.words(self._conn, self._entity)
        denials = Denials(self._secret, self._entity)
        found: list[Passage] = []
        for turn, one in zip(stored, new, strict=True):
            if hidden := denials.spans(turn.content, words):
                await denied.hide(self._conn, self._entity, turn.id, hidden)
                found += turn_passages(turn, hidden_spans=hidden)
            else:
                found += [replace(passage, owner_id=turn.id) for passage in one.passages]
        await passages.add(self._conn, self._entity, found)
