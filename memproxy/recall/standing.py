"""What is always true of a person: pinned facts, who they are, and what they wrote into their profile by hand."""

from __future__ import annotations

from memproxy.interfaces import Connection
from memproxy.model import Entity, Fact
from memproxy.settings import Settings
from memproxy.store import facts as fact_rows
from memproxy.store import profile
from memproxy.store.profile import ProfileEntry

SIGNIFICANCE = 8  # from which an identity fact says who the person is
_TIMES = 3  # as many of these are read as are shown, so that there are several topics to choose from


class Standing:
    """Reads it. Nothing is read where the settings want none of it."""

    def __init__(self, settings: Settings) -> None:
        self._most = _TIMES * settings.conscious_limit if settings.conscious else 0

    async def read(self, conn: Connection, entity: Entity) -> list[Fact]:
        """Facts, the weightiest first, and what was written by hand in the form of facts. Raises StoreError."""
        if not self._most:
            return []
        facts = await fact_rows.standing(conn, entity, SIGNIFICANCE, self._most)
        written = await profile.by_hand(conn, entity)
        return [*facts, *map(_as_fact, written[: self._most])]


def _as_fact(entry: ProfileEntry) -> Fact:
    """A profile entry as an identity fact that was never learned; it stands under the name of its field."""
    return Fact(
        id=entry.shown_id,
        text=entry.text,
        type="identity",
        tag=entry.field.replace("_", " "),
        slot=None,
        significance=10,
        confidence=1.0,
        source_role="user",
        quote=None,
        turn_id=None,
        status="current",
        valid_from=None,
        valid_until=None,
        recorded_at=entry.recorded_at,
        updated_at=entry.recorded_at,
        superseded_at=None,
        superseded_by=None,
        reference_time=None,
        started_at=None,
        reinforced_count=0,
        recall_count=0,
        pinned=False,
        thread_status=None,
        emotional_weight=None,
        emotional_valence=None,
        embedding_model=None,
        content_key=entry.shown_id,
    )
