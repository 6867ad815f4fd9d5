"""How proxies of one memory know each other, so that two in a row behave as one.

What a proxy sends upstream carries `X-MemG-Hop`, and so do its extraction calls. A proxy on the same store that
receives it relays the request bare: the first has done all there is to do, and what an extraction call holds was never
said by anybody. The value is a keyed hash of the hour: who has not got the store's secret can neither make one nor
learn anything of the secret from it, and a value that was seen somewhere is worth nothing soon after.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
from collections.abc import Mapping
from urllib.parse import urlsplit

from memproxy.interfaces import Clock
from memproxy.providers.vendors import VENDORS

HEADER = "x-memg-hop"
PERIOD = 3600  # seconds; values of the period before and after are good too, since clocks differ

# These are no proxies of ours, and have no use for the header.
_VENDOR_HOSTS = frozenset(name for url in VENDORS.values() if (name := urlsplit(url).hostname) != "localhost")


@functools.lru_cache(maxsize=64)
def _is_a_vendors(base_url: str) -> bool:
    return urlsplit(base_url).hostname in _VENDOR_HOSTS


class HopMark:
    """Makes the marks of one store, and knows them again."""

    def __init__(self, secret: bytes, clock: Clock) -> None:
        self._key = hmac.digest(secret, b"memproxy hop", hashlib.sha256)
        self._clock = clock
        self._period = -1
        self._values: tuple[bytes, ...] = ()

    def for_target(self, base_url: str) -> bytes | None:
        """The value to send to that target; None for a vendor's own host."""
        return None if _is_a_vendors(base_url) else self._current()[1]

    def headers(self, base_url: str) -> Mapping[str, str]:
        """The same as headers for a client that takes a mapping."""
        value = self.for_target(base_url)
        return {} if value is None else {HEADER: value.decode("ascii")}

    def made_here(self, given: str | None) -> bool:
        """Whether a request with this mark comes from a proxy of this very memory. Compared in constant time."""
        if given is None:
            return False
        sent = given.encode("utf-8", "surrogateescape")
        return sum(hmac.compare_digest(value, sent) for value in self._current()) > 0

    def _current(self) -> tuple[bytes, ...]:
        """The values of the period before this one, of this one, and of the one after it."""
        period = int(self._clock.now().timestamp()) // PERIOD
        if period != self._period:
            self._period = period
            self._values = tuple(self._value(number) for number in (period - 1, period, period + 1))
        return self._values

    def _value(self, period: int) -> bytes:
        return hmac.digest(self._key, b"%d" % period, hashlib.sha256).hex().encode("ascii")
