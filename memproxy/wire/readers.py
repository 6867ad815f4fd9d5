"""Listening to a copy of an answer: undo its coding, cut it into events (or take it whole), understand each.

A format gives two collectors, one for its stream and one for its single body; what follows here is the same for all.
Nothing in here raises for any bytes: what cannot be read leaves an incomplete reply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from memproxy.interfaces import ReplyReader
from memproxy.model import Reply
from memproxy.wire.decoding import Decoder, Undecodable, decoder
from memproxy.wire.json_array import ArrayParser
from memproxy.wire.ndjson import LineParser
from memproxy.wire.sse import Event, EventParser

LONGEST_BODY = 32 << 20  # bytes of a single JSON answer that are kept


class StreamCollector(Protocol):
    """Understands the events of one format's stream."""

    def take(self, event: Event) -> bool:
        """The next event; True if it is the one after which nothing follows."""
        ...

    def ends_with(self, data: bytes) -> bool:
        """Whether an event with this data will be the last one. Asked before the event has been closed."""
        ...

    def reply(self) -> Reply:
        """What was understood so far."""
        ...


WholeCollector = Callable[[bytes], Reply]


class StreamParser(Protocol):
    """Cuts a stream into events."""

    @property
    def lost(self) -> bool:
        """Whether something was too long to be kept."""
        ...

    @property
    def pending(self) -> bytes:
        """The data of an event that is all there, but not closed yet; else nothing."""
        ...

    def feed(self, data: bytes) -> list[Event]:
        """The events that end within the next bytes."""
        ...

    def finish(self) -> list[Event]:
        """What the stream ended in the middle of."""
        ...


# How the streams of these content types are cut.
_STREAMS: dict[str, Callable[[], StreamParser]] = {
    "text/event-stream": EventParser,
    "application/x-ndjson": LineParser,
    "application/ndjson": LineParser,
}


def reply_reader(
    content_type: str,
    content_encoding: str,
    stream: Callable[[], StreamCollector],
    whole: WholeCollector,
    *,
    arrays: bool = False,
) -> ReplyReader:
    """A reader for an answer with these headers. Server-sent events are known by their type or by their first byte.

    `arrays` says that a body which is a JSON array is a stream, whose events are the array's items.
    """
    parser = _STREAMS.get(content_type.partition(";")[0].strip().lower())
    return _Reader(content_encoding, parser, stream, whole, arrays)


class _Reader:
    """Undoes the coding, picks the way to read by type or first byte. See `interfaces.ReplyReader`."""

    def __init__(
        self,
        coding: str,
        make_parser: Callable[[], StreamParser] | None,
        make_stream: Callable[[], StreamCollector],
        whole: WholeCollector,
        arrays: bool,
    ) -> None:
        self._arrays = arrays
        self._coding: Decoder | None = None
        self._spoiled = False  # the bytes could not be decoded, from the start or from here on
        self._make_stream = make_stream
        self._whole = whole
        self._inner: _Events | _Body | None = _Events(make_parser(), make_stream()) if make_parser else None
        try:
            self._coding = decoder(coding)
        except Undecodable:
            self._spoiled = True

    def feed(self, data: bytes) -> bool:
        """Take the next bytes, however they were cut. True once the stream's last event has been seen."""
        if self._coding is None:
            if not self._spoiled:
                self._take(data)
        else:
            self._decode(self._coding, data)
        return self._inner is not None and self._inner.ended

    def finish(self) -> Reply:
        """What was understood."""
        reply = self._inner.finish() if self._inner is not None else Reply()
        # A coding that broke after the last event has taken nothing away.
        if self._spoiled and not (self._inner is not None and self._inner.ended):
            return replace(reply, complete=False)
        return reply

    def _decode(self, coding: Decoder, data: bytes) -> None:
        try:
            for piece in coding.feed(data):
                self._take(piece)
        except Undecodable:
            self._coding = None
            self._spoiled = True

    def _take(self, piece: bytes) -> None:
        if self._inner is None:
            start = piece.lstrip()
            if not start:
                return
            if start.startswith(b"[") and self._arrays:
                self._inner = _Events(ArrayParser(), self._make_stream())
            else:
                one_body = start[:1] in b"{["
                self._inner = _Body(self._whole) if one_body else _Events(EventParser(), self._make_stream())
        self._inner.feed(piece)


class _Events:
    """An answer in events."""

    def __init__(self, parser: StreamParser, collector: StreamCollector) -> None:
        self.ended = False
        self._parser = parser
        self._collector = collector

    def feed(self, data: bytes) -> None:
        for event in self._parser.feed(data):
            self.ended = self._collector.take(event) or self.ended
        # Many clients stop at the last event's line and do not wait for the empty line after it: so do we.
        if self._parser.pending and not self.ended:
            self.ended = self._collector.ends_with(self._parser.pending)

    def finish(self) -> Reply:
        for event in self._parser.finish():
            self._collector.take(event)
        reply = self._collector.reply()
        return replace(reply, complete=False) if self._parser.lost else reply


class _Body:
    """An answer in one JSON body, which can be read only when it has all come."""

    ended = False

    def __init__(self, collector: WholeCollector) -> None:
        self._collector = collector
        self._pieces: list[bytes] = []
        self._room = LONGEST_BODY

    def feed(self, data: bytes) -> None:
        self._room -= len(data)
        if self._room < 0:
            self._pieces.clear()
        else:
            self._pieces.append(data)

    def finish(self) -> Reply:
        return self._collector(b"".join(self._pieces)) if self._room >= 0 else Reply()
