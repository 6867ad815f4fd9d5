"""Lines of a memory's file into the store: a batch a transaction, in whatever state an earlier attempt left it.

What is there stays as it is, so the same file again changes nothing. Nothing of it can be found before all of it is
there: a turn is searched only as far as its facts allow, and those come after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby

from memproxy.archive import ids, indexing, putting, rows
from memproxy.errors import SwitchedOff
from memproxy.interfaces import Clock, Connection, Database
from memproxy.lifecycle.under_way import UnderWay
from memproxy.model import Entity
from memproxy.store import archive, entities, preferences
from memproxy.store.rows import to_time

BATCH = 200  # lines in one transaction
MAX_AHEAD = timedelta(minutes=5)

Placed = tuple[str, rows.Line]  # where a line stands in its file, and what it says


@dataclass(slots=True)
class Restored:
    """What lines held and what became of them."""

    found: Counter[str] = field(default_factory=Counter)  # rows by kind
    new: Counter[str] = field(default_factory=Counter)
    left_out: list[tuple[str, str]] = field(default_factory=list)  # where, and why
    denials: int = 0  # of those that are of no use here
    quarantined: int = 0

    def add(self, other: Restored) -> None:
        """What a further batch came to."""
        self.found += other.found
        self.new += other.new
        self.left_out += other.left_out
        self.denials += other.denials
        self.quarantined += other.quarantined


class Restorer:
    """Brings a memory back. Raises Problem where it cannot be this entity's, StoreError."""

    def __init__(self, db: Database, entity: Entity, clock: Clock, *, learns: bool, dry: bool = False) -> None:
        self._db = db
        self._entity = entity
        self._clock = clock
        self._learns = learns
        self._dry = dry
        self._how: ids.Renaming | None = None
        self._under_way = UnderWay()
        self._incomplete = False  # whether a line was left out, so that others may lack what they stand on
        self.report = Restored()

    def broken(self, where: str, reason: str) -> None:
        """A line could not be read."""
        self._incomplete = True
        self.report.left_out.append((where, reason))

    async def take(self, lines: Sequence[Placed]) -> None:
        """A batch of lines, in the order of the file."""
        result, how = await (self._db.read if self._dry else self._db.write)(lambda conn: self._apply(conn, lines))
        self._how = self._how or how
        if not self._dry and result.found:
            self._under_way.brought(self._session_of(lines, result))
        self._incomplete = self._incomplete or bool(result.left_out)
        self.report.add(result)

    def _session_of(self, lines: Sequence[Placed], result: Restored) -> str | None:
        """The id here of a conversation among the lines, if one of them is here now."""
        left_out = {where for where, _ in result.left_out}
        how = self._how or ids.kept
        found = (row.id for where, row in lines if isinstance(row, rows.SessionRow) and where not in left_out)
        return next(map(how, found), None)

    async def finish(self) -> None:
        """After the last line: let it be found, and learned from where something still waits."""
        if self._dry:
            return
        secret = await self._db.write(putting.secret_of)
        await indexing.index(self._db, self._entity, secret)
        if self._learns:
            await self._db.write(lambda conn: indexing.learn_later(conn, self._entity, self._clock.now()))

    async def _apply(self, conn: Connection, lines: Sequence[Placed]) -> tuple[Restored, ids.Renaming | None]:
        if not (await preferences.get(conn, self._entity)).memory:
            raise SwitchedOff
        await self._under_way.check(conn, self._entity)
        how = self._how or await ids.choose(conn, self._entity, [row for _, row in lines])
        result = Restored()
        for kind, part in groupby(lines, lambda placed: type(placed[1])):
            group = [(where, ids.renamed(row, how or ids.kept)) for where, row in part]
            if kind in rows.TABLES:
                await self._rows(conn, rows.TABLES[kind], group, result)
            elif not self._dry:
                await self._single(conn, group)
        return result, how

    async def _single(self, conn: Connection, group: Sequence[Placed]) -> None:
        """What an entity has one of: itself, and what it wants."""
        for _, row in group:
            if isinstance(row, rows.EntityRow):
                first, last = to_time(row.first_seen), to_time(row.last_seen)
                await entities.know(conn, self._entity, first, last)
            elif isinstance(row, rows.PreferencesRow):
                await self._known(conn)
                await putting.wishes(conn, self._entity, row)

    async def _known(self, conn: Connection) -> None:
        """A file without its first row, or in two parts: whose rows these are has to be there."""
        if await archive.one(conn, self._entity, "entity") is None:
            await entities.ensure(conn, self._entity, self._clock.now())

    async def _rows(self, conn: Connection, kind: rows.Kind, group: Sequence[Placed], result: Restored) -> None:
        name = kind.row.__struct_config__.tag
        result.found[name] += len(group)
        if self._dry:
            return
        await self._known(conn)
        known = await archive.there(conn, self._entity, kind.table, [row.id for _, row in group])  # type: ignore[union-attr]
        if kind.row is rows.SessionRow:
            held = [row for _, row in group if isinstance(row, rows.SessionRow) and row.id in known]
            await putting.grow(conn, self._entity, held)
        fresh = {row.id: (where, row) for where, row in group if row.id not in known}  # type: ignore[union-attr]
        usable = await self._usable(conn, kind, list(fresh.values()), result)
        store = putting.Putting(self._entity, await putting.secret_of(conn), self._learns, result)
        await store.put(conn, kind, [row for _, row in usable])
        stored = await archive.there(conn, self._entity, kind.table, [row.id for _, row in usable])  # type: ignore[union-attr]
        result.new[name] += len(stored)
        for where, row in usable:
            if row.id not in stored and row.id not in store.refused:  # type: ignore[union-attr]
                result.left_out.append((where, "something else is in its place here"))
        result.left_out += [(fresh[id][0], why) for id, why in store.refused.items()]

    async def _usable(
        self, conn: Connection, kind: rows.Kind, group: Sequence[Placed], result: Restored
    ) -> list[Placed]:
        """The rows that have what they stand on, and are not of the future."""
        usable = list(group)
        for name, table in kind.needs.items():
            wanted = [id for _, row in usable if (id := getattr(row, name)) is not None]
            there = await archive.there(conn, self._entity, table, wanted)
            lacking = [
                (where, f"it stands on a {_WORD[table]} that is not there")
                for where, row in usable
                if not self._stands(kind, getattr(row, name), there)
            ]
            result.left_out += lacking
            gone = {where for where, _ in lacking}
            usable = [placed for placed in usable if placed[0] not in gone]
        if kind.row is rows.TurnRow:
            latest = self._clock.now() + MAX_AHEAD
            ahead = {where for where, row in usable if to_time(row.time) > latest}  # type: ignore[union-attr]
            result.left_out += [(where, "said in the future") for where in sorted(ahead)]
            usable = [placed for placed in usable if placed[0] not in ahead]
        return usable

    def _stands(self, kind: rows.Kind, id: str | None, there: set[str]) -> bool:
        """Whether a row can be without what it names. A fact may outlive its turn, where that is not what was lost."""
        if id is None or id in there:
            return True
        return kind.row in (rows.FactRow, rows.SummaryRow) and not self._incomplete


_WORD = {"sessions": "conversation", "turns": "turn", "facts": "fact"}
