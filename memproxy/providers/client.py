"""One call to a chat model, for background work. Errors say what trying again would do, the same for every API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memproxy.calling.connections import Connections, check_status
from memproxy.errors import ProviderBusy, ProviderError
from memproxy.providers import shape_chat, shape_converse, shape_gemini, shape_messages, shape_ollama
from memproxy.providers.calls import Asked, Completion, Endpoint, Messages, Shape
from memproxy.settings import is_loopback

if TYPE_CHECKING:
    import httpx

__all__ = ["SHAPES", "ChatClient", "Completion", "Endpoint", "shape_of"]

SHAPES: dict[str, Shape] = {
    "chat": shape_chat.SHAPE,
    "messages": shape_messages.SHAPE,
    "gemini": shape_gemini.SHAPE,
    "ollama": shape_ollama.SHAPE,
    "converse": shape_converse.SHAPE,
}
# Quirks that are an option refused from the start.
_REFUSED_BY_QUIRK = {"max_completion_tokens": "max_tokens", "no_temperature": "temperature"}


def shape_of(endpoint: Endpoint) -> Shape:
    """The API of an endpoint."""
    return SHAPES[endpoint.shape] if isinstance(endpoint.shape, str) else endpoint.shape


Marks = Callable[[str], Mapping[str, str]]


class ChatClient:
    """Calls chat models over one pooled HTTP client; remembers per model which options a server refuses."""

    def __init__(
        self, timeout: float = 60.0, options: Mapping[str, Any] | None = None, marks: Marks = lambda base_url: {}
    ) -> None:
        """`marks` gives headers to send along to a base URL, besides those that authorise the call."""
        self._connections = Connections(timeout)
        self._options = dict(options or {})
        self._marks = marks
        self._refused: dict[tuple[str, str], set[str]] = {}

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()

    async def complete(
        self, endpoint: Endpoint, messages: Messages, schema: Mapping[str, Any], max_tokens: int
    ) -> Completion:
        """One answer in JSON of the given schema (asked for, not relied on).

        Raises ProviderBusy where a later call may work (EmptyAnswer: perhaps with a higher limit), TruncatedCompletion
        at the output limit, UnusableReply for a refusal, else ProviderError.
        """
        shape = shape_of(endpoint)
        asked = Asked(messages, schema, max_tokens)
        known = self._known(endpoint)
        refused = set(known)
        for _ in range(len(shape.optional) + 1):
            response = await self._post(shape, endpoint, asked, frozenset(refused))
            newly = _refusal(response, shape, refused)
            if newly is None:
                if response.is_success:
                    known |= refused  # leaving it out has helped: the next call begins without it
                return _completion(response, shape)
            refused.add(newly)
        raise ProviderError("options-refused")

    def refused(self, endpoint: Endpoint) -> frozenset[str]:
        """The options that are known to be refused at an endpoint."""
        return frozenset(self._known(endpoint))

    def _known(self, endpoint: Endpoint) -> set[str]:
        from_start = {option for quirk, option in _REFUSED_BY_QUIRK.items() if quirk in endpoint.quirks}
        return self._refused.setdefault((endpoint.base_url, endpoint.model), from_start)

    async def _post(self, shape: Shape, endpoint: Endpoint, asked: Asked, refused: frozenset[str]) -> httpx.Response:
        body = shape.body(endpoint, asked, refused)
        for name, value in self._options.items():
            merge = name in shape.nested and isinstance(value, dict)
            body[name] = {**body.get(name, {}), **value} if merge else value
        headers = {**_guard(endpoint), **self._marks(endpoint.base_url), **endpoint.headers}
        return await self._connections.post(shape.url(endpoint), body, headers, endpoint.signer)


def _refusal(response: httpx.Response, shape: Shape, refused: set[str]) -> str | None:
    """The option a 400 or 422 names and that was not yet left out, if any."""
    if response.status_code not in (400, 422):
        return None
    text = response.text.lower()
    left = ((name, words) for name, words in shape.optional.items() if name not in refused)
    return next((name for name, words in left if any(word in text for word in words)), None)


def _guard(endpoint: Endpoint) -> Mapping[str, str]:
    """A local address may be this very proxy: its own public switch keeps extraction from feeding on itself."""
    return {"X-MemG-Memory": "off"} if is_loopback(urlsplit(endpoint.base_url).hostname or "") else {}


def _completion(response: httpx.Response, shape: Shape) -> Completion:
    check_status(response)
    try:
        answered = shape.answered(response.json())
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ProviderBusy("not-a-completion") from None
    return answered.completion()
