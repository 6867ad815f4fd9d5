"""Whether people take up what was said of them: a fact that they go on about when it came up engages them.

Read off what they say next: the facts that stood in the block of their message before, and how much of each comes back
in their new words. It is a running mean over the times a fact came up, and weighs only where something is to be taken
up unasked.
"""

from __future__ import annotations

from collections.abc import Sequence

from memproxy.interfaces import Connection
from memproxy.model import Entity
from memproxy.recall.terms import terms
from memproxy.store import facts as fact_rows
from memproxy.store import placed

SHARE = 0.3  # that the newest time counts for
TAKEN_UP = 0.5  # of the fact's words


async def notice_engagement(conn: Connection, entity: Entity, before: str, said: Sequence[str]) -> int:
    """Note how far what stood in the block under the key `before` was taken up; how many facts stood there."""
    wanted = set(terms(" ".join(said)))
    if not wanted:
        return 0
    shown = {
        item.id: item.text
        for part in await placed.of_keys(conn, entity, [before])
        for item in part.block.items
        if item.kind == "fact"
    }
    for fact_id, text in shown.items():
        words = set(terms(text))
        taken = 1.0 if words and len(words & wanted) >= max(2, TAKEN_UP * len(words)) else 0.0
        await fact_rows.engage(conn, entity, fact_id, taken, SHARE)
    return len(shown)
