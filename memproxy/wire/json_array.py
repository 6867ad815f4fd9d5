"""The items of a JSON array that comes in pieces, each as soon as its last byte is there.

Works on bytes: every character that matters here is ASCII, and no byte of a longer UTF-8 character looks like one.
Bytes may come cut anywhere; every cut gives the same items. Only brackets, strings and commas are followed: whether an
item is valid JSON is for its reader to find out. Work is linear in the number of bytes, whatever the nesting.
"""

from __future__ import annotations

import re

from memproxy.wire.sse import Event

LONGEST_ITEM = 32 << 20  # bytes; a longer item is left out
CLOSED = Event(b"]", b"")  # what follows the last item: the bracket that closes the array

_IN_STRING = re.compile(rb'"|\\.?', re.DOTALL)
# A string that is all there is passed over at once; one that is cut begins with its quote alone.
_OUTSIDE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{},]', re.DOTALL)


class ArrayParser:
    """Bytes in, items out, as events without a name. `lost` says that an item was too long to be kept."""

    pending = b""  # an item that has not ended is no event yet

    def __init__(self) -> None:
        self.lost = False
        self._depth = 0  # open brackets: 1 between items, 0 before the array and after it
        self._closed = False
        self._in_string = False
        self._escaping = False  # the last byte was a backslash: the next one belongs to it
        self._begun: list[bytes] = []  # the pieces of an item that has not ended yet
        self._begun_size = 0

    def feed(self, data: bytes) -> list[Event]:
        """The items that end within the next bytes, and CLOSED if the array does."""
        events: list[Event] = []
        start = at = self._opened(data)
        if self._escaping and at < len(data):
            at, self._escaping = at + 1, False
        while self._depth:
            found = (_IN_STRING if self._in_string else _OUTSIDE).search(data, at)
            if found is None:
                self._begin(data[start:])
                break
            at = found.end()
            if self._in_string:
                self._string(found.group())
            elif self._structure(found.group()):
                # A bracket of the item's own is its last byte; a comma or the array's bracket stands after it.
                own = self._depth == 1 and found.group() != b","
                events += self._ended(data[start : at if own else found.start()])
                start = at
        return events

    def finish(self) -> list[Event]:
        """What the stream ended in the middle of is no item."""
        return []

    def _opened(self, data: bytes) -> int:
        """Where what is inside the array begins."""
        if self._depth or self._closed:
            return 0
        bracket = data.find(b"[")
        self._depth = int(bracket >= 0)
        return bracket + 1

    def _string(self, token: bytes) -> None:
        self._in_string = token != b'"'
        self._escaping = token == b"\\"  # alone only where the bytes were cut after it

    def _structure(self, token: bytes) -> bool:
        """Follow a character between strings; True if an item ends with it."""
        if token == b'"':
            self._in_string = True
        elif token in b"[{":
            self._depth += 1
        elif token in b"]}":
            self._depth -= 1
            self._closed = not self._depth
            return self._depth <= 1
        return token == b"," and self._depth == 1

    def _begin(self, piece: bytes) -> None:
        """Keep a piece of an item whose end has not come, as long as the item is not too long."""
        self._begun_size += len(piece)
        if self._begun_size <= LONGEST_ITEM:
            self._begun.append(piece)
        else:
            self._begun.clear()

    def _ended(self, last_piece: bytes) -> list[Event]:
        """The item of which this is the last piece, unless it is empty or too long, and the array's end."""
        self._begin(last_piece)
        item = b"".join(self._begun).strip()
        self.lost = self.lost or self._begun_size > LONGEST_ITEM
        self._begun.clear()
        self._begun_size = 0
        events = [Event(b"", item)] if item else []
        return [*events, CLOSED] if self._closed else events
