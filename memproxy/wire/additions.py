"""Adding to a JSON text by insertion alone: at the end of a string, an array or an object, or around a value.

Nothing is replaced or left out, so taking the insertions away gives back what was there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from memproxy.model import Addition
from memproxy.wire import spans
from memproxy.wire.spans import Member, Span, Splice


def by_place(additions: Sequence[Addition]) -> Mapping[int | None, str]:
    """The added texts by their place; texts that go to one place are parted by an empty line."""
    texts: dict[int | None, str] = {}
    for addition in additions:
        before = texts.get(addition.message)
        texts[addition.message] = addition.text if before is None else f"{before}\n\n{addition.text}"
    return texts


def to_string(value: Span | Member, added: str) -> Splice:
    """Text at the end of a string, after an empty line where there is text before it."""
    gap = "\n\n" if value.value else ""
    return Splice(value.end - 1, json.dumps(gap + added)[1:-1].encode())


def to_array(text: str, value: Span | Member, item: str) -> Splice:
    """An item (JSON) after the last one of an array."""
    items, end = spans.array_items(text, value.start)
    return Splice(items[-1].end, f",{item}".encode()) if items else Splice(end - 1, item.encode())


def to_object(members: Sequence[Member], key: str, value: str) -> Splice:
    """A new member (its value is JSON) after the last one of an object that has some."""
    return Splice(members[-1].end, f",{json.dumps(key)}:{value}".encode())


def around(value: Span | Member, before: str, after: str) -> list[Splice]:
    """A value made part of a larger one."""
    return [Splice(value.start, before.encode()), Splice(value.end, after.encode())]
