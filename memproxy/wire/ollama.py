"""Ollama's own chat: `POST /api/chat`. It streams unless told not to, one JSON value a line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memproxy.errors import NotUnderstood
from memproxy.interfaces import ReplyReader
from memproxy.model import Addition, ChatRequest
from memproxy.wire import chat_messages, spans
from memproxy.wire.ollama_reply import OllamaStream, whole_reply
from memproxy.wire.readers import reply_reader
from memproxy.wire.spans import Splice
from memproxy.wire.values import count, mapping, string, strings


class Ollama:
    """The wire format of Ollama's chat; see `interfaces.WireFormat`."""

    name = "ollama"
    records = True

    def decode(self, body: bytes, path: bytes = b"") -> ChatRequest:
        """Read a request body. Messages keep their places, whatever they hold.

        Raises NotUnderstood: "body" where it is no JSON object with a list of messages, "ambiguous" where it has two.
        """
        members = spans.whole_object(spans.text_of(body))
        messages = chat_messages.messages_member(members)
        values = {member.key: member.value for member in members}
        return ChatRequest(
            messages=tuple(map(chat_messages.read, messages.value)),
            model=string(values.get("model")) or None,
            stream=values.get("stream") is not False,
            max_tokens=_limit(values.get("options")),
            fields=strings(values),
            extensible=True,
        )

    def inject(self, body: bytes, additions: Sequence[Addition]) -> bytes:
        """The body with the additions spliced in, every other byte as it came.

        Raises NotUnderstood: "body" and "ambiguous" as `decode` does, "unspliceable" where no place is safe.
        """
        text = spans.text_of(body)
        return spans.splice(body, text, edits(text, additions))

    def reader(self, content_type: str, content_encoding: str) -> ReplyReader:
        """A reader for one answer with these response headers ("" where absent)."""
        return reply_reader(content_type, content_encoding, OllamaStream, whole_reply)

    def error(self, status: int, message: str, code: str) -> bytes:
        """An error as Ollama words it."""
        return json.dumps({"error": message}).encode()


def edits(text: str, additions: Sequence[Addition]) -> list[Splice]:
    """What to insert, and where, so that the request carries the additions. Raises NotUnderstood.

    A request without a system message gets none: in its place Ollama uses the one that came with the model (its
    SYSTEM), and one of ours would take that away (ollama/ollama#9480). The person's first message begins the prompt
    then.
    """
    messages = chat_messages.messages_member(spans.whole_object(text))
    roles = [string(mapping(value).get("role")) for value in messages.value]
    if "system" not in roles:
        first = next((index for index, role in enumerate(roles) if role == "user"), None)
        if first is None:
            raise NotUnderstood("unspliceable")
        additions = [
            replace(addition, message=first) if addition.message is None else addition for addition in additions
        ]
    return chat_messages.edits(text, additions, None)


def _limit(options: Any) -> int | None:
    """The client's output limit; zero and less mean that there is none."""
    limit = count(mapping(options).get("num_predict"))
    return limit if limit is not None and limit > 0 else None
