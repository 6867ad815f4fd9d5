"""The marker lines around an injected block, and cutting such blocks out of what comes in."""

from __future__ import annotations

import re

OPEN = "<memproxy-memory>"
CLOSE = "</memproxy-memory>"

_BLOCK = re.compile(r"\s*<\s*memproxy-memory\s*>.*?<\s*/\s*memproxy-memory\s*>\s*", re.IGNORECASE | re.DOTALL)
_MARKER = re.compile(r"<\s*/?\s*memproxy-memory\s*>", re.IGNORECASE)


def cut_blocks(text: str) -> str:
    """The text without injected blocks that a client echoed, and without single markers somebody typed.

    Only what memory reads is cut; the request on the wire keeps every byte.
    """
    if "memproxy-memory" not in text.lower():
        return text
    return _MARKER.sub(" ", _BLOCK.sub("\n", text)).strip()
