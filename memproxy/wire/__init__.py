"""Chat APIs as they are on the wire: bytes to model and back, pure. Which format a request speaks is a row below."""

from __future__ import annotations

from memproxy.interfaces import WireFormat
from memproxy.wire.chat_completions import ChatCompletions

__all__ = ["ChatCompletions", "route"]

# (method, end of the path, format): the path has to end exactly so, and with a whole segment.
_ROUTES: tuple[tuple[str, bytes, WireFormat], ...] = (("POST", b"/chat/completions", ChatCompletions()),)


def route(method: str, path: bytes) -> WireFormat | None:
    """The format of a request, by its method and raw path (no query); None where memory has no part in it."""
    return next((form for verb, end, form in _ROUTES if method == verb and path.endswith(end)), None)
