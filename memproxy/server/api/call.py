"""One request to the management API: who calls, about whom, with what. What cannot be meant raises Problem."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from memproxy.assembly.parts import Parts
from memproxy.errors import Problem
from memproxy.model import Entity
from memproxy.names import clean_name
from memproxy.server.access import Caller
from memproxy.server.api.parameters import Parameter, query_of
from memproxy.server.api.route import Route
from memproxy.server.requests import MAX_BODY, decode

T = TypeVar("T")


class Call:
    """One request to the management API, already authorised as far as its route demands."""

    def __init__(self, request: Request, route: Route, parts: Parts, caller: Caller, table: Sequence[Route]) -> None:
        self.request = request
        self.route = route
        self.table = table
        self.parts = parts
        self.caller = caller
        self._query = query_of(request.scope["query_string"])
        self._body: bytes | None = None

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

    def get(self, parameter: Parameter[T]) -> T:
        """What a parameter of the query says. Raises Problem; LookupError for one that the route does not declare."""
        if parameter not in self.route.query:
            raise LookupError(f"{self.route.path} declares no {parameter.name}")
        return parameter.read(self._query.get(parameter.name, ()))

    async def read(self, kind: type[T]) -> T:
        """The body. Raises Problem 400, 413; LookupError for a type that the route does not declare."""
        if kind is not self.route.body:
            raise LookupError(f"{self.route.path} declares no {kind.__name__}")
        return decode(await self.body(), kind)

    async def body(self) -> bytes:
        """The whole body. Raises Problem 413 over the limit."""
        if self._body is None:
            read = bytearray()
            async for chunk in self.request.stream():
                read += chunk
                if len(read) > MAX_BODY:
                    raise Problem(413, "The body is too large", f"At most {MAX_BODY} bytes; send it in parts.")
            self._body = bytes(read)
        return self._body


def answer(value: Mapping[str, Any] | msgspec.Struct, status: int = 200) -> Response:
    """A value as a JSON response."""
    if isinstance(value, msgspec.Struct):
        return Response(msgspec.json.encode(value), status, media_type="application/json")
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return Response(body, status, media_type="application/json")
