"""Whose memories there are: list, look into, erase."""

from __future__ import annotations

from dataclasses import asdict

from starlette.responses import Response

from memproxy.model import DEFAULT_TENANT, ItemKind
from memproxy.server import views
from memproxy.server.api.call import Call, answer
from memproxy.server.api.parameters import (
    AFTER_DAY,
    AFTER_NAME,
    LIMIT,
    MAX_PAGE,
    Choices,
    Flag,
    Number,
    Question,
    cursor,
)
from memproxy.store import entities as entity_rows
from memproxy.store import usage

QUERY = Question("query", "A message, as a person would write it.")
EXPLAIN = Flag("explain", "Also every passage that was proposed, with its verdict.")
KIND = Choices("kind", "Passages of these kinds; of all if none is named.", ItemKind)
BEST = Number("limit", "How many of the best.", 10, 1, 100)
SEARCH = (QUERY, KIND, BEST)


async def list_entities(call: Call) -> Response:
    """The entities that the caller may name."""
    limit, after = call.get(LIMIT), call.get(AFTER_NAME)
    mine: list[entity_rows.EntityRow] = []
    while len(mine) < limit:
        page = await _entities_after(call, after)
        mine += [row for row in page if call.caller.may_name(row.name)]
        if len(page) < MAX_PAGE:
            break
        after = page[-1].name
    items = [
        {
            "entity": row.name,
            "turns": row.turns,
            "facts": row.facts,
            "first_seen": views.plain(row.first_seen),
            "last_seen": views.plain(row.last_seen),
        }
        for row in mine[:limit]
    ]
    # The cursor is a name, so it is one of the caller's own.
    return answer({"items": items, "next_cursor": items[-1]["entity"] if len(items) == limit else None})


async def _entities_after(call: Call, after: str | None) -> list[entity_rows.EntityRow]:
    return await call.parts.db.read(lambda conn: entity_rows.list_entities(conn, DEFAULT_TENANT, MAX_PAGE, after))


async def get_entity(call: Call) -> Response:
    """How much is stored of an entity."""
    entity = call.entity
    counts = await call.parts.db.read(lambda conn: entity_rows.counts(conn, entity))
    return answer({"entity": entity.name, **counts})


async def get_usage(call: Call) -> Response:
    """How much models were used for an entity, the newest day first."""
    entity, limit, after = call.entity, call.get(LIMIT), call.get(AFTER_DAY)
    found = await call.parts.db.read(lambda conn: usage.list_usage(conn, entity, limit, after))
    place = cursor(found[-1].day, found[-1].purpose) if len(found) == limit else None
    return answer({"items": [asdict(row) for row in found], "next_cursor": place})


async def erase_entity(call: Call) -> Response:
    """Remove everything of an entity, for good."""
    return answer({"deleted": await call.parts.erase(call.entity)})


async def context(call: Call) -> Response:
    """What would be injected for a message, and why; on demand with all that was weighed for it. Stores nothing."""
    entity, text, explain = call.entity, call.get(QUERY), bool(call.get(EXPLAIN))
    return answer(views.dry_run(await call.parts.dry_run(entity, text, explain=explain)))


async def search(call: Call) -> Response:
    """Ranked turns, facts and summaries."""
    found = await call.parts.search(call.entity, call.get(QUERY), call.get(KIND), call.get(BEST))
    return answer({"items": [views.scored(row) for row in found], "next_cursor": None})
