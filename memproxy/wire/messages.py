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
from memproxy.wire import content, spans
from memproxy.wire.additions import around, by_place, new_member, new_messages, plain_message
from memproxy.wire.chat_messages import messages_member
from memproxy.wire.messages_reply import MessageStream, whole_message
from memproxy.wire.readers import reply_reader
from memproxy.wire.spans import Member, Span, Splice
from memproxy.wire.values import count, mapping, sequence, string, strings

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
        members = spans.whole_object(spans.text_of(body))
        messages = messages_member(members)
        values = {member.key: member.value for member in members}
        user = string(mapping(values.get("metadata")).get("user_id"))
        return ChatRequest(
            messages=tuple(_message(mapping(value)) for value in messages.value),
            system=content.read(values.get("system")),
            model=string(values.get("model")) or None,
            stream=values.get("stream") is True,
            max_tokens=count(values.get("max_tokens")),
            fields={**strings(values), **({"metadata.user_id": user} if user else {})},
            extensible=True,
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
    messages, _ = spans.array_items(text, messages_member(members).start)
    found: list[Splice] = []
    for place, addition in by_place(additions).items():
        if place is None:
            found += _to_system(text, members, addition)
        elif 0 <= place < len(messages):
            found.append(_to_message(text, messages[place], addition))
        else:
            raise NotUnderstood("unspliceable")
    return found + new_messages(messages, additions, plain_message)


def _message(fields: dict[str, Any]) -> Message:
    role, text = string(fields.get("role")), content.read(fields.get("content"))
    kinds = {string(mapping(block).get("type")) for block in sequence(fields.get("content"))}
    answers_tools = role == "user" and "tool_result" in kinds
    return Message(
        role="tool" if answers_tools and not text else role,
        text=text,
        calls_tools="tool_use" in kinds,  # what the server's own tools do is no call to the client
        answers_tools=answers_tools,
    )


def _to_system(text: str, members: Sequence[Member], addition: str) -> list[Splice]:
    system = spans.only_member(members, "system")
    if system is None:
        return [new_member(members, "system", json.dumps(addition))]
    if isinstance(system.value, str):
        return [content.append_to_string(system, addition)]
    block = f'{{"type":"text","text":{json.dumps(addition)}}}'
    if isinstance(system.value, list):
        return [content.append_to_list(text, system, block)]
    if system.value is None:
        # A second member of that name would be read differently by different servers, and null cannot be taken away:
        # so it becomes the citations that a text block may have, or have none.
        return around(system, f'[{block[:-1]},"citations":', "}]")
    raise NotUnderstood("unspliceable")


def _to_message(text: str, message: Span, addition: str) -> Splice:
    """To the end of a message's content, so that tool results stay first. Never to an assistant's words."""
    role = mapping(message.value).get("role")
    edit = None if role in (None, "assistant") else content.append(text, message, addition)
    if edit is None:
        raise NotUnderstood("unspliceable")
    return edit
