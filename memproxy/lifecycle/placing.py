"""The parts of blocks that stand in conversations: as rows, and in memory for requests that may leave no row."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from memproxy.context.placement import InPlace
from memproxy.interfaces import Connection, Database
from memproxy.lifecycle.history import History, Said, link
from memproxy.model import Entity, Part, PartKind
from memproxy.store import placed

MOST_UNSTORED = 1000  # parts kept in memory

_KINDS: tuple[PartKind, ...] = ("stable", "recalled")
Parts = Mapping[tuple[PartKind, str], Part]


class PlacedParts:
    """Finds what goes into a request again, and keeps what may have to."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._unstored: OrderedDict[tuple[Entity, PartKind, str], Part] = OrderedDict()

    async def of_keys(self, entity: Entity, keys: Iterable[str]) -> Parts:
        """The parts under any of the keys. Raises StoreError."""
        wanted = list(keys)
        stored = await self._db.read(lambda conn: placed.of_keys(conn, entity, wanted))
        found = {(part.kind, part.key): part for part in stored}
        for key in wanted:
            for kind in _KINDS:
                part = self._unstored.get((entity, kind, key))
                if part is not None and ((kind, key) not in found or found[kind, key].used_at < part.used_at):
                    found[kind, key] = part
        return found

    def keep(self, entity: Entity, parts: Iterable[Part]) -> None:
        """Keep parts in memory: of a request that leaves no row, or of somebody who is not known yet."""
        for part in parts:
            self._unstored[entity, part.kind, part.key] = part
            self._unstored.move_to_end((entity, part.kind, part.key))
        while len(self._unstored) > MOST_UNSTORED:
            self._unstored.popitem(last=False)

    def forget(self, entity: Entity) -> None:
        """Something of this entity was forgotten, corrected or erased: parts kept in memory may still say it."""
        for key in [key for key in self._unstored if key[0] == entity]:
            del self._unstored[key]


def conversation_key(history: History, session_name: str | None, secret: bytes, entity: Entity) -> str:
    """Under which the stable part of a conversation is kept: its name, or how it began."""
    if session_name is not None:
        return link(secret, entity, "", "session", session_name)
    return history.said[0].key if history.said else ""


def in_place(
    parts: Parts, conversation: str, asked: Iterable[Said], now: datetime, timeout: timedelta, newest: str
) -> InPlace:
    """What of the stored parts stands in a request: the stable one until the conversation rested for the timeout.

    The recalled part of the newest turn stands too, if the turn is sent again within the timeout: in a tool loop, in a
    retry, for another answer. `newest` is that turn's key, and "" where it has to stand (in a tool loop).
    """
    stable = parts.get(("stable", conversation))
    if stable is not None and now - stable.used_at > timeout:
        stable = None
    recalled = []
    for said in asked:
        part = parts.get(("recalled", said.key))
        if part is not None and (said.key != newest or now - part.used_at <= timeout):
            recalled.append((said.index, part))
    return InPlace(stable, tuple(recalled))


async def still_stored(conn: Connection, entity: Entity, parts: Iterable[Part]) -> set[tuple[PartKind, str]]:
    """Which of the parts are rows now: one whose source has just been forgotten is none any more."""
    found = await placed.of_keys(conn, entity, [part.key for part in parts])
    return {(part.kind, part.key) for part in found}
