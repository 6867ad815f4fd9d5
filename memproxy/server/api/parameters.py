"""Query parameters, each declared once: what it is called, what it takes, how it is read and what the document says.

A parameter stands at most once in a query, unless it takes several values. What cannot be meant raises Problem 400.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar, get_args
from urllib.parse import parse_qs

from memproxy.errors import Problem

T_co = TypeVar("T_co", covariant=True)
MAX_PAGE = 500
MAX_TEXT = 5000  # characters: percent-encoded, more would not fit into the 64 KiB that a URL may have
_LONGEST_NUMBER = 15  # digits


class Parameter(Protocol[T_co]):
    """One query parameter."""

    @property
    def name(self) -> str:
        """As it stands in the query."""

    @property
    def about(self) -> str:
        """What it says, for the document."""

    @property
    def needed(self) -> bool:
        """Whether it has to be there."""

    def schema(self) -> Mapping[str, Any]:
        """What it takes, as JSON Schema."""

    def read(self, values: Sequence[str]) -> T_co:
        """What its values in the query mean. Raises Problem."""


def query_of(raw: bytes) -> Mapping[str, Sequence[str]]:
    """A query string, read strictly. Raises Problem."""
    try:
        return parse_qs(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=50)
    except (UnicodeDecodeError, ValueError):
        raise Problem(400, "The query string cannot be read") from None


def _single(name: str, values: Sequence[str]) -> str | None:
    if len(values) > 1:
        raise Problem(400, f"{name} stands there more than once", "Say it once.")
    return values[0] if values else None


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number within bounds. A default out of bounds is what handlers get where nothing was said."""

    name: str
    about: str
    default: int
    low: int
    high: int
    needed: bool = field(default=False, init=False)

    def schema(self) -> Mapping[str, Any]:
        """An integer with its bounds and default."""
        shape = {"type": "integer", "minimum": self.low, "maximum": self.high}
        return {**shape, "default": self.default} if self.low <= self.default <= self.high else shape

    def read(self, values: Sequence[str]) -> int:
        """The number, or the default."""
        value = _single(self.name, values)
        if value is None:
            return self.default
        digits = value.isascii() and value.isdigit() and len(value) <= _LONGEST_NUMBER
        if not digits or not self.low <= int(value) <= self.high:
            raise Problem(400, f"{self.name} is a whole number from {self.low} to {self.high}")
        return int(value)


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false; None where it is left open."""

    name: str
    about: str
    needed: bool = field(default=False, init=False)

    def schema(self) -> Mapping[str, Any]:
        """A boolean."""
        return {"type": "boolean"}

    def read(self, values: Sequence[str]) -> bool | None:
        """What was said, if anything was."""
        value = _single(self.name, values)
        if value is None:
            return None
        if value not in ("true", "false"):
            raise Problem(400, f"{self.name} is true or false")
        return value == "true"


@dataclass(frozen=True, slots=True)
class Moment:
    """A time; one without a zone is UTC, and a day is its beginning."""

    name: str
    about: str
    needed: bool = field(default=False, init=False)

    def schema(self) -> Mapping[str, Any]:
        """Text: ISO 8601 allows more than the format `date-time` does."""
        return {"type": "string", "examples": ["2026-11-30", "2026-11-30T08:00:00Z"]}

    def read(self, values: Sequence[str]) -> datetime | None:
        """The time in UTC, if one was said."""
        value = _single(self.name, values)
        if not value:
            return None
        try:
            said = datetime.fromisoformat(value.replace(" ", "+"))  # a plus that nobody encoded arrives as a blank
            return said.replace(tzinfo=UTC) if said.tzinfo is None else said.astimezone(UTC)
        except (ValueError, OverflowError):
            raise Problem(400, f"{self.name} is a time", "Write it as 2026-11-30 or 2026-11-30T08:00:00Z.") from None


@dataclass(frozen=True, slots=True)
class Text:
    """Any text; None where nothing was said."""

    name: str
    about: str
    longest: int = MAX_TEXT

    needed: bool = field(default=False, init=False)

    def schema(self) -> Mapping[str, Any]:
        """Text with its limit."""
        return {"type": "string", "maxLength": self.longest}

    def read(self, values: Sequence[str]) -> str | None:
        """The text, if there is one."""
        value = _single(self.name, values)
        if value is not None and len(value) > self.longest:
            raise Problem(400, f"{self.name} is too long", f"At most {self.longest} characters.")
        return value


@dataclass(frozen=True, slots=True)
class Question:
    """A text that has to be there."""

    name: str
    about: str
    longest: int = MAX_TEXT
    needed: bool = field(default=True, init=False)

    def schema(self) -> Mapping[str, Any]:
        """Text with its limits."""
        return {"type": "string", "minLength": 1, "maxLength": self.longest}

    def read(self, values: Sequence[str]) -> str:
        """The text."""
        value = _single(self.name, values)
        if not value:
            raise Problem(400, f"{self.name} is missing", f"Add ?{self.name}=… to the URL.")
        if len(value) > self.longest:
            raise Problem(400, f"{self.name} is too long", f"At most {self.longest} characters.")
        return value


@dataclass(frozen=True, slots=True)
class Texts:
    """Several texts: repeated, or with commas between them."""

    name: str
    about: str
    needed: bool = field(default=False, init=False)

    def schema(self) -> Mapping[str, Any]:
        """An array."""
        return {"type": "array", "items": {"type": "string"}}

    def read(self, values: Sequence[str]) -> list[str]:
        """All of them."""
        return [part for value in values for part in value.split(",") if part]


@dataclass(frozen=True, slots=True)
class Choices:
    """Some of a closed list (a Literal type): repeated, or with commas between them."""

    name: str
    about: str
    kind: Any
    default: tuple[str, ...] = ()
    needed: bool = field(default=False, init=False)

    def schema(self) -> Mapping[str, Any]:
        """An array of an enumeration."""
        shape: dict[str, Any] = {"type": "array", "items": {"type": "string", "enum": list(get_args(self.kind))}}
        return {**shape, "default": list(self.default)} if self.default else shape

    def read(self, values: Sequence[str]) -> list[Any]:
        """All of them, each once; the default where there are none."""
        known = get_args(self.kind)
        asked = [part for value in values for part in value.split(",")]
        if not set(asked) <= set(known):
            raise Problem(400, f"{self.name} is one of {', '.join(known)}")
        return list(dict.fromkeys(asked)) or list(self.default)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a closed list (a Literal type); None where it is left open."""

    name: str
    about: str
    kind: Any
    needed: bool = field(default=False, init=False)

    def schema(self) -> Mapping[str, Any]:
        """An enumeration."""
        return {"type": "string", "enum": list(get_args(self.kind))}

    def read(self, values: Sequence[str]) -> Any:
        """What was chosen, if anything was."""
        value = _single(self.name, values)
        if value is not None and value not in get_args(self.kind):
            raise Problem(400, f"{self.name} is one of {', '.join(get_args(self.kind))}")
        return value


