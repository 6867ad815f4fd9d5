"""Where in a request a block goes."""

from __future__ import annotations

from memproxy.errors import NotUnderstood
from memproxy.model import Addition, ChatRequest, Placement


def place(text: str, placement: Placement, request: ChatRequest) -> tuple[Addition, ...]:
    """A block's text as an addition to a request. Raises NotUnderstood ("unspliceable") where it has no place."""
    if placement == "system":
        return (Addition(text),)
    newest = newest_user(request)
    if newest is None:
        raise NotUnderstood("unspliceable")
    return (Addition(text, newest),)


def newest_user(request: ChatRequest) -> int | None:
    """The place of the newest message that the person wrote."""
    places = reversed(range(len(request.messages)))
    return next((place for place in places if request.messages[place].role == "user"), None)
