"""Content codings, undone incrementally: gzip, deflate, br, zstd, in any combination of up to four.

Bounded twice: no single piece is larger than a few MiB whatever the input expands to, and a decoder gives up after
`LARGEST_OUTPUT` bytes in all. A decoder works on the tee's copy only, so giving up costs the memory of one answer.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Protocol

PIECE = 1 << 18  # bytes of output asked for at a time
LARGEST_OUTPUT = 64 << 20  # bytes of output in all
MOST_CODINGS = 4
# A zstd block of 4 input bytes can stand for 128 KiB, and the library has no output limit: so it is fed in sips.
_ZSTD_SIP = 128
_ZSTD_WINDOW = 8 << 20  # RFC 9659: the largest window a zstd body may need


class Undecodable(Exception):
    """The bytes are not in the coding the headers name, the coding is unknown, or they expand beyond all measure."""


class Decoder(Protocol):
    """Undoes one coding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What the next bytes decode to, in pieces. Raises Undecodable."""
        ...


class _Zlib:
    """gzip (RFC 1952, of several members too) and deflate (RFC 1950, or RFC 1951 as some servers send it)."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._head = b""  # deflate: the first two bytes decide which of the two it is
        self._inflate = zlib.decompressobj(wbits=31) if gzip else None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._inflate is None:
            data = self._head = self._head + data
            if len(data) < 2:
                return
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._inflate = zlib.decompressobj(wbits=15 if wrapped else -15)
        while data:
            try:
                piece = self._inflate.decompress(data, PIECE)
            except zlib.error as error:
                raise Undecodable(str(error)) from None
            data = self._inflate.unconsumed_tail
            if self._inflate.eof:
                data = self._inflate.unused_data if self._gzip else b""
                self._inflate = zlib.decompressobj(wbits=31) if self._gzip else self._inflate
            if piece:
                yield piece


class _Brotli:
    def __init__(self) -> None:
        import brotli

        self._brotli = brotli.Decompressor()
        self._error: type[Exception] = brotli.error

    def feed(self, data: bytes) -> Iterator[bytes]:
        try:
            yield self._brotli.process(data, output_buffer_limit=PIECE)
            while not self._brotli.can_accept_more_data():
                yield self._brotli.process(b"", output_buffer_limit=PIECE)
        except self._error as error:
            raise Undecodable(str(error)) from None


class _Zstd:
    def __init__(self) -> None:
        import zstandard

        decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._zstd = decompressor.decompressobj(read_across_frames=True)
        self._error: type[Exception] = zstandard.ZstdError

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _ZSTD_SIP):
            try:
                yield self._zstd.decompress(data[start : start + _ZSTD_SIP])
            except self._error as error:
                raise Undecodable(str(error)) from None


class _Chain:
    """Several codings, undone in the reverse order of the header, within one limit for all output."""

    def __init__(self, decoders: list[Decoder]) -> None:
        self._decoders = decoders
        self._left = LARGEST_OUTPUT

    def feed(self, data: bytes) -> Iterator[bytes]:
        for piece in self._through(data, 0):
            self._left -= len(piece)
            if self._left < 0:
                raise Undecodable("too large")
            if piece:
                yield piece

    def _through(self, data: bytes, depth: int) -> Iterator[bytes]:
        if depth == len(self._decoders):
            yield data
            return
        for piece in self._decoders[depth].feed(data):
            yield from self._through(piece, depth + 1)


def decoder(content_encoding: str) -> Decoder | None:
    """A decoder for a Content-Encoding header; None where it names none. Raises Undecodable for what nobody knows."""
    codings = [coding.strip().lower() for coding in content_encoding.split(",")]
    named = [coding for coding in codings if coding not in ("", "identity")]
    if len(named) > MOST_CODINGS:
        raise Undecodable("too many codings")
    return _Chain([_single(coding) for coding in reversed(named)]) if named else None


def _single(coding: str) -> Decoder:
    if coding in ("gzip", "x-gzip", "deflate"):
        return _Zlib(gzip=coding != "deflate")
    if coding == "br":
        return _Brotli()
    if coding == "zstd":
        return _Zstd()
    raise Undecodable("unknown coding")
