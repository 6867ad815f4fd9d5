"""What is remembered: list, add, change, forget."""

from __future__ import annotations

from starlette.responses import Response

from memproxy.errors import Problem
from memproxy.model import FactStatus, FactType, SourceRole
from memproxy.server import views
from memproxy.server.api.call import Call, answer
from memproxy.server.requests import FactFields, decode
from memproxy.store import facts as fact_rows


async def list_facts(call: Call) -> Response:
    """Facts, newest first; current ones unless a status is asked for."""
    entity, query, limit = call.entity, call.query, call.limit
    rows = await call.parts.db.read(
        lambda conn: fact_rows.list_facts(
            conn,
            entity,
            statuses=call.choices("status", FactStatus) or ["current"],
            types=call.choices("type", FactType),
            tags=query.texts("tag"),
            slots=query.texts("slot"),
            source_role=call.choice("source_role", SourceRole),
            pinned=query.flag("pinned"),
            query=query.text("query") or query.text("q"),
            limit=limit,
            after=call.cursor,
        )
    )
    return answer(
        {"items": [views.fact(row) for row in rows], "next_cursor": rows[-1].id if len(rows) == limit else None}
    )


async def create_fact(call: Call) -> Response:
    """Store a statement."""
    entity = call.entity
    fact = await call.parts.curator.add(entity, decode(await call.body(), FactFields).draft())
    call.parts.changed(entity)
    return answer(views.fact(fact), 201)


async def get_fact(call: Call) -> Response:
    """One fact; a forgotten one is gone."""
    entity, fact_id = call.entity, call.segment("fact")
    fact = await call.parts.db.read(lambda conn: fact_rows.get(conn, entity, fact_id))
    if fact is None or fact.status == "forgotten":
        raise Problem(404, "No such fact")
    return answer(views.fact(fact))


async def patch_fact(call: Call) -> Response:
    """Correct or restore a fact."""
    entity, fields = call.entity, decode(await call.body(), FactFields).given()
    if not fields:
        raise Problem(400, "Nothing to change", 'Send for example {"text": "…"} or {"pinned": true}.')
    fact = await call.parts.curator.edit(entity, call.segment("fact"), fields)
    call.parts.changed(entity)
    return answer(views.fact(fact))


async def delete_fact(call: Call) -> Response:
    """Forget a fact; PATCH {"status": "current"} undoes it."""
    entity = call.entity
    await call.parts.curator.forget(entity, call.segment("fact"))
    call.parts.changed(entity)
    return answer({"deleted": {"facts": 1}})
