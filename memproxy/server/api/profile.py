"""What is known of a person in structured form."""

from __future__ import annotations

from starlette.responses import Response

from memproxy.server import views
from memproxy.server.api.call import Call, answer
from memproxy.server.api.parameters import AFTER, LIMIT, Text
from memproxy.server.requests import ProfileFields

FIELD = Text("field", "Entries of this field alone.", 100)


async def get_profile(call: Call) -> Response:
    """The entries that hold, by field."""
    return answer(views.profile(await call.parts.profiles.current(call.entity)))


async def get_history(call: Call) -> Response:
    """What ever held, the newest first."""
    limit, after = call.get(LIMIT), call.get(AFTER)
    rows = await call.parts.profiles.history(call.entity, call.get(FIELD), limit, after[0] if after else None)
    place = rows[-1].id if len(rows) == limit else None
    return answer({"items": [views.profile_entry(row) for row in rows], "next_cursor": place})


async def patch_profile(call: Call) -> Response:
    """Set, add and remove entries by hand, all or none."""
    entity, changes = call.entity, (await call.read(ProfileFields)).changes()
    return answer(views.profile(await call.parts.profiles.change(entity, changes)))
