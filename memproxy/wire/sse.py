"""Server-sent events, from bytes (WHATWG HTML, section 9.2.6).

Lines end at LF, CRLF or CR and nowhere else (`str.splitlines` would also cut at U+0085 and U+2028, inside a sentence).
Bytes may come cut anywhere, inside a character or between CR and LF; every cut gives the same events. Work is linear in
the number of bytes.
"""

from __future__ import annotations

from typing import NamedTuple

LONGEST_EVENT = 32 << 20  # bytes of one line, or of one event's data; what is longer is left out
_BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event: its name ("" where none was given) and its data lines, joined by newlines."""

    name: bytes
    data: bytes


class EventParser:
    """Bytes in, events out. `lost` says that an event was too long to be kept."""

    def __init__(self) -> None:
        self.lost = False
        self._begun: list[bytes] = []  # the pieces of a line that has not ended yet
        self._begun_size = 0
        self._after_cr = False  # the last byte was a CR: an LF that follows belongs to it
        self._first_line = True
        self._name = b""
        self._data: list[bytes] = []
        self._data_size = 0

    @property
    def pending(self) -> bytes:
        """The data of the event that no empty line has closed yet, where it is a single line; else nothing."""
        return self._data[0] if len(self._data) == 1 else b""

    def feed(self, data: bytes) -> list[Event]:
        """The events that end within the next bytes."""
        if not data:
            return []
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and (self._begun_size or self._first_line):
            lines[0] = self._ended(lines[0])
        events = self._take(lines)
        if rest:
            self._begin(rest)
        return events

    def finish(self) -> list[Event]:
        """The last event, where the stream ended without the empty line that should close it."""
        return self._take([self._ended(b""), b""])

    def _begin(self, piece: bytes) -> None:
        """Keep a piece of a line whose end has not come, as long as the line is not too long."""
        self._begun_size += len(piece)
        if self._begun_size <= LONGEST_EVENT:
            self._begun.append(piece)
        else:
            self._begun.clear()

    def _ended(self, last_piece: bytes) -> bytes:
        """The whole of a line of several pieces, of which this is the last; of one too long, a comment."""
        self._begin(last_piece)
        line = b"".join(self._begun)
        if self._begun_size > LONGEST_EVENT:
            self.lost = True
            line = b":"
        self._begun.clear()
        self._begun_size = 0
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BOM)
        return line

    def _take(self, lines: list[bytes]) -> list[Event]:
        events = []
        for line in lines:
            if line:
                name, _, value = line.partition(b":")  # a comment has the empty name
                if name == b"data":
                    self._add(value.removeprefix(b" "))
                elif name == b"event":
                    self._name = value.removeprefix(b" ")
            else:
                if self._data:
                    events.append(Event(self._name, b"\n".join(self._data)))
                    self._data.clear()
                self._name = b""
                self._data_size = 0
        return events

    def _add(self, value: bytes) -> None:
        self._data_size += len(value)
        if self._data_size <= LONGEST_EVENT:
            self._data.append(value)
        else:
            self.lost = True
            self._data.clear()
