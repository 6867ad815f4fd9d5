"""What an answer of Ollama's chat says: its visible words, how it ended, whether it calls tools.

Thinking, tool arguments and images are left aside. A stream is many bodies with a piece of the answer each, the last
one marked `done`; an answer in one body is the same with all of it in one.
"""

from __future__ import annotations

from typing import Any

from memproxy.model import Reply
from memproxy.wire.ndjson import LineParser
from memproxy.wire.sse import Event
from memproxy.wire.values import mapping, parse, string
from memproxy.wire.words import Words


class OllamaStream:
    """Understands the lines of a stream."""

    def __init__(self) -> None:
        self._words = Words()
        self._model: str | None = None
        self._reason: str | None = None
        self._done = False
        self._calls_tools = False
        self._error: str | None = None

    def take(self, event: Event) -> bool:
        """The next line; True if it is the one that says the answer is done."""
        self.read(parse(event.data))
        return self._done

    def ends_with(self, data: bytes) -> bool:
        """Never: a line is complete only with its end."""
        return False

    def read(self, value: Any) -> None:
        """What one line, or a whole body, says."""
        fields = mapping(value)
        message = mapping(fields.get("message"))
        if fields.get("error") is not None:
            self._error = "error"  # Ollama has no types of errors, only sentences
        if isinstance(message.get("content"), str):
            self._words.add(message["content"])
        if message.get("tool_calls"):
            self._calls_tools = True
        self._model = self._model or string(fields.get("model")) or None
        if fields.get("done") is True:
            self._done = True
            self._reason = string(fields.get("done_reason")) or self._reason

    def reply(self) -> Reply:
        """What was understood so far; complete once it was done."""
        return Reply(
            text=self._words.text(),
            finish_reason=self._reason,
            complete=self._done and self._error is None,
            calls_tools=self._calls_tools,
            error=self._error,
            model=self._model,
        )


def whole_reply(body: bytes) -> Reply:
    """Understand an answer in one body, or a stream that came under another content type than its own."""
    stream = OllamaStream()
    value = parse(body)
    if value is not None:
        stream.read(value)
    else:
        lines = LineParser()
        for event in [*lines.feed(body), *lines.finish()]:
            stream.take(event)
    return stream.reply()
