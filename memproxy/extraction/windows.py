"""A session's pending turns cut into extraction requests of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memproxy.extraction.gate import without_quotations
from memproxy.model import Turn
from memproxy.prompts.extraction import Window

CONTEXT_CHARACTERS = 1500  # of each assistant turn that is sent along as context
_CUT = "\n[…]\n"


def shorten(text: str, limit: int) -> str:
    """Head and tail of a text of at most `limit` characters; the text itself where it fits."""
    if len(text) <= limit:
        return text
    half = max(1, (limit - len(_CUT)) // 2)
    return text[:half] + _CUT + text[-half:]


def windows(pending: Sequence[Turn], before: Sequence[Turn | None], max_chars: int) -> list[Window]:
    """Group the person's pending turns, in order, so that each request's conversation part stays inside `max_chars`.

    `before` holds for each pending turn the assistant's turn just before it (or None): the labelled context.
    """
    out: list[Window] = []
    turns: list[Turn] = []
    context: list[Turn] = []
    size = 0
    for turn, previous in zip(pending, before, strict=True):
        content = without_quotations(turn, [previous] if previous else [])
        said = replace(turn, content=shorten(content, max_chars))
        if turns and size + len(said.content) > max_chars:
            out.append(Window(tuple(turns), tuple(context)))
            turns, context, size = [], [], 0
        turns.append(said)
        size += len(said.content)
        if previous is not None:
            context.append(replace(previous, content=shorten(previous.content, CONTEXT_CHARACTERS)))
    if turns:
        out.append(Window(tuple(turns), tuple(context)))
    return out


def halves(window: Window, smallest: int = 400) -> list[Window]:
    """A window in two smaller ones, by turns or, where it has only one, by its text; [] where it is small enough."""
    turns = window.turns
    if len(turns) > 1:
        middle = len(turns) // 2
        return [Window(turns[:middle], window.context), Window(turns[middle:], window.context)]
    content = turns[0].content
    if len(content) < 2 * smallest:
        return []
    cut = content.rfind(" ", 0, len(content) // 2)
    cut = cut if cut > 0 else len(content) // 2
    return [
        Window((replace(turns[0], content=content[:cut]),), window.context),
        Window((replace(turns[0], content=content[cut:]),), ()),
    ]
