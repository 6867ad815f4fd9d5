"""A session's pending turns cut into extraction requests of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memproxy.extraction.gate import without_quotations
from memproxy.model import Turn
from memproxy.prompts.extraction import Window

CONTEXT_CHARACTERS = 1500  # of each assistant turn that is sent along as context
HEARD = 10  # of the assistant's turns before are looked through for lines that the person quotes
_CUT = "\n[…]\n"


def shorten(text: str, limit: int) -> str:
    """Head and tail of a text of at most `limit` characters; the text itself where it fits."""
    if len(text) <= limit:
        return text
    half = (limit - len(_CUT)) // 2
    return text[:half] + _CUT + text[-half:] if half > 0 else text[:limit]


def windows(pending: Sequence[Turn], before: Sequence[Turn | None], max_chars: int) -> list[Window]:
    """Group the person's pending turns, in order, so that each request's two parts together hold at most `max_chars`,
    and none mixes segments of different topics.

    `before` holds for each pending turn the assistant's turn just before it (or None): the labelled context.
    """
    out: list[Window] = []
    turns: list[Turn] = []
    context: list[Turn] = []
    room = max_chars
    for index, (turn, previous) in enumerate(zip(pending, before, strict=True)):
        heard = [earlier for earlier in before[max(0, index - HEARD) : index + 1] if earlier is not None]
        said = replace(turn, content=shorten(without_quotations(turn, heard), max_chars))
        full = len(said.content) + _context_size(previous, context, max_chars) > room
        if turns and (full or (turn.topic, turn.label) != (turns[-1].topic, turns[-1].label)):
            out.append(_window(turns, context))
            turns, context, room = [], [], max_chars
        turns.append(said)
        room -= len(said.content)
        if previous is not None and (size := _context_size(previous, context, room)):
            context.append(replace(previous, content=shorten(previous.content, size)))
            room -= size
    if turns:
        out.append(_window(turns, context))
    return out


def _window(turns: Sequence[Turn], context: Sequence[Turn]) -> Window:
    return Window(tuple(turns), tuple(context), turns[0].topic, turns[0].label)


def _context_size(previous: Turn | None, context: Sequence[Turn], room: int) -> int:
    """How many characters of the turn before go along: none of one that is there already."""
    if previous is None or any(other.id == previous.id for other in context):
        return 0
    return min(len(previous.content), CONTEXT_CHARACTERS, room)


def halves(window: Window, smallest: int = 400) -> list[Window]:
    """A window in two smaller ones, by turns or, where it has only one, by its text; [] where it is small enough."""
    turns = window.turns
    if len(turns) > 1:
        middle = len(turns) // 2
        return [replace(window, turns=turns[:middle]), replace(window, turns=turns[middle:])]
    content = turns[0].content
    if len(content) < 2 * smallest:
        return []
    cut = content.rfind(" ", len(content) // 4, len(content) // 2)
    cut = cut if cut > 0 else len(content) // 2
    return [
        replace(window, turns=(replace(turns[0], content=content[:cut]),)),
        replace(window, turns=(replace(turns[0], content=content[cut:]),), context=()),
    ]
