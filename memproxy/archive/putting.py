"""Rows of a memory's file as rows of the store, under the rules that hold for whatever comes from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from memproxy.archive import rows
from memproxy.archive.exporting import denial_key
from memproxy.folding import content_key
from memproxy.interfaces import Connection
from memproxy.lifecycle.denials import Denials, hide_denied
from memproxy.lifecycle.history import link
from memproxy.model import Entity, Turn
from memproxy.store import archive, denied, meta, sessions
from memproxy.store.rows import column, to_time
from memproxy.trust import cut_blocks, looks_like_instruction, mask_secrets

if TYPE_CHECKING:
    from memproxy.archive.restoring import Restored

_WORDS = frozenset("text quote note value description held_value".split())  # what people or models wrote
_SHOWN = ("text", "value", "description")  # of these, what models are shown
FOREIGN_DENIAL = "denied under the key of another store or name: deny it here again"


async def secret_of(conn: Connection) -> bytes:
    """The store's key for its hashes."""
    return await meta.secret(conn)


async def grow(conn: Connection, entity: Entity, known: Sequence[rows.SessionRow]) -> None:
    """Sessions that are there may have gone on in the file."""
    await archive.grow(conn, entity, [{"id": row.id, "turns": row.turns, "last_at": row.last_at} for row in known])


async def wishes(conn: Connection, entity: Entity, row: rows.PreferencesRow) -> None:
    """What somebody wants, unless they said so here."""
    values = {**msgspec.structs.asdict(row), "excluded_tags": json.dumps(list(row.excluded_tags))}
    await archive.put(conn, entity, "preferences", [values])


