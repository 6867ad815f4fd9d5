"""The list of messages that a chat completion and a call of Ollama's chat have in common."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memproxy.errors import NotUnderstood
from memproxy.model import Addition, Message
from memproxy.wire import content, spans
from memproxy.wire.additions import by_place, new_messages, plain_message
from memproxy.wire.spans import Member, Span, Splice
from memproxy.wire.values import mapping, string

_SYSTEM_ROLES = ("system", "developer")


def messages_member(members: Sequence[Member]) -> Member:
    """The list among the members of a body. Raises NotUnderstood: "body" where it is missing, "ambiguous" for two."""
    messages = spans.only_member(members, "messages")
    if messages is None or not isinstance(messages.value, list):
        raise NotUnderstood("body")
    return messages


def read(value: Any) -> Message:
    """One message, whatever stands in its place."""
    fields = mapping(value)
    return Message(
        role=string(fields.get("role")),
        text=content.read(fields.get("content")),
        name=string(fields.get("name")) or None,
        calls_tools=bool(fields.get("tool_calls") or fields.get("function_call")),
    )


def edits(text: str, additions: Sequence[Addition], kind: str | None) -> list[Splice]:
    """What to insert, and where, so that the request carries the additions. Raises NotUnderstood.

    `kind` is the type of a text part, None in a format whose messages have no parts.
    """
    messages = messages_member(spans.whole_object(text))
    items, _ = spans.array_items(text, messages.start)
    system = _system_place(text, items, kind) if any(map(_for_system, additions)) else None
    if system is not None:  # by its number: more may be for that very message, and one message is added to once
        additions = [replace(a, message=system) if _for_system(a) else a for a in additions]
    found = [_edit(text, items, place, addition, kind) for place, addition in by_place(additions).items()]
    return found + new_messages(items, additions, plain_message)


def _for_system(addition: Addition) -> bool:
    return addition.message is None and addition.role is None


def _edit(text: str, items: Sequence[Span], place: int | None, addition: str, kind: str | None) -> Splice:
    if place is None:
        return _new_system_message(items, addition)
    edit = content.append(text, items[place], addition, kind) if 0 <= place < len(items) else None
    if edit is None:
        raise NotUnderstood("unspliceable")
    return edit


def _system_place(text: str, items: Sequence[Span], kind: str | None) -> int | None:
    """The system message that takes a block; None where there is none. Raises NotUnderstood where none can take it."""
    places = _system_places([string(mapping(item.value).get("role")) for item in items])
    found = next((place for place in places if content.append(text, items[place], "", kind) is not None), None)
    if places and found is None:
        raise NotUnderstood("unspliceable")
    return found


def _system_places(roles: Sequence[str]) -> list[int]:
    """The system messages a block may be appended to, best first: the leading ones from their end, then later ones.

    A list without a leading one is never given a second: many chat templates refuse two.
    """
    leading = next((index for index, role in enumerate(roles) if role not in _SYSTEM_ROLES), len(roles))
    later = [index for index in range(leading, len(roles)) if roles[index] in _SYSTEM_ROLES]
    return [*reversed(range(leading)), *later]


def _new_system_message(items: Sequence[Span], block: str) -> Splice:
    """A system message before the first one. Without any message there is no conversation to add to."""
    if not items:
        raise NotUnderstood("unspliceable")
    message = f'{{"role":"system","content":{json.dumps(block)}}},'
    return Splice(items[0].start, message.encode())
