"""What is in dispute: contradictions of two statements, collisions of facts that exclude each other."""

from __future__ import annotations

from starlette.responses import Response

from memproxy.server import views
from memproxy.server.api.call import Call, answer
from memproxy.server.api.parameters import AFTER, LIMIT, Choices
from memproxy.server.requests import HoldFields, ResolveFields, SettleFields
from memproxy.store.contradictions import ContradictionStatus

STATUS = Choices("status", "Contradictions of these statuses.", ContradictionStatus, ("open",))


async def list_contradictions(call: Call) -> Response:
    """Contradictions, newest first; open ones unless a status is asked for."""
    entity, limit, after = call.entity, call.get(LIMIT), call.get(AFTER)
    statuses = call.get(STATUS)
    rows = await call.parts.disputes.contradictions(entity, statuses, limit, after[0] if after else None)
    cursor = rows[-1].id if len(rows) == limit else None
    return answer({"items": [views.contradiction(row) for row in rows], "next_cursor": cursor})


async def count_contradictions(call: Call) -> Response:
    """How many there are of each status."""
    counts = await call.parts.disputes.counts(call.entity)
    return answer({status: counts.get(status, 0) for status in ("open", "held", "resolved")})


async def resolve_contradiction(call: Call) -> Response:
    """Decide it, with a named winner."""
    entity, fields = call.entity, await call.read(ResolveFields)
    row = await call.parts.disputes.resolve(entity, call.segment("contradiction"), fields.decision, fields.note)
    call.parts.changed(entity)
    return answer(views.contradiction(row))


async def hold_contradiction(call: Call) -> Response:
    """Leave it be while the stored fact says what it says now."""
    entity = call.entity
    note = (await call.read(HoldFields)).note if await call.body() else None
    return answer(views.contradiction(await call.parts.disputes.hold(entity, call.segment("contradiction"), note)))


async def list_collisions(call: Call) -> Response:
    """Collisions as they are now, with the facts of each side."""
    rows = await call.parts.disputes.collisions(call.entity)
    return answer({"items": [views.collision(row) for row in rows], "next_cursor": None})


async def settle_collision(call: Call) -> Response:
    """Decide which side is right; what still says otherwise is the residue."""
    entity, fields = call.entity, await call.read(SettleFields)
    return answer(
        views.collision(await call.parts.disputes.settle(entity, call.segment("collision"), fields.side, fields.note))
    )
