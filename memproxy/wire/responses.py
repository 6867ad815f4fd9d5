"""OpenAI Responses: `POST …/responses`, as OpenAI, Azure and compatible servers speak it.

What is said is `input`: a string, or a list of items of which some are messages and others tool calls, their outputs,
reasoning, references. A system text belongs into `instructions`: unlike what stands in `input`, it is not carried over
to requests that go on from this one, so it never piles up in what the upstream keeps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from memproxy.errors import NotUnderstood
from memproxy.interfaces import ReplyReader
from memproxy.model import Addition, ChatRequest, Message
from memproxy.wire import content, spans
from memproxy.wire.additions import by_place, new_member
from memproxy.wire.openai_common import error_body
from memproxy.wire.readers import reply_reader
from memproxy.wire.responses_reply import CLIENT_CALLS, ResponsesStream, whole_reply
from memproxy.wire.spans import Member, Splice
from memproxy.wire.values import count, mapping, string, strings

_TEXT_PARTS = ("input_text", "output_text", "text")
_FETCHED = re.compile(rb"/responses/([^/]+)\Z")


class Responses:
    """The wire format of Responses; see `interfaces.WireFormat`."""

    name = "responses"
    records = True

    def decode(self, body: bytes, path: bytes = b"") -> ChatRequest:
        """Read a request body. Items keep their places: each is one message, whatever it is.

        Raises NotUnderstood: "body" where it is no JSON object or its input neither text nor list, "ambiguous" where
        it has two.
        """
        members = spans.whole_object(spans.text_of(body))
        given = _input(members)
        values = {member.key: member.value for member in members}
        return ChatRequest(
            messages=_messages(given),
            system=string(values.get("instructions")),
            previous=_previous(values),
            model=string(values.get("model")) or None,
            stream=values.get("stream") is True,
            max_tokens=count(values.get("max_output_tokens")),
            fields=strings(values),
        )

    def inject(self, body: bytes, additions: Sequence[Addition]) -> bytes:
        """The body with the additions spliced in, every other byte as it came.

        Raises NotUnderstood: "body" and "ambiguous" as `decode` does, "unspliceable" where no place is safe.
        """
        text = spans.text_of(body)
        return spans.splice(body, text, edits(text, additions))

    def reader(self, content_type: str, content_encoding: str) -> ReplyReader:
        """A reader for one answer with these response headers ("" where absent).

        It reads what `fetched_id` recognises as well: the body, and the rest of a stream.
        """
        return reply_reader(content_type, content_encoding, ResponsesStream, whole_reply)

    def error(self, status: int, message: str, code: str) -> bytes:
        """An error as OpenAI's API words it."""
        return error_body(status, message, code)


def fetched_id(method: str, path: bytes) -> str | None:
    """The answer that a request fetches with `GET …/responses/{id}`; None where it does something else."""
    match = _FETCHED.search(path) if method == "GET" else None
    return unquote(match[1].decode("latin-1")) if match else None


def edits(text: str, additions: Sequence[Addition]) -> list[Splice]:
    """What to insert, and where, so that the request carries the additions. Raises NotUnderstood."""
    members = spans.whole_object(text)
    given = _input(members)
    instructions = spans.only_member(members, "instructions")
    if _bars_instructions(members, instructions):
        newest = _newest_user(given)
        additions = [replace(a, message=newest) if a.message is None else a for a in additions]
    return [
        _to_instructions(text, members, instructions, addition)
        if place is None
        else _to_input(text, given, place, addition)
        for place, addition in by_place(additions).items()
    ]


# --- reading -------------------------------------------------------------------------------------------------


def _input(members: Sequence[Member]) -> Member | None:
    """The input, which a request with a template or a conversation may do without. Raises NotUnderstood."""
    given = spans.only_member(members, "input")
    if given is not None and not isinstance(given.value, str | list | None):
        raise NotUnderstood("body")
    return given


def _messages(given: Member | None) -> tuple[Message, ...]:
    if given is None or given.value is None:
        return ()
    if isinstance(given.value, str):
        return (Message("user", string(given.value)),)
    return tuple(map(_message, given.value))


def _message(value: Any) -> Message:
    """One item as a message: what it says if it is one, else who speaks in it; other items have their type as role."""
    item = mapping(value)
    kind = string(item.get("type"))
    if _is_message(item):
        return Message(string(item.get("role")), content.read(item.get("content"), _TEXT_PARTS))
    if kind.endswith("_call_output"):
        return Message("tool", content.read(item.get("output"), _TEXT_PARTS))
    if kind.endswith("_call"):
        return Message("assistant", "", calls_tools=kind in CLIENT_CALLS)
    return Message(kind, "")


def _is_message(item: Mapping[str, Any]) -> bool:
    """A message may leave out its type, and so may a reference to another item; but that has no role."""
    return item.get("type") == "message" or (item.get("type") is None and "role" in item)


def _previous(values: Mapping[str, Any]) -> str | None:
    """The answer or the conversation that a request goes on from; a conversation is an id or an object with one."""
    conversation = values.get("conversation")
    named = string(conversation) or string(mapping(conversation).get("id"))
    return string(values.get("previous_response_id")) or named or None


# --- adding --------------------------------------------------------------------------------------------------


def _bars_instructions(members: Sequence[Member], instructions: Member | None) -> bool:
    """Whether instructions of ours would do harm: override a template's, or stand beside a null of the same name."""
    if instructions is None:
        return any(member.key == "prompt" and member.value is not None for member in members)
    return instructions.value is None


def _newest_user(given: Member | None) -> int:
    messages = _messages(given)
    for place in reversed(range(len(messages))):
        if messages[place].role == "user":
            return place
    raise NotUnderstood("unspliceable")


def _to_instructions(text: str, members: Sequence[Member], instructions: Member | None, addition: str) -> Splice:
    if instructions is None:
        if members:
            return new_member(members, "instructions", json.dumps(addition))
        return Splice(text.index("{") + 1, f'"instructions":{json.dumps(addition)}'.encode())
    if isinstance(instructions.value, str):
        return content.append_to_string(instructions, addition)
    raise NotUnderstood("unspliceable")


def _to_input(text: str, given: Member | None, place: int, addition: str) -> Splice:
    if given is not None and isinstance(given.value, str) and place == 0:
        return content.append_to_string(given, addition)
    if given is not None and isinstance(given.value, list) and 0 <= place < len(given.value):
        item = spans.array_items(text, given.start)[0][place]
        fields = mapping(item.value)
        if _is_message(fields):
            spans.only_member(spans.object_members(text, item.start)[0], "type")
            # What an assistant said is in parts of another type, which only an upstream makes.
            kind = "input_text" if fields.get("role") != "assistant" else None
            edit = content.append(text, item, addition, kind)
            if edit is not None:
                return edit
    raise NotUnderstood("unspliceable")
