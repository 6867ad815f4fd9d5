"""What somebody lets be learned of themselves."""

from __future__ import annotations

from collections.abc import Sequence

from memproxy.extraction.reconcile import Reject
from memproxy.interfaces import Connection
from memproxy.lifecycle.denials import Denials
from memproxy.lifecycle.learning import Learned
from memproxy.model import Entity, FactDraft
from memproxy.store import denied, preferences
from memproxy.store.preferences import Preferences


async def wanted(
    conn: Connection, entity: Entity, drafts: Sequence[FactDraft], secret: bytes
) -> tuple[tuple[FactDraft, ...], list[Learned]]:
    """The drafts that the person lets be learned, and the others with the reason."""
    wishes = await preferences.get(conn, entity)
    known = await denied.words(conn, entity)
    denials = Denials(secret, entity)
    kept, unwanted = [], []
    for draft in drafts:
        reason = _excluded(draft, wishes) or ("denied" if denials.forbid(draft.text, draft.quote, known) else None)
        if reason is None:
            kept.append(draft)
        else:
            unwanted.append(Learned(draft, Reject(reason), None))
    return tuple(kept), unwanted


def _excluded(draft: FactDraft, wishes: Preferences) -> str | None:
    if not (wishes.learning and wishes.memory):
        return "switched-off"
    if draft.tag in wishes.excluded_tags:
        return "excluded-tag"
    return "excluded-patterns" if draft.type == "pattern" and not wishes.patterns else None
