"""Patterns that are compiled when they are first used: a process that learns nothing pays for none of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cached_property


class Pattern:
    """A regular expression, compiled with its first use."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.source, self._flags)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """The first match anywhere in the text."""
        return self._compiled.search(text, start, end)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """A match at the start."""
        return self._compiled.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """A match of the whole text."""
        return self._compiled.fullmatch(text)

    def finditer(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        """Every match, in order."""
        return self._compiled.finditer(text, start, end)

    def findall(self, text: str) -> list[str]:
        """The words (or the one group) of every match."""
        found: list[str] = self._compiled.findall(text)
        return found

    def sub(self, replacement: str, text: str) -> str:
        """The text with every match replaced."""
        return self._compiled.sub(replacement, text)

    def split(self, text: str) -> list[str]:
        """The text between the matches; the patterns have no groups."""
        return self._compiled.split(text)


def lexicon(words: str, joined: str = "") -> Pattern:
    """A pattern of whole words and phrases, one a line or between bars; `joined` for scripts without blanks.

    An entry may hold pattern syntax (`kein\\w*+`), but no bar of its own outside of brackets.
    """
    spaced = [entry.strip() for entry in _ENTRIES.split(words) if entry.strip()]
    found = [rf"(?<!\w)(?:{'|'.join(sorted(spaced, key=len, reverse=True))})(?!\w)"] if spaced else []
    found += sorted(joined.split(), key=len, reverse=True)
    return Pattern("|".join(found))


_ENTRIES = re.compile(r"\s\|\s|\n")
