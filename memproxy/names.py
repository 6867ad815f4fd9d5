"""What may be a name, of an entity or of a session."""

from __future__ import annotations

import unicodedata

MAX_NAME = 255


def clean_name(name: str) -> str:
    """An entity's or session's name in NFC. Raises ValueError unless it has 1 to 255 characters, none a control."""
    name = unicodedata.normalize("NFC", name)
    if not 1 <= len(name) <= MAX_NAME or any(unicodedata.category(c) in ("Cc", "Cs") for c in name):
        raise ValueError("a name has 1 to 255 characters, none of them a control character")
    return name
