"""Google's Gemini API: `POST …:generateContent` and `…:streamGenerateContent`, on Google AI and on Vertex AI.

The model and whether the answer is streamed stand in the path. Every key may be spelled in camelCase or in snake_case,
and where a list belongs a single object is taken too, as the API itself does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any
from urllib.parse import unquote

from memproxy.errors import NotUnderstood
from memproxy.interfaces import ReplyReader
from memproxy.model import Addition, ChatRequest, Message
from memproxy.wire import content, spans
from memproxy.wire.additions import around, by_place, new_member, new_messages
from memproxy.wire.gemini_reply import GeminiStream, whole_answer
from memproxy.wire.readers import reply_reader
from memproxy.wire.spans import Member, Span, Splice
from memproxy.wire.values import count, mapping, sequence, string, strings

_METHOD = re.compile(rb"([^/]*):(g|streamG)enerateContent\Z")
_ROLES = {"": "user", "model": "assistant", "function": "tool"}
_SYSTEM = ("systemInstruction", "system_instruction")
_CACHED = ("cachedContent", "cached_content")
_CONFIG = ("generationConfig", "generation_config")
_LIMIT = ("maxOutputTokens", "max_output_tokens")
_CANDIDATES = ("candidateCount", "candidate_count")
_CALL = ("functionCall", "function_call")
_ANSWER = ("functionResponse", "function_response")
# google.rpc.Code, by the HTTP status that stands for it.
_STATUSES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    504: "DEADLINE_EXCEEDED",
}


class Gemini:
    """The wire format of generated content; see `interfaces.WireFormat`."""

    name = "gemini"
    records = True

    def decode(self, body: bytes, path: bytes = b"") -> ChatRequest:
        """Read a request body and its path. Contents keep their places, whatever they hold.

        Raises NotUnderstood: "body" where it is no JSON object with contents, "ambiguous" where it has them twice.
        """
        members = spans.whole_object(spans.text_of(body))
        values = {member.key: member.value for member in members}
        contents = _contents_member(members).value
        config = mapping(_either(values, _CONFIG))
        method = _METHOD.search(path)
        return ChatRequest(
            messages=_messages(contents if isinstance(contents, list) else [contents]),
            system=_text(_parts(_either(values, _SYSTEM)), "\n"),
            model=unquote(method[1].decode("latin-1")) or None if method else None,
            stream=method is not None and method[2] == b"streamG",
            max_tokens=count(_either(config, _LIMIT)),
            choices=count(_either(config, _CANDIDATES)) or 1,
            fields=strings(values),
            extensible=isinstance(contents, list),
        )

    def inject(self, body: bytes, additions: Sequence[Addition]) -> bytes:
        """The body with the additions spliced in, every other byte as it came.

        Raises NotUnderstood: "body" as `decode` does, "ambiguous" where a key that would be edited stands there twice,
        "unspliceable" where no place is safe (the model's words and mere results of functions among them).
        """
        text = spans.text_of(body)
        return spans.splice(body, text, edits(text, additions))

    def reader(self, content_type: str, content_encoding: str) -> ReplyReader:
        """A reader for one answer with these response headers ("" where absent)."""
        return reply_reader(content_type, content_encoding, GeminiStream, whole_answer, arrays=True)

    def error(self, status: int, message: str, code: str) -> bytes:
        """An error as Google's APIs word it; its code is the status, and there is no place for another."""
        word = _STATUSES.get(status, "UNAVAILABLE" if status >= 500 else "INVALID_ARGUMENT")
        return json.dumps({"error": {"code": status, "message": message, "status": word}}).encode()


def edits(text: str, additions: Sequence[Addition]) -> list[Splice]:
    """What to insert, and where, so that the request carries the additions. Raises NotUnderstood."""
    members = spans.whole_object(text)
    contents = _contents_member(members)
    items = spans.array_items(text, contents.start)[0] if isinstance(contents.value, list) else [contents]
    messages = _messages([item.value for item in items])
    if _cached(members):
        additions = [replace(a, message=_newest(messages)) if a.message is None else a for a in additions]
    found: list[Splice] = []
    for place, addition in by_place(additions).items():
        if place is None:
            found += _to_system(text, members, addition)
        elif 0 <= place < len(items) and messages[place].role not in ("assistant", "tool"):
            found += _append(text, items[place], addition)
        else:
            raise NotUnderstood("unspliceable")
    return found + new_messages(items, additions, _content)


def _content(role: str, text: str) -> str:
    return f'{{"role":"{"model" if role == "assistant" else role}","parts":[{_part(text)}]}}'


# --- reading -------------------------------------------------------------------------------------------------


def _contents_member(members: Sequence[Member]) -> Member:
    contents = spans.only_member(members, "contents")
    if contents is None or not isinstance(contents.value, list | dict | str):
        raise NotUnderstood("body")
    return contents


def _either(fields: Mapping[str, Any], names: tuple[str, str]) -> Any:
    """A field in whichever of its two spellings it has."""
    value = fields.get(names[0])
    return fields.get(names[1]) if value is None else value


def _messages(contents: Sequence[Any]) -> tuple[Message, ...]:
    return tuple(_at_first(map(_message, contents)))


def _at_first(messages: Iterator[Message]) -> Iterator[Message]:
    """The same messages, but what the model said in a run of them is all said in the first.

    Google's own clients send a streamed answer back as one content for each of its chunks.
    """
    for role, run in groupby(messages, key=lambda message: message.role):
        first, *others = run
        if role == "assistant":
            first = replace(first, text="".join([first.text, *(other.text for other in others)]))
            others = [replace(other, text="") for other in others]
        yield from (first, *others)


def _message(value: Any) -> Message:
    role = string(mapping(value).get("role"))
    role = _ROLES.get(role, role)
    parts = _parts(value)
    text = _text(parts, "" if role == "assistant" else "\n")
    answers_tools = role != "assistant" and any(_either(part, _ANSWER) is not None for part in parts)
    return Message(
        role="tool" if answers_tools and not text else role,
        text=text,
        calls_tools=any(_either(part, _CALL) is not None for part in parts),
        answers_tools=answers_tools,
    )


def _parts(value: Any) -> list[dict[str, Any]]:
    """The parts of a content, of a list of parts, or of a bare string."""
    parts = mapping(value).get("parts") if isinstance(value, dict) else value
    items = sequence(parts) if isinstance(parts, list) else [parts]
    return [{"text": item} if isinstance(item, str) else mapping(item) for item in items]


def _text(parts: Sequence[Mapping[str, Any]], between: str) -> str:
    texts = [part.get("text") for part in parts if part.get("thought") is not True]
    return string(between.join(text for text in texts if isinstance(text, str) and text))


# --- splicing ------------------------------------------------------------------------------------------------


def _cached(members: Sequence[Member]) -> bool:
    """Whether the request stands on a cached prompt, beside which the API refuses an instruction."""
    return any(member.key in _CACHED and member.value for member in members)


def _newest(messages: Sequence[Message]) -> int:
    """The place of what the person said last, -1 where they said nothing."""
    places = reversed(range(len(messages)))
    return next((i for i in places if messages[i].role == "user" and not messages[i].answers_tools), -1)


def _to_system(text: str, members: Sequence[Member], addition: str) -> list[Splice]:
    found = [member for member in members if member.key in _SYSTEM]
    if len(found) > 1:
        raise NotUnderstood("ambiguous")
    parts = f'{{"parts":[{_part(addition)}]}}'
    if not found:
        return [new_member(members, _SYSTEM[_snake_case(members)], parts)]
    if found[0].value is None:
        # There can be no second member of that name, and null cannot be taken away: so it becomes an absent role.
        return around(found[0], f'{parts[:-1]},"role":', "}")
    return _append(text, found[0], addition)


def _snake_case(members: Sequence[Member]) -> bool:
    """Whether the client spells keys so, as far as its top level and its parts tell."""
    contents = next(member.value for member in members if member.key == "contents")
    parts = [part for value in sequence(contents) for part in _parts(value)]
    return any("_" in key for fields in ([member.key for member in members], *parts) for key in fields)


def _append(text: str, value: Span | Member, addition: str) -> list[Splice]:
    """A text part after the last part of a content, of a list of parts, or of a bare string."""
    if isinstance(value.value, dict):
        value = _parts_member(text, value)
        if isinstance(value.value, dict):
            return around(value, "[", f",{_part(addition)}]")
    if isinstance(value.value, str):
        return [content.append_to_string(value, addition)]
    if isinstance(value.value, list):
        return [content.append_to_list(text, value, _part(addition))]
    raise NotUnderstood("unspliceable")


def _parts_member(text: str, value: Span | Member) -> Member:
    members, _ = spans.object_members(text, value.start)
    spans.only_member(members, "role")
    parts = spans.only_member(members, "parts")
    if parts is None:  # the API will refuse it; with our words in it, it might not
        raise NotUnderstood("unspliceable")
    return parts


def _part(addition: str) -> str:
    return f'{{"text":{json.dumps(addition)}}}'
