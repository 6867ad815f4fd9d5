"""What OpenAI's APIs have in common: how errors look, and the word after a stream's last event."""

from __future__ import annotations

import json

_TYPES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error"}


def error_body(status: int, message: str, code: str) -> bytes:
    """The body of an error answer; `code` is a word that programs can act upon."""
    kind = _TYPES.get(status, "upstream_error" if status >= 500 else "invalid_request_error")
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}}).encode()


def is_done(data: bytes) -> bool:
    """Whether an event's data is the `[DONE]` after which nothing follows."""
    return len(data) < 64 and data.strip() == b"[DONE]"
