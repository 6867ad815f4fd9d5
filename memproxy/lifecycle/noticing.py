"""A message that says otherwise than memory is noticed as it is stored, before anything is learned. Opt-in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memproxy.extraction.inline import says_otherwise
from memproxy.extraction.reconcile import as_fact, disputed
from memproxy.folding import content_key
from memproxy.interfaces import Connection
from memproxy.model import Entity, FactDraft, Turn
from memproxy.store import contradictions
from memproxy.store import facts as fact_rows


async def notice(conn: Connection, entity: Entity, stored: Sequence[Turn], now: datetime) -> int:
    """Open contradictions for what turns of the person say against facts of one value; how many are new.

    The facts stay as they are. Learning decides, or the person does.
    """
    turns = [turn for turn in stored if turn.role == "user"]
    if not turns:
        return 0
    known = await fact_rows.single_valued(conn, entity)
    opened = 0
    for turn in turns:
        for otherwise in says_otherwise(turn.content, known):
            beside = next(
                (
                    fact
                    for fact in await fact_rows.with_content_key(conn, entity, content_key(otherwise.clause))
                    if fact.superseded_by == otherwise.fact.id
                ),
                None,
            )
            if beside is None:
                draft = FactDraft(
                    otherwise.clause,
                    slot=otherwise.fact.slot,
                    quote=otherwise.clause,
                    turn_id=turn.id,
                    reference_time=turn.time,
                )
                row = disputed(as_fact(draft, now), otherwise.fact, now)
                beside = await fact_rows.insert(conn, entity, row, "noticed in passing")
            signal = contradictions.Signal(otherwise.fact, beside, "inline", "inline", None, "another name")
            opened += await contradictions.signal(conn, entity, signal, now)
    return opened
