"""How the lines of a block are written out: by sections and days (the standard), flat, or as Vitamem does it.

A layout is a function of lines and framing. What it returns goes between the marker lines; the budget is kept outside
of it (`render.py`), by leaving out the lines that matter least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple, TypeAlias

from memproxy.context.sections import (
    ARTIFACTS,
    EMOTIONAL,
    IDENTITY,
    INFERRED,
    PAST,
    PROACTIVE,
    SESSION,
    SURE,
    THREADS,
    TIMELINE,
    UNCERTAIN,
    VERIFIED,
)
from memproxy.model import ItemKind


class Line(NamedTuple):
    """One thing that a block says. Its text is one line (code and data have further, indented ones), made safe to stand
    in a prompt.
    """

    section: str  # one of `sections.ORDER`
    heading: str  # the day or the topic it stands under, as the standard layout writes it; "" where there is none
    text: str  # with who said it, how sure it is, until when it held
    kind: ItemKind = "turn"
    id: str = ""
    day: date = date.min
    confidence: float = 1.0
    pinned: bool = False
    own: bool = True  # the person's own words, or a fact they stated
    rank: int = 0  # 0: what matters most


Layout: TypeAlias = Callable[[Sequence[Line], str], str]  # lines in their order, and the sentence that frames them


def by_sections(lines: Sequence[Line], framing: str) -> str:
    """The standard: sections in a fixed order, days (or topics) as headings in them."""
    out = [framing]
    section = heading = ""
    for line in lines:
        if line.section != section:
            section, heading = line.section, ""
            out.append(section)
        if line.heading != heading:
            heading = line.heading
            if heading:
                out.append(heading)
        out.append(f"- {line.text}")
    return "\n".join(out)


_FLAT = (
    ("User profile:", (IDENTITY, EMOTIONAL)),
    ("Open topics:", (THREADS,)),
    ("Session context:", (SESSION,)),
    ("Relevant context from memory:", (VERIFIED, INFERRED, UNCERTAIN, TIMELINE, PROACTIVE)),
    ("Relevant code and data:", (ARTIFACTS,)),
    ("Relevant past conversations:", (PAST,)),
)
_UNDATED = (ARTIFACTS, IDENTITY, EMOTIONAL, THREADS, SESSION, PROACTIVE)


def flat(lines: Sequence[Line], framing: str) -> str:
    """A list for each kind of memory, every line with its day."""
    out = [framing]
    for heading, sections in _FLAT:
        here = [line for line in lines if line.section in sections]
        if here:
            out.append(heading)
            out += [f"- {_dated(line)}" for line in sorted(here, key=lambda line: line.day)]
    return "\n".join(out)


def _dated(line: Line) -> str:
    return line.text if line.section in _UNDATED else f"[{line.day.isoformat()}] {line.text}"


def vitamem(lines: Sequence[Line], framing: str) -> str:
    """Profile, what is always active, and what was found by month, each line with its weight and where it is from."""
    profile = [line for line in lines if line.section == IDENTITY and not line.pinned]
    critical = [line for line in lines if line.pinned]
    found = [line for line in lines if line.section != IDENTITY and not line.pinned]
    out = [framing]
    if profile:
        out += ["=== User Profile ===", *(f"- {line.text}" for line in profile)]
    if critical:
        out += ["=== Critical Memories (Always Active) ===", *map(_weighted, critical)]
    if found:
        out += ["<!-- stable context above, dynamic below -->"] if profile or critical else []
        out.append("=== Retrieved Memories ===")
        month = ""
        for line in sorted(found, key=lambda line: line.day):
            if f"{line.day:%B %Y}" != month:
                month = f"{line.day:%B %Y}"
                out.append(f"--- {month} ---")
            out.append(_weighted(line))
    return "\n".join(out)


def _weighted(line: Line) -> str:
    confirmed = line.own and line.confidence >= SURE
    mark = "[CRITICAL]" if line.pinned and confirmed else "[IMPORTANT]" if confirmed else "[INFO]"
    day = "" if line.day.isoformat() in line.text else f" (mentioned {line.day.isoformat()})"
    source = ", ".join(["confirmed" if confirmed else "inferred", *(["pinned"] if line.pinned else [])])
    return f"{mark} {line.text}{day} ({source})"


LAYOUTS: dict[str, Layout] = {"sections": by_sections, "flat": flat, "vitamem": vitamem}
