"""What readers of answers gather as they listen: the words, within a limit, and the one word that names an error."""

from __future__ import annotations

from io import StringIO
from typing import Any

from memproxy.wire.values import well_formed

LONGEST_TEXT = 8 << 20  # characters of an answer that are kept
_LONGEST_WORD = 64


class Words:
    """The words of an answer, piece by piece; pieces of several blocks may come mixed."""

    def __init__(self, longest: int = LONGEST_TEXT) -> None:
        self._room = longest
        self._blocks: dict[int, StringIO] = {}

    def add(self, text: Any, block: int = 0) -> None:
        """The next words of a block; what is no string, or beyond the limit, is left out."""
        if not isinstance(text, str) or not text or not self._room:
            return
        text = text[: self._room]
        self._room -= len(text)
        self._blocks.setdefault(block, StringIO(newline="")).write(text)

    def text(self, between: str = "") -> str:
        """The blocks that have words, in the order of their numbers.

        Halves of an emoji may have come in two pieces: only the whole text can be put right.
        """
        return well_formed(between.join(self._blocks[block].getvalue() for block in sorted(self._blocks)))


def error_word(*candidates: Any) -> str:
    """The first candidate that is a single word: an error's type is kept, its text never is."""
    words = (word for word in candidates if isinstance(word, str) and word.isidentifier() and len(word) <= _LONGEST_WORD)
    return next(words, "error")
