"""The management API under /memproxy/: a page a route, errors as RFC 9457 problem details.

Paths are matched as they were sent and percent-decoded once, so that an entity may be called "a/b" (as `a%2Fb`).
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, get_args
from urllib.parse import unquote_to_bytes

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from memproxy import __version__
from memproxy.errors import Problem, StoreError, places
from memproxy.lifecycle.curation import PastTurn
from memproxy.lifecycle.dead_letters import bring_back
from memproxy.model import DEFAULT_TENANT, Entity, FactStatus, FactType, ItemKind, SourceRole
from memproxy.server import views
from memproxy.server.access import Access, Caller, Headers
from memproxy.server.identity import clean_name, read_time
from memproxy.server.parts import Parts
from memproxy.server.requests import MAX_BODY, MAX_PAGE, FactFields, Query, TurnsBody, decode
from memproxy.store import entities, jobs, receipts, turns
from memproxy.store import facts as fact_rows

log = logging.getLogger(__name__)

Handler = Callable[["Call"], Awaitable[Response]]


class Call:
    """One request to the management API, already authorised as far as its route demands."""

    def __init__(self, request: Request, parts: Parts, caller: Caller) -> None:
        self.request = request
        self.parts = parts
        self.caller = caller
        self.query = Query(request.scope["query_string"])

    @property
    def entity(self) -> Entity:
        """The entity of the path. Raises Problem where its name is invalid or the key does not cover it."""
        name = self.segment("entity")
        try:
            name = clean_name(name)
        except ValueError as error:
            raise Problem(400, "That is no entity's name", f"{error}.") from None
        if not self.caller.may_name(name):
            raise Problem(403, "This key may not name that entity", "Use a key whose entities cover it.")
        return Entity(name)

    def segment(self, name: str) -> str:
        """A path segment, percent-decoded once. Raises Problem."""
        try:
            return unquote_to_bytes(self.request.path_params[name]).decode("utf-8")
        except UnicodeDecodeError:
            raise Problem(400, "The path is not UTF-8") from None

    def admin(self) -> None:
        """Raises Problem unless the caller administers."""
        if not self.caller.admin:
            raise Problem(403, "This needs an admin key")

    async def body(self) -> bytes:
        """The whole body. Raises Problem 413 over the limit."""
        read = bytearray()
        async for chunk in self.request.stream():
            read += chunk
            if len(read) > MAX_BODY:
                raise Problem(413, "The body is too large", f"At most {MAX_BODY} bytes; send it in parts.")
        return bytes(read)


# --- the process ---------------------------------------------------------------------------------------------


async def health(call: Call) -> Response:
    """The process answers."""
    return _json({"status": "ok", "version": __version__})


async def ready(call: Call) -> Response:
    """Whether memory works, and why not; 503 only while draining."""
    state = await call.parts.readiness()
    return _json(state, 503 if call.parts.draining else 200)


async def metrics(call: Call) -> Response:
    """Prometheus metrics."""
    await call.parts.measure()
    return Response(call.parts.metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def flush(call: Call) -> Response:
    """Run debounced jobs now; answer when background work is idle."""
    call.admin()
    progress = await call.parts.flush(call.query.number("timeout", 30, 0, 600))
    return _json({"idle": progress.idle, "pending": progress.pending, "dead": progress.dead})


async def list_jobs(call: Call) -> Response:
    """Background jobs, newest first."""
    call.admin()
    states = call.query.texts("state")
    rows = await call.parts.db.read(lambda conn: jobs.list_jobs(conn, states=states, limit=_limit(call)))
    return _json({"items": [views.job(row) for row in rows], "next_cursor": None})


async def retry_job(call: Call) -> Response:
    """Bring a dead job back."""
    call.admin()
    job_id, now = call.segment("job"), call.parts.clock.now()
    if not await call.parts.db.write(lambda conn: bring_back(conn, job_id, now)):
        raise Problem(404, "No such dead job")
    call.parts.worker.wake()
    return _json({"retried": 1})


async def get_receipt(call: Call) -> Response:
    """What was injected into a request; 404 outside the caller's scope."""
    request_id = call.segment("request_id")
    found = await call.parts.db.read(lambda conn: receipts.get(conn, request_id))
    if found is None or not call.caller.may_name(found.entity.name):
        raise Problem(404, "No such receipt", "Receipts are kept for receipts.days, and go with what they quote.")
    return _json(views.receipt(found))


