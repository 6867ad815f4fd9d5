"""Small readings of JSON values whose shape nobody has checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec


def parse(data: bytes) -> Any:
    """A JSON value, or None where the bytes hold none (or one nested too deep to read).

    msgspec reads a stream's chunk four times as fast as the standard library, but refuses what other servers send all
    the same (half emoji, NaN, huge numbers): those few go through the slower, laxer reader.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        return json.loads(data, parse_int=float)
    except (ValueError, RecursionError):
        return None


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def string(value: Any) -> str:
    """The value if it is a string, else ""; see `well_formed`."""
    return well_formed(value) if isinstance(value, str) else ""


def strings(fields: Mapping[str, Any]) -> dict[str, str]:
    """Those fields whose value is a string."""
    return {key: string(value) for key, value in fields.items() if isinstance(value, str)}


def count(value: Any) -> int | None:
    """The value if it is a whole number (true and false are none), else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def well_formed(text: str) -> str:
    r"""The text with lone surrogates (legal JSON: "\ud83d") replaced by U+FFFD, so that it can be encoded anywhere."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def word(*values: Any) -> str:
    """The first of the values that is a plain word, else "error": what is kept of an error, for anything longer might
    quote what somebody said."""
    plain = (value for value in values if isinstance(value, str) and value.isascii() and value.isidentifier())
    return next((value for value in plain if len(value) <= 64), "error")
