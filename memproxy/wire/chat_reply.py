"""What an OpenAI chat completion says: its visible words, how it ended, whether it calls tools.

Only the first choice is read (`index` 0); reasoning, refusals, audio and tool arguments are left aside. Everything a
server has been seen to leave out, repeat or misplace is tolerated.
"""

from __future__ import annotations

from typing import Any

from memproxy.model import Reply
from memproxy.wire.openai_common import is_done
from memproxy.wire.sse import Event
from memproxy.wire.values import mapping, parse, sequence, string, word
from memproxy.wire.words import Words


class _Answer:
    """Gathers the first choice of an answer, from one body or from many chunks."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self.error: str | None = None
        self._words = Words()
        self._model: str | None = None
        self._calls_tools = False

    def take(self, value: Any, message_key: str) -> None:
        """One body or chunk; `message_key` says where a choice keeps its words: "message" or "delta"."""
        if not isinstance(value, dict):
            return
        if value.get("error") is not None or value.get("object") == "error":
            self.error = self.error or word(mapping(value.get("error")).get("type"), value.get("type"))
        if self._model is None:
            self._model = string(value.get("model")) or None
        for choice in sequence(value.get("choices")):
            if isinstance(choice, dict) and choice.get("index") in (0, None):
                self._choice(choice, mapping(choice.get(message_key)))

    def reply(self, *, complete: bool) -> Reply:
        """What has been gathered."""
        return Reply(
            text=self._words.text(),
            finish_reason=self.finish_reason,
            complete=complete and self.error is None,
            calls_tools=self._calls_tools,
            error=self.error,
            model=self._model,
        )

    def _choice(self, choice: dict[str, Any], message: dict[str, Any]) -> None:
        content = message.get("content")
        if isinstance(content, str):
            self._words.add(content)
        elif content is not None:  # some servers answer in parts
            parts = map(mapping, sequence(content))
            self._words.add("".join(string(part.get("text")) for part in parts if part.get("type") == "text"))
        if message.get("tool_calls") or message.get("function_call"):
            self._calls_tools = True
        if choice.get("finish_reason"):
            self.finish_reason = string(choice["finish_reason"]) or self.finish_reason


class ChatStream:
    """Understands a stream of `chat.completion.chunk` events."""

    def __init__(self) -> None:
        self._answer = _Answer()
        self._done = False

    def take(self, event: Event) -> bool:
        """The next event; True if it is `[DONE]`, after which nothing follows."""
        if is_done(event.data):
            self._done = True
            return True
        self._answer.take(parse(event.data), "delta")
        return False

    def ends_with(self, data: bytes) -> bool:
        """Whether an event with this data is the last one."""
        return is_done(data)

    def reply(self) -> Reply:
        """What was understood so far; complete once a finish reason or the last event was there."""
        return self._answer.reply(complete=self._done or self._answer.finish_reason is not None)


def whole_reply(body: bytes) -> Reply:
    """Understand a `chat.completion` body."""
    value = parse(body)
    answer = _Answer()
    answer.take(value, "message")
    return answer.reply(complete=bool(sequence(mapping(value).get("choices"))))