class Putting:
    """Stores rows of one kind after another for an entity; `refused` are those that may not come in, with the reason.

    Secrets are masked, orders to a model are kept out of what is used, and what the person denied stays away.
    """

    def __init__(self, entity: Entity, secret: bytes, learns: bool, result: Restored) -> None:
        self._entity = entity
        self._secret = secret
        self._learns = learns
        self._result = result
        self._denials = Denials(secret, entity)
        self.refused: dict[str, str] = {}

    async def put(self, conn: Connection, kind: rows.Kind, found: Sequence[Any]) -> None:
        """Store rows of a kind."""
        if not found:
            return
        if kind.row is rows.TurnRow:
            await self._turns(conn, found)
        elif kind.row is rows.FactRow:
            await self._facts(conn, found)
        elif kind.row is rows.DeniedRow:
            await self._denied(conn, found)
        elif kind.row is rows.ProfileRow:
            dumped = [{**row, "value": _json(row["value"], sort_keys=True)} for row in self._plain(found)]
            await archive.put(conn, self._entity, kind.table, dumped)
        else:
            await archive.put(conn, self._entity, kind.table, self._plain(found))

    def _plain(self, found: Sequence[Any]) -> list[dict[str, Any]]:
        """Rows without secrets; those whose words are shown to models, and are orders to them, are refused."""
        plain = []
        for row in found:
            values = _masked(_values(row))
            said = [values[name] for name in _SHOWN if name in values]
            if any(looks_like_instruction(text) for value in said for text in _texts(value)):
                self.refused[row.id] = "shaped like an instruction to a model"
            else:
                plain.append(values)
        return plain

    async def _turns(self, conn: Connection, found: Sequence[rows.TurnRow]) -> None:
        """Turns, and the marks by which a client that sends them again as history is known to go on from there."""
        heads: dict[str, str] = {}
        values, marks, spans = [], [], []
        for row in found:
            if row.session_id not in heads:
                heads[row.session_id] = await sessions.head(conn, self._entity, row.session_id) or ""
            key = link(self._secret, self._entity, heads[row.session_id], row.role, row.content)
            heads[row.session_id] = key
            marks.append({"key": key, "session_id": row.session_id, "seq": row.seq, "created_at": row.time})
            spans += [{"turn_id": row.id, "start": start, "end": end} for start, end in row.hidden]
            values.append(self._turn(row))
        await archive.put(conn, self._entity, "turns", values)
        there = await archive.there(conn, self._entity, "turns", [row.id for row in found])
        await archive.put(conn, self._entity, "marks", marks)
        await archive.put(conn, self._entity, "spans", [span for span in spans if span["turn_id"] in there])
        for session_id, key in heads.items():
            await archive.head(conn, self._entity, session_id, key)
        if await denied.words(conn, self._entity):
            for row in found:
                if row.id in there:
                    await hide_denied(conn, self._entity, self._secret, _turn(row))

    def _turn(self, row: rows.TurnRow) -> dict[str, Any]:
        values = _values(row)
        del values["hidden"]
        values["content"] = mask_secrets(cut_blocks(row.content))
        values["text_key"] = link(self._secret, self._entity, "imported", row.role, row.content)
        if row.learn == "pending" and not self._learns:
            values["learn"] = "no"
        return values

    async def _facts(self, conn: Connection, found: Sequence[rows.FactRow]) -> None:
        known = await denied.words(conn, self._entity)
        wanted = []
        for row in found:
            if known and self._denials.forbid(row.text, row.quote, known):
                self.refused[row.id] = "the person denied it"
            else:
                wanted.append(row)
        await archive.put(conn, self._entity, "facts", [self._fact(row) for row in wanted])
        there = await archive.there(conn, self._entity, "facts", [row.id for row in wanted])
        stored = [row for row in wanted if row.id in there]
        changes = [
            {
                **_values(change),
                "fact_id": row.id,
                "before": _json(_masked(change.before)),
                "after": _json(_masked(change.after)),
            }
            for row in stored
            for change in row.history
        ]
        await archive.put(conn, self._entity, "changes", changes)
        repeated = [{**_values(one), "fact_id": row.id} for row in stored for one in row.repeated]
        await archive.put(conn, self._entity, "repeated", repeated)

    def _fact(self, row: rows.FactRow) -> dict[str, Any]:
        values = _values(row)
        del values["history"], values["repeated"]
        values |= _masked({"text": row.text, "quote": row.quote})
        values["content_key"] = content_key(values["text"])
        if row.status == "current" and looks_like_instruction(values["text"]):
            values["status"] = "quarantined"
            self._result.quarantined += 1
        return values

    async def _denied(self, conn: Connection, found: Sequence[rows.DeniedRow]) -> None:
        """Of use to the store and the name that they were made for, and to no other."""
        own = await denial_key(conn, self._entity)
        for row in found:
            if row.key != own:
                self.refused[row.id] = FOREIGN_DENIAL
        kept = [row for row in found if row.id not in self.refused]
        self._result.denials += len(found) - len(kept)
        await archive.put(conn, self._entity, "denied", [{"id": row.id, "denied_at": row.denied_at} for row in kept])
        words = [
            {"denied_id": row.id, "hash": digest, "size": size} for row in kept for digest, size in row.words.items()
        ]
        await archive.put(conn, self._entity, "words", words)


def _turn(row: rows.TurnRow) -> Turn:
    said = mask_secrets(cut_blocks(row.content))
    return Turn(row.id, row.session_id, row.seq, row.role, row.name, str(column(said)), to_time(row.time))


def _values(row: Any) -> dict[str, Any]:
    return msgspec.structs.asdict(row)


def _masked(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, without secrets in the words among them."""
    return {name: _without_secrets(value) if name in _WORDS else value for name, value in values.items()}


def _without_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_secrets(inner) for name, inner in value.items()}
    return mask_secrets(value) if isinstance(value, str) else value


def _texts(value: str | Mapping[str, str]) -> Iterable[str]:
    return [value] if isinstance(value, str) else value.values()


def _json(value: Any, **how: Any) -> str:
    return json.dumps(value, ensure_ascii=False, **how)
