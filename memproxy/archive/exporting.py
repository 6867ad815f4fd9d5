"""A memory into lines, in one snapshot of the store and a page of rows at a time, however much there is."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Any, Literal, get_args

import msgspec

from memproxy.archive import rows
from memproxy.errors import Problem, SettingsError, StoreUnavailable
from memproxy.interfaces import Connection, Database
from memproxy.model import Entity
from memproxy.store import archive, meta, vectors
from memproxy.store.rows import to_text

Form = Literal["jsonl", "markdown"]
# Seconds for which a reader may take nothing: the snapshot that it holds keeps the write-ahead log from being cut.
STALL = 30.0

Producer = Callable[[Connection], AsyncIterator[bytes]]


def form_of(name: str) -> Form:
    """The form of that name. Raises SettingsError."""
    for form in get_args(Form):
        if form == name:
            return form  # type: ignore[no-any-return]
    raise SettingsError(f"--format: {name!r}; one of {', '.join(get_args(Form))}")


async def exported(db: Database, entity: Entity, form: Form, now: datetime) -> AsyncIterator[bytes]:
    """A memory as the bytes of a file, a page at a time. Raises Problem 404 where there is none, and StoreError.

    Whoever takes nothing for `STALL` seconds gets no more.
    """
    if await db.read(lambda conn: archive.one(conn, entity, "entity")) is None:
        raise Problem(404, "Nothing is known of that entity", "See GET /memproxy/v1/entities, or memproxy entities.")
    if form == "markdown":
        from memproxy.archive import markdown

        return _in_snapshot(db, lambda conn: markdown.page(conn, entity, now))
    return _in_snapshot(db, lambda conn: lines(conn, entity, now))


async def lines(conn: Connection, entity: Entity, now: datetime) -> AsyncIterator[bytes]:
    """The lines of a memory, many a chunk."""
    schema, embedder = await meta.version(conn), await vectors.model_of(conn, entity)
    yield _chunk([rows.Header(schema=schema, entity=entity.name, exported_at=to_text(now), embedder=embedder)])
    count = 0
    async for page in _everything(conn, entity):
        count += len(page)
        yield _chunk(page)
    yield _chunk([rows.End(rows=count)])


async def _everything(conn: Connection, entity: Entity) -> AsyncIterator[Sequence[rows.Row]]:
    """All rows, those that others refer to before them; what somebody wants last, so that it hinders nothing."""
    known = await archive.one(conn, entity, "entity")
    if known is not None:
        yield [rows.EntityRow(**known)]
    for kind in rows.KINDS:
        async for page in archive.pages(conn, entity, kind.table):
            yield await _READERS.get(kind.table, _plain)(conn, entity, kind.row, page)
    wishes = await archive.one(conn, entity, "preferences")
    if wishes is not None:
        tags = tuple(json.loads(wishes["excluded_tags"]))
        wanted = {name: bool(wishes[name]) for name in ("learning", "memory", "patterns")}
        yield [rows.PreferencesRow(excluded_tags=tags, **wanted, updated_at=wishes["updated_at"])]


Page = list[dict[str, Any]]


async def _plain(conn: Connection, entity: Entity, row: type[Any], page: Page) -> list[rows.Row]:
    return [row(**values) for values in page]


async def _turns(conn: Connection, entity: Entity, row: type[Any], page: Page) -> list[rows.Row]:
    spans = await archive.beside(conn, entity, "spans", [values["id"] for values in page])
    for values in page:
        values["complete"] = bool(values["complete"])
        values["hidden"] = tuple((span["start"], span["end"]) for span in spans.get(values["id"], ()))
    return await _plain(conn, entity, row, page)


async def _facts(conn: Connection, entity: Entity, row: type[Any], page: Page) -> list[rows.Row]:
    ids = [values["id"] for values in page]
    changes = await archive.beside(conn, entity, "changes", ids)
    repeated = await archive.beside(conn, entity, "repeated", ids)
    names = row.__struct_fields__
    found: list[rows.Row] = []
    for values in page:
        history = tuple(_change(change) for change in changes.get(values["id"], ()))
        again = tuple(
            rows.Repeated(session_id=one["session_id"], time=one["time"]) for one in repeated.get(values["id"], ())
        )
        values = {name: values[name] for name in names if name in values}
        found.append(row(**{**values, "pinned": bool(values["pinned"]), "history": history, "repeated": again}))
    return found


def _change(row: Any) -> rows.Change:
    kept = {name: row[name] for name in ("number", "time", "kind", "reason")}
    return rows.Change(**kept, before=json.loads(row["before"]), after=json.loads(row["after"]))


async def _profile(conn: Connection, entity: Entity, row: type[Any], page: Page) -> list[rows.Row]:
    return [row(**{**values, "value": json.loads(values["value"])}) for values in page]


async def _denied(conn: Connection, entity: Entity, row: type[Any], page: Page) -> list[rows.Row]:
    words = await archive.beside(conn, entity, "words", [values["id"] for values in page])
    key = await denial_key(conn, entity)
    return [
        row(**values, key=key, words={word["hash"]: word["size"] for word in words.get(values["id"], ())})
        for values in page
    ]


_READERS = {"turns": _turns, "facts": _facts, "profile_entries": _profile, "denied": _denied}


async def denial_key(conn: Connection, entity: Entity) -> str:
    """What tells the key of an entity's denials from others: 16 hex characters from which nothing can be made."""
    secret = bytes.fromhex(await meta.get(conn, "secret") or "")
    message = f"key of denials\0{entity.tenant}\0{entity.name}".encode("utf-8", "surrogatepass")
    return hmac.new(secret, message, hashlib.sha256).hexdigest()[:16]


def _chunk(page: Sequence[Any]) -> bytes:
    return msgspec.json.Encoder().encode_lines(page)


async def _in_snapshot(db: Database, produce: Producer) -> AsyncIterator[bytes]:
    """What is produced inside one read transaction, handed out piece by piece."""
    pieces: asyncio.Queue[bytes] = asyncio.Queue(maxsize=2)

    async def work(conn: Connection) -> None:
        async for piece in produce(conn):
            try:
                async with asyncio.timeout(STALL):
                    await pieces.put(piece)
            except TimeoutError:
                raise StoreUnavailable("nobody took what was exported") from None

    task = asyncio.ensure_future(db.snapshot(work))
    try:
        while not (task.done() and pieces.empty()):
            taking = asyncio.ensure_future(pieces.get())
            await asyncio.wait({taking, task}, return_when=asyncio.FIRST_COMPLETED)
            if taking.done():
                yield taking.result()
            else:
                taking.cancel()
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
