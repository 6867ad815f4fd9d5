"""What is remembered: list, look behind, add, change, forget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Literal

from starlette.responses import Response

from memproxy.errors import Problem
from memproxy.folding import fold
from memproxy.interfaces import Connection
from memproxy.lifecycle.curation import Curator
from memproxy.model import Entity, Fact, FactStatus, FactType, SourceRole
from memproxy.server import views
from memproxy.server.api.call import Call, answer
from memproxy.server.api.parameters import AFTER, MAX_PAGE, Choice, Choices, Flag, Moment, Number, Text, Texts
from memproxy.server.api.route import Handler
from memproxy.server.requests import CorrectionFields, FactFields, NoteFields
from memproxy.store import beliefs, evidence
from memproxy.store import facts as fact_rows

FILTERS = (
    STATUS := Choices("status", "Facts of these statuses; current ones if none is named.", FactStatus),
    TYPE := Choices("type", "Facts of these types.", FactType),
    TAG := Texts("tag", "Facts with these tags."),
    SLOT := Texts("slot", "Facts that fill these attributes."),
    ROLE := Choice("source_role", "Facts from this source.", SourceRole),
    PINNED := Flag("pinned", "Pinned facts, or those that are not."),
    QUERY := Text("query", "Facts in whose text this stands, case and white space aside.", 1000),
)
AS_OF = (
    VALID := Moment("as_of_valid", "What was true then."),
    TXN := Moment("as_of_txn", "What was believed then."),
)
GROUP = Choice("group", "Grouped, by their tags.", Literal["tag"])
AT_MOST = Number("limit", "How many at most: 100, or 500 of grouped ones.", 0, 1, MAX_PAGE)
LISTING = (*FILTERS, *AS_OF, GROUP, AT_MOST, AFTER)
SOURCES = Flag("sources", "With all that stands behind it.")
ERASE = Flag("erase", "For good, with its history.")
THREADS = Number("limit", "How many at most.", 20, 1, MAX_PAGE)


async def list_facts(call: Call) -> Response:
    """Facts, newest first; current ones unless a status is asked for, or what was believed at another time."""
    entity = call.entity
    valid, txn = call.get(VALID), call.get(TXN)
    if valid is not None or txn is not None:
        now = call.parts.clock.now()
        rows = await _believed(call, entity, valid or now, txn or now)
    else:
        rows = await _listed(call, entity)
    cursor = rows[-1].id if len(rows) == _limit(call) else None
    if _grouped(call):
        return answer({"groups": views.groups(rows), "next_cursor": cursor})
    return answer({"items": [views.fact(row) for row in rows], "next_cursor": cursor})


async def _listed(call: Call, entity: Entity) -> list[Fact]:
    limit, after = _limit(call), call.get(AFTER)
    return await call.parts.db.read(
        lambda conn: fact_rows.list_facts(
            conn,
            entity,
            statuses=call.get(STATUS) or ["current"],
            types=call.get(TYPE),
            tags=call.get(TAG),
            slots=call.get(SLOT),
            source_role=call.get(ROLE),
            pinned=call.get(PINNED),
            query=call.get(QUERY),
            limit=limit,
            after=after[0] if after else None,
        )
    )


async def _believed(call: Call, entity: Entity, valid: datetime, txn: datetime) -> list[Fact]:
    """What was believed at `txn` to be true at `valid`, with the filters of the list, each fact as it stood then."""
    after, statuses, types = call.get(AFTER), call.get(STATUS), call.get(TYPE)
    tags, slots, role = call.get(TAG), call.get(SLOT), call.get(ROLE)
    pinned, words = call.get(PINNED), fold(call.get(QUERY) or "")
    found = await call.parts.db.read(lambda conn: beliefs.as_of(conn, entity, valid, txn))
    rows = [
        fact
        for fact in sorted(found, key=lambda fact: fact.id, reverse=True)
        if (not statuses or fact.status in statuses)
        and (not types or fact.type in types)
        and (not tags or fact.tag in tags)
        and (not slots or fact.slot in slots)
        and role in (None, fact.source_role)
        and pinned in (None, fact.pinned)
        and words in fold(fact.text)
        and (after is None or fact.id < after[0])
    ]
    return rows[: _limit(call)]


def _grouped(call: Call) -> bool:
    return call.get(GROUP) is not None


def _limit(call: Call) -> int:
    return call.get(AT_MOST) or (MAX_PAGE if _grouped(call) else 100)


async def list_threads(call: Call) -> Response:
    """Open threads: the weightiest first, then the oldest."""
    entity, limit = call.entity, call.get(THREADS)
    rows = await call.parts.db.read(lambda conn: evidence.open_threads(conn, entity, limit))
    return answer({"items": [views.fact(row) for row in rows], "next_cursor": None})


async def create_fact(call: Call) -> Response:
    """Store a statement."""
    entity = call.entity
    fact = await call.parts.curator.add(entity, (await call.read(FactFields)).draft())
    return _changed(call, entity, fact, 201)


async def create_note(call: Call) -> Response:
    """Store what the person wants to be remembered, as their own word."""
    entity = call.entity
    text, fields = (await call.read(NoteFields)).note()
    return _changed(call, entity, await call.parts.curator.note(entity, text, fields), 201)


async def get_fact(call: Call) -> Response:
    """One fact; a forgotten one is gone."""
    if call.get(SOURCES):
        return await get_history(call)
    entity, fact_id = call.entity, call.segment("fact")
    return answer(views.fact(_there(await call.parts.db.read(lambda conn: fact_rows.get(conn, entity, fact_id)))))


async def get_history(call: Call) -> Response:
    """One fact with all that stands behind it."""
    entity, fact_id = call.entity, call.segment("fact")

    async def look(conn: Connection) -> evidence.Behind:
        return await evidence.behind(conn, entity, _there(await fact_rows.get(conn, entity, fact_id)))

    return answer(views.behind(await call.parts.db.read(look)))


async def patch_fact(call: Call) -> Response:
    """Change fields of a fact, or bring it back."""
    entity, fields = call.entity, (await call.read(FactFields)).given()
    if not fields:
        raise Problem(400, "Nothing to change", 'Send for example {"text": "…"} or {"pinned": true}.')
    return _changed(call, entity, await call.parts.curator.edit(entity, call.segment("fact"), fields))


async def correct_fact(call: Call) -> Response:
    """Let a fact say something else, as the person's own word."""
    entity, fields = call.entity, (await call.read(CorrectionFields)).correction()
    return _changed(call, entity, await call.parts.curator.correct(entity, call.segment("fact"), fields))