_ID = "[0-9a-f]{32}"
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z"


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a list goes on: after a row's place in its order. `form` is a pattern with a group for each part of it."""

    form: str
    name: str = field(default="cursor", init=False)
    about: str = field(default="Where the list goes on: `next_cursor` of the page before.", init=False)
    needed: bool = field(default=False, init=False)

    def schema(self) -> Mapping[str, Any]:
        """Text of that form."""
        return {"type": "string", "pattern": f"^{self.form}$"}

    def read(self, values: Sequence[str]) -> tuple[Any, ...] | None:
        """The parts of the place, if one is given."""
        value = _single(self.name, values)
        if value is None:
            return None
        found = re.fullmatch(self.form, value)
        if found is None:
            raise Problem(400, "cursor is none of ours", "Pass the next_cursor of the page before.")
        return found.groups()


def cursor(*parts: object) -> str:
    """The place of a row, as a cursor has it."""
    return "~".join(map(str, parts))


AFTER = Cursor(f"({_ID})")
AFTER_TIME = Cursor(f"({_TIME})~({_ID})")
AFTER_DAY = Cursor("([0-9]{4}-[0-9]{2}-[0-9]{2})~([a-z_-]+)")
AFTER_KIND = Cursor(f"({_TIME})~([a-z]+)~({_ID})")
AFTER_NAME = Text("cursor", AFTER.about, 255)
LIMIT = Number("limit", "How many rows at most.", 100, 1, MAX_PAGE)
SESSION = Text("session", "Of this conversation alone: its id.", 255)
TIMEOUT = Number("timeout", "How many seconds to wait at most.", 30, 0, 600)
