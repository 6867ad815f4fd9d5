"""Where a block goes in a request, as wire tests need it: the system prompt, or the person's newest message."""

from __future__ import annotations

from memproxy.errors import NotUnderstood
from memproxy.model import Addition, ChatRequest, Placement


def place(text: str, placement: Placement, request: ChatRequest) -> tuple[Addition, ...]:
    """The text as an addition. Raises NotUnderstood ("unspliceable") where nobody said anything it could stand by."""
    if placement != "user":
        return (Addition(text),)
    newest = [index for index, message in enumerate(request.messages) if message.role == "user"][-1:]
    if not newest:
        raise NotUnderstood("unspliceable")
    return (Addition(text, newest[0]),)