def _doing(deed: Callable[[Curator, Entity, str], Awaitable[Fact]], description: str) -> Handler:
    """What does something to one fact that needs no further word."""

    async def handler(call: Call) -> Response:
        entity = call.entity
        return _changed(call, entity, await deed(call.parts.curator, entity, call.segment("fact")))

    handler.__doc__ = description
    return handler


confirm_fact = _doing(Curator.confirm, "The person says that it is so.")
pin_fact = _doing(Curator.pin, "Keep a fact in view whatever is asked.")
unpin_fact = _doing(Curator.unpin, "Let a fact be one like others again.")
resolve_fact = _doing(Curator.resolve, "An open thread is settled.")
restore_fact = _doing(Curator.restore, "Undo forgetting.")


async def deny_fact(call: Call) -> Response:
    """Erase a fact and do not learn it again."""
    entity = call.entity
    denial, gone = await call.parts.curator.deny(entity, call.segment("fact"))
    await call.parts.removed(entity)
    return answer({**views.denial(denial), "deleted": {"facts": gone}})


async def delete_fact(call: Call) -> Response:
    """Forget a fact, which can be undone; with `erase=true` remove it for good."""
    entity, fact_id, gone = call.entity, call.segment("fact"), 1
    if call.get(ERASE):
        gone = await call.parts.curator.erase(entity, fact_id)
        await call.parts.removed(entity)
    else:
        await call.parts.curator.forget(entity, fact_id)
    call.parts.changed(entity)
    return answer({"deleted": {"facts": gone}})


def _there(fact: Fact | None) -> Fact:
    if fact is None or fact.status == "forgotten":
        raise Problem(404, "No such fact")
    return fact


def _changed(call: Call, entity: Entity, fact: Fact, status: int = 200) -> Response:
    call.parts.changed(entity)
    return answer(views.fact(fact), status)
