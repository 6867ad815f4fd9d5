"""Conversations closed once they have rested, each once: and with it the job to sum one up that is worth it.

Closing and the job are one transaction, so that no conversation is closed without its summary being asked for, and
none is asked for twice: not one that the model had nothing to say about either. Who speaks in a closed conversation
opens it again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from memproxy.errors import Problem
from memproxy.interfaces import Connection, Database
from memproxy.lifecycle.extractor import ExtractionPlan
from memproxy.lifecycle.kinds import SUMMARIZE
from memproxy.model import Entity
from memproxy.settings import Settings
from memproxy.store import jobs, preferences, sessions, summaries

MOST_AT_ONCE = 100
LEAST_OWN_TURNS = 2  # of a conversation that is worth a call
LEAST_CHARACTERS = 400


class Closer:
    """Closes conversations. Raises StoreError."""

    def __init__(self, db: Database, settings: Settings, plan: ExtractionPlan) -> None:
        self._db = db
        self._timeout = timedelta(seconds=settings.session.timeout)
        self._plan = plan
        self._sums_up = sums_up(settings, plan)

    async def close(self, now: datetime) -> list[Entity]:
        """Close what has rested for the timeout; whose conversations are to be summed up."""
        since = now - self._timeout
        asked: list[Entity] = []
        while resting := await self._db.read(lambda conn: sessions.resting(conn, since, MOST_AT_ONCE)):

            async def close(conn: Connection) -> list[Entity]:
                return [
                    entity
                    for entity, session_id in resting
                    if await sessions.close(conn, entity, session_id, since)
                    and await self._ask(conn, entity, session_id, now)
                ]

            asked += await self._db.write(close)
            if len(resting) < MOST_AT_ONCE:
                break
        return asked

    async def close_one(self, entity: Entity, session_id: str, now: datetime) -> bool:
        """Close one conversation now; whether it is to be summed up. Raises Problem 404."""

        async def close(conn: Connection) -> bool:
            if await sessions.get(conn, entity, session_id) is None:
                raise Problem(404, "No such conversation")
            closed = await sessions.close(conn, entity, session_id, now)
            return closed and await self._ask(conn, entity, session_id, now)

        return await self._db.write(close)

    async def _ask(self, conn: Connection, entity: Entity, session_id: str, now: datetime) -> bool:
        """Ask for a summary of what is not summed up yet, where that is wanted and worth a call."""
        if not self._sums_up or not await wanted(conn, entity):
            return False
        told = [s.last_seq for s in await summaries.of_session(conn, entity, session_id) if s.kind == "conversation"]
        said = await sessions.measure(conn, entity, session_id, max(told, default=0))
        if said.own < LEAST_OWN_TURNS or said.characters < LEAST_CHARACTERS:
            return False
        return await ask(conn, entity, SUMMARIZE, session_id, said, self._plan, now)


async def ask(
    conn: Connection,
    entity: Entity,
    kind: str,
    session_id: str,
    said: sessions.Measure,
    plan: ExtractionPlan,
    now: datetime,
) -> bool:
    """Ask for a summary of what was said, where a model may read it; whether it was asked for."""
    if plan.own is not None:
        credential = None
    elif said.credentials == 1 and plan.learns_with(said.credential):
        credential = said.credential
    else:
        return False  # what came with several callers' credentials is nobody's to send
    await jobs.enqueue(conn, entity, kind, session_id, now, credential, now)
    return True


def sums_up(settings: Settings, plan: ExtractionPlan) -> bool:
    """Whether conversations are summed up: by default where there is a model of one's own."""
    on = settings.summaries.enabled
    return plan.off is None and (plan.own is not None if on is None else on)


async def wanted(conn: Connection, entity: Entity) -> bool:
    """Whether a person lets their conversations be summed up: not where they want a kind of thing left out."""
    wishes = await preferences.get(conn, entity)
    return wishes.memory and wishes.learning and not wishes.excluded_tags
