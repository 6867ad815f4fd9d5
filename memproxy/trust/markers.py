"""The marker lines around an injected block, and cutting such blocks out of what comes in."""

from __future__ import annotations

import re

OPEN = "<memproxy-memory>"
CLOSE = "</memproxy-memory>"

_MARKER = re.compile(r"<\s*+(/?)\s*+memproxy-memory\s*+/?\s*+>", re.IGNORECASE)
_WORD = re.compile(r"memproxy-memory", re.IGNORECASE)


def cut_blocks(text: str) -> str:
    """The text without injected blocks that a client echoed, and without single markers somebody typed.

    Only what memory reads is cut; the request on the wire keeps every byte. Markers are paired like brackets, so that
    of a block inside a block nothing stays, and what follows a marker that nobody closes stays whole.
    """
    if "memproxy-memory" not in text.lower():
        return text
    pieces = []
    end = 0
    for start, stop, block in _spans(text):
        before = text[end:start]
        pieces += [before.rstrip(), "\n"] if block else [before, " "]
        end = stop
        while block and end < len(text) and text[end].isspace():
            end += 1
    if not end:
        return text
    left = "".join([*pieces, text[end:]]).strip()
    # Pieces of markers around a cut may join into another one; such text is nobody's prose, and loses the word.
    return _WORD.sub("memory", left) if _MARKER.search(left) else left


def without_markers(text: str) -> str:
    """A text that is to stand between marker lines, with nothing in it that could be taken for one."""
    return _WORD.sub("memory", text)


def _spans(text: str) -> list[tuple[int, int, bool]]:
    """What is to be cut, in order and without overlaps: whole blocks (True) and markers that stand alone (False)."""
    opened: list[re.Match[str]] = []
    cut: list[tuple[int, int, bool]] = []
    for marker in _MARKER.finditer(text):
        if not marker[1]:
            opened.append(marker)
        elif opened:
            start = opened.pop().start()
            while cut and cut[-1][0] > start:
                cut.pop()
            cut.append((start, marker.end(), True))
        else:
            cut.append((*marker.span(), False))
    return sorted([*cut, *((*marker.span(), False) for marker in opened)])
