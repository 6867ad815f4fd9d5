"""One request to the management API: who calls, about whom, with what. What cannot be meant raises Problem."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, get_args
from urllib.parse import unquote_to_bytes

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from memproxy.assembly.parts import Parts
from memproxy.errors import Problem
from memproxy.model import Entity
from memproxy.names import clean_name
from memproxy.server.access import Caller
from memproxy.server.requests import MAX_BODY, MAX_PAGE, Query

_TIME_AND_ID = r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)~([0-9a-f]{32})"
_PLACE = re.compile(_TIME_AND_ID, re.ASCII)
_KIND_PLACE = re.compile(_TIME_AND_ID + "~([a-z]+)", re.ASCII)

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

    @property
    def limit(self) -> int:
        """How many rows a page may have. Raises Problem."""
        return self.query.number("limit", 100, 1, MAX_PAGE)

    @property
    def cursor(self) -> str | None:
        """Where a list goes on: the id of the last row of the page before. Raises Problem."""
        cursor = self.query.text("cursor")
        if not cursor:
            return None
        if re.fullmatch("[0-9a-f]{32}", cursor) is None:
            raise Problem(400, "cursor is none of ours", "Pass the next_cursor of the page before.")
        return cursor

    @property
    def place(self) -> tuple[str, str] | None:
        """The same for lists in an order of time: the time and the id of that row. Raises Problem."""
        found = self._place(_PLACE)
        return None if found is None else (found[1], found[2])

    @property
    def kind_place(self) -> tuple[str, str, str] | None:
        """The same for lists of rows of several kinds: time, kind, id. Raises Problem."""
        found = self._place(_KIND_PLACE)
        return None if found is None else (found[1], found[3], found[2])

    def _place(self, form: re.Pattern[str]) -> re.Match[str] | None:
        cursor = self.query.text("cursor")
        if not cursor:
            return None
        found = form.fullmatch(cursor)
        if found is None:
            raise Problem(400, "cursor is none of ours", "Pass the next_cursor of the page before.")
        return found

    def choices(self, name: str, kind: Any) -> list[Any]:
        """The values of a parameter that takes some of a closed list. Raises Problem."""
        known, asked = get_args(kind), self.query.texts(name)
        if not set(asked) <= set(known):
            raise Problem(400, f"{name} is one of {', '.join(known)}")
        return list(dict.fromkeys(asked))

    def choice(self, name: str, kind: Any) -> Any:
        """The first of them, or None."""
        return next(iter(self.choices(name, kind)), None)

    def required(self, name: str) -> str:
        """A parameter that has to be there. Raises Problem."""
        value = self.query.text(name)
        if not value:
            raise Problem(400, f"{name} is missing", f"Add ?{name}=… to the URL.")
        return value


def answer(value: Mapping[str, Any] | msgspec.Struct, status: int = 200) -> Response:
    """A value as a JSON response."""
    if isinstance(value, msgspec.Struct):
        return Response(msgspec.json.encode(value), status, media_type="application/json")
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return Response(body, status, media_type="application/json")
