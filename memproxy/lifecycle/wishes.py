"""What a person does not want to be learned: nothing at all, some kinds of facts, what they denied."""

from __future__ import annotations

from collections.abc import Sequence

from memproxy.interfaces import Connection
from memproxy.lifecycle.denials import is_denied
from memproxy.model import Entity, FactDraft
from memproxy.store import preferences
from memproxy.store.preferences import Preferences


async def refused(conn: Connection, entity: Entity, secret: bytes, drafts: Sequence[FactDraft]) -> list[str | None]:
    """For each extracted draft, in order, the reason why it is not to be learned; None where it may be."""
    wanted = await preferences.get(conn, entity)
    return [
        _unwanted(draft, wanted)
        or ("denied" if await is_denied(conn, entity, secret, draft.text, draft.quote) else None)
        for draft in drafts
    ]


def _unwanted(draft: FactDraft, wanted: Preferences) -> str | None:
    if not (wanted.memory and wanted.learning):
        return "learning-off"
    if draft.tag.casefold() in wanted.excluded_tags:
        return "excluded-tag"
    return "pattern-off" if draft.type == "pattern" and not wanted.patterns else None
