"""The routes as an OpenAPI 3.1 document: what the table says, with schemas from the types that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from memproxy import __version__
from memproxy.server import answers
from memproxy.server.api.parameters import Parameter
from memproxy.server.api.route import Media, Route

_REF = "#/components/schemas/{name}"
_PROBLEM = "application/problem+json"
_ENTITY = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^[^\u0000-\u001f\u007f-\u009f]+$"}
_ID = {"type": "string", "minLength": 1}
_SEGMENTS = {
    "entity": "Whose memory: percent-encoded once.",
    "request_id": "The `X-MemG-Request-Id` of an answer.",
    "file": "The name of a file of the page.",
}
_DESCRIPTION = (
    "Everything that a memory can be asked and told. Lists are pages: `next_cursor`, where it is not null, goes into "
    "`cursor` for the next one. Errors are problem details (RFC 9457)."
)
_ONCE = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Sent again with the same key within a day, the write is not done again.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
}
_SECURITY = {
    "key": {"type": "apiKey", "in": "header", "name": "X-MemG-Key", "description": "A key of the settings."},
    "bearer": {"type": "http", "scheme": "bearer", "description": "The same key, as a bearer token."},
}


def document(routes: Sequence[Route], *, keyed: bool) -> dict[str, Any]:
    """The document. `keyed`: callers need a key here."""
    kinds = [kind for route in routes for kind in (*_types(route.answer), *_types(route.body))]
    shapes, schemas = msgspec.json.schema_components([*kinds, answers.Problem], ref_template=_REF)
    shape_of = dict(zip(map(repr, [*kinds, answers.Problem]), shapes, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, shape_of, keyed)
    return {
        "openapi": "3.1.0",
        "info": {"title": "memproxy", "version": __version__, "description": _DESCRIPTION},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": _SECURITY},
    }


def _operation(route: Route, shape_of: dict[str, Any], keyed: bool) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": _operation_id(route),
        "summary": route.summary,
        "tags": [_tag(route)],
        "parameters": [*map(_segment, route.segments), *map(_parameter, route.query), *([_ONCE] if route.once else [])],
        "responses": dict(_responses(route, shape_of)),
        "security": [{"key": []}, {"bearer": []}] if keyed and not route.public else [],
    }
    if route.admin:
        operation["description"] = "Needs a key that administers, where keys are set."
    if route.body is not None:
        operation["requestBody"] = {"required": not route.optional_body, "content": _content(route.body, shape_of)}
    return operation


def _responses(route: Route, shape_of: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    for status in route.statuses:
        shown = status not in (HTTPStatus.NOT_MODIFIED, HTTPStatus.PERMANENT_REDIRECT)
        content = {"content": _content(route.answer, shape_of)} if shown and route.answer is not None else {}
        yield str(status), {"description": _phrase(status), **content}
    for status in route.refusals:
        if status not in route.statuses:
            yield str(status), {"description": _phrase(status), "content": {_PROBLEM: {"schema": _problem(shape_of)}}}


def _problem(shape_of: dict[str, Any]) -> Any:
    return shape_of[repr(answers.Problem)]


def _content(kind: Any, shape_of: dict[str, Any]) -> dict[str, Any]:
    media = [one for one in _each(kind) if isinstance(one, Media)]
    shapes = [shape_of[repr(one)] for one in _types(kind)]
    ours = {"application/json": {"schema": shapes[0] if len(shapes) == 1 else {"anyOf": shapes}}} if shapes else {}
    return {**ours, **{one.type: {"schema": {"description": one.about}} for one in media}}


def _types(kind: Any) -> tuple[Any, ...]:
    """The types that msgspec knows, of an answer or a body."""
    return tuple(one for one in _each(kind) if one is not None and not isinstance(one, Media))


def _each(kind: Any) -> tuple[Any, ...]:
    return kind if isinstance(kind, tuple) else (kind,)


def _segment(name: str) -> dict[str, Any]:
    about = _SEGMENTS.get(name, f"The id of a {name}.")
    schema = _ENTITY if name == "entity" else _ID
    return {"name": name, "in": "path", "required": True, "description": about, "schema": schema}


def _parameter(one: Parameter[Any]) -> dict[str, Any]:
    return {"name": one.name, "in": "query", "required": one.needed, "description": one.about, "schema": one.schema()}


def _operation_id(route: Route) -> str:
    """The method and the words of the path, those in braces too: `post_entities_entity_facts_fact_correct`."""
    words = [word for word in re.findall(r"\w+", route.path) if word not in ("memproxy", "v1")]
    return "_".join([route.method.lower(), *(words or ["page" if route.path.endswith("/") else "index"])])


def _tag(route: Route) -> str:
    """The thing that the route is about."""
    words = [word for word in route.path.split("/") if word not in ("", "memproxy", "v1") and "{" not in word]
    if not words or words[0] == "web":
        return "page"
    return words[1] if words[0] == "entities" and len(words) > 1 else words[0]


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase
