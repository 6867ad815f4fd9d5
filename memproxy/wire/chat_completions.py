"""OpenAI chat completions: `POST …/chat/completions`, as OpenAI, Azure and every compatible server speak it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from memproxy.errors import NotUnderstood
from memproxy.interfaces import ReplyReader
from memproxy.model import Addition, ChatRequest, Message
from memproxy.wire import spans
from memproxy.wire.chat_reply import ChatStream, whole_reply
from memproxy.wire.readers import reply_reader
from memproxy.wire.spans import Member, Span, Splice
from memproxy.wire.values import count, mapping, sequence, string

_SYSTEM_ROLES = ("system", "developer")
_ERROR_TYPES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error"}


class ChatCompletions:
    """The wire format of chat completions; see `interfaces.WireFormat`."""

    name = "chat_completions"
    records = True

    def decode(self, body: bytes, path: bytes = b"") -> ChatRequest:
        """Read a request body. Messages keep their places, whatever they hold.

        Raises NotUnderstood: "body" where it is no JSON object with a list of messages, "ambiguous" where it has two.
        """
        text = spans.text_of(body)
        fields = _top_level(text)
        messages = _messages_member(fields)
        values = {member.key: member.value for member in fields}
        limit = count(values.get("max_completion_tokens"))
        return ChatRequest(
            messages=tuple(_message(value) for value in messages.value),
            model=string(values.get("model")) or None,
            stream=values.get("stream") is True,
            max_tokens=limit if limit is not None else count(values.get("max_tokens")),
            choices=count(values.get("n")) or 1,
            fields={key: string(value) for key, value in values.items() if isinstance(value, str)},
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
        kind = _ERROR_TYPES.get(status, "upstream_error" if status >= 500 else "invalid_request_error")
        return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}}).encode()


def edits(text: str, additions: Sequence[Addition]) -> list[Splice]:
    """What to insert, and where, so that the request carries the additions. Raises NotUnderstood."""
    messages = _messages_member(_top_level(text))
    items, _ = spans.array_items(text, messages.start)
    return [_edit(text, items, addition) for addition in additions]


def _edit(text: str, items: Sequence[Span], addition: Addition) -> Splice:
    if addition.message is not None:
        targets = items[addition.message : addition.message + 1]
    else:
        roles = [string(mapping(item.value).get("role")) for item in items]
        targets = [items[index] for index in _system_places(roles)]
        if not targets:
            return _new_system_message(items, addition.text)
    for target in targets:
        edit = _append(text, target, addition.text)
        if edit is not None:
            return edit
    raise NotUnderstood("unspliceable")


def _top_level(text: str) -> list[Member]:
    members, end = spans.object_members(text)
    if spans.skip_whitespace(text, end) != len(text):
        raise spans.NotJson
    return members


def _messages_member(members: Sequence[Member]) -> Member:
    messages = spans.only_member(members, "messages")
    if messages is None or not isinstance(messages.value, list):
        raise NotUnderstood("body")
    return messages


def _message(value: Any) -> Message:
    fields = mapping(value)
    return Message(
        role=string(fields.get("role")),
        text=_text(fields.get("content")),
        name=string(fields.get("name")) or None,
        calls_tools=bool(fields.get("tool_calls") or fields.get("function_call")),
    )


def _text(content: Any) -> str:
    """What is said: the string, or the text parts joined by newlines."""
    if isinstance(content, str):
        return string(content)
    texts = [part if isinstance(part, str) else _part_text(mapping(part)) for part in sequence(content)]
    return string("\n".join(text for text in texts if text))


def _part_text(part: dict[str, Any]) -> str:
    text = part.get("text") if part.get("type") == "text" else None
    return text if isinstance(text, str) else ""


def _system_places(roles: Sequence[str]) -> list[int]:
    """The system messages a block may be appended to, best first: the leading ones from their end, then later ones.

    A list without a leading one is never given a second: many chat templates refuse two.
    """
    leading = next((index for index, role in enumerate(roles) if role not in _SYSTEM_ROLES), len(roles))
    later = [index for index in range(leading, len(roles)) if roles[index] in _SYSTEM_ROLES]
    return [*reversed(range(leading)), *later]


def _new_system_message(items: Sequence[Span], block: str) -> Splice:
    """A system message before the first one. Without any message there is no conversation to add to."""
    if not items:
        raise NotUnderstood("unspliceable")
    message = f'{{"role":"system","content":{json.dumps(block)}}},'
    return Splice(items[0].start, message.encode())


def _append(text: str, message: Span, block: str) -> Splice | None:
    """The edit that puts the block at the end of a message's words; None where its content has no end to append to."""
    members, _ = spans.object_members(text, message.start)
    spans.only_member(members, "role")
    content = spans.only_member(members, "content")
    if content is None:  # the upstream will refuse it; with our block in its place it might not
        return None
    if isinstance(content.value, str):
        gap = "\n\n" if content.value else ""
        return Splice(content.end - 1, json.dumps(gap + block)[1:-1].encode())
    if isinstance(content.value, list):
        return _append_part(text, content, block)
    return None


def _append_part(text: str, content: Member, block: str) -> Splice:
    """A text part after the last one, whatever that is and carries (a cache breakpoint stays before ours)."""
    part = f'{{"type":"text","text":{json.dumps(block)}}}'
    items, end = spans.array_items(text, content.start)
    return Splice(items[-1].end, f",{part}".encode()) if items else Splice(end - 1, part.encode())
