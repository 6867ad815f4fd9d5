"""Undoing the content codings of a request body, so that memory can read it.

Codex and others send their requests compressed. A body that cannot be decoded is no error here: it goes on as it came,
and its upstream says what is wrong with it.

Bounded against bombs layer by layer: what one coding gives is the next one's input, so nothing in between may be
larger than what may come out in the end. Input is fed in sips, since the decoders copy what they have not read yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from memproxy.errors import NotUnderstood
from memproxy.events import Skip
from memproxy.wire.decoding import MOST_CODINGS, Undecodable, decoder

SIP = 4096  # bytes of input at a time
SHORT = 16 * 1024  # bytes of input that are decoded at once, without a thread
ONE_TURN = 256 * 1024  # bytes of output after which the event loop gets its turn


async def undo(data: bytes, content_encoding: str) -> bytes:
    """The body without its codings (the header's value; "" where there is none). Does not hold up the event loop.

    Raises NotUnderstood where a coding is unknown or broken, there are more than four, or one gives over 64 MiB.
    """
    codings = [coding.strip() for coding in content_encoding.split(",") if coding.strip()]
    if len(codings) > MOST_CODINGS:
        raise NotUnderstood(Skip.BODY)
    for coding in reversed(codings):
        data = await _undo_one(data, coding)
    return data


async def _undo_one(data: bytes, coding: str) -> bytes:
    pieces = _pieces(data, coding)
    taken: list[bytes] = []
    try:
        if len(data) > SHORT or not _take(pieces, taken, ONE_TURN):
            await asyncio.to_thread(taken.extend, pieces)
    except Undecodable:
        raise NotUnderstood(Skip.BODY) from None
    return b"".join(taken)


def _take(pieces: Iterator[bytes], taken: list[bytes], most: int) -> bool:
    """Take pieces until they hold more than that many bytes; whether those were all."""
    for piece in pieces:
        taken.append(piece)
        most -= len(piece)
        if most < 0:
            return False
    return True


def _pieces(data: bytes, coding: str) -> Iterator[bytes]:
    """What one coding hides. Raises Undecodable."""
    undoing = decoder(coding)
    if undoing is None:
        yield data
        return
    for start in range(0, len(data), SIP):
        yield from undoing.feed(data[start : start + SIP])
