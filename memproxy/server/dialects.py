"""In whose words an error of ours is told: those of the route's format, or of the API that its path belongs to."""

from __future__ import annotations

from collections.abc import Callable

from memproxy import wire
from memproxy.interfaces import WireFormat

ErrorBody = Callable[[int, str, str], bytes]  # status, message, code

_OF_VENDORS: dict[str, WireFormat] = {
    "openai": wire.ChatCompletions(),
    "anthropic": wire.Messages(),
    "gemini": wire.Gemini(),
    "ollama": wire.Ollama(),
}


def error_body(form: WireFormat | None, vendor: str) -> ErrorBody:
    """What makes the body of an error."""
    return (form or _OF_VENDORS[vendor]).error
