"""The content of a message, as most formats have it: a string, or a list of parts of which some are text."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Any

from memproxy.wire import spans
from memproxy.wire.spans import Member, Span, Splice
from memproxy.wire.values import mapping, sequence, string


def read(content: Any, kinds: Container[str] = ("text",)) -> str:
    """What is said: the string, or the texts of the parts of these types, joined by newlines."""
    if isinstance(content, str):
        return string(content)
    texts = [part if isinstance(part, str) else _part_text(mapping(part), kinds) for part in sequence(content)]
    return string("\n".join(text for text in texts if text))


def append(text: str, message: Span, addition: str, kind: str | None = "text") -> Splice | None:
    """The edit that puts an addition at the end of a message's words; None where its content has no end to append to.

    `kind` is the type of a part that may follow in a list of parts; None: no part may.
    Raises NotUnderstood ("ambiguous") where the message says its role or its content twice.
    """
    members, _ = spans.object_members(text, message.start)
    spans.only_member(members, "role")
    content = spans.only_member(members, "content")
    if content is None:  # the upstream will refuse it; with our addition in its place it might not
        return None
    if isinstance(content.value, str):
        return append_to_string(content, addition)
    if isinstance(content.value, list) and kind is not None:
        return append_to_list(text, content, f'{{"type":"{kind}","text":{json.dumps(addition)}}}')
    return None


def append_to_string(value: Span | Member, addition: str) -> Splice:
    """An addition at the end of a string, after an empty line where the string says something."""
    gap = "\n\n" if value.value else ""
    return Splice(value.end - 1, json.dumps(gap + addition)[1:-1].encode())


def append_to_list(text: str, value: Span | Member, item: str) -> Splice:
    """An item (JSON) after the last one, whatever that is and carries (a cache breakpoint stays before ours)."""
    items, end = spans.array_items(text, value.start)
    return Splice(items[-1].end, f",{item}".encode()) if items else Splice(end - 1, item.encode())


def _part_text(part: dict[str, Any], kinds: Container[str]) -> str:
    kind, text = part.get("type"), part.get("text")
    return text if isinstance(text, str) and isinstance(kind, str) and kind in kinds else ""
