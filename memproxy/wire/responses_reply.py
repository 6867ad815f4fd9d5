"""What an answer of OpenAI's Responses says: its visible words, how it ended, whether it calls tools.

A stream says everything up to four times: in deltas, at the end of each part, of each item, and of the answer. Servers
leave out one or another of these, and a stream that is resumed begins in the middle; so what comes later and says it as
a whole takes the place of what came before, unless it says nothing. Reasoning, refusals and tool arguments are left
aside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memproxy.model import Reply
from memproxy.wire.openai_common import is_done
from memproxy.wire.sse import Event
from memproxy.wire.values import count, mapping, parse, sequence, string, word
from memproxy.wire.words import Place, Words

# Items that ask the client to run something; the other calls are made by the upstream itself.
CLIENT_CALLS = frozenset(
    {"function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call"}
)
_TERMINAL = ("response.completed", "response.incomplete", "response.failed", "error")
_UNDER_WAY = ("queued", "in_progress")
_TEXT_PARTS = ("output_text", "text")
# Events name their type first. Where one does not, its end is seen with the empty line after it.
_ENDS = re.compile(rb'\s*\{\s*"type"\s*:\s*"(?:%s)"' % b"|".join(map(re.escape, map(str.encode, _TERMINAL))))


class _Answer:
    """Gathers an answer, from one body or from many events."""

    def __init__(self) -> None:
        self.status: str | None = None
        self._reason: str | None = None
        self._error: str | None = None
        self._id: str | None = None
        self._model: str | None = None
        self._calls_tools = False
        self._words = Words()
        self._silent: set[int] = set()  # places of items whose text is not the assistant's

    def event(self, kind: str, event: Mapping[str, Any]) -> None:
        """One event of a stream."""
        place = (count(event.get("output_index")) or 0, count(event.get("content_index")) or 0)
        if kind == "response.output_text.delta":
            if place[0] not in self._silent:
                self._words.add(_text(event.get("delta")), place)
        elif kind == "response.output_text.done":
            if place[0] not in self._silent:
                self._put(event.get("text"), place)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._item(mapping(event.get("item")), place[0])
        elif kind == "error" or event.get("error") is not None:
            self._fail(event)
        elif isinstance(event.get("response"), dict):
            self.response(event["response"], kind.removeprefix("response.") if kind in _TERMINAL else None)

    def response(self, response: Mapping[str, Any], status: str | None) -> None:
        """The answer as one object; `status` is how it ended, where it has."""
        self._id = string(response.get("id")) or self._id
        self._model = string(response.get("model")) or self._model
        items = list(map(mapping, sequence(response.get("output"))))
        if any(map(_speaks, items)):
            self._words.clear()  # its places need not be those of the stream
        for index, item in enumerate(items):
            self._item(item, index)
        if status is not None:
            details = mapping(response.get("incomplete_details")) if status == "incomplete" else {}
            self.status = status
            self._reason = string(details.get("reason")) or status or None
        if status == "failed" or response.get("error") is not None:
            self._fail(response)

    def reply(self) -> Reply:
        """What has been gathered."""
        return Reply(
            text=self._words.text(),
            finish_reason=self._reason,
            complete=self.status == "completed" and self._error is None,
            calls_tools=self._calls_tools,
            error=self._error,
            model=self._model,
            id=self._id,
        )

    def _item(self, item: Mapping[str, Any], index: int) -> None:
        if item.get("type") in CLIENT_CALLS:
            self._calls_tools = True
        if not _is_said(item):
            self._silent.add(index)
            return
        self._silent.discard(index)
        content = item.get("content")
        if isinstance(content, str):
            self._put(content, (index, 0))
        for number, part in enumerate(map(mapping, sequence(content))):
            if part.get("type") in _TEXT_PARTS:
                self._put(part.get("text"), (index, number))

    def _put(self, text: Any, place: Place) -> None:
        if _text(text):
            self._words.put(text, place)

    def _fail(self, fields: Mapping[str, Any]) -> None:
        error = mapping(fields.get("error"))
        self._error = self._error or word(error.get("code"), error.get("type"), fields.get("code"))


class ResponsesStream:
    """Understands the events of a stream, from its beginning or from any later one."""

    def __init__(self) -> None:
        self._answer = _Answer()

    def take(self, event: Event) -> bool:
        """The next event; True if it says how the answer ended, or is the `[DONE]` that some servers add."""
        if is_done(event.data):
            return True
        value = mapping(parse(event.data))
        kind = string(value.get("type")) or event.name.decode("ascii", "replace")
        self._answer.event(kind, value)
        return kind in _TERMINAL

    def ends_with(self, data: bytes) -> bool:
        """Whether an event with this data is the last one."""
        return _ENDS.match(data, 0, 256) is not None or is_done(data)

    def reply(self) -> Reply:
        """What was understood so far; complete once the answer was said to be."""
        return self._answer.reply()


def whole_reply(body: bytes) -> Reply:
    """Understand a `response` body. One that is still being worked on has an id, by which it can be fetched later."""
    value = mapping(parse(body))
    answer = _Answer()
    unnamed = "completed" if sequence(value.get("output")) else None
    answer.response(value, string(value.get("status")) or unnamed)
    reply = answer.reply()
    return replace(reply, text="") if answer.status in _UNDER_WAY else reply


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_said(item: Mapping[str, Any]) -> bool:
    """Whether an item is a message of the assistant's."""
    return item.get("type") in ("message", None) and item.get("role") in ("assistant", None)


def _speaks(item: Mapping[str, Any]) -> bool:
    """Whether an item says anything."""
    content = item.get("content") if _is_said(item) else None
    parts = map(mapping, sequence(content))
    return bool(_text(content)) or any(part.get("type") in _TEXT_PARTS and _text(part.get("text")) for part in parts)
