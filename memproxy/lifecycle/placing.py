"""The parts of blocks that stand in conversations: as rows, and in memory for requests that may leave no row."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from memproxy.context.placement import InPlace
from memproxy.interfaces import Connection, Database
from memproxy.model import Entity, Part, PartKind
from memproxy.store import placed, search, sessions
from memproxy.store.sessions import Thread

MOST_UNSTORED = 1000  # parts kept in memory, and answers of which nothing else is

_KINDS: tuple[PartKind, ...] = ("stable", "recalled")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts found under some keys, in one snapshot of the database."""

    found: Mapping[tuple[PartKind, str], Part]
    revision: int  # of the entity, see `store.search.Extent`

    def get(self, kind: PartKind, key: str) -> Part | None:
        """The part of this kind under a key."""
        return self.found.get((kind, key))


class PlacedParts:
    """Finds what goes into a request again, and keeps what may have to."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._unstored: OrderedDict[tuple[Entity, PartKind, str], tuple[int, Part]] = OrderedDict()
        self._followed: OrderedDict[tuple[Entity, str], tuple[datetime, Thread]] = OrderedDict()

    async def of_keys(self, entity: Entity, keys: Iterable[str]) -> Parts:
        """The parts under any of the keys. Raises StoreError, and SwitchedOff where the person wants none."""
        wanted = list(keys)

        async def read(conn: Connection) -> tuple[list[Part], int]:
            return await placed.of_keys(conn, entity, wanted), (await search.readable(conn, entity)).revision

        stored, revision = await self._db.read(read)
        found = {(part.kind, part.key): part for part in stored}
        for key in wanted:
            for kind in _KINDS:
                part = self._in_memory(entity, kind, key, revision)
                if part is not None and ((kind, key) not in found or found[kind, key].used_at < part.used_at):
                    found[kind, key] = part
        return Parts(found, revision)

    def _in_memory(self, entity: Entity, kind: PartKind, key: str, revision: int) -> Part | None:
        """A part kept in memory, unless anything of the entity was changed since: it may say what was forgotten."""
        made, part = self._unstored.get((entity, kind, key), (revision, None))
        if part is None or made == revision or not part.block.items:
            return part
        del self._unstored[entity, kind, key]
        return None

    def keep(self, entity: Entity, parts: Iterable[Part], revision: int) -> None:
        """Keep parts in memory: of a request that leaves no row, or of somebody who is not known yet."""
        for part in parts:
            self._unstored[entity, part.kind, part.key] = (revision, part)
            self._unstored.move_to_end((entity, part.kind, part.key))
        while len(self._unstored) > MOST_UNSTORED:
            self._unstored.popitem(last=False)

    async def stood(self, entity: Entity, key: str) -> Thread | None:
        """Where a conversation stands that the upstream keeps, by its `history.kept_key`; None where nobody knows.

        Raises StoreError.
        """
        mark = (await self._db.read(lambda conn: sessions.marks(conn, entity, [key]))).get(key)
        since, thread = self._followed.get((entity, key), (None, None))
        if mark is not None and (since is None or mark.created_at >= since):
            return mark.thread
        return thread

    def follow(self, entity: Entity, key: str, thread: Thread, now: datetime) -> None:
        """Keep in memory where a conversation stands, after a request that leaves no row."""
        self._followed[entity, key] = (now, thread)
        self._followed.move_to_end((entity, key))
        while len(self._followed) > MOST_UNSTORED:
            self._followed.popitem(last=False)

    def forget(self, entity: Entity) -> None:
        """Let go of everything kept in memory of an entity."""
        for key in [key for key in self._unstored if key[0] == entity]:
            del self._unstored[key]
        for followed in [followed for followed in self._followed if followed[0] == entity]:
            del self._followed[followed]


def in_place(
    parts: Parts,
    conversation: str,
    asked: Iterable[tuple[str, int | None]],
    now: datetime,
    timeout: timedelta,
    newest: str,
) -> InPlace:
    """What of the stored parts stands in a request: the stable one until the conversation rested for the timeout.

    `asked` has the key of each turn of the person, and the place of its part. The recalled part of the newest turn
    stands too, if the turn is sent again within the timeout: in a tool loop, in a retry, for another answer. `newest`
    is that turn's key, and "" where it has to stand (in a tool loop).
    """
    stable = parts.get("stable", conversation)
    if stable is not None and now - stable.used_at > timeout:
        stable = None
    recalled = []
    for key, place in asked:
        part = parts.get("recalled", key)
        if part is not None and (key != newest or now - part.used_at <= timeout):
            recalled.append((place, part))
    return InPlace(stable, tuple(recalled))


async def still_stored(conn: Connection, entity: Entity, parts: Iterable[Part]) -> set[tuple[PartKind, str]]:
    """Which of the parts are rows now: one whose source has just been forgotten is none any more."""
    found = await placed.of_keys(conn, entity, [part.key for part in parts])
    return {(part.kind, part.key) for part in found}
