"""What agents can do with a memory: each tool is a route of the API, with fewer things to say and fewer to read.

A tool has no code of its own: its arguments go where the route has them, and of its answer it shows the fields of a
type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from starlette.requests import Request
from starlette.types import Message

from memproxy.assembly.parts import Parts
from memproxy.errors import Problem
from memproxy.model import Entity, FactStatus, ItemKind, SourceRole
from memproxy.server.access import Caller
from memproxy.server.answers import Deleted, Happening, Page, Session
from memproxy.server.api import ENTITY, FACT, ROUTES
from memproxy.server.api.call import Call
from memproxy.server.api.route import Route


class Remembered(msgspec.Struct):
    """A fact, as far as an agent needs it."""

    id: str
    text: str
    tag: str
    status: FactStatus
    pinned: bool
    source_role: SourceRole
    confidence: float
    valid_from: datetime | None
    reference_time: datetime | None


class Hit(msgspec.Struct):
    """A passage that was found."""

    kind: ItemKind
    id: str
    text: str
    score: float


class Block(msgspec.Struct):
    """What a message would be given."""

    block: str
    tokens: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class Tool:
    """A route as a tool."""

    name: str
    method: str
    path: str
    about: str  # for the model that chooses among tools
    shows: Any  # the type of what it answers
    takes: Mapping[str, str]  # its arguments, and what they say
    needs: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False

    @property
    def route(self) -> Route:
        """The route that it uses."""
        return next(route for route in ROUTES if (route.method, route.path) == (self.method, self.path))

    def arguments(self) -> dict[str, Any]:
        """What it takes, as JSON Schema, from what its route takes."""
        known = _shapes(self.route)
        shapes = {
            name: {**known[name], "description": about, **_default(self.defaults.get(name))}
            for name, about in self.takes.items()
        }
        shape = {"type": "object", "properties": shapes, "additionalProperties": False}
        return {**shape, "required": list(self.needs)} if self.needs else shape

    def answer(self) -> dict[str, Any]:
        """What it answers, as JSON Schema."""
        [shape], schemas = msgspec.json.schema_components([self.shows], ref_template="#/$defs/{name}")
        name = shape["$ref"].rpartition("/")[2]
        return {**schemas.pop(name), "$defs": schemas}


_PAGE = {"limit": "How many at most.", "cursor": "next_cursor of the page before."}
_ID = {"fact": "The id of the fact."}

TOOLS = (
    Tool(
        "add",
        "POST",
        f"{ENTITY}/facts",
        "Remember one statement about the person, in a sentence of its own. Known already, it is not stored twice; "
        "another value of the same attribute becomes history.",
        Remembered,
        {
            "text": "The statement, such as: Lives in Lyon.",
            "tag": "What it is about, such as work, family, medical.",
            "slot": "The attribute of one value that it fills, such as location.",
            "source_role": "user: the person said so. assistant: it is your conclusion.",
            "reference_time": "When it happened (ISO 8601).",
            "pinned": "Whether it is kept in view whatever is asked.",
        },
        needs=("text",),
        idempotent=True,
    ),
    Tool(
        "search",
        "GET",
        f"{ENTITY}/search",
        "Find what is remembered about something: facts, things said, summaries of conversations, the best first.",
        Page[Hit],
        {"query": "What to look for.", "kind": "Only these kinds.", "limit": "How many at most."},
        needs=("query",),
        read_only=True,
    ),
    Tool(
        "list",
        "GET",
        f"{ENTITY}/facts",
        "List remembered facts, the newest first, with their ids.",
        Page[Remembered],
        {"status": "current, unless said otherwise.", "tag": "Only these tags.", "query": "Part of the text.", **_PAGE},
        defaults={"limit": 20},
        read_only=True,
    ),
    Tool(
        "correct",
        "POST",
        f"{FACT}/correct",
        "Let a fact say what is right, as the person's own word. What it said before is kept in its history.",
        Remembered,
        {**_ID, "text": "What it is to say."},
        needs=("fact", "text"),
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "pin",
        "PATCH",
        FACT,
        "Keep a fact in view whatever is asked, or (pinned: false) let it be one like others again.",
        Remembered,
        {**_ID, "pinned": "false to unpin."},
        needs=("fact",),
        defaults={"pinned": True},
        idempotent=True,
    ),
    Tool(
        "forget",
        "DELETE",
        FACT,
        "Forget a fact: it is never recalled or shown again. The person can undo it; with erase it is gone for good.",
        Deleted,
        {**_ID, "erase": "Remove it for good, with its history."},
        needs=("fact",),
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "context",
        "GET",
        f"{ENTITY}/context",
        "What memory has to say to a message: the text that would be put beside it.",
        Block,
        {"query": "The message."},
        needs=("query",),
        read_only=True,
    ),
    Tool(
        "timeline",
        "GET",
        f"{ENTITY}/timeline",
        "What happened when: dated facts, conversations, and changes of mind.",
        Page[Happening],
        {"from": "From then on (ISO 8601).", "to": "Until before then.", "order": "What comes first.", **_PAGE},
        defaults={"limit": 20, "order": "newest"},
        read_only=True,
    ),
    Tool(
        "sessions",
        "GET",
        f"{ENTITY}/sessions",
        "Conversations with the person, the most recent first.",
        Page[Session],
        _PAGE,
        defaults={"limit": 20},
        read_only=True,
    ),
)


async def use(tool: Tool, parts: Parts, caller: Caller, entity: Entity, given: Mapping[str, Any]) -> Any:
    """Do what the tool does; its answer as JSON values. Raises Problem, StoreError."""
    said = {**tool.defaults, **{name: value for name, value in given.items() if value is not None}}
    if unknown := said.keys() - tool.takes.keys():
        raise Problem(400, f"There is no argument {min(unknown)}", f"There are {', '.join(tool.takes)}.")
    if missing := [name for name in tool.needs if name not in said]:
        raise Problem(400, f"{missing[0]} is missing", f"It is {tool.takes[missing[0]]}")
    route = tool.route
    response = await route.handler(Call(_request(route, entity, said), route, parts, caller, ROUTES))
    return msgspec.to_builtins(msgspec.json.decode(response.body, type=tool.shows))


def _request(route: Route, entity: Entity, said: Mapping[str, Any]) -> Request:
    """The arguments where the route has them: in its path, its query or its body."""
    segments = {"entity": entity.name, **{name: str(said[name]) for name in route.segments if name in said}}
    query = {one.name: _text(said[one.name]) for one in route.query if one.name in said}
    rest = {name: value for name, value in said.items() if name not in segments and name not in query}
    body = json.dumps(rest).encode() if route.body is not None else b""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {
        "type": "http",
        "method": route.method,
        "path": route.path,
        "query_string": urlencode(query, doseq=True).encode(),
        "headers": [],
        "path_params": {name: quote(value, safe="") for name, value in segments.items()},
    }
    return Request(scope, receive)


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return [str(part) for part in value] if isinstance(value, list) else str(value)


def _shapes(route: Route) -> dict[str, Any]:
    """What a route takes, by name."""
    shapes: dict[str, Any] = {name: {"type": "string"} for name in route.segments}
    shapes |= {one.name: dict(one.schema()) for one in route.query}
    if route.body is not None:
        schemas = msgspec.json.schema_components([route.body])[1]
        shapes |= schemas[route.body.__name__]["properties"]
    return shapes


def _default(value: Any) -> dict[str, Any]:
    return {} if value is None else {"default": value}
