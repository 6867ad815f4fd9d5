"""Which headers travel on, which belong to one connection only, and how a target and a path make a URL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote_from_bytes

RawHeaders = list[tuple[bytes, bytes]]

# RFC 9110, 7.6.1, with the older names that still travel.
_HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)
_OURS = b"x-memg-"
# uvicorn has told the client to go on already, and the upstream client writes its own host.
_NOT_SENT_UP = _HOP_BY_HOP | {b"host", b"expect"}
_HANDSHAKE = frozenset(
    (
        b"sec-websocket-accept",
        b"sec-websocket-extensions",
        b"sec-websocket-key",
        b"sec-websocket-version",
    )
)
_CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_EVENTS = re.compile(rb"\s*text/event-stream\s*(;|$)", re.IGNORECASE)
# What nginx and others go by who collect an answer, or keep it, before they pass it on.
_UNBUFFERED = ((b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no"))
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


def request_headers(
    headers: Sequence[tuple[bytes, bytes]], length: int | None, mark: bytes | None = None
) -> RawHeaders:
    """The headers that go upstream, in order, with repeats; after them the mark of this proxy, if there is one.

    With a `length` (the body is held whole) exactly one Content-Length says so; without, the client's own stays.
    """
    kept = _end_to_end(headers, _NOT_SENT_UP)
    if length is not None:
        kept = _with_length(kept, b"%d" % length)
    return kept if mark is None else [*kept, (b"x-memg-hop", mark)]


def response_headers(status: int, headers: Sequence[tuple[bytes, bytes]]) -> RawHeaders:
    """The upstream's headers that the client gets, in order, with repeats.

    Those that a proxy like this one added behind us are left out: ours take their place. An answer without a body says
    nothing of its length: servers take it for the length of what follows. A value with control characters in it (no
    HTTP) would be refused by the server as well. Event streams say that they are not to be held back.
    """
    kept = _end_to_end([(name if name.islower() else Spelled(name), value) for name, value in headers], _HOP_BY_HOP)
    if _CONTROLS.search(b"".join([value for _, value in kept])):
        kept = [pair for pair in kept if not _CONTROLS.search(pair[1])]
    if [value for name, value in kept if name == b"content-type" and _EVENTS.match(value)]:
        names = {name for name, _ in kept}
        kept += [pair for pair in _UNBUFFERED if pair[0] not in names]
    if status in (204, 304):
        kept = [pair for pair in kept if pair[0] != b"content-length"]
    return kept


class Spelled(bytes):
    """A header's name as the upstream spelled it, through a server that would write it in lower case.

    Names mean the same in any case (RFC 9110, 5.1), and so ASGI has them in lower case alone.
    """

    __slots__ = ()

    def lower(self) -> bytes:
        """Itself."""
        return self

    def startswith(self, *given: Any) -> bool:
        """Whatever the case."""
        return bytes.lower(self).startswith(*given)

    def __eq__(self, other: object) -> bool:
        return bytes.lower(self) == other

    def __ne__(self, other: object) -> bool:  # bytes has one of its own
        return bytes.lower(self) != other

    def __hash__(self) -> int:
        return hash(bytes.lower(self))


def handshake_headers(headers: Sequence[tuple[bytes, bytes]]) -> RawHeaders:
    """The headers of a WebSocket handshake, either way, without those that make up the handshake of one connection.

    The subprotocols that are offered and the one that is chosen concern the two ends, so they stay.
    """
    return [(name, value) for name, value in headers if name.lower() not in _HANDSHAKE]


def has_body(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether a request with these headers carries a body (RFC 9112, 6.3)."""
    return any(name == b"transfer-encoding" or (name == b"content-length" and value != b"0") for name, value in headers)


def join_url(base_url: str, raw_path: bytes, query: bytes) -> str:
    """The target's own path, then the client's path and query, neither of them touched."""
    return base_url.rstrip("/") + target(raw_path, query).decode("ascii")


def target(raw_path: bytes, query: bytes) -> bytes:
    """The client's path and query as they stand in a request line."""
    path = raw_path if raw_path.startswith(b"/") else b"/" + raw_path
    said = path + b"?" + query if query else path
    # What is no ASCII is no URI at all (RFC 3986): escaped, it says the same.
    return said if said.isascii() else quote_from_bytes(said, safe=_PRINTABLE).encode("ascii")


def _end_to_end(headers: Sequence[tuple[bytes, bytes]], dropped: frozenset[bytes]) -> RawHeaders:
    """The headers without the dropped ones, those that Connection names, and ours. Their names are in lower case."""
    for name, value in headers:
        if name == b"connection":
            dropped |= {token.strip().lower() for token in value.split(b",")}
    return [pair for pair in headers if pair[0] not in dropped and not pair[0].startswith(_OURS)]


def _with_length(headers: RawHeaders, length: bytes) -> RawHeaders:
    """The headers with one Content-Length, in its old place if it had one."""
    if [value for name, value in headers if name == b"content-length"] == [length]:
        return headers
    others: RawHeaders = []
    said = length == b"0"  # that there is no body need not be said
    for pair in headers:
        if pair[0] != b"content-length":
            others.append(pair)
        elif (b"content-length", length) not in others:
            others.append((b"content-length", length))
            said = True
    return others if said else [*others, (b"content-length", length)]
