"""The dates of a reply, read: when it happened or was said, and since when it is so."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo


def day(value: object) -> datetime | None:
    """A date or time in ISO form as UTC, or None: a bad date loses the date, not the fact."""
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value.strip())
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def reference(value: object, said_at: datetime, zone: tzinfo) -> datetime:
    """When it happened or was said. The very day of speaking is the moment of speaking: what is said in the evening
    comes after what was said in the morning."""
    parsed = day(value)
    if parsed is None or (_is_midnight(parsed) and parsed.date() == said_at.astimezone(zone).date()):
        return said_at
    return parsed


def _is_midnight(moment: datetime) -> bool:
    return (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0)


def since(value: object, said_at: datetime) -> str | None:
    """Since when, as an ISO date; None for what is no date, lies ahead, or is older than any person."""
    parsed = day(value)
    if parsed is None or parsed.year < 1900 or parsed.date() > said_at.date():
        return None
    return date(parsed.year, parsed.month, parsed.day).isoformat()
