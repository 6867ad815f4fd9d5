"""Texts into passages: a turn or fact is searchable by its words in the very transaction that stores it.

Its vector follows in the background (`embedding.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memproxy.interfaces import Connection
from memproxy.model import Entity, Fact, Passage, Turn
from memproxy.recall.passages import split
from memproxy.recall.terms import index_terms, terms
from memproxy.store import facts as fact_rows
from memproxy.store import passages as passage_rows
from memproxy.store import receipts
from memproxy.store import turns as turn_rows
from memproxy.store.summaries import Summary
from memproxy.trust import looks_like_instruction

MOST_REPETITIONS = 500  # turns looked at for a fact's words, the newest
SENTENCE = re.compile(r"[^.!?\n。！？]+[.!?。！？]*")


def turn_passages(
    turn: Turn, hidden: Sequence[str] = (), hidden_spans: Sequence[tuple[int, int]] = ()
) -> list[Passage]:
    """The pieces of a turn that may be found: without instruction-shaped ones, and without hidden spans.

    `hidden` are quotes of forgotten or quarantined facts, `hidden_spans` places of erased ones: the person's words are
    shown only as far as their facts allow.
    """
    speaker = turn.name or turn.role
    held_back = [*hidden_spans, *(span for quote in hidden for span in _places(turn.content, quote))]
    kept = (
        (start, end)
        for span in split(turn.content)
        for start, end in _without(span, held_back)
        if turn.content[start:end].strip() and not looks_like_instruction(turn.content[start:end])
    )
    return [
        Passage(
            kind="turn",
            owner_id=turn.id,
            ordinal=ordinal,
            start=start,
            end=end,
            terms=index_terms(turn.content[start:end], speaker, turn.time),
            text=turn.content[start:end],
        )
        for ordinal, (start, end) in enumerate(kept)
    ]


def fact_passages(fact: Fact) -> list[Passage]:
    """A current fact is one passage; any other is not searched."""
    if fact.status != "current":
        return []
    terms = index_terms(fact.text, "user", fact.reference_time or fact.recorded_at)
    return [Passage("fact", fact.id, 0, 0, len(fact.text), terms, fact.text)]


def summary_passages(summary: Summary) -> list[Passage]:
    """The summary of a conversation is one passage, of the day on which that ended."""
    terms = index_terms(summary.text, "assistant", summary.ended_at)
    return [Passage("summary", summary.id, 0, 0, len(summary.text), terms, summary.text)]


def _places(text: str, quote: str) -> list[tuple[int, int]]:
    """Where a quote stands in a text, up to case and white space; all of the text where it cannot be found."""
    places = [match.span() for match in _literally(quote).finditer(text)] if quote.split() else []
    return places or [(0, len(text))]


def _literally(words: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE)


def _without(span: tuple[int, int], held_back: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is left of a span when others are taken out of it."""
    left = [span]
    for start, end in held_back:
        left = [
            piece
            for low, high in left
            for piece in ((low, min(high, start)), (max(low, end), high))
            if piece[0] < piece[1]
        ]
    return left


async def reindex_turn(conn: Connection, entity: Entity, turn: Turn) -> None:
    """Write a turn's passages anew, as its facts now allow."""
    hidden = await fact_rows.hidden_quotes(conn, entity, turn.id)
    spans = await fact_rows.hidden_spans(conn, entity, turn.id)
    for words in await fact_rows.forgotten_elsewhere(conn, entity, turn.id):
        spans += repetitions(turn.content, words)
    await passage_rows.remove(conn, entity, "turn", turn.id)
    await passage_rows.add(conn, entity, turn_passages(turn, hidden, spans))
    await receipts.redact(conn, entity, "turn", turn.id)


async def reindex_fact(conn: Connection, entity: Entity, fact: Fact) -> None:
    """Write a fact's passage anew, as its status now allows, and with it the turns that repeat its words."""
    await passage_rows.remove(conn, entity, "fact", fact.id)
    await passage_rows.add(conn, entity, fact_passages(fact))
    await reindex_repetitions(conn, entity, fact)


async def reindex_repetitions(conn: Connection, entity: Entity, fact: Fact) -> None:
    """Write the passages anew of other turns that repeat a fact's words: said again, or by the assistant."""
    found = [turn for words in (fact.quote, fact.text) if words for turn, _ in await repeating(conn, entity, words)]
    for turn in {turn.id: turn for turn in found}.values():
        if turn.id != fact.turn_id:
            await reindex_turn(conn, entity, turn)


async def repeating(conn: Connection, entity: Entity, words: str) -> list[tuple[Turn, list[tuple[int, int]]]]:
    """The turns that say words again, the newest, and where each does."""
    letters = most_telling(words)
    if not letters:
        return []
    found = await turn_rows.with_letters(conn, entity, letters, MOST_REPETITIONS)
    return [(turn, spans) for turn in found if (spans := repetitions(turn.content, words))]


def most_telling(words: str) -> str:
    """The letters by which texts with the same words are found: of the longest, but for its ending."""
    longest = max(re.findall(r"\w+", words), key=len, default="")
    return longest[: max(3, len(longest) - 3)]


def repetitions(text: str, words: str) -> list[tuple[int, int]]:
    """Where a text says words again: literally, or as a sentence that holds every content word of them."""
    literal = [match.span() for match in _literally(words).finditer(text)] if words.split() else []
    wanted = set(terms(words))
    if len(wanted) < 2:  # one word alone stands in many sentences that say something else
        return literal
    said_again = [match.span() for match in SENTENCE.finditer(text) if wanted <= set(terms(match[0]))]
    return literal + said_again
