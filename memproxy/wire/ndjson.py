"""Newline-delimited JSON, from bytes: one value a line, and a line ends at LF and nowhere else.

Bytes may come cut anywhere; every cut gives the same lines. Work is linear in the number of bytes.
"""

from __future__ import annotations

from memproxy.wire.sse import Event

LONGEST_LINE = 32 << 20  # bytes; a longer line is left out


class LineParser:
    """Bytes in, lines out, as events without a name. `lost` says that a line was too long to be kept."""

    pending = b""  # a line that has not ended is no event yet

    def __init__(self) -> None:
        self.lost = False
        self._begun: list[bytes] = []  # the pieces of a line that has not ended yet
        self._begun_size = 0

    def feed(self, data: bytes) -> list[Event]:
        """The lines that end within the next bytes, empty ones left out."""
        *ended, rest = data.split(b"\n")
        lines = []
        for piece in ended:
            self._begin(piece)
            lines.append(self._ended())
        self._begin(rest)
        return [Event(b"", line) for line in lines if line.strip()]

    def finish(self) -> list[Event]:
        """The last line, where the stream ended without closing it."""
        return self.feed(b"\n")

    def _begin(self, piece: bytes) -> None:
        self._begun_size += len(piece)
        if self._begun_size > LONGEST_LINE:
            self.lost = True
            self._begun.clear()
        elif piece:
            self._begun.append(piece)

    def _ended(self) -> bytes:
        line = b"".join(self._begun)
        self._begun.clear()
        self._begun_size = 0
        return line
