"""One pooled HTTP client for calls to models, and what each of its failures means for trying again.

The client honours what the environment says of the way out: HTTP(S)_PROXY and NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memproxy.calling.certificates import trusted
from memproxy.errors import ProviderBusy, ProviderError

if TYPE_CHECKING:
    import httpx  # loaded with the first call: where there is none, it would be 8 MB for nothing

    from memproxy.calling.aws import Signer

# Statuses that pass by themselves; everything else below 200 or above 299 is final (402 among it: paying is no retry).
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
# What some servers call a payment error whose status says "too many requests" (OpenAI, among others).
_UNPAID = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"})
_LARGEST_ANSWER = 4 << 20  # bytes


class Connections:
    """Posts JSON; the pool is opened with the first call."""

    def __init__(self, patience: float, largest: int = _LARGEST_ANSWER) -> None:
        """`patience` is the longest a whole call may take, in seconds; `largest` an answer's size, in bytes."""
        self._http: httpx.AsyncClient | None = None
        self._patience = patience
        self._largest = largest

    async def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()

    async def post(
        self, url: str, body: Mapping[str, Any], headers: Mapping[str, str], signer: Signer | None = None
    ) -> httpx.Response:
        """The whole answer, whatever its status, within the time limit and of a size that an answer can have.

        Raises ProviderBusy where trying again may help, else ProviderError.
        """
        import httpx

        http = self._client()
        try:
            request = http.build_request("POST", url, json=body, headers=headers)
            # httpx limits each read only: a server that sends a byte a second would hold a job for ever.
            async with asyncio.timeout(self._patience):
                if signer is not None:
                    request.headers.update(await signer.headers("POST", str(request.url), request.content))
                response = await http.send(request, stream=True)
                try:
                    return await self._whole(response)
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

    async def answers(self, url: str) -> bool:
        """Whether anything at an address answers a GET that carries nothing, whatever it answers."""
        import httpx

        try:
            async with asyncio.timeout(self._patience), self._client().stream("GET", url):
                return True
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError):
            return False

    def _client(self) -> httpx.AsyncClient:
        """The connections, opened with the first call."""
        import httpx

        if self._http is None:
            # A proxy named by the environment is for the way out; this machine is reached directly.
            direct = dict.fromkeys(("all://localhost", "all://127.0.0.1", "all://[::1]"))
            timeout = httpx.Timeout(self._patience, connect=10.0)
            self._http = httpx.AsyncClient(timeout=timeout, mounts=direct, verify=trusted())
        return self._http

    async def _whole(self, response: httpx.Response) -> httpx.Response:
        """The response with its body read. Raises ProviderBusy where that is larger than an answer can be."""
        import httpx

        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > self._largest:
                raise ProviderBusy("too-large")
        kept = [(k, v) for k, v in response.headers.multi_items() if k not in ("content-encoding", "transfer-encoding")]
        return httpx.Response(response.status_code, headers=kept, content=bytes(body))


def check_status(response: httpx.Response) -> None:
    """Raises ProviderBusy for a status that passes by itself, ProviderError for any other that is no success."""
    if response.is_success:
        return
    if response.status_code not in _PASSING:
        raise ProviderError(f"status-{response.status_code}")
    error = _error(response)
    if response.status_code == 429 and _UNPAID & {error.get("code"), error.get("type")}:
        raise ProviderError("unpaid")
    waiting = retry_after(response.headers)
    raise ProviderBusy(f"status-{response.status_code}", _retry_delay(error) if waiting is None else waiting)


def _error(response: httpx.Response) -> Mapping[str, Any]:
    """The `error` object of a body, with only such values as can be compared."""
    try:
        body = response.json()
        error = body.get("error") if isinstance(body, dict) else None
    except (ValueError, RecursionError):
        return {}
    if not isinstance(error, dict):
        return {}
    return {name: value for name, value in error.items() if isinstance(value, str) or name == "details"}


def retry_after(headers: Mapping[str, str]) -> float | None:
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


def _retry_delay(error: Mapping[str, Any]) -> float | None:
    """Seconds named in the body by google.rpc.RetryInfo, as Gemini does."""
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        said = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(said, str) and (match := re.fullmatch(r"(\d{1,6}(?:\.\d+)?)s", said)):
            return float(match[1])
    return None
