"""A clock that stands still until it is told to move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class FrozenClock:
    """Implements `interfaces.Clock`."""

    def __init__(self, now: datetime = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)) -> None:
        self._now = now

    def now(self) -> datetime:
        """The moment it stands at, in UTC."""
        return self._now

    def advance(self, **parts: float) -> None:
        """Move on by a time given as for `timedelta`: `clock.advance(minutes=31)`."""
        self._now += timedelta(**parts)
