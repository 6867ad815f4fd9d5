"""Forgetting, which can be undone; erasing and denying, which cannot. Each inside the caller's transaction.

Nothing here needs an embedding: what is removed is found by rows and words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime

from memproxy.interfaces import Connection
from memproxy.lifecycle.denials import Denials, hide_denied
from memproxy.lifecycle.indexing import MOST_REPETITIONS, most_telling, reindex_turn, repeating, repetitions
from memproxy.lifecycle.learning import hide_quote, withdraw
from memproxy.model import Entity, Fact, Turn
from memproxy.store import denied, evidence, meta, passages, receipts, summaries, turns
from memproxy.store import facts as fact_rows
from memproxy.store.denied import Denial
from memproxy.store.erasure import SCRUB_PENDING

CORRECTED = "corrected"  # the reason that the history of an earlier wording begins with
MOST_SUMMARIES = 10_000


async def forget(conn: Connection, entity: Entity, fact: Fact, now: datetime) -> None:
    """Hide a fact and its words in the turns, everywhere and at once; the rows stay, so that it can be undone."""
    await fact_rows.set_status(conn, entity, fact.id, "forgotten", "forgotten", now)
    await withdraw(conn, entity, fact.id)
    await hide_quote(conn, entity, replace(fact, status="forgotten"))
    await drop_derived(conn, entity, fact)


async def erase(conn: Connection, entity: Entity, facts: Iterable[Fact]) -> int:
    """Remove facts for good, with their history and what they said before they were corrected; how many rows went.

    The turns that say the same stay what was said; from there it is not recalled.
    """
    gone: dict[str, Fact] = {}
    for fact in facts:
        gone |= {row.id: row for row in [fact, *await _wordings(conn, entity, fact)]}
    touched: dict[str, Turn] = {}
    for fact in gone.values():
        for words in filter(None, (fact.quote, fact.text)):
            for turn, spans in await repeating(conn, entity, words):
                if not await _says_anew(conn, entity, turn, fact, gone):
                    await denied.hide(conn, entity, turn.id, spans)
                    touched[turn.id] = turn
        own = await turns.get(conn, entity, fact.turn_id) if fact.turn_id else None
        if own is not None:
            touched[own.id] = own
        await drop_derived(conn, entity, fact)
        await fact_rows.delete(conn, entity, fact.id)
    for turn in touched.values():
        await reindex_turn(conn, entity, turn)
    if gone:
        await meta.put(conn, SCRUB_PENDING, "1")
    return len(gone)


async def deny(
    conn: Connection, entity: Entity, secret: bytes, text: str, fact: Fact | None, now: datetime
) -> tuple[Denial, int]:
    """Erase a statement, the fact that says it (where there is one) and all rows with the same words; know it again by
    keyed hashes alone, so that it is neither learned nor recalled again. The denial, and how many rows went.
    """
    denials = Denials(secret, entity)
    quote = fact.quote if fact is not None and not await _shared(conn, entity, fact) else None
    words = denials.words(text, quote)
    same = await evidence.with_letters(conn, entity, most_telling(text))
    saying = [other for other in same if denials.says(other.text, words)]
    denial = await denied.put(conn, entity, words, now)
    gone = await erase(conn, entity, [*([fact] if fact is not None else []), *saying])
    for said in filter(None, (text, quote)):
        for turn in await turns.with_letters(conn, entity, most_telling(said), MOST_REPETITIONS):
            if await hide_denied(conn, entity, secret, turn):
                await reindex_turn(conn, entity, turn)
    for summary in await summaries.list_summaries(conn, entity, MOST_SUMMARIES):
        if denials.spans(summary.text, words):
            await summaries.delete(conn, entity, summary.id)
    return denial, gone


async def remove_turn(conn: Connection, entity: Entity, turn_id: str) -> bool:
    """Remove a turn for good, with its passages, the facts that stand on it, and what was made of either."""
    turn = await turns.get(conn, entity, turn_id)
    if turn is None:
        return False
    for fact in await fact_rows.of_turns(conn, entity, [turn_id]):
        await drop_derived(conn, entity, fact)
        await fact_rows.delete(conn, entity, fact.id)
    await _drop_summaries(conn, entity, turn.session_id, turn.content)
    await passages.remove(conn, entity, "turn", turn_id)
    await receipts.redact(conn, entity, "turn", turn_id)
    return await turns.delete(conn, entity, turn_id)


async def drop_derived(conn: Connection, entity: Entity, fact: Fact) -> None:
    """Remove the texts that were made with a fact: summaries of its conversation, and those that repeat its words."""
    turn = await turns.get(conn, entity, fact.turn_id) if fact.turn_id else None
    for words in filter(None, (fact.text, fact.quote)):
        await _drop_summaries(conn, entity, turn.session_id if turn is not None else None, words)


async def _drop_summaries(conn: Connection, entity: Entity, session_id: str | None, words: str) -> None:
    for summary in await summaries.list_summaries(conn, entity, MOST_SUMMARIES):
        if summary.session_id == session_id is not None or repetitions(summary.text, words):
            await summaries.delete(conn, entity, summary.id)


async def _wordings(conn: Connection, entity: Entity, fact: Fact) -> list[Fact]:
    """What a fact said before it was corrected."""
    found = []
    for past in await evidence.superseded_by(conn, entity, fact.id):
        changes = await fact_rows.changes(conn, entity, past.id)
        if changes and changes[0].reason == CORRECTED:
            found.append(past)
    return found


async def _says_anew(conn: Connection, entity: Entity, turn: Turn, fact: Fact, gone: Collection[str]) -> bool:
    """Whether a fact that stays was taken from a turn's same words."""
    return any(
        other.id not in gone
        and other.status == "current"
        and (other.content_key == fact.content_key or (other.quote is not None and other.quote == fact.quote))
        for other in await fact_rows.of_turns(conn, entity, [turn.id])
    )


async def _shared(conn: Connection, entity: Entity, fact: Fact) -> bool:
    """Whether something else was learned from the same quote: then the quote is not what is denied."""
    if fact.quote is None or fact.turn_id is None:
        return False
    others = await fact_rows.of_turns(conn, entity, [fact.turn_id])
    return any(other.quote == fact.quote and other.content_key != fact.content_key for other in others)
