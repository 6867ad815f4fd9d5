"""The routes as an ASGI application: who may call, which methods a path has, and errors as RFC 9457 problem details."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute
from starlette.routing import Route as Path
from starlette.types import ASGIApp, Receive, Scope, Send

from memproxy.assembly.parts import Parts
from memproxy.errors import Problem, StoreError, places
from memproxy.server.access import Access, Caller, Headers
from memproxy.server.api.call import Call
from memproxy.server.api.once import Once
from memproxy.server.api.route import Route

log = logging.getLogger(__name__)

READING = frozenset({"GET", "HEAD", "OPTIONS"})


def application(table: Sequence[Route], parts: Parts, access: Access) -> ASGIApp:
    """An application of routes."""
    by_path: dict[str, dict[str, Route]] = {}
    for route in table:
        by_path.setdefault(route.path, {})[route.method] = route
    once = Once(parts)
    paths: list[BaseRoute] = [
        Path(path, _Endpoint(path, routes, table, parts, access, once)) for path, routes in by_path.items()
    ]
    paths.append(Path("/{rest:path}", _Endpoint("", {}, table, parts, access, once)))
    app = Starlette(routes=paths)
    app.router.redirect_slashes = False
    return _RawPaths(app)


class _Endpoint:
    """One path with its methods, as an ASGI application; without any method, a path that does not exist."""

    def __init__(
        self,
        path: str,
        routes: Mapping[str, Route],
        table: Sequence[Route],
        parts: Parts,
        access: Access,
        once: Once,
    ) -> None:
        self._path = path
        self._routes = routes
        self._table = table
        self._parts = parts
        self._access = access
        self._once = once

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        try:
            return await self._handle(request)
        except Problem as problem:
            return unauthorised(request, problem) if problem.status == 401 else problem_response(problem)
        except StoreError:
            return problem_response(Problem(503, "The database cannot be used now", "See /memproxy/ready."))
        except ClientDisconnect:
            return Response(status_code=499)
        except Exception as error:  # the last door: a fault is told by its kind, its message may hold content
            log.error("%s failed: %s (%s)", self._path, type(error).__name__, places(error))
            return problem_response(Problem(500, "A fault in memproxy", "The log names its kind."))

    async def _handle(self, request: Request) -> Response:
        route = self._routes.get("GET" if request.method == "HEAD" else request.method)
        caller = authorise(request, self._access, self._parts.page_token, public=route is not None and route.public)
        if not self._routes:
            raise Problem(404, "No such route", "See the API page of the documentation.")
        if route is not None:
            if route.admin and not caller.admin:
                raise Problem(403, "This needs an admin key")
            return await self._once(Call(request, route, self._parts, caller, self._table))
        allowed = ", ".join(sorted(self._routes))
        return problem_response(Problem(405, "No such method here", f"Allowed: {allowed}."), {"allow": allowed})


def authorise(request: Request, access: Access, page_token: str, public: bool = False) -> Caller:
    """Who calls. Raises Problem for a foreign Host or Origin, a missing key, and a write that no page of ours sent."""
    headers = Headers(request.scope["headers"])
    if access.foreign(headers):
        raise Problem(403, "Requests from other sites are not accepted", "Add the origin to allowed_origins.")
    caller = access.caller(headers, own_route=True)
    if caller is None and not public:
        raise Problem(401, "A key is needed", "Send it as X-MemG-Key or as Authorization: Bearer.")
    if request.method not in READING and not access.meant(headers, page_token):
        raise Problem(
            403,
            "That was not sent by the page",
            "Load the page again. Programs send no Origin, or a key as X-MemG-Key.",
        )
    return caller or Caller()


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """RFC 9457."""
    body = {"type": "about:blank", "title": problem.title, "status": problem.status, "detail": problem.detail}
    return JSONResponse(body, problem.status, headers, media_type="application/problem+json")


def unauthorised(request: Request, problem: Problem) -> Response:
    """RFC 9457, with how a key can be given."""
    return problem_response(problem, _challenge(request))


def _challenge(request: Request) -> Mapping[str, str]:
    """How a key can be given; to a person who opens the page, as the password that their browser asks for."""
    asked_by_person = "text/html" in request.headers.get("accept", "")
    return {
        "www-authenticate": 'Basic realm="memproxy (the key is the password)", charset="UTF-8"'
        if asked_by_person
        else "Bearer"
    }


class _RawPaths:
    """Lets the router see the path as it was sent, so that %2F in a segment does not split it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        await self._app({**scope, "path": raw.decode("latin-1")}, receive, send)
