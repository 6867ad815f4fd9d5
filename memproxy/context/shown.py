"""A piece of code or data as a block shows it: whole, with its lines, and unable to pose as anything else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memproxy.context.sections import one_line

_INDENT = "    "
_MOSTLY = 0.6  # share of a passage


@dataclass(frozen=True, slots=True)
class Shown:
    """A piece that was found, and what is shown in its place: its newest version."""

    found: str  # the text that passages were found in
    content: str  # "": it stands in the request, and is not said again
    description: str
    turn_id: str  # where the newest version stands
    time: datetime
    role: str


def lines_of(text: str) -> set[str]:
    """The lines of a text that say something, white space collapsed."""
    return {" ".join(line.split()) for line in text.splitlines() if line.strip()}


def holds(content: str, passage: str) -> bool:
    """Whether most of what a passage says stands in a piece of code or data."""
    lines = [" ".join(line.split()) for line in passage.splitlines() if line.strip()]
    known, whole = lines_of(content), " ".join(content.split())
    total = sum(map(len, lines))
    return total > 0 and sum(len(line) for line in lines if line in known or line in whole) >= _MOSTLY * total


def written(piece: Shown, day: str) -> str:
    """The piece as one item of a block: what it is, and its lines, each indented and safe."""
    lines = [f"{_INDENT}{_lead(line)}{one_line(line)}".rstrip() for line in piece.content.splitlines()]
    return "\n".join([f"{piece.description} ({day}):", *(line for line in lines if line)])


def _lead(line: str) -> str:
    blank = line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4)
    return blank[:40]
