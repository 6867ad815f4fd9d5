"""Where things stand inside a JSON text: the spans of an object's members and an array's items.

The standard library's scanner does the reading (`JSONDecoder.raw_decode` returns a value and the place where it ends,
at C speed), so walking one level of a 20 MB body costs little more than parsing it. Offsets are in characters of the
text; `Splice` carries them to byte offsets of the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from json import JSONDecoder
from typing import Any, NamedTuple

from memproxy.errors import NotUnderstood

_WHITESPACE = re.compile(r"[ \t\n\r]*")
# Python refuses to convert integers of more than 4,300 digits; no field that is read here needs more than 18.
_LONGEST_INT = 18


class Span(NamedTuple):
    """One JSON value and where it stands: text[start:end]."""

    value: Any
    start: int
    end: int


class Member(NamedTuple):
    """One key of an object, with its value and where the value stands."""

    key: str
    value: Any
    start: int
    end: int


class Splice(NamedTuple):
    """Bytes to insert before the character at `at`."""

    at: int
    data: bytes


class NotJson(NotUnderstood):
    """The text at this place is not the JSON that was looked for, or nested deeper than can be read."""

    def __init__(self) -> None:
        super().__init__("body")


def _integer(digits: str) -> int:
    return int(digits) if len(digits) <= _LONGEST_INT else 0


_DECODER = JSONDecoder(parse_int=_integer)


def text_of(body: bytes) -> str:
    """The body as text. Raises NotUnderstood where it is not UTF-8."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise NotUnderstood("body") from None


def skip_whitespace(text: str, at: int) -> int:
    """The place of the next character that is not JSON white space (len(text) at the end)."""
    match = _WHITESPACE.match(text, at)
    return match.end() if match else at


def value_at(text: str, at: int) -> Span:
    """The value that begins at or after `at`. Raises NotJson."""
    start = skip_whitespace(text, at)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        raise NotJson from None
    return Span(value, start, end)


def object_members(text: str, at: int = 0) -> tuple[list[Member], int]:
    """The members of the object at `at`, duplicates and all, and the place after its closing brace. Raises NotJson."""
    at = _opening(text, at, "{")
    members: list[Member] = []
    if text[at : at + 1] == "}":
        return members, at + 1
    while True:
        key = value_at(text, at)
        if not isinstance(key.value, str):
            raise NotJson
        colon = skip_whitespace(text, key.end)
        if text[colon : colon + 1] != ":":
            raise NotJson
        value = value_at(text, colon + 1)
        members.append(Member(key.value, *value))
        at, closed = _separator(text, value.end, "}")
        if closed:
            return members, at


def whole_object(text: str) -> list[Member]:
    """The members of the object that is all the text holds. Raises NotJson."""
    members, end = object_members(text)
    if skip_whitespace(text, end) != len(text):
        raise NotJson
    return members


def array_items(text: str, at: int = 0) -> tuple[list[Span], int]:
    """The items of the array at `at`, and the place after its closing bracket. Raises NotJson."""
    at = _opening(text, at, "[")
    items: list[Span] = []
    if text[at : at + 1] == "]":
        return items, at + 1
    while True:
        item = value_at(text, at)
        items.append(item)
        at, closed = _separator(text, item.end, "]")
        if closed:
            return items, at


def only_member(members: Iterable[Member], key: str) -> Member | None:
    """The member with this key, if there is one. Raises NotUnderstood where there are several: readers differ there."""
    found = [member for member in members if member.key == key]
    if len(found) > 1:
        raise NotUnderstood("ambiguous")
    return found[0] if found else None


def splice(body: bytes, text: str, edits: Iterable[Splice]) -> bytes:
    """The body with every edit inserted and nothing changed or left out; `text` is the same body decoded."""
    pieces: list[bytes] = []
    taken = 0
    for offset, data in byte_edits(body, text, edits):
        pieces += (body[taken:offset], data)
        taken = offset
    pieces.append(body[taken:])
    return b"".join(pieces)


def byte_edits(body: bytes, text: str, edits: Iterable[Splice]) -> list[tuple[int, bytes]]:
    """The same edits in order, as (offset in the body, inserted bytes)."""
    ascii_only = len(body) == len(text)
    ordered = sorted(edits, key=lambda edit: edit.at)  # a stable sort: what goes to one place stays in its order
    return [(edit.at if ascii_only else len(text[: edit.at].encode()), edit.data) for edit in ordered]


def _opening(text: str, at: int, bracket: str) -> int:
    at = skip_whitespace(text, at)
    if text[at : at + 1] != bracket:
        raise NotJson
    return skip_whitespace(text, at + 1)


def _separator(text: str, at: int, bracket: str) -> tuple[int, bool]:
    """Past a comma (and more to come: False) or the closing bracket (True)."""
    at = skip_whitespace(text, at)
    character = text[at : at + 1]
    if character == bracket:
        return at + 1, True
    if character != ",":
        raise NotJson
    return at + 1, False