# --- entities ------------------------------------------------------------------------------------------------


async def list_entities(call: Call) -> Response:
    """The entities that the caller may name."""
    limit, after = _limit(call), call.query.text("cursor")
    mine: list[entities.EntityRow] = []
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
    return _json({"items": items, "next_cursor": items[-1]["entity"] if len(items) == limit else None})


async def _entities_after(call: Call, after: str | None) -> list[entities.EntityRow]:
    return await call.parts.db.read(lambda conn: entities.list_entities(conn, DEFAULT_TENANT, MAX_PAGE, after))


async def get_entity(call: Call) -> Response:
    """How much is stored of an entity."""
    entity = call.entity
    counts = await call.parts.db.read(lambda conn: entities.counts(conn, entity))
    return _json({"entity": entity.name, **counts})


async def erase_entity(call: Call) -> Response:
    """Remove everything of an entity, for good."""
    return _json({"deleted": await call.parts.erase(call.entity)})


async def context(call: Call) -> Response:
    """What would be injected for a message, and why. Stores nothing."""
    entity, text = call.entity, _required(call, "query")
    parts = call.parts
    block, skip = await parts.memory.recall(entity, text, parts.clock.now(), parts.settings.timezone)
    return _json({**views.block(block), "reason": skip})


async def search(call: Call) -> Response:
    """Ranked turns, facts and summaries."""
    entity, text = call.entity, _required(call, "query")
    kinds = _choices(call, "kind", ItemKind)
    found = await call.parts.search(entity, text, kinds, call.query.number("limit", 10, 1, 100))
    return _json({"items": found, "next_cursor": None})


# --- facts ---------------------------------------------------------------------------------------------------


async def list_facts(call: Call) -> Response:
    """Facts, newest first; current ones unless a status is asked for."""
    entity, query, limit = call.entity, call.query, _limit(call)
    rows = await call.parts.db.read(
        lambda conn: fact_rows.list_facts(
            conn,
            entity,
            statuses=_choices(call, "status", FactStatus) or ["current"],
            types=_choices(call, "type", FactType),
            tags=query.texts("tag"),
            slots=query.texts("slot"),
            source_role=_choice(call, "source_role", SourceRole),
            pinned=query.flag("pinned"),
            query=query.text("query") or query.text("q"),
            limit=limit,
            after=_cursor(call),
        )
    )
    return _json(
        {"items": [views.fact(row) for row in rows], "next_cursor": rows[-1].id if len(rows) == limit else None}
    )


async def create_fact(call: Call) -> Response:
    """Store a statement."""
    entity = call.entity
    fact = await call.parts.curator.add(entity, decode(await call.body(), FactFields).draft())
    call.parts.changed(entity)
    return _json(views.fact(fact), 201)


async def get_fact(call: Call) -> Response:
    """One fact; a forgotten one is gone."""
    entity, fact_id = call.entity, call.segment("fact")
    fact = await call.parts.db.read(lambda conn: fact_rows.get(conn, entity, fact_id))
    if fact is None or fact.status == "forgotten":
        raise Problem(404, "No such fact")
    return _json(views.fact(fact))


async def patch_fact(call: Call) -> Response:
    """Correct or restore a fact."""
    entity, fields = call.entity, decode(await call.body(), FactFields).given()
    if not fields:
        raise Problem(400, "Nothing to change", 'Send for example {"text": "…"} or {"pinned": true}.')
    fact = await call.parts.curator.correct(entity, call.segment("fact"), fields)
    call.parts.changed(entity)
    return _json(views.fact(fact))


