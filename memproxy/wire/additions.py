"""Adding to a JSON text by insertion alone, beyond the ends of strings and lists (see `content`).

Nothing is replaced or left out, so taking the insertions away gives back what was there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from memproxy.errors import NotUnderstood
from memproxy.model import Addition
from memproxy.wire.spans import Member, Span, Splice


def by_place(additions: Sequence[Addition]) -> Mapping[int | None, str]:
    """The added texts by their place; texts that go to one place are parted by an empty line. No messages."""
    texts: dict[int | None, str] = {}
    for addition in additions:
        if addition.role is not None:
            continue
        before = texts.get(addition.message)
        texts[addition.message] = addition.text if before is None else f"{before}\n\n{addition.text}"
    return texts


def new_messages(
    items: Sequence[Span] | Sequence[Member], additions: Sequence[Addition], message: Callable[[str, str], str]
) -> list[Splice]:
    """The messages among additions, in front of the items they are for; `message` makes JSON of a role and words.

    Raises NotUnderstood where there is no such item.
    """
    found = []
    for addition in additions:
        if addition.role is None:
            continue
        if addition.message is None or not 0 <= addition.message < len(items):
            raise NotUnderstood("unspliceable")
        made = f"{message(addition.role, addition.text)},"
        found.append(Splice(items[addition.message].start, made.encode()))
    return found


def plain_message(role: str, text: str) -> str:
    """A message as most formats have it."""
    return f'{{"role":"{role}","content":{json.dumps(text)}}}'


def new_member(members: Sequence[Member], key: str, value: str) -> Splice:
    """A member (its value is JSON) after the last one of an object that has some."""
    return Splice(members[-1].end, f",{json.dumps(key)}:{value}".encode())


def around(value: Span | Member, before: str, after: str) -> list[Splice]:
    """A value made part of a larger one."""
    return [Splice(value.start, before.encode()), Splice(value.end, after.encode())]
