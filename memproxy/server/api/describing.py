"""The API, described by itself."""

from __future__ import annotations

from starlette.responses import Response

from memproxy.server.api.call import Call, answer
from memproxy.server.api.openapi import document as describe


async def document(call: Call) -> Response:
    """All routes as an OpenAPI 3.1 document."""
    return answer(describe(call.table, keyed=bool(call.parts.settings.keys)))
