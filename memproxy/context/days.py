"""Days as a block names them: absolute, those of the person's time zone, and how far two are apart."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache

from memproxy.model import Candidate


def day_of(candidate: Candidate, zone: tzinfo) -> date:
    """The day of a passage. A fact's date is kept as midnight UTC of that day and is the same day everywhere."""
    return _day(candidate.time, zone, candidate.kind == "fact")


@lru_cache(maxsize=8192)  # what is recalled for one question is so for the next
def _day(moment: datetime, zone: tzinfo, dated: bool) -> date:
    if dated and moment == datetime(moment.year, moment.month, moment.day, tzinfo=UTC):
        return moment.date()
    return moment.astimezone(zone).date()


def distance(day: date, today: date) -> str:
    """How far a day is from another, in days, and beyond two months in months and years as well."""
    days = abs((today - day).days)
    if days == 0:
        return "today"
    parts = [f"{days} day{'s' * (days != 1)}"]
    if days > 60:
        first, last = min(day, today), max(day, today)
        months = (last.year - first.year) * 12 + last.month - first.month - (last.day < first.day)
        years, months = divmod(months, 12)
        named = [f"{n} {unit}{'s' * (n != 1)}" for n, unit in ((years, "year"), (months, "month")) if n]
        parts.append(" ".join(named))
    return f"{', '.join(parts)} ago" if day < today else f"in {', '.join(parts)}"
