"""Borrowed credentials: the caller's own, for extraction at the origin it arrived for. In memory only, never stored."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memproxy.providers.catalog import extraction_model
from memproxy.providers.client import Endpoint

UNUSED_SECONDS = 30 * 60
MAX_KEPT = 10_000
CREDENTIAL_HEADERS = ("authorization", "api-key", "x-api-key")


@dataclass(frozen=True, slots=True)
class _Kept:
    endpoint: Endpoint
    used: float


class Purse:
    """Credentials by fingerprint. A job knows the fingerprint only, and waits until its credential comes again."""

    def __init__(
        self, secret: bytes, model: str | None = None, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._kept: dict[str, _Kept] = {}
        self._secret = secret  # the store's own, so that a fingerprint means the same after a restart
        self._model = model
        self._now = monotonic

    def keep(self, base_url: str, headers: Mapping[str, str], client_model: str | None) -> str | None:
        """Remember a caller's credential for its own origin; its fingerprint, or None where there is nothing to borrow.

        The model is the configured one, else one the host is known to serve, else the one the client itself named.
        """
        credential = {name: headers[name] for name in CREDENTIAL_HEADERS if headers.get(name)}
        model = self._model or extraction_model(base_url) or client_model
        if not credential or not model:
            return None
        fingerprint = self._fingerprint(base_url, credential)
        self._drop_unused()
        self._kept.pop(fingerprint, None)
        self._kept[fingerprint] = _Kept(Endpoint(base_url, model, credential), self._now())
        while len(self._kept) > MAX_KEPT:
            self._kept.pop(next(iter(self._kept)))
        return fingerprint

    def endpoint(self, fingerprint: str) -> Endpoint | None:
        """Where and as whom to call, if the credential is still there."""
        self._drop_unused()
        kept = self._kept.get(fingerprint)
        return kept.endpoint if kept else None

    def fingerprints(self) -> set[str]:
        """The credentials at hand."""
        self._drop_unused()
        return set(self._kept)

    def _drop_unused(self) -> None:
        horizon = self._now() - UNUSED_SECONDS
        while self._kept:  # the longest unused stands first
            fingerprint, kept = next(iter(self._kept.items()))
            if kept.used >= horizon:
                return
            del self._kept[fingerprint]

    def _fingerprint(self, base_url: str, credential: Mapping[str, str]) -> str:
        text = "\0".join((base_url, *(f"{name}:{value}" for name, value in sorted(credential.items()))))
        return hmac.new(self._secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]
