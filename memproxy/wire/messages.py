"""Anthropic's Messages API: `POST …/messages`, and `POST …/messages/count_tokens`, which takes the same body.

Nothing here adds, moves or removes a `cache_control`: an addition stands after everything the client wrote at its
place, so what is under a client's breakpoints keeps its bytes, and the number of breakpoints is the client's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from memproxy.errors import NotUnderstood
from memproxy.interfaces import ReplyReader
from memproxy.model import Addition, ChatRequest, Message
from memproxy.wire import spans
from memproxy.wire.additions import around, by_place, to_array, to_object, to_string
from memproxy.wire.messages_reply import MessageStream, whole_message
from memproxy.wire.readers import reply_reader
from memproxy.wire.spans import Member, Span, Splice
from memproxy.wire.values import count, mapping, sequence, string

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Messages:
    """The wire format of messages; see `interfaces.WireFormat`."""

    name = "messages"

    def __init__(self, *, records: bool = True) -> None:
        """`records` is False for requests that only count tokens: injected, so that the count is true, but no turn."""
        self.records = records

    def decode(self, body: bytes, path: bytes = b"") -> ChatRequest:
        """Read a request body. Messages keep their places, whatever they hold.

        Raises NotUnderstood: "body" where it is no JSON object with a list of messages, "ambiguous" where it has two.
        """
        fields = spans.whole_object(spans.text_of(body))
        values = {member.key: member.value for member in fields}
        strings = {key: string(value) for key, value in values.items() if isinstance(value, str)}
        user = string(mapping(values.get("metadata")).get("user_id"))
        return ChatRequest(
            messages=tuple(_message(mapping(value)) for value in _messages_member(fields).value),
            system=_text(values.get("system")),
            model=string(values.get("model")) or None,
            stream=values.get("stream") is True,
            max_tokens=count(values.get("max_tokens")),
            fields={**strings, "metadata.user_id": user} if user else strings,
        )

    def inject(self, body: bytes, additions: Sequence[Addition]) -> bytes:
        """The body with the additions spliced in, every other byte as it came.

        Raises NotUnderstood: "body" as `decode` does, "ambiguous" where a key that would be edited stands there twice,
        "unspliceable" where no place is safe (an assistant's message, the beginning of an answer among them).
        """
        text = spans.text_of(body)
        return spans.splice(body, text, edits(text, additions))

    def reader(self, content_type: str, content_encoding: str) -> ReplyReader:
        """A reader for one answer with these response headers ("" where absent)."""
        return reply_reader(content_type, content_encoding, MessageStream, whole_message)

    def error(self, status: int, message: str, code: str) -> bytes:
        """An error as Anthropic's API words it; it has no place for a code."""
        kind = _ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()


def edits(text: str, additions: Sequence[Addition]) -> list[Splice]:
    """What to insert, and where, so that the request carries the additions. Raises NotUnderstood."""
    members = spans.whole_object(text)
    messages, _ = spans.array_items(text, _messages_member(members).start)
    found: list[Splice] = []
    for place, block in by_place(additions).items():
        if place is None:
            found += _to_system(text, members, block)
        elif 0 <= place < len(messages):
            found.append(_to_message(text, messages[place], block))
        else:
            raise NotUnderstood("unspliceable")
    return found


def _messages_member(members: Sequence[Member]) -> Member:
    messages = spans.only_member(members, "messages")
    if messages is None or not isinstance(messages.value, list):
        raise NotUnderstood("body")
    return messages


# --- reading -------------------------------------------------------------------------------------------------


def _message(fields: dict[str, Any]) -> Message:
    role, text = string(fields.get("role")), _text(fields.get("content"))
    kinds = {string(mapping(block).get("type")) for block in sequence(fields.get("content"))}
    answers_tools = role == "user" and "tool_result" in kinds
    return Message(
        role="tool" if answers_tools and not text else role,
        text=text,
        calls_tools="tool_use" in kinds,
        answers_tools=answers_tools,
    )


def _text(content: Any) -> str:
    """What is said: the string, or the text blocks joined by newlines."""
    if isinstance(content, str):
        return string(content)
    blocks = [block for block in map(mapping, sequence(content)) if block.get("type") == "text"]
    texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    return string("\n".join(text for text in texts if text))


# --- splicing ------------------------------------------------------------------------------------------------


def _to_system(text: str, members: Sequence[Member], block: str) -> list[Splice]:
    system = spans.only_member(members, "system")
    if system is None:
        return [to_object(members, "system", json.dumps(block))]
    if system.value is None:
        # A second member of that name would be read differently by different servers, and null cannot be taken away:
        # so it becomes what a text block may have as its citations.
        return around(system, f'[{{"type":"text","text":{json.dumps(block)},"citations":', "}]")
    return [_append(text, system, block)]


def _to_message(text: str, message: Span, block: str) -> Splice:
    """To the end of a message's content, so that tool results stay first. Never to an assistant's words."""
    members, _ = spans.object_members(text, message.start) if isinstance(message.value, dict) else ([], 0)
    role, content = spans.only_member(members, "role"), spans.only_member(members, "content")
    if role is None or content is None or role.value == "assistant":
        raise NotUnderstood("unspliceable")
    return _append(text, content, block)


def _append(text: str, value: Member, block: str) -> Splice:
    if isinstance(value.value, str):
        return to_string(value, block)
    if isinstance(value.value, list):
        return to_array(text, value, f'{{"type":"text","text":{json.dumps(block)}}}')
    raise NotUnderstood("unspliceable")
