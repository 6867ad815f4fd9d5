"""OpenAI chat completions: `POST …/chat/completions`, as OpenAI, Azure and every compatible server speak it."""

from __future__ import annotations

from collections.abc import Sequence

from memproxy.interfaces import ReplyReader
from memproxy.model import Addition, ChatRequest
from memproxy.wire import chat_messages, spans
from memproxy.wire.chat_reply import ChatStream, whole_reply
from memproxy.wire.openai_common import error_body
from memproxy.wire.readers import reply_reader
from memproxy.wire.spans import Splice
from memproxy.wire.values import count, string, strings


class ChatCompletions:
    """The wire format of chat completions; see `interfaces.WireFormat`."""

    name = "chat_completions"
    records = True

    def decode(self, body: bytes, path: bytes = b"") -> ChatRequest:
        """Read a request body. Messages keep their places, whatever they hold.

        Raises NotUnderstood: "body" where it is no JSON object with a list of messages, "ambiguous" where it has two.
        """
        members = spans.whole_object(spans.text_of(body))
        messages = chat_messages.messages_member(members)
        values = {member.key: member.value for member in members}
        limit = count(values.get("max_completion_tokens"))
        return ChatRequest(
            messages=tuple(map(chat_messages.read, messages.value)),
            model=string(values.get("model")) or None,
            stream=values.get("stream") is True,
            max_tokens=limit if limit is not None else count(values.get("max_tokens")),
            choices=count(values.get("n")) or 1,
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
        return reply_reader(content_type, content_encoding, ChatStream, whole_reply)

    def error(self, status: int, message: str, code: str) -> bytes:
        """An error as OpenAI's API words it."""
        return error_body(status, message, code)


def edits(text: str, additions: Sequence[Addition]) -> list[Splice]:
    """What to insert, and where, so that the request carries the additions. Raises NotUnderstood."""
    return chat_messages.edits(text, additions, "text")
