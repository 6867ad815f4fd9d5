"""What files of the past hold, whatever their format: conversations, statements, and what could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memproxy.model import Speaker


@dataclass(frozen=True, slots=True)
class Raw:
    """One value of a file and where it stands: "conversations.json[3]", "chats.jsonl line 7"."""

    where: str
    value: Any


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a person or an assistant. Without a time it was said when the one before it was."""

    role: Speaker
    text: str
    time: datetime | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as it was kept elsewhere."""

    where: str
    key: str  # the same for the same conversation each time it is read: it names the session here
    said: tuple[Said, ...]
    time: datetime | None = None  # when it began
    left_out: int = 0  # messages that nobody said: system prompts, tools, pictures alone


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact as another memory worded it."""

    where: str
    text: str
    time: datetime | None = None  # when it was learned
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """A part of a file that could not be read; the rest goes on."""

    where: str
    reason: str


Record = Conversation | Statement | Broken


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file: how its values are recognised and read."""

    name: str
    what: str  # for people
    knows: Callable[[Any], bool]
    read: Callable[[Iterable[Raw]], Iterator[Record]]


def each(reader: Callable[[Raw], Iterator[Record]]) -> Callable[[Iterable[Raw]], Iterator[Record]]:
    """A reader of values one by one; what is shaped otherwise than its format says is broken, and named."""

    def read(values: Iterable[Raw]) -> Iterator[Record]:
        for raw in values:
            try:
                yield from list(reader(raw))
            except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
                yield Broken(raw.where, f"not shaped as expected ({type(error).__name__})")

    return read
