"""The visible words of an answer, gathered as they come."""

from __future__ import annotations

from memproxy.wire.values import well_formed

LONGEST_TEXT = 8 << 20  # characters of an answer that are kept
MOST_PLACES = 1024  # of one answer

Place = tuple[int, int]  # which item of the answer, which part of the item


class Words:
    """Pieces of text, in the order of their places and inside a place as they came; together at most LONGEST_TEXT.

    Formats whose pieces come in the order in which they are read need no places.
    """

    def __init__(self) -> None:
        self._pieces: dict[Place, list[str]] = {}
        self._room = LONGEST_TEXT

    def add(self, text: str, place: Place = (0, 0)) -> None:
        """A piece more at the end of a place."""
        if len(text) > self._room:
            text = text[: self._room]
        if not text:
            return
        pieces = self._pieces.get(place)
        if pieces is None:
            if len(self._pieces) >= MOST_PLACES:
                return
            pieces = self._pieces[place] = []
        self._room -= len(text)
        pieces.append(text)

    def put(self, text: str, place: Place) -> None:
        """All that stands at a place, said once more as a whole."""
        self._room += sum(map(len, self._pieces.pop(place, ())))
        self.add(text, place)

    def clear(self) -> None:
        """Forget everything: it is about to be said again."""
        self._pieces.clear()
        self._room = LONGEST_TEXT

    def text(self, between: str = "") -> str:
        """All of it, with `between` between two places.

        Halves of an emoji may have come in two pieces: only the whole text can be put right.
        """
        places = ("".join(self._pieces[place]) for place in sorted(self._pieces))
        return well_formed(between.join(places))
