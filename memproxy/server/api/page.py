"""The page people look at, with the token by which its writes are known from those of other pages."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from memproxy.errors import Problem
from memproxy.server.api.call import Call
from memproxy.web import Asset, assets

# Nothing from anywhere else, nothing inline, nothing in a frame: stored text can be shown, never run.
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


async def to_index(call: Call) -> Response:
    """The page's address without its last slash."""
    return RedirectResponse("/memproxy/", 308)


async def index(call: Call) -> Response:
    """The page."""
    body = assets()["index.html"].body.replace(b"{token}", call.parts.page_token.encode())
    return Response(
        body, headers={**_HEADERS, "cache-control": "no-store"}, media_type=assets()["index.html"].media_type
    )


async def file(call: Call) -> Response:
    """A file that the page is made of."""
    found = assets().get(call.segment("file"))
    if found is None:
        raise Problem(404, "No such file of the page")
    return _unchanged(found) if call.request.headers.get("if-none-match") == found.etag else _whole(found)


def _whole(found: Asset) -> Response:
    headers = {**_HEADERS, "cache-control": "no-cache", "etag": found.etag}
    return Response(found.body, headers=headers, media_type=found.media_type)


def _unchanged(found: Asset) -> Response:
    return Response(status_code=304, headers={"cache-control": "no-cache", "etag": found.etag})
