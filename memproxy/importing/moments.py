"""Times as other programs write them."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

# Seconds or milliseconds since 1970: seconds reach this number in the year 5138, milliseconds passed it in 1973.
_MILLISECONDS_FROM = 1e11
_WRITTEN = (
    "%I:%M %p on %d %B, %Y",  # LoCoMo: "1:56 pm on 8 May, 2023"
    "%Y/%m/%d (%a) %H:%M",  # LongMemEval: "2023/05/20 (Sat) 02:21"
    "%Y/%m/%d",
)


def moment(value: Any) -> datetime | None:
    """A time in UTC, from a number of seconds or milliseconds, ISO 8601, or one of the forms above; None for no value.

    Without a zone it is taken for UTC. Raises ValueError for what is no time.
    """
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("no time")
    number = _number(value)
    try:
        if number is not None:
            return datetime.fromtimestamp(number / 1000 if abs(number) >= _MILLISECONDS_FROM else number, UTC)
        return _utc(_written(str(value).strip()))
    except (OverflowError, OSError):
        raise ValueError("no time") from None


def _number(value: int | float | str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    except OverflowError:  # a whole number of hundreds of digits
        raise ValueError("no time") from None
    if not math.isfinite(number):
        raise ValueError("no time")
    return number if not isinstance(value, str) or len(value) > len("20231124") else None  # a day, not a number


def _written(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    for form in _WRITTEN:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise ValueError("no time")


def _utc(when: datetime) -> datetime:
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
