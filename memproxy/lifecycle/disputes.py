"""What is in dispute in a memory, and deciding it: contradictions of two statements, collisions of two attributes.

Nothing is decided in silence where something the person stated would lose; a decision names its winner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memproxy.errors import Problem
from memproxy.extraction.collisions import Clash, Families, Sighting, clashes, sightings
from memproxy.interfaces import Clock, Connection, Database
from memproxy.lifecycle.indexing import reindex_fact
from memproxy.lifecycle.learning import supersede, withdraw
from memproxy.model import Entity, Fact
from memproxy.store import collisions, contradictions
from memproxy.store import facts as fact_rows
from memproxy.store.collisions import Collision
from memproxy.store.contradictions import Contradiction, Decision

_CHANGE = "Say what holds now: POST …/notes, or correct the fact."


@dataclass(frozen=True, slots=True)
class Standing:
    """A collision with the facts of each side that are current now; of a settled one, what is left on other sides."""

    collision: Collision
    sides: dict[str, tuple[Fact, ...]]

    @property
    def residue(self) -> tuple[Fact, ...]:
        """The facts that still say what was decided against."""
        if self.collision.kept_side is None:
            return ()
        return tuple(f for side, facts in self.sides.items() if side != self.collision.kept_side for f in facts)


class Disputes:
    """Contradictions and collisions of a memory."""

    def __init__(self, db: Database, families: Families, clock: Clock) -> None:
        self._db = db
        self._families = families
        self._clock = clock

    # --- contradictions ------------------------------------------------------------------------------------------

    async def contradictions(
        self, entity: Entity, statuses: Sequence[str] = ("open",), limit: int = 100, after: str | None = None
    ) -> list[Contradiction]:
        """Contradictions of these statuses, the newest first."""
        return await self._db.read(
            lambda conn: contradictions.list_contradictions(conn, entity, statuses, limit, after)
        )

    async def counts(self, entity: Entity) -> dict[str, int]:
        """How many contradictions there are of each status."""
        return await self._db.read(lambda conn: contradictions.counts(conn, entity))

    async def resolve(
        self, entity: Entity, contradiction_id: str, decision: Decision, note: str | None = None
    ) -> Contradiction:
        """Decide a contradiction: what was stated becomes current, or what is stored stays, or neither holds.

        What was decided stays so, the same decision again changes nothing. Raises Problem 404 where the entity has no
        such contradiction, 409 where it was decided otherwise.
        """

        async def apply(conn: Connection) -> Contradiction:
            now = self._clock.now()
            found = await _existing(conn, entity, contradiction_id)
            if found.decision == decision:
                return found
            if found.decision is not None:
                raise Problem(409, "That contradiction is resolved", f"{_decided(found)} {_CHANGE}")
            stored, stated = [await _fact(conn, entity, id) for id in (found.fact_id, found.stated_id)]
            if decision == "user_stated":
                await _decide_for(conn, entity, stated, stored, now)
            elif decision == "neither" and stored.status == "current":
                await fact_rows.supersede(conn, entity, stored.id, None, now, "neither holds")
                await withdraw(conn, entity, stored.id)
            await contradictions.set_status(
                conn, entity, contradiction_id, "resolved", now, decision=decision, note=note
            )
            return await _existing(conn, entity, contradiction_id)

        return await self._db.write(apply)

    async def hold(self, entity: Entity, contradiction_id: str, note: str | None = None) -> Contradiction:
        """Leave a contradiction be for as long as the stored fact says what it says now. Raises Problem 404, 409."""

        async def apply(conn: Connection) -> Contradiction:
            found = await _existing(conn, entity, contradiction_id)
            if found.status == "resolved":
                raise Problem(409, "That contradiction is resolved", _decided(found))
            stored = await _fact(conn, entity, found.fact_id)
            await contradictions.set_status(
                conn, entity, contradiction_id, "held", self._clock.now(), note=note, held_value=stored.content_key
            )
            return await _existing(conn, entity, contradiction_id)

        return await self._db.write(apply)

    # --- collisions ----------------------------------------------------------------------------------------------

    async def collisions(self, entity: Entity) -> list[Standing]:
        """Collisions as they are now, with what says so; looked for anew, so that none is missed and none lingers."""
        return await self._db.write(lambda conn: refresh(conn, entity, self._families, self._clock.now()))

    async def settle(self, entity: Entity, collision_id: str, side: str, note: str | None = None) -> Standing:
        """Decide which side is right; no fact is changed, what still says otherwise is the residue.

        Raises Problem 404 where there is no such collision, 422 where the family has no such side.
        """

        async def apply(conn: Connection) -> Standing:
            found = await collisions.get(conn, entity, collision_id)
            if found is None:
                raise Problem(404, "No such collision")
            sides = self._families.get(found.family, {})
            if side not in sides:
                raise Problem(422, "That is no side of this collision", f"One of: {', '.join(sorted(sides))}.")
            await collisions.set_status(
                conn, entity, collision_id, "settled", self._clock.now(), kept_side=side, note=note
            )
            standing = await refresh(conn, entity, self._families, self._clock.now())
            return next(one for one in standing if one.collision.id == collision_id)

        return await self._db.write(apply)


async def refresh(conn: Connection, entity: Entity, families: Families, now: datetime) -> list[Standing]:
    """Bring the collisions of an entity in line with its current facts.

    New ones are opened, ones that are gone resolved, and one that was settled is never raised again: of it the residue
    is shown until nothing is left.
    """
    found = [
        sighting
        for fact in await fact_rows.current_texts(conn, entity)
        for sighting in sightings(fact.id, fact.text, families)
    ]
    now_clashing = {(clash.family, clash.subject): clash for clash in clashes(found)}
    for family, subject in now_clashing:
        await collisions.raise_new(conn, entity, family, subject, now)
    standing = []
    for collision in await collisions.list_collisions(conn, entity):
        clash = now_clashing.get((collision.family, collision.subject))
        if clash is None and collision.status == "open":
            await collisions.set_status(conn, entity, collision.id, "resolved", now)
            collision = replace(collision, status="resolved", updated_at=now)
        sided = clash or _sided(collision, found)
        standing.append(Standing(collision, await _facts_of(conn, entity, sided)))
    return standing


def _sided(collision: Collision, found: Sequence[Sighting]) -> Clash:
    """What is left of a collision that is none any more."""
    sides: dict[str, tuple[str, ...]] = {}
    for sighting in found:
        if (sighting.family, sighting.subject) == (collision.family, collision.subject):
            sides[sighting.side] = (*sides.get(sighting.side, ()), sighting.fact_id)
    return Clash(collision.family, collision.subject, sides)


async def _facts_of(conn: Connection, entity: Entity, clash: Clash) -> dict[str, tuple[Fact, ...]]:
    return {side: tuple(await fact_rows.get_many(conn, entity, list(ids))) for side, ids in sorted(clash.sides.items())}


def _decided(found: Contradiction) -> str:
    return f"It was decided for: {found.decision}."


async def _existing(conn: Connection, entity: Entity, contradiction_id: str) -> Contradiction:
    found = await contradictions.get(conn, entity, contradiction_id)
    if found is None:
        raise Problem(404, "No such contradiction")
    return found


async def _fact(conn: Connection, entity: Entity, fact_id: str) -> Fact:
    fact = await fact_rows.get(conn, entity, fact_id)
    if fact is None:
        raise Problem(404, "No such contradiction", "One of its facts was erased.")
    return fact


async def _decide_for(conn: Connection, entity: Entity, stated: Fact, stored: Fact, now: datetime) -> None:
    """What was stated becomes current, and explicit: the person has decided for it."""
    same = await fact_rows.by_content_key(conn, entity, stated.content_key)
    if same is not None and same.id != stated.id:  # it is believed already, under another id
        if stored.status == "current":
            await supersede(conn, entity, stored.id, same, now)
        return
    begins = stated.reference_time or now
    becoming = replace(stated, valid_from=begins)
    rivals = {stored.id: stored} if stored.status == "current" else {}
    if stated.slot_key is not None and stated.slot is not None:
        slot = await fact_rows.with_slot(conn, entity, stated.slot)
        rivals |= {fact.id: fact for fact in slot if fact.slot_key == stated.slot_key and fact.id != stated.id}
    for rival in rivals:
        await supersede(conn, entity, rival, becoming, now)
    changes = {
        "status": "current",
        "superseded_at": None,
        "superseded_by": None,
        "valid_from": begins,
        "valid_until": None,
        "source_role": "user_explicit",
        "confidence": 1.0,
        "said_at": now,
    }
    await fact_rows.update(conn, entity, stated.id, changes, "decided for", now)
    changed = await fact_rows.get(conn, entity, stated.id)
    if changed is not None:
        await reindex_fact(conn, entity, changed)
