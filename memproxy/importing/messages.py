"""Messages as chat APIs write them: a conversation a value (`{"messages": […]}`), or a message a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from memproxy.importing.moments import moment
from memproxy.importing.records import Broken, Conversation, Format, Raw, Record, Said, each
from memproxy.model import Speaker

_ROLES: Mapping[str, Speaker] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
}
_TIMES = ("time", "timestamp", "created_at", "create_time", "date")
_IDS = ("session_id", "conversation_id", "thread_id", "session", "id")


def knows(value: Any) -> bool:
    """Whether this is a conversation in messages."""
    return isinstance(value, dict) and isinstance(value.get("messages"), list)


def _read(raw: Raw) -> Iterator[Record]:
    said = [_said(message) for message in raw.value["messages"]]
    spoken = tuple(one for one in said if one is not None)
    yield Conversation(raw.where, _first(raw.value, _IDS), spoken, _time(raw.value), len(said) - len(spoken))


def knows_lines(value: Any) -> bool:
    """Whether this is one message."""
    return isinstance(value, dict) and isinstance(value.get("role"), str) and "content" in value


def _read_lines(values: Iterable[Raw]) -> Iterator[Record]:
    """Messages that follow one another and name the same session are one conversation."""
    for key, lines in groupby(values, lambda raw: _first(raw.value, _IDS[:-1])):
        said: list[Said] = []
        left_out = 0
        where = ""
        for raw in lines:
            where = where or raw.where
            try:
                one = _said(raw.value)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                yield Broken(raw.where, f"not shaped as expected ({type(error).__name__})")
                continue
            if one is None:
                left_out += 1
            else:
                said.append(one)
        yield Conversation(where, key, tuple(said), None, left_out)


def _said(message: Mapping[str, Any]) -> Said | None:
    """A message as it was said; None for instructions, tools and what has no words."""
    role = _ROLES.get(message["role"])
    text = _text(message.get("content"))
    if role is None or not text.strip():
        return None
    name = message.get("name")
    return Said(role, text, _time(message), name if isinstance(name, str) and name else None)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    parts = [part if isinstance(part, str) else part.get("text") for part in content]
    return "\n".join(part for part in parts if isinstance(part, str) and part.strip())


def _time(value: Mapping[str, Any]) -> Any:
    return moment(next((value[name] for name in _TIMES if value.get(name)), None))


def _first(value: Any, names: Iterable[str]) -> str:
    return next((str(value[name]) for name in names if value.get(name)), "") if isinstance(value, dict) else ""


CONVERSATIONS = Format("messages", 'conversations in messages, {"messages": […]}', knows, each(_read))
MESSAGES = Format("lines", 'messages, {"role": …, "content": …}', knows_lines, _read_lines)
