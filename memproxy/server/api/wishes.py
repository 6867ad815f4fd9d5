"""What a person wants of their memory: what is not to be learned, and what was denied."""

from __future__ import annotations

from starlette.responses import Response

from memproxy.server import views
from memproxy.server.api.call import Call, answer
from memproxy.server.api.parameters import AFTER, LIMIT
from memproxy.server.requests import PreferenceFields, Words
from memproxy.store import denied, preferences


async def get_preferences(call: Call) -> Response:
    """What the person wants."""
    entity = call.entity
    return answer(views.preferences(await call.parts.db.read(lambda conn: preferences.get(conn, entity))))


async def put_preferences(call: Call) -> Response:
    """Want something else from now on; what is left out stays as it is."""
    entity, given = call.entity, (await call.read(PreferenceFields)).given()
    wanted = await call.parts.curator.prefer(entity, given)
    return answer(views.preferences(wanted))


async def list_denied(call: Call) -> Response:
    """That something was denied, and when; not what."""
    entity, limit, after = call.entity, call.get(LIMIT), call.get(AFTER)
    rows = await call.parts.db.read(lambda conn: denied.list_denials(conn, entity, limit, after[0] if after else None))
    cursor = rows[-1].id if len(rows) == limit else None
    return answer({"items": [views.denial(row) for row in rows], "next_cursor": cursor})


async def deny_text(call: Call) -> Response:
    """Erase what says this, and do not learn it again."""
    entity, text = call.entity, (await call.read(Words)).checked()
    denial, gone = await call.parts.curator.deny_text(entity, text)
    await call.parts.removed(entity)
    return answer({**views.denial(denial), "deleted": {"facts": gone}}, 201)


async def allow(call: Call) -> Response:
    """Deny something no more."""
    entity = call.entity
    await call.parts.curator.allow(entity, call.segment("denied"))
    return answer({"deleted": {"denied": 1}})
