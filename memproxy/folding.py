"""Text made comparable: the foldings under which two strings count as the same."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_SPACE = re.compile(r"\s+")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "..."})


def fold_space(text: str) -> str:
    """NFC, white space collapsed to single blanks, ends trimmed: what a client may change by echoing a message."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def fold(text: str) -> str:
    """NFKC, case folded, typographic quotes and dashes made plain, white space collapsed: for finding a quote."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()).strip()


def content_key(text: str) -> str:
    """16 hex characters, equal for texts that differ only in case, punctuation or white space.

    Signs that carry meaning between digits or before them (minus, decimal point, percent, currency) are kept, so that
    "-5" and "5" stay two things.
    """
    folded = fold(text)
    kept = re.sub(
        r"(?<!\d)[.,:](?!\d)|(?<=\d)[.,:](?!\d)|(?<!\d)[.,:](?=\d)|[^\w\s.,:%€$£+-]|(?<!\s)-(?!\d)|[+-](?!\d)",
        " ",
        folded,
    )
    return hashlib.sha256(_SPACE.sub(" ", kept).strip().encode()).hexdigest()[:16]
