"""Between Python values and columns: times, scope, flags. The single door in each direction."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

from memproxy.model import Entity


def to_text(moment: datetime) -> str:
    """UTC text of fixed width, which sorts as time does: `2026-11-30T06:55:52.123456Z`.

    Raises ValueError for a time without a zone: inside there is one representation only.
    """
    if moment.tzinfo is None:
        raise ValueError("a time without a zone cannot be stored")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def to_time(text: str) -> datetime:
    """The stored text as an aware time in UTC."""
    return datetime.fromisoformat(text)


def to_time_or_none(text: str | None) -> datetime | None:
    """The same for columns that may be empty."""
    return None if text is None else datetime.fromisoformat(text)


def scoped(entity: Entity) -> dict[str, str]:
    """The two parameters without which no query of personal rows runs."""
    return {"tenant": entity.tenant, "entity": entity.name}


def scope_token(entity: Entity) -> str:
    """16 hex characters that stand for an entity inside index structures, where its name must not appear."""
    return hashlib.sha256(f"{column(entity.tenant)}\0{column(entity.name)}".encode()).hexdigest()[:16]


def column(value: Any) -> Any:
    """A value as the database driver takes it.

    Times become text. Of text, NUL and lone surrogates (which SQLite and UTF-8 cannot carry) become U+FFFD, one for
    one, so that character spans stay true.
    """
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, datetime):
        return to_text(value)
    return value


def _storable(text: str) -> str:
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    return text
