"""Code and data noted where they are said, each new version in place of the one before."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memproxy.context.sections import one_line
from memproxy.context.shown import Shown
from memproxy.extraction.artifacts import Found, artifacts, same_thing
from memproxy.interfaces import Connection
from memproxy.model import Entity, Turn, new_id
from memproxy.store import artifacts as rows
from memproxy.store import unasked
from memproxy.store.artifacts import Artifact
from memproxy.trust import mask_secrets

LOOKED_AT = 20  # earlier pieces of a conversation that a new one may be a version of


async def note(conn: Connection, entity: Entity, turn: Turn) -> int:
    """Note what code and data a turn holds, in place of what was noted of it before; how many pieces."""
    found = artifacts(turn.content)
    await rows.forget(conn, entity, turn.id)
    for piece in found:
        await _note(conn, entity, turn, piece)
    return len(found)


async def _note(conn: Connection, entity: Entity, turn: Turn, piece: Found) -> None:
    content = turn.content[piece.start : piece.end]
    artifact_id = new_id()
    earlier = [
        one.id
        for one in await rows.current_of_session(conn, entity, turn.session_id, piece.kind, LOOKED_AT)
        if one.turn_id != turn.id and _is_version(one, piece, content)
    ]
    if earlier:
        await rows.supersede(conn, entity, earlier, artifact_id)
    await rows.insert(
        conn,
        entity,
        artifact_id,
        (turn.session_id, turn.id),
        (piece.kind, piece.language, piece.name, piece.description),
        (piece.start, piece.end),
    )


def _is_version(old: Artifact, new: Found, content: str) -> bool:
    if old.language and new.language and old.language != new.language:
        return False
    if old.name and new.name and old.name != new.name:
        return False
    return same_thing(old.content, content, named_alike=bool(old.name) and old.name == new.name)


async def shown(
    conn: Connection, entity: Entity, turn_ids: Collection[str], present: Collection[tuple[str, int]] = ()
) -> dict[str, Sequence[Shown]]:
    """What code and data of turns may be shown, by turn: the newest versions, where nothing of them is hidden.

    Of a version that stands in the request (`present`: sessions and places of turns) nothing is to be said.
    """
    found = {one.id: one for one in await rows.of_turns(conn, entity, turn_ids)}
    visible = await unasked.visible(conn, entity, {one.turn_id for one in found.values()})
    whole = {turn_id: "".join("".join(pieces).split()) for turn_id, pieces in visible.items()}
    out: dict[str, list[Shown]] = {}
    for one in found.values():
        if one.turn_id not in turn_ids:
            continue
        newest = found.get(one.superseded_by or "", one)
        if (newest.session_id, newest.seq) in present:
            said = Shown(one.content, "", newest.description, newest.turn_id, newest.time, newest.role)
            out.setdefault(one.turn_id, []).append(said)
        elif "".join(newest.content.split()) in whole.get(newest.turn_id, ""):
            says = one_line(mask_secrets(newest.description))
            out.setdefault(one.turn_id, []).append(
                Shown(one.content, mask_secrets(newest.content), says, newest.turn_id, newest.time, newest.role)
            )
    return {turn_id: tuple(pieces) for turn_id, pieces in out.items()}
