"""The conversation put back into a request that brings only its newest message.

Some clients send what was just said and nothing else. Where that is wanted, and the client names the conversation, its
newest exchanges go in front of the message, as messages of their own: word for word what was said and answered there,
but for what was forgotten since. A request that carries anything else than instructions and the person's own new words
(an answer, a call of a tool, its result) has a history of its own, and is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memproxy.context.budget import estimate_tokens
from memproxy.interfaces import Connection
from memproxy.lifecycle.asking import Ask
from memproxy.lifecycle.history import marks_of
from memproxy.model import Addition, ChatRequest, Entity, Turn
from memproxy.store import search, sessions, turns, unasked

_INSTRUCTIONS = ("system", "developer")
_MARGIN = 8  # turns read beyond those that are wanted: some may say nothing, or have no answer
_GAP = " … "
LOOKED_BACK = 6  # turns in which names are looked for


@dataclass(frozen=True, slots=True)
class Recovered:
    """What goes back into a request."""

    additions: tuple[Addition, ...] = ()
    turns: frozenset[tuple[str, int]] = frozenset()  # the stored turns (session, place) that these are


NOTHING = Recovered()


def brings_only_the_newest(request: ChatRequest) -> bool:
    """Whether a request carries nothing but instructions and words of the person."""
    spoken = [message for message in request.messages if message.role not in _INSTRUCTIONS]
    return (
        request.extensible
        and request.previous is None
        and bool(spoken)
        and all(message.role == "user" and not message.answers_tools for message in spoken)
    )


def wants(ask: Ask) -> bool:
    """Whether the conversation is to be put back into this request."""
    return (
        ask.conversation.recovers
        and ask.conversation.session_name is not None
        and bool(ask.history.said)
        and brings_only_the_newest(ask.request)
    )


async def recover(conn: Connection, ask: Ask, most_turns: int, most_tokens: int, timeout: timedelta) -> Recovered:
    """The newest exchanges of the named conversation, before what the request says; whole ones only.

    A request that is sent again, before anything followed it, gets what stood before it the first time.
    """
    entity = ask.conversation.entity
    await search.readable(conn, entity)  # raises SwitchedOff
    session = await sessions.by_name(conn, entity, ask.conversation.session_name or "")
    if session is None:
        return NOTHING
    last = await _last(conn, ask, session.id, session.turns, timeout)
    said = await turns.span(conn, entity, session.id, max(1, last - most_turns - _MARGIN + 1), last)
    shown = await unasked.visible(conn, entity, [turn.id for turn in said])
    kept: list[tuple[Turn, str]] = []
    room = most_tokens
    for exchange in reversed(_exchanges(said)):
        words = [(turn, _words(turn, shown.get(turn.id, ()))) for turn in exchange]
        room -= sum(estimate_tokens(text) + 4 for _, text in words)
        if room < 0 or len(kept) + len(words) > most_turns:
            break
        if all(text for _, text in words):
            kept = [*words, *kept]
    place = next(i for i, message in enumerate(ask.request.messages) if message.role not in _INSTRUCTIONS)
    return Recovered(
        tuple(Addition(text, place, turn.role) for turn, text in kept),
        frozenset((session.id, turn.seq) for turn, _ in kept),
    )


async def newest_words(conn: Connection, entity: Entity, session_name: str) -> list[str]:
    """What may be shown of the newest turns of a conversation, in order."""
    session = await sessions.by_name(conn, entity, session_name)
    if session is None:
        return []
    said = await turns.span(conn, entity, session.id, max(1, session.turns - LOOKED_BACK + 1), session.turns)
    shown = await unasked.visible(conn, entity, [turn.id for turn in said])
    return [" ".join(shown[turn.id]) for turn in said if turn.id in shown]


async def _last(conn: Connection, ask: Ask, session_id: str, newest: int, timeout: timedelta) -> int:
    """The place of the last turn before what the request says."""
    entity, now = ask.conversation.entity, ask.conversation.time
    marks = await marks_of(conn, entity, ask.history)
    last_own = (await sessions.last_user_seq(conn, entity, {session_id})).get(session_id, 0)
    again = [
        mark.seq
        for said in ask.history.said
        if (mark := marks.get(said.key)) is not None
        and mark.session_id == session_id
        and mark.seq >= last_own
        and _recent(mark.created_at, now, timeout)
    ]
    return min(again) - 1 if again else newest


def _recent(then: datetime, now: datetime, timeout: timedelta) -> bool:
    return now - then <= timeout


def _exchanges(said: Sequence[Turn]) -> list[tuple[Turn, Turn]]:
    """What the person said with what was answered, in order; of several answers the last, and no word without one."""
    found: list[tuple[Turn, Turn]] = []
    asked: Turn | None = None
    for turn in said:
        if turn.role == "user":
            asked = turn
        elif asked is not None:
            found = [*(pair for pair in found if pair[0].id != asked.id), (asked, turn)]
    return found


def _words(turn: Turn, shown: Sequence[str]) -> str:
    """The words of a turn as far as they may be shown: as they were said, where all of them may."""
    if "".join("".join(shown).split()) == "".join(turn.content.split()):
        return turn.content
    return _GAP.join(piece.strip() for piece in shown if piece.strip())
