"""One call to an OpenAI-compatible chat endpoint, for background work. Errors say what trying again would do."""

from __future__ import annotations

import asyncio
import email.utils
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memproxy.errors import EmptyAnswer, ProviderBusy, ProviderError, TruncatedCompletion, UnusableReply
from memproxy.providers.catalog import chat_completions_url
from memproxy.settings import is_loopback

if TYPE_CHECKING:
    import httpx  # loaded with the first call: where there is none, it would be 8 MB for nothing

# Statuses that pass by themselves; everything else below 200 or above 299 is final (402 among it: paying is no retry).
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
# Options a server may refuse by name, and what to send instead (None: leave it out).
_OPTIONAL = {"response_format": None, "temperature": None, "max_tokens": "max_completion_tokens"}
_LARGEST_ANSWER = 4 << 20  # bytes
_MOST_TOKENS = 10**9  # of one call; a larger number is no count


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and as whom to call: base URL, model, and the headers that authorise it (never logged)."""

    base_url: str
    model: str
    headers: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished answer and what it cost, as far as the server said."""

    text: str
    input_tokens: int | None
    output_tokens: int | None


Marks = Callable[[str], Mapping[str, str]]


class ChatClient:
    """Calls chat endpoints over one pooled HTTP client; remembers per model which options a server refuses."""

    def __init__(
        self, timeout: float = 60.0, options: Mapping[str, Any] | None = None, marks: Marks = lambda base_url: {}
    ) -> None:
        """`marks` gives headers to send along to a base URL, besides those that authorise the call."""
        self._http: httpx.AsyncClient | None = None
        self._patience = timeout
        self._options = dict(options or {})
        self._marks = marks
        self._refused: dict[tuple[str, str], set[str]] = {}

    async def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()

    async def complete(
        self, endpoint: Endpoint, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], max_tokens: int
    ) -> Completion:
        """One answer in JSON of the given schema (asked for, not relied on).

        Raises ProviderBusy where a later call may work (EmptyAnswer: perhaps with a higher limit), TruncatedCompletion
        at the output limit, UnusableReply for a refusal, else ProviderError.
        """
        known = self._refused.setdefault((endpoint.base_url, endpoint.model), set())
        refused = set(known)
        for _ in range(len(_OPTIONAL) + 1):
            response = await self._post(endpoint, self._body(endpoint, messages, schema, max_tokens, refused))
            newly = self._refusal(response, refused)
            if newly is None:
                if response.is_success:
                    known |= refused  # leaving it out has helped: the next call begins without it
                return _completion(response)
            refused.add(newly)
        raise ProviderError("options-refused")

    def _body(
        self,
        endpoint: Endpoint,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, Any],
        max_tokens: int,
        refused: set[str],
    ) -> dict[str, Any]:
        wanted: dict[str, Any] = {
            "response_format": {"type": "json_schema", "json_schema": {"name": "facts", "schema": schema}},
            "temperature": 0,
            "max_tokens": max_tokens,
        }
        for name in refused:
            value = wanted.pop(name, None)
            replacement = _OPTIONAL[name]
            if replacement is not None:
                wanted[replacement] = value
        return {"model": endpoint.model, "messages": list(messages), "stream": False, **wanted, **self._options}

    async def _post(self, endpoint: Endpoint, body: Mapping[str, Any]) -> httpx.Response:
        """The whole answer, within the time limit and of a size that an answer can have."""
        import httpx

        http = self._client()
        headers = {**_guard(endpoint), **self._marks(endpoint.base_url), **endpoint.headers}
        url = chat_completions_url(endpoint.base_url)
        try:
            request = http.build_request("POST", url, json=body, headers=headers)
            # httpx limits each read only: a server that sends a byte a second would hold a job for ever.
            async with asyncio.timeout(self._patience):
                response = await http.send(request, stream=True)
                try:
                    return await _whole(response)
                finally:
                    await response.aclose()
        except (httpx.TimeoutException, TimeoutError):
            raise ProviderBusy("timeout") from None
        except (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL, ValueError):
            raise ProviderError("not-sendable") from None  # an address or a key that no request can carry
        except httpx.TransportError:
            raise ProviderBusy("unreachable") from None
        except httpx.HTTPError:
            raise ProviderError("request-failed") from None

    def _client(self) -> httpx.AsyncClient:
        """The connections, opened with the first call."""
        import httpx

        if self._http is None:
            # A proxy named by the environment is for the way out; this machine is reached directly.
            direct = dict.fromkeys(("all://localhost", "all://127.0.0.1", "all://[::1]"))
            self._http = httpx.AsyncClient(timeout=httpx.Timeout(self._patience, connect=10.0), mounts=direct)
        return self._http

    def _refusal(self, response: httpx.Response, refused: set[str]) -> str | None:
        """The option a 400 or 422 names and that was not yet left out, if any."""
        if response.status_code not in (400, 422):
            return None
        text = response.text
        return next((name for name in _OPTIONAL if name in text and name not in refused), None)


async def _whole(response: httpx.Response) -> httpx.Response:
    """The response with its body read. Raises ProviderBusy where that is larger than an answer can be."""
    import httpx

    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _LARGEST_ANSWER:
            raise ProviderBusy("too-large")
    kept = [(k, v) for k, v in response.headers.multi_items() if k not in ("content-encoding", "transfer-encoding")]
    return httpx.Response(response.status_code, headers=kept, content=bytes(body))


def _guard(endpoint: Endpoint) -> Mapping[str, str]:
    """A local address may be this very proxy: its own public switch keeps extraction from feeding on itself."""
    return {"X-MemG-Memory": "off"} if is_loopback(urlsplit(endpoint.base_url).hostname or "") else {}


def _completion(response: httpx.Response) -> Completion:
    if response.status_code in _PASSING:
        raise ProviderBusy(f"status-{response.status_code}", _retry_after(response.headers))
    if not response.is_success:
        raise ProviderError(f"status-{response.status_code}")
    try:
        answer = response.json()
        choice = answer["choices"][0]
        message = choice["message"]
        text = message.get("content")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ProviderBusy("not-a-completion") from None
    text = _text(text)
    if not text.strip():
        raise UnusableReply("refused") if _refused(message, choice) else EmptyAnswer()
    if choice.get("finish_reason") in ("length", "max_tokens"):
        raise TruncatedCompletion(text)
    usage = answer.get("usage") if isinstance(answer.get("usage"), dict) else {}
    return Completion(text, _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _refused(message: Mapping[str, Any], choice: Mapping[str, Any]) -> bool:
    """Whether the model, or a filter before it, declined to answer."""
    return bool(message.get("refusal")) or choice.get("finish_reason") in ("content_filter", "safety", "refusal")


def _text(content: object) -> str:
    """The words of an answer; some servers give them in parts, with their thoughts as parts of another type."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _count(value: object) -> int | None:
    """A number of tokens as servers report it; None for what can be none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds named by `retry-after-ms` or `Retry-After` (seconds or an HTTP date, RFC 9110 section 10.2.3)."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * scale
        except ValueError:
            continue
        return max(0.0, seconds) if math.isfinite(seconds) else None
    when = email.utils.parsedate_tz(headers.get("retry-after", ""))
    try:
        return max(0.0, email.utils.mktime_tz(when) - time.time()) if when else None
    except (ValueError, OverflowError):
        return None
