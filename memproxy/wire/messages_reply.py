"""What an answer of Anthropic's Messages API says: its text blocks, how it ended, whether it calls tools.

Thinking, signatures, citations and tool arguments are left aside, and so are events nobody knows yet. Text blocks are
joined by newlines, streamed or not: as `messages` joins them when the answer comes back as history.
"""

from __future__ import annotations

from typing import Any

from memproxy.model import Reply
from memproxy.wire.sse import Event
from memproxy.wire.values import count, mapping, parse, sequence, string, word
from memproxy.wire.words import Words

_LONGEST_STOP = 1024  # bytes; Bedrock adds its figures to the last event


class _Answer:
    """Gathers one message, from one body or from many events."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self.error: str | None = None
        self._words = Words()
        self._model: str | None = None
        self._calls_tools = False

    def message(self, fields: dict[str, Any]) -> None:
        """A message: the whole of it, or the empty one with which a stream begins."""
        self._model = string(fields.get("model")) or self._model
        for index, block in enumerate(sequence(fields.get("content"))):
            self.block(index, mapping(block))
        self.ending(fields)

    def block(self, index: int, fields: dict[str, Any]) -> None:
        """A content block: the whole of it, or its beginning."""
        if fields.get("type") == "text":
            self._words.add(string(fields.get("text")), (index, 0))
        elif fields.get("type") == "tool_use":  # what the server's own tools do is no call to the client
            self._calls_tools = True

    def delta(self, index: int, fields: dict[str, Any]) -> None:
        """The next piece of a content block."""
        text = fields.get("text")
        if fields.get("type") == "text_delta" and isinstance(text, str):
            self._words.add(text, (index, 0))

    def ending(self, fields: dict[str, Any]) -> None:
        """Why it stopped, where that is said."""
        self.finish_reason = string(fields.get("stop_reason")) or self.finish_reason

    def failed(self, fields: dict[str, Any]) -> None:
        """An error in the band."""
        self.error = self.error or word(mapping(fields.get("error")).get("type"))

    def reply(self, *, complete: bool) -> Reply:
        """What has been gathered."""
        return Reply(
            text=self._words.text("\n"),
            finish_reason=self.finish_reason,
            complete=complete and self.error is None,
            calls_tools=self._calls_tools,
            error=self.error,
            model=self._model,
        )


class MessageStream:
    """Understands the events of a streamed message."""

    def __init__(self) -> None:
        self._answer = _Answer()
        self._stopped = False

    def take(self, event: Event) -> bool:
        """The next event; True if it is `message_stop`, after which nothing follows."""
        fields = mapping(parse(event.data))
        kind = fields.get("type")
        if kind == "content_block_delta":
            self._answer.delta(count(fields.get("index")) or 0, mapping(fields.get("delta")))
        elif kind == "content_block_start":
            self._answer.block(count(fields.get("index")) or 0, mapping(fields.get("content_block")))
        elif kind == "message_start":
            self._answer.message(mapping(fields.get("message")))
        elif kind == "message_delta":
            self._answer.ending(mapping(fields.get("delta")))
        elif kind == "error":
            self._answer.failed(fields)
        self._stopped = self._stopped or kind == "message_stop"
        return kind == "message_stop"

    def ends_with(self, data: bytes) -> bool:
        """Whether an event with this data is the last one."""
        return (
            len(data) <= _LONGEST_STOP
            and b"message_stop" in data
            and mapping(parse(data)).get("type") == "message_stop"
        )

    def reply(self) -> Reply:
        """What was understood so far; complete once a stop reason or the last event was there."""
        return self._answer.reply(complete=self._stopped or self._answer.finish_reason is not None)


def whole_message(body: bytes) -> Reply:
    """Understand a message in one body."""
    fields = mapping(parse(body))
    answer = _Answer()
    if fields.get("error") is not None:
        answer.failed(fields)
    else:
        answer.message(fields)
    return answer.reply(complete=isinstance(fields.get("content"), list))
