"""Header values as bytes through a client that takes text.

aiohttp writes header values as UTF-8, so UTF-8 goes through byte for byte. Other bytes (Latin-1 in a title, say) are
no error in HTTP (RFC 9110, 5.5) and are not ours to mend: they travel as private characters and become themselves
again just before the head is sent.
"""

from __future__ import annotations

import re
from typing import Any

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.connector import Connection
from aiohttp.payload import BytesPayload

from memproxy.server.hops import RawHeaders

# Bytes 80 to FF as the last 128 characters there are, U+10FF80 to U+10FFFF: private ones, F4 8F BE|BF xx in UTF-8.
_HIDDEN = {byte: 0x10FF00 + byte for byte in range(0x80, 0x100)}
_HIDDEN_UTF8 = re.compile(rb"\xf4\x8f([\xbe\xbf])([\x80-\xbf])")


class _Bytes(str):
    """A value that stands for bytes that are no UTF-8."""

    __slots__ = ()


def headers_as_text(headers: RawHeaders) -> list[tuple[str, str]]:
    """Names and values as aiohttp takes them."""
    try:
        return [(name.decode(), value.decode()) for name, value in headers]
    except UnicodeDecodeError:
        return [(name.decode("latin-1"), _Bytes(_hide(value))) for name, value in headers]


def _hide(value: bytes) -> str:
    return value.decode("latin-1").translate(_HIDDEN)


def _show(head: bytes) -> bytes:
    return _HIDDEN_UTF8.sub(lambda found: bytes([(found[1][0] - 0xBE) * 64 + found[2][0]]), head)


class Request(aiohttp.ClientRequest):
    """A request that sends such values as the bytes that they stand for, and no header that it was not given."""

    def update_body_from_data(self, body: Any, _stacklevel: int = 3) -> None:
        """Take the body. Where there is none, none is announced either, also not as "Content-Length: 0"."""
        if body is not None:
            super().update_body_from_data(body, _stacklevel + 1)

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        """Send the request. One without a body gets an empty one, so that `write_bytes` writes the head."""
        self._hides = any(type(value) is _Bytes for value in self.headers.values())
        if self._hides and self._body is None:
            self._body = BytesPayload(b"")
        return await super().send(conn)

    async def write_bytes(
        self, writer: AbstractStreamWriter, conn: Connection, content_length: int | None = None
    ) -> None:
        """Write head and body."""
        head: Any = getattr(writer, "_headers_buf", None)  # waits to be sent together with the body
        if self._hides and head is not None:
            writer._headers_buf = _show(head)  # type: ignore[attr-defined]
        await super().write_bytes(writer, conn, content_length)