async def delete_fact(call: Call) -> Response:
    """Forget a fact; PATCH {"status": "current"} undoes it."""
    entity = call.entity
    await call.parts.curator.forget(entity, call.segment("fact"))
    call.parts.changed(entity)
    return _json({"deleted": {"facts": 1}})


# --- turns ---------------------------------------------------------------------------------------------------


async def list_turns(call: Call) -> Response:
    """Turns in the order they were said."""
    entity, limit = call.entity, _limit(call)
    session, after = call.query.text("session"), _cursor(call)
    rows = await call.parts.db.read(
        lambda conn: turns.list_turns(conn, entity, session_id=session, limit=limit, after=after)
    )
    return _json(
        {"items": [views.turn(row) for row in rows], "next_cursor": rows[-1].id if len(rows) == limit else None}
    )


async def import_turns(call: Call) -> Response:
    """Record history with its own dates and speakers."""
    entity, body = call.entity, decode(await call.body(), TurnsBody)
    try:
        session = clean_name(body.session)
    except ValueError as error:
        raise Problem(400, "That is no session's name", f"{error}.") from None
    now = call.parts.clock.now()
    past = [PastTurn(t.role, t.content, _past(t.time.isoformat(), now, i), t.name) for i, t in enumerate(body.turns)]
    ids = await call.parts.curator.import_turns(entity, session, past, body.learn)
    call.parts.changed(entity)
    return _json({"ids": ids}, 201)


async def delete_turn(call: Call) -> Response:
    """Remove a turn for good."""
    entity = call.entity
    await call.parts.curator.forget_turn(entity, call.segment("turn"))
    call.parts.changed(entity)
    return _json({"deleted": {"turns": 1}})


def _past(text: str, now: Any, index: int) -> Any:
    try:
        return read_time(text, now)
    except ValueError as error:
        raise Problem(400, f"turns[{index}].time cannot be used", f"{error}.") from None


# --- the application -----------------------------------------------------------------------------------------

ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/memproxy/health", health),
    ("GET", "/memproxy/ready", ready),
    ("GET", "/memproxy/metrics", metrics),
    ("POST", "/memproxy/v1/flush", flush),
    ("GET", "/memproxy/v1/jobs", list_jobs),
    ("POST", "/memproxy/v1/jobs/{job}/retry", retry_job),
    ("GET", "/memproxy/v1/receipts/{request_id}", get_receipt),
    ("GET", "/memproxy/v1/entities", list_entities),
    ("GET", "/memproxy/v1/entities/{entity}", get_entity),
    ("DELETE", "/memproxy/v1/entities/{entity}", erase_entity),
    ("GET", "/memproxy/v1/entities/{entity}/context", context),
    ("GET", "/memproxy/v1/entities/{entity}/search", search),
    ("GET", "/memproxy/v1/entities/{entity}/facts", list_facts),
    ("POST", "/memproxy/v1/entities/{entity}/facts", create_fact),
    ("GET", "/memproxy/v1/entities/{entity}/facts/{fact}", get_fact),
    ("PATCH", "/memproxy/v1/entities/{entity}/facts/{fact}", patch_fact),
    ("DELETE", "/memproxy/v1/entities/{entity}/facts/{fact}", delete_fact),
    ("GET", "/memproxy/v1/entities/{entity}/turns", list_turns),
    ("POST", "/memproxy/v1/entities/{entity}/turns", import_turns),
    ("DELETE", "/memproxy/v1/entities/{entity}/turns/{turn}", delete_turn),
)


