"""What an answer of Gemini says: the first candidate's words, how it ended, whether it calls functions.

A stream's chunks and a single body have one shape, and there is no terminal event: only a stream that is a JSON array
says where it ends. Thoughts, code and its results are left aside. Parts are joined without anything between them, for
that is how a stream's pieces belong together.
"""

from __future__ import annotations

from typing import Any

from memproxy.model import Reply
from memproxy.wire.json_array import CLOSED
from memproxy.wire.sse import Event
from memproxy.wire.values import mapping, parse, sequence, string, word
from memproxy.wire.words import Words

# The answer goes on in another response, for which the client asks with a token.
_UNFINISHED = "CONTINUATION"


class GeminiStream:
    """Understands the chunks of an answer, however they are framed."""

    def __init__(self) -> None:
        self._words = Words()
        self._finish_reason: str | None = None
        self._error: str | None = None
        self._model: str | None = None
        self._calls_tools = False

    def take(self, event: Event) -> bool:
        """The next chunk; True if it is the end of an array of chunks."""
        if event == CLOSED:
            return True
        fields = mapping(parse(event.data))
        if fields.get("error") is not None:
            self._error = self._error or word(mapping(fields["error"]).get("status"))
        self._model = string(fields.get("modelVersion")) or self._model
        blocked = mapping(fields.get("promptFeedback")).get("blockReason")
        self._finish_reason = string(blocked) or self._finish_reason
        candidates = map(mapping, sequence(fields.get("candidates")))
        self._candidate(next((one for one in candidates if one.get("index") in (0, None)), {}))
        return False

    def ends_with(self, data: bytes) -> bool:
        """Never: the last chunk does not say that it is the last."""
        return False

    def reply(self) -> Reply:
        """What was understood so far; complete once it was said why the answer ended."""
        ended = self._finish_reason is not None and self._finish_reason != _UNFINISHED
        return Reply(
            text=self._words.text(),
            finish_reason=self._finish_reason,
            complete=ended and self._error is None,
            calls_tools=self._calls_tools,
            error=self._error,
            model=self._model,
        )

    def _candidate(self, candidate: dict[str, Any]) -> None:
        for part in map(mapping, sequence(mapping(candidate.get("content")).get("parts"))):
            text = part.get("text")
            if isinstance(text, str) and part.get("thought") is not True:
                self._words.add(text)
            if part.get("functionCall") is not None:
                self._calls_tools = True
        self._finish_reason = string(candidate.get("finishReason")) or self._finish_reason


def whole_answer(body: bytes) -> Reply:
    """Understand an answer in one body."""
    answer = GeminiStream()
    answer.take(Event(b"", body))
    return answer.reply()
