"""The structured profile of a person: filled by rule packs from facts, and by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memproxy.errors import Problem
from memproxy.extraction.packs import Pack, key_of
from memproxy.interfaces import Clock, Connection, Database
from memproxy.model import Entity, Fact
from memproxy.store import entities, placed, profile
from memproxy.store import facts as fact_rows
from memproxy.store.profile import ProfileEntry, Value
from memproxy.trust import mask_secrets

LONGEST = 500  # characters of a value


@dataclass(frozen=True, slots=True)
class ProfileChanges:
    """What is to be changed by hand: a field set to these entries alone, or some added, or some removed."""

    set: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    add: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    remove: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Profiles:
    """Reads and changes profiles."""

    def __init__(self, db: Database, packs: Sequence[Pack], clock: Clock) -> None:
        self._db = db
        self._kinds = {name: kind for pack in packs for name, kind in pack.fields.items()}
        self._clock = clock

    async def current(self, entity: Entity) -> dict[str, list[ProfileEntry]]:
        """The entries that hold, by field; every field of a pack is there, if empty."""
        found: dict[str, list[ProfileEntry]] = {name: [] for name in self._kinds}
        for entry in await self._db.read(lambda conn: profile.current(conn, entity)):
            found.setdefault(entry.field, []).append(entry)
        return found

    async def history(
        self, entity: Entity, name: str | None = None, limit: int = 500, after: str | None = None
    ) -> list[ProfileEntry]:
        """What ever held, the newest first, beginning after the entry with the given id."""
        return await self._db.read(lambda conn: profile.history(conn, entity, name, limit, after))

    async def change(self, entity: Entity, changes: ProfileChanges) -> dict[str, list[ProfileEntry]]:
        """Change entries by hand, all or none. Raises Problem 400 for a value that fits no entry."""
        wanted = [
            (name, _entry(name, v)) for part in (changes.set, changes.add) for name, vs in part.items() for v in vs
        ]

        async def apply(conn: Connection) -> None:
            now = self._clock.now()
            await entities.ensure(conn, entity, now)
            before = await profile.by_hand(conn, entity)
            keys = {(name, key) for name, (key, _) in wanted}
            for entry in await profile.current(conn, entity):
                if entry.field in changes.set and (entry.field, entry.key) not in keys:
                    await profile.remove(conn, entity, entry.field, entry.key, now)
            for name, names in changes.remove.items():
                for said in names:
                    await profile.remove(conn, entity, name, key_of(said), now)
            for name, (key, value) in wanted:
                await profile.put(conn, entity, name, key, value, None, now)
            there = {entry.id for entry in await profile.by_hand(conn, entity)}
            for entry in before:
                if entry.id not in there:  # it may stand in conversations that go on
                    await placed.drop(conn, entity, "fact", entry.shown_id)

        await self._db.write(apply)
        return await self.current(entity)


async def note(conn: Connection, entity: Entity, fact: Fact, packs: Sequence[Pack], now: datetime) -> None:
    """Enter what a new fact says into the profile, and pin it where its rule says so. The fact stays a fact."""
    entries = [entry for pack in packs for entry in pack.entries(fact.text)]
    for entry in entries:
        await profile.put(conn, entity, entry.field, entry.key, entry.value, fact.id, now)
    if any(entry.pin for entry in entries) and not fact.pinned:
        await fact_rows.update(conn, entity, fact.id, {"pinned": True}, "pinned by a rule", now)


def _entry(name: str, value: Value) -> tuple[str, dict[str, str] | str]:
    """The key of a value, and the value as it is kept. Raises Problem 400."""
    named: Any = value if isinstance(value, str) else value.get("name") or value.get("key")
    key = key_of(named) if isinstance(named, str) else ""
    if not key:
        raise Problem(400, f"An entry of {name} has no name", 'Send a text, or an object with a "name".')
    if isinstance(value, str):
        kept: dict[str, str] | str = mask_secrets(value.strip())
    else:
        kept = {part: mask_secrets(str(said).strip()) for part, said in value.items()}
    if len(str(kept)) > LONGEST:
        raise Problem(400, f"An entry of {name} is too long", f"At most {LONGEST} characters.")
    return key, kept
