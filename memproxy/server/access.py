"""Who may do what: keys, and the rules on Host and Origin that keep web pages out of a memory on localhost."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from memproxy.settings import Key, Settings, is_loopback


class Headers:
    """The request headers, by lower-case name; values as text where they are UTF-8."""

    def __init__(self, raw: Sequence[tuple[bytes, bytes]]) -> None:
        self.raw = raw
        self._first = {key.lower(): value for key, value in reversed(raw)}

    def get(self, name: str) -> str | None:
        """The first value of a header. Bytes that are no UTF-8 come back as lone surrogates, which no check accepts."""
        found = self._first.get(name.encode("ascii"))
        return found.decode("utf-8", "surrogateescape") if found is not None else None

    def repeated(self, name: str) -> bool:
        """Whether a header stands there more than once with different values."""
        wanted = name.encode("ascii")
        return len({value for key, value in self.raw if key.lower() == wanted}) > 1


@dataclass(frozen=True, slots=True)
class Caller:
    """What a request's key allows. Without configured keys every caller may do everything."""

    key: Key | None = None

    @property
    def admin(self) -> bool:
        """Whether the caller may do what concerns everybody."""
        return self.key is None or self.key.admin

    def may_name(self, entity: str) -> bool:
        """Whether the caller may read and write that entity's memory."""
        return self.key is None or self.key.allows(entity)

    @property
    def own_entity(self) -> str | None:
        """The entity that the key itself stands for: its only one, written without a pattern."""
        if self.key is None or self.key.admin or len(self.key.entities) != 1:
            return None
        only = self.key.entities[0]
        return only if not any(sign in only for sign in "*?[") else None


ANYBODY = Caller()


class Access:
    """Checks callers against the configured keys and origins."""

    def __init__(self, settings: Settings) -> None:
        self._keys = [(key.secret().encode(), key) for key in settings.keys]
        self._host = settings.host
        self._loopback = settings.loopback
        self._origins = frozenset(origin.rstrip("/").lower() for origin in settings.allowed_origins)
        self._named_hosts = frozenset(name for origin in self._origins if (name := urlsplit(origin).hostname))

    @property
    def keyed(self) -> bool:
        """Whether callers need a key."""
        return bool(self._keys)

    def caller(self, headers: Headers, *, own_route: bool) -> Caller | None:
        """The caller, or None where a key is needed and missing or wrong. Compared in constant time."""
        if not self._keys:
            return ANYBODY
        given = headers.get("x-memg-key")
        if given is None and own_route:
            given = _authorization(headers)
        if not given:
            return None
        sent = given.encode("utf-8", "surrogateescape")
        found = [key for secret, key in self._keys if hmac.compare_digest(secret, sent)]
        return Caller(found[0]) if found else None

    def foreign(self, headers: Headers) -> bool:
        """Whether the request comes from a web page of somewhere else, or by a name that is not this machine's.

        A page that rebinds its own name to 127.0.0.1 is told by Host; any other page by Origin.
        """
        host = (headers.get("host") or "").lower()
        if self._loopback and not self._is_our_name(host):
            return True
        origin = headers.get("origin")
        if origin is None:
            return False
        origin = origin.lower().rstrip("/")
        try:
            return origin not in self._origins and urlsplit(origin).netloc != host
        except ValueError:
            return True

    def meant(self, headers: Headers, page_token: str) -> bool:
        """Whether a write to an own route is somebody's intent: no browser's, of an origin that is allowed, with a key
        that no browser adds by itself, or from our page, which knows the token.
        """
        origin = headers.get("origin")
        if origin is None or origin.lower().rstrip("/") in self._origins:
            return True
        scheme = (headers.get("authorization") or "").partition(" ")[0].lower()
        if self._keys and (headers.get("x-memg-key") is not None or scheme == "bearer"):
            return True
        given = (headers.get("x-memg-page") or "").encode("utf-8", "surrogateescape")
        return hmac.compare_digest(given, page_token.encode())

    def _is_our_name(self, host: str) -> bool:
        try:
            name = urlsplit("//" + host).hostname or ""
        except ValueError:
            return False
        return bool(name) and (is_loopback(name) or name == self._host.lower() or name in self._named_hosts)


def _authorization(headers: Headers) -> str | None:
    """The key in `Authorization`: a bearer token, or the password that a person gave to their browser."""
    scheme, _, value = (headers.get("authorization") or "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(value.strip(), validate=True).decode("utf-8").partition(":")[2]
    except ValueError:
        return None
