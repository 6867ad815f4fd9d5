"""A route, described where it is declared: the router, the document and the tests read the same lines."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from memproxy.server.api.parameters import Parameter

if TYPE_CHECKING:
    from memproxy.server.api.call import Call

Handler = Callable[["Call"], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Media:
    """An answer or a body that is no JSON object of ours."""

    type: str
    about: str


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a path with `{segments}`, what answers it, and what may be asked and answered.

    The first line of the handler's docstring says what the route does.
    """

    method: str
    path: str
    handler: Handler
    answer: Any  # a type that msgspec knows, some of which it is one, or Media; None: no body
    body: Any = None  # the same for what is sent
    query: tuple[Parameter[Any], ...] = ()
    statuses: tuple[int, ...] = (200,)  # with which it answers what is asked
    problems: tuple[int, ...] = ()  # with which it may refuse, besides those that follow from the rest
    admin: bool = False  # needs a key that administers
    public: bool = False  # needs no key
    optional_body: bool = False
    same_again: bool = False  # a write that changes nothing when it is done again: it takes no Idempotency-Key

    @property
    def summary(self) -> str:
        """What the route does."""
        return (self.handler.__doc__ or "").partition("\n")[0].strip()

    @property
    def segments(self) -> tuple[str, ...]:
        """The names in the path."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.method == "GET"

    @property
    def once(self) -> bool:
        """Whether it takes an Idempotency-Key."""
        return not self.reads and not self.same_again

    @property
    def refusals(self) -> tuple[int, ...]:
        """All statuses with which it may refuse."""
        found = {403, 503, *self.problems}
        found |= set() if self.public else {401}
        found |= {400} if self.query or self.segments or self.body is not None else set()
        found |= {413} if self.body is not None or self.once else set()
        found |= {400, 409, 410, 422} if self.once else set()
        found |= {404} if set(self.segments) - {"entity"} else set()
        return tuple(sorted(found))
