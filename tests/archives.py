"""Memories as files, for tests: made up rows, and ways to take away and bring back."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st

from memproxy.archive import rows
from memproxy.archive.exporting import exported
from memproxy.archive.restoring import Restored, Restorer
from memproxy.importing import ours
from memproxy.importing.bringing import Report
from memproxy.model import Entity
from memproxy.store import erasure
from memproxy.store.rows import to_text
from memproxy.store.sqlite import SqliteDatabase
from memproxy.testing import FrozenClock

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_numbers = itertools.count(1)

moments = st.integers(0, 10**9).map(lambda n: to_text(NOW - timedelta(microseconds=n * 61)))
maybe_moments = st.none() | moments
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
said = st.sampled_from(["I keep hens in Brask", "Moss is a cat\n\n# no heading", "« ça va ? »", "猫が好き"]) | words


def new_id() -> str:
    return f"{next(_numbers):032x}"


def header(entity: str, **changed: Any) -> rows.Header:
    return rows.Header(**{"schema": 1, "entity": entity, "exported_at": to_text(NOW), "embedder": None, **changed})


@st.composite
def memories(draw: st.DrawFn) -> list[rows.Row]:
    """All rows of a memory, in the order of its file."""
    found: list[rows.Row] = [rows.EntityRow(first_seen=draw(moments), last_seen=draw(moments))]
    sessions = [_session(draw, number) for number in range(draw(st.integers(0, 3)))]
    turns = [_turn(draw, session, seq) for session in sessions for seq in range(1, session.turns + 1)]
    turns = [turn for turn in turns if draw(st.integers(0, 9))]  # some were removed
    facts = [_fact(draw, number, turns) for number in range(draw(st.integers(0, 4)))]
    found += sessions
    found += turns
    found += facts
    found += [_summary(draw, session) for session in sessions if draw(st.booleans())]
    found += [_artifact(draw, turn) for turn in turns[:2]]
    found += [_contradiction(draw, one, other) for one, other in itertools.pairwise(facts)][:1]
    found += [_profile(draw, fact) for fact in facts[:1]]
    if draw(st.booleans()):
        tags = tuple(draw(st.lists(words, max_size=2)))
        found.append(rows.PreferencesRow(excluded_tags=tags, patterns=draw(st.booleans()), updated_at=draw(moments)))
    return found


def _session(draw: st.DrawFn, number: int) -> rows.SessionRow:
    return rows.SessionRow(
        id=new_id(),
        name=draw(st.none() | st.just(f"talk {number}")),
        turns=draw(st.integers(0, 4)),
        started_at=draw(moments),
        last_at=draw(moments),
        active_at=draw(maybe_moments),
        dropped_seq=draw(st.integers(0, 2)),
    )


def _turn(draw: st.DrawFn, session: rows.SessionRow, seq: int) -> rows.TurnRow:
    content = draw(said)
    return rows.TurnRow(
        id=new_id(),
        session_id=session.id,
        seq=seq,
        role=draw(st.sampled_from(["user", "assistant"])),
        name=draw(st.none() | words),
        content=content,
        time=draw(moments),
        complete=draw(st.booleans()),
        learn=draw(st.sampled_from(["no", "pending", "done", "dead"])),
        timezone=draw(st.none() | st.just("Europe/Oslo")),
        topic=draw(st.none() | words),
        recorded_at=draw(moments),
        hidden=draw(st.just(()) | st.just(((0, min(3, len(content))),))),
    )


def _fact(draw: st.DrawFn, number: int, turns: list[rows.TurnRow]) -> rows.FactRow:
    turn = draw(st.sampled_from(turns)) if turns else None
    text = f"Fact {number}: {draw(said)}"
    change = rows.Change(
        number=1, time=draw(moments), kind="created", reason=draw(words), before={}, after={"text": text}
    )
    return rows.FactRow(
        id=new_id(),
        text=text,
        type=draw(st.sampled_from(["identity", "event", "pattern"])),
        tag=draw(words),
        slot=draw(st.none() | words),
        significance=draw(st.integers(1, 10)),
        confidence=draw(st.floats(0, 1)),
        source_role=draw(st.sampled_from(["user", "assistant", "user_explicit"])),
        lifetime=draw(st.sampled_from(["lasting", "temporary"])),
        quote=draw(st.none() | st.just(turn.content[:5] if turn is not None else "hens")),
        turn_id=turn.id if turn is not None else None,
        status=draw(st.sampled_from(["current", "historical", "expired", "quarantined", "forgotten"])),
        valid_from=draw(maybe_moments),
        recorded_at=draw(moments),
        updated_at=draw(moments),
        said_at=draw(maybe_moments),
        reinforced_count=draw(st.integers(0, 9)),
        recall_count=draw(st.integers(0, 9)),
        pinned=draw(st.booleans()),
        emotional_weight=draw(st.none() | st.floats(0, 1)),
        history=(change,),
        repeated=(rows.Repeated(session_id=turn.session_id, time=draw(moments)),) if turn is not None else (),
    )


def _summary(draw: st.DrawFn, session: rows.SessionRow) -> rows.SummaryRow:
    begun = draw(moments)
    return rows.SummaryRow(
        id=new_id(),
        session_id=session.id,
        text=draw(said),
        started_at=begun,
        ended_at=begun,
        created_at=draw(moments),
        kind=draw(st.sampled_from(["conversation", "range", "overview"])),
        last_seq=draw(st.integers(0, 3)),
    )


def _artifact(draw: st.DrawFn, turn: rows.TurnRow) -> rows.ArtifactRow:
    return rows.ArtifactRow(
        id=new_id(),
        session_id=turn.session_id,
        turn_id=turn.id,
        kind="code",
        language="python",
        name=draw(words),
        description="",
        start=0,
        end=len(turn.content),
    )


def _contradiction(draw: st.DrawFn, one: rows.FactRow, other: rows.FactRow) -> rows.ContradictionRow:
    return rows.ContradictionRow(
        id=new_id(),
        fact_id=one.id,
        stated_id=other.id,
        kind="doubtful",
        status=draw(st.sampled_from(["open", "held"])),
        note=draw(st.none() | words),
        gate_path="rules",
        gate_reason=draw(words),
        created_at=draw(moments),
        updated_at=draw(moments),
    )


def _profile(draw: st.DrawFn, fact: rows.FactRow) -> rows.ProfileRow:
    value = draw(words | words.map(lambda dose: {"dose": dose, "name": "nuts"}))
    return rows.ProfileRow(
        id=new_id(), field="allergies", key=draw(words), value=value, fact_id=fact.id, recorded_at=draw(moments)
    )


def written(entity: str, found: list[rows.Row]) -> bytes:
    """The rows as a file."""
    return msgspec.json.Encoder().encode_lines([header(entity), *found, rows.End(rows=len(found))])


def without_head(data: bytes) -> list[bytes]:
    """A file's lines but the first, which says when it was made."""
    return data.splitlines()[1:]


@asynccontextmanager
async def stores(folder: Path, *names: str) -> AsyncIterator[list[SqliteDatabase]]:
    """Empty stores."""
    opened = [await SqliteDatabase.open(folder / f"{name}.db", vectors="scan") for name in names]
    try:
        yield opened
    finally:
        for db in opened:
            await db.close()


async def taken(db: SqliteDatabase, entity: str, form: Any = "jsonl") -> bytes:
    """A memory as a file."""
    pieces = await exported(db, Entity(entity), form, NOW)
    return b"".join([piece async for piece in pieces])


async def brought(db: SqliteDatabase, entity: str, file: Path, **how: Any) -> tuple[Report, Restored]:
    """A file brought back; what was told, and what was counted."""
    restorer = Restorer(db, Entity(entity), FrozenClock(NOW), **{"learns": True, **how})
    return await ours.bring_back(file, restorer, lambda count: None), restorer.report


async def erased(db: SqliteDatabase, entity: str) -> None:
    """Nothing is left of an entity."""
    await db.write(lambda conn: erasure.erase(conn, Entity(entity)))
