"""Chat APIs as they are on the wire: bytes to model and back, pure. Which format a request speaks is a row below."""

from __future__ import annotations

import re

from memproxy.interfaces import WireFormat
from memproxy.wire.chat_completions import ChatCompletions
from memproxy.wire.gemini import Gemini
from memproxy.wire.messages import Messages
from memproxy.wire.ollama import Ollama
from memproxy.wire.responses import Responses

__all__ = ["ChatCompletions", "Gemini", "Messages", "Ollama", "Responses", "route"]

# (method, end of the path, format): the path has to end exactly so, and with a whole segment or a method's name.
_ROUTES: tuple[tuple[str, bytes, WireFormat], ...] = (
    ("POST", b"/chat/completions", ChatCompletions()),
    ("POST", b"/responses", Responses()),
    ("POST", b"/messages", Messages()),
    ("POST", b"/messages/count_tokens", Messages(records=False)),
    ("POST", b":generateContent", Gemini()),
    ("POST", b":streamGenerateContent", Gemini()),
    ("POST", b"/api/chat", Ollama()),
)
_ENDS = {form: end.decode() for _, end, form in _ROUTES}
# Elsewhere a message is one thing put into a thread (OpenAI's Assistants among others), not a conversation.
_OTHER_MESSAGES = re.compile(rb"/(?:agents|channels|chats|conversations|sessions|threads)/[^/]+/messages\Z")


def route(method: str, path: bytes) -> WireFormat | None:
    """The format of a request, by its method and raw path (no query); None where memory has no part in it."""
    for verb, end, form in _ROUTES:
        if path.endswith(end) and method == verb:
            return None if _OTHER_MESSAGES.search(path) else form
    return None


def ending(form: WireFormat) -> str:
    """How the path of a route's format ends, e.g. `/chat/completions`: for people to read, without ids of its own."""
    return _ENDS[form]
