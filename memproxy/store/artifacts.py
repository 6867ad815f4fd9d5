"""Code and data that stand in turns. Their content stays where it is, in the turns."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from memproxy.interfaces import Connection, Row
from memproxy.model import Entity
from memproxy.store.rows import scoped, to_time


@dataclass(frozen=True, slots=True)
class Artifact:
    """One piece of code or data, with the turn it stands in."""

    id: str
    session_id: str
    turn_id: str
    kind: str
    language: str
    name: str
    description: str
    content: str
    time: datetime  # when it was said
    role: str  # who said it
    seq: int  # the place of its turn
    superseded_by: str | None  # the later version


def from_row(row: Row) -> Artifact:
    """The single door from the table."""
    return Artifact(
        id=row["id"],
        session_id=row["session_id"],
        turn_id=row["turn_id"],
        kind=row["kind"],
        language=row["language"],
        name=row["name"],
        description=row["description"],
        content=row["content"],
        time=to_time(row["time"]),
        role=row["role"],
        seq=row["seq"],
        superseded_by=row["superseded_by"],
    )


async def insert(
    conn: Connection,
    entity: Entity,
    artifact_id: str,
    place: tuple[str, str],
    what: tuple[str, str, str, str],
    span: tuple[int, int],
) -> None:
    """Note a piece of a turn: `place` is its session and turn, `what` its kind, language, name and description."""
    kind, language, name, description = what
    await conn.run(
        "artifacts_insert",
        **scoped(entity),
        id=artifact_id,
        session_id=place[0],
        turn_id=place[1],
        kind=kind,
        language=language,
        name=name,
        description=description,
        start=span[0],
        end=span[1],
    )


async def forget(conn: Connection, entity: Entity, turn_id: str) -> int:
    """Note no piece of a turn any more; how many there were."""
    return await conn.run("artifacts_forget", **scoped(entity), turn_id=turn_id)


async def current_of_session(
    conn: Connection, entity: Entity, session_id: str, kind: str, limit: int
) -> list[Artifact]:
    """The pieces of a kind in a session that nothing has replaced, the newest first."""
    rows = await conn.all("artifacts_of_session", **scoped(entity), session_id=session_id, kind=kind, limit=limit)
    return [from_row(row) for row in rows]


async def supersede(conn: Connection, entity: Entity, artifact_ids: Sequence[str], by: str) -> None:
    """Let a later version take the place of these."""
    await conn.run("artifacts_supersede", **scoped(entity), ids=json.dumps(list(artifact_ids)), by=by)


async def of_turns(conn: Connection, entity: Entity, turn_ids: Collection[str]) -> list[Artifact]:
    """What stands in turns, and what has replaced any of that since."""
    if not turn_ids:
        return []
    rows = await conn.all("artifacts_of_turns", **scoped(entity), ids=json.dumps(sorted(turn_ids)))
    return [from_row(row) for row in rows]


async def list_artifacts(conn: Connection, entity: Entity, limit: int) -> list[Artifact]:
    """All of an entity's, the newest first."""
    return [from_row(row) for row in await conn.all("artifacts_list", **scoped(entity), limit=limit)]
