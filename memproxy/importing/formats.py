"""Which format a file has: told by what its values look like, never by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from memproxy.errors import SettingsError
from memproxy.importing.chatgpt import CHATGPT
from memproxy.importing.claude import CLAUDE
from memproxy.importing.datasets import LOCOMO, LONGMEMEVAL
from memproxy.importing.messages import CONVERSATIONS, MESSAGES
from memproxy.importing.records import Broken, Format, Raw, Record
from memproxy.importing.statements import MEM0, OPENMEMORY, ZEP

OURS = "memory"  # what `memproxy export` writes; read line by line, not as values
FORMATS = (CHATGPT, CLAUDE, LOCOMO, LONGMEMEVAL, CONVERSATIONS, MESSAGES, MEM0, ZEP, OPENMEMORY)


def named(name: str) -> Format:
    """The format of that name. Raises SettingsError."""
    found = next((known for known in FORMATS if known.name == name), None)
    if found is None:
        names = (OURS, *(known.name for known in FORMATS))
        raise SettingsError(f"--format: {name!r}; one of {', '.join(names)}")
    return found


def recognised(value: Any) -> Format | None:
    """The format of a value, if it is of one."""
    return next((known for known in FORMATS if known.knows(value)), None)


def records(
    values: Iterable[Raw | Broken], fixed: Format | None = None, told: Callable[[str], None] = lambda name: None
) -> Iterator[Record]:
    """What the values hold, each read as what it looks like, or all as one format; `told` is given their names."""
    for of, part in groupby(values, lambda raw: None if isinstance(raw, Broken) else fixed or recognised(raw.value)):
        if of is not None:
            told(of.name)
            yield from of.read(raw for raw in part if isinstance(raw, Raw))
            continue
        for raw in part:
            yield raw if isinstance(raw, Broken) else Broken(raw.where, "of no known format")
