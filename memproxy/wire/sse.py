"""Server-sent events, from bytes (WHATWG HTML, section 9.2.6).

Lines end at LF, CRLF or CR and nowhere else (`str.splitlines` would also cut at U+0085 and U+2028, inside a sentence).
Bytes may come cut anywhere, inside a character or between CR and LF; every cut gives the same events. Work is linear in
the number of bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
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
        self._line: list[bytes] = []  # the beginning of a line that has not ended yet
        self._line_size = 0
        self._after_cr = False  # the last byte was a CR: an LF that follows belongs to it
        self._first_line = True
        self._name = b""
        self._data: list[bytes] = []
        self._data_size = 0

    @property
    def pending(self) -> bytes:
        """The data of the event that no empty line has closed yet, where it is a single line; else nothing."""
        return self._data[0] if len(self._data) == 1 else b""

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that end within the next bytes."""
        if not data:
            return
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = data.split(b"\n")
        rest = lines.pop()
        for line in lines:
            self._keep(line)
            event = self._take_line()
            if event is not None:
                yield event
        self._keep(rest)

    def finish(self) -> Iterator[Event]:
        """The last event, where the stream ended without the empty line that should close it."""
        for _ in range(2):
            event = self._take_line()
            if event is not None:
                yield event

    def _keep(self, piece: bytes) -> None:
        self._line_size += len(piece)
        if self._line_size > LONGEST_EVENT:
            self.lost = True
            self._line.clear()
        elif piece:
            self._line.append(piece)

    def _take_line(self) -> Event | None:
        line = b"".join(self._line)
        overlong = self._line_size > LONGEST_EVENT
        self._line.clear()
        self._line_size = 0
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BOM)
        if overlong:
            return None
        if not line:
            return self._dispatch()
        self._field(line)
        return None

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")  # a comment has the empty name
        if name == b"data":
            self._data_size += len(value)
            if self._data_size > LONGEST_EVENT:
                self.lost = True
                self._data.clear()
            else:
                self._data.append(value[1:] if value.startswith(b" ") else value)
        elif name == b"event":
            self._name = value[1:] if value.startswith(b" ") else value

    def _dispatch(self) -> Event | None:
        event = Event(self._name, b"\n".join(self._data)) if self._data else None
        self._name = b""
        self._data.clear()
        self._data_size = 0
        return event
