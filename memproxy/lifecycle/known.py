"""The facts that drafts may concern, read together and kept in step with what is written of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memproxy.extraction.reconcile import Near, Policy
from memproxy.folding import content_key
from memproxy.interfaces import Connection
from memproxy.lifecycle.neighbours import Neighbours
from memproxy.model import Entity, Fact, FactDraft
from memproxy.store import facts as fact_rows


class Known:
    """Facts near to drafts, facts that say the same, and facts that fill the same attributes."""

    def __init__(self, entity: Entity, policy: Policy, facts: Iterable[Fact]) -> None:
        self._entity = entity
        self._policy = policy
        self._facts = {fact.id: fact for fact in facts}

    @classmethod
    async def read(
        cls, conn: Connection, entity: Entity, drafts: Sequence[FactDraft], nearby: Sequence[Neighbours], policy: Policy
    ) -> Known:
        """Everything that these drafts may concern. Raises StoreError."""
        slots = {slot for draft in drafts if (slot := _slot(draft, policy)) is not None}
        found = [
            *await fact_rows.get_many(conn, entity, list({id for near in nearby for id in near})),
            *await fact_rows.with_content_keys(conn, entity, [content_key(draft.text) for draft in drafts]),
            *await fact_rows.with_slots(conn, entity, sorted(slots)),
        ]
        return cls(entity, policy, found)

    def same_key(self, key: str) -> list[Fact]:
        """The facts with this content key, whatever their status, the newest first."""
        return sorted((f for f in self._facts.values() if f.content_key == key), key=lambda f: f.id, reverse=True)

    def near(self, draft: FactDraft, cosines: Neighbours) -> list[Near]:
        """The current facts among a draft's neighbours, and those that fill its attribute."""
        slot = _slot(draft, self._policy)
        found = [self._facts[id] for id in cosines if id in self._facts]
        if slot is not None:
            found += [f for f in self._facts.values() if f.slot == slot and f.id not in cosines]
        return [Near(fact, cosines.get(fact.id)) for fact in found if fact.status == "current"]

    async def refresh(self, conn: Connection, fact_ids: Iterable[str]) -> None:
        """Read these facts again: they have been written."""
        for fact in await fact_rows.get_many(conn, self._entity, list(fact_ids)):
            self._facts[fact.id] = fact


def _slot(draft: FactDraft, policy: Policy) -> str | None:
    """The attribute of one value that a draft is about."""
    slot = policy.slots.canonical(draft.slot)
    return slot if policy.slots.filled(slot, draft.text) is not None else None