def build_api(parts: Parts, access: Access) -> ASGIApp:
    """The ASGI application of everything under /memproxy/ but the proxied `as/{entity}`."""
    by_path: dict[str, dict[str, Handler]] = {}
    for method, path, handler in ROUTES:
        by_path.setdefault(path, {})[method] = handler
    routes: list[BaseRoute] = [
        Route(path, _Endpoint(path, handlers, parts, access)) for path, handlers in by_path.items()
    ]
    routes.append(Route("/{rest:path}", _Endpoint("", {}, parts, access)))
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    return _RawPaths(app)


class _Endpoint:
    """One path with its methods, as an ASGI application; without any method, a path that does not exist."""

    def __init__(self, path: str, handlers: Mapping[str, Handler], parts: Parts, access: Access) -> None:
        self._path = path
        self._handlers = handlers
        self._parts = parts
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        try:
            return await self._handle(request)
        except Problem as problem:
            return problem_response(problem)
        except StoreError:
            return problem_response(Problem(503, "The database cannot be used now", "See /memproxy/ready."))
        except ClientDisconnect:
            return Response(status_code=499)
        except Exception as error:  # the last door: a fault is told by its kind, its message may hold content
            log.error("%s failed: %s (%s)", self._path, type(error).__name__, places(error))
            return problem_response(Problem(500, "A fault in memproxy", "The log names its kind."))

    async def _handle(self, request: Request) -> Response:
        caller = _authorise(request, self._access, public=self._path == "/memproxy/health")
        if not self._handlers:
            raise Problem(404, "No such route", "See the API page of the documentation.")
        method = "GET" if request.method == "HEAD" else request.method
        if method in self._handlers:
            return await self._handlers[method](Call(request, self._parts, caller))
        allowed = ", ".join(sorted(self._handlers))
        return problem_response(Problem(405, "No such method here", f"Allowed: {allowed}."), {"allow": allowed})


def _authorise(request: Request, access: Access, public: bool) -> Caller:
    headers = Headers(request.scope["headers"])
    if access.foreign(headers):
        raise Problem(403, "Requests from other sites are not accepted", "Add the origin to allowed_origins.")
    caller = access.caller(headers, own_route=True)
    if caller is None and not public:
        raise Problem(401, "A key is needed", "Send it as X-MemG-Key or as Authorization: Bearer.")
    return caller or Caller()


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """RFC 9457."""
    body = {"type": "about:blank", "title": problem.title, "status": problem.status, "detail": problem.detail}
    more = {"www-authenticate": "Bearer"} if problem.status == 401 else {}
    return JSONResponse(body, problem.status, {**more, **(headers or {})}, media_type="application/problem+json")


class _RawPaths:
    """Lets the router see the path as it was sent, so that %2F in a segment does not split it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        await self._app({**scope, "path": raw.decode("latin-1")}, receive, send)


def _json(value: Mapping[str, Any], status: int = 200) -> Response:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return Response(body, status, media_type="application/json")


def _limit(call: Call) -> int:
    return call.query.number("limit", 100, 1, MAX_PAGE)


def _cursor(call: Call) -> str | None:
    """Where a list goes on: the id of the last row of the page before. Raises Problem."""
    cursor = call.query.text("cursor")
    if not cursor:
        return None
    if re.fullmatch("[0-9a-f]{32}", cursor) is None:
        raise Problem(400, "cursor is none of ours", "Pass the next_cursor of the page before.")
    return cursor


def _choices(call: Call, name: str, kind: Any) -> list[Any]:
    """The values of a parameter that takes some of a closed list. Raises Problem."""
    known, asked = get_args(kind), call.query.texts(name)
    if not set(asked) <= set(known):
        raise Problem(400, f"{name} is one of {', '.join(known)}")
    return list(dict.fromkeys(asked))


def _choice(call: Call, name: str, kind: Any) -> Any:
    return next(iter(_choices(call, name, kind)), None)


def _required(call: Call, name: str) -> str:
    value = call.query.text(name)
    if not value:
        raise Problem(400, f"{name} is missing", f"Add ?{name}=… to the URL.")
    return value
