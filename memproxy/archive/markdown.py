"""A memory as a page for reading: facts by tag with what stands behind them, a timeline, summaries, conversations.

Whatever was stored is text here: each line of it stands where it belongs, and its signs mean nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from memproxy.interfaces import Connection
from memproxy.model import Entity, Fact
from memproxy.store import archive, facts
from memproxy.store.rows import scoped, to_text

# Every sign that CommonMark or its tables, footnotes and bare links give a meaning to; each may follow a backslash.
_SIGNS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&=:@$^\"'/])")
_DIVIDED = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_HELD = ("current", "historical", "expired", "quarantined")  # forgotten ones are not for reading


def inline(text: str) -> str:
    """A text as part of a line."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


def block(text: str, indent: str = "") -> str:
    """A text as a quotation of its own, line by line."""
    lines = [_SIGNS.sub(r"\\\1", line.strip()) for line in _DIVIDED.split(text)]
    return "".join(f"{indent}> {line}  \n" if line else f"{indent}>\n" for line in lines)


async def page(conn: Connection, entity: Entity, now: datetime) -> AsyncIterator[bytes]:
    """The page, a piece at a time."""
    title = f"# What is remembered of {inline(entity.name)}\n\nTaken away on {day(to_text(now))}.\n"
    yield title.encode("utf-8", "replace")
    async for part in _parts(conn, entity):
        yield part.encode("utf-8", "replace")


async def _parts(conn: Connection, entity: Entity) -> AsyncIterator[str]:
    async for part in _facts(conn, entity):
        yield part
    async for part in _profile(conn, entity):
        yield part
    async for part in _timeline(conn, entity):
        yield part
    async for part in _summaries(conn, entity):
        yield part
    async for part in _conversations(conn, entity):
        yield part


async def _facts(conn: Connection, entity: Entity) -> AsyncIterator[str]:
    yield "\n## Facts\n"
    tags = [str(row["tag"]) for row in await conn.all("archive_tags", **scoped(entity))]
    if not tags:
        yield "\nNone yet.\n"
    for tag in tags:
        yield f"\n### {inline(tag)}\n\n"
        after: str | None = None
        while found := await facts.list_facts(
            conn, entity, statuses=_HELD, tags=[tag], limit=archive.PAGE, after=after
        ):
            changes = await archive.beside(conn, entity, "changes", [fact.id for fact in found])
            yield "".join(_fact(fact, changes.get(fact.id, ())) for fact in found)
            after = found[-1].id


def _fact(fact: Fact, changes: Iterable[Mapping[str, Any]]) -> str:
    about: list[str] = [fact.status] if fact.status != "current" else []
    about += ["pinned"] if fact.pinned else []
    about += [f"{round(fact.confidence * 100)} % sure"]
    about += [f"since {day(to_text(fact.valid_from))}"] if fact.valid_from else []
    about += [f"until {day(to_text(fact.valid_until))}"] if fact.valid_until else []
    about += [f"known since {day(to_text(fact.recorded_at))}"]
    lines = f"- {inline(fact.text)} ({', '.join(about)})\n"
    if fact.quote:
        lines += block(fact.quote, "  ") + "\n"
    return lines + "".join(f"  - {line}\n" for line in _history(changes))


def _history(changes: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What happened to a fact after it was made."""
    for change in changes:
        if change["kind"] == "created":
            continue
        before = json.loads(change["before"])
        was = f", it said: {inline(str(before['text']))}" if before.get("text") else ""
        why = f": {inline(change['reason'])}" if change["reason"] and change["reason"] != change["kind"] else ""
        yield f"{day(change['time'])} {inline(change['kind'])}{why}{was}"


async def _profile(conn: Connection, entity: Entity) -> AsyncIterator[str]:
    rows = await conn.all("profile_current", **scoped(entity))
    if rows:
        yield "\n## Profile\n\n"
    for row in rows:
        value = json.loads(row["value"])
        said = value if isinstance(value, str) else ", ".join(f"{name} {value[name]}" for name in sorted(value))
        yield f"- {inline(row['field'])}: {inline(said)}\n"


async def _timeline(conn: Connection, entity: Entity) -> AsyncIterator[str]:
    """What holds and happened at a time, in its order."""
    title = "\n## Timeline\n\n"
    after, after_id = "", ""
    while rows := await conn.all(
        "archive_timeline", **scoped(entity), after=after, after_id=after_id, limit=archive.PAGE
    ):
        yield title + "".join(f"- {day(row['moment'])} {inline(row['text'])}\n" for row in rows)
        title, after, after_id = "", rows[-1]["moment"], rows[-1]["id"]


async def _summaries(conn: Connection, entity: Entity) -> AsyncIterator[str]:
    title = "\n## Summaries\n"
    async for found in archive.pages(conn, entity, "summaries"):
        told = [row for row in found if row["kind"] == "conversation"]
        if told:
            yield title + "".join(
                f"\n{_span(row['started_at'], row['ended_at'])}\n\n{block(row['text'])}" for row in told
            )
            title = ""


async def _conversations(conn: Connection, entity: Entity) -> AsyncIterator[str]:
    title = "\n## Conversations\n"
    session = ""
    async for found in archive.pages(conn, entity, "turns"):
        pieces = []
        hidden = await _hidden(conn, entity, [turn["id"] for turn in found])
        for turn in found:
            if turn["session_id"] != session:
                session = turn["session_id"]
                pieces.append(f"\n### {day(turn['time'])}\n")
            who = inline(turn["name"] or turn["role"])
            said = block(_shown(turn["content"], hidden.get(turn["id"], ())))
            pieces.append(f"\n**{who}** {turn['time'][:16].replace('T', ' ')} UTC\n\n{said}")
        yield title + "".join(pieces)
        title = ""


async def _hidden(conn: Connection, entity: Entity, turn_ids: Sequence[str]) -> dict[str, list[tuple[int, int] | str]]:
    """What turns are not to be shown with: places of what was erased, and words of what was forgotten."""
    spans = await archive.beside(conn, entity, "spans", turn_ids)
    hidden: dict[str, list[tuple[int, int] | str]] = {
        turn_id: [(span["start"], span["end"]) for span in found] for turn_id, found in spans.items()
    }
    for fact in await facts.of_turns(conn, entity, turn_ids):
        if fact.status == "forgotten" and fact.turn_id is not None:
            hidden.setdefault(fact.turn_id, []).append(fact.quote or fact.text)
    return hidden


def _shown(text: str, hidden: Iterable[tuple[int, int] | str]) -> str:
    """A turn's text without what is not to be shown; nothing of it, where it cannot be said where that stands."""
    spans: list[tuple[int, int]] = []
    for held in hidden:
        if isinstance(held, str):
            start = text.find(held)
            spans.append((start, start + len(held)) if start >= 0 else (0, len(text)))
        else:
            spans.append(held)
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]} … {text[end:]}"
    return text


def _span(first: str, last: str) -> str:
    return day(first) if day(first) == day(last) else f"{day(first)} to {day(last)}"


def day(moment: str) -> str:
    """The day of a stored time."""
    return moment[:10]
