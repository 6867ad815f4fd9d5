"""Dates that a question names, by small rules. They only ever add to a score, so a wrong guess costs little."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from memproxy.lazy import Lazy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NUMBERS = {name: at for at, month in enumerate(MONTHS, 1) for name in (month, month[:3])} | {"sept": 9}
_MONTH = r"(?P<month>" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
# What stands before the name of a month, and never before the verb "may".
_TIME_WORD = r"(?:in|since|until|till|by|during|of|last|next|this|early|late|mid|before|after|around|every)"

_ISO = re.compile(rf"\b{_YEAR}-(?P<month>[01]?\d)-(?P<day>[0-3]?\d)\b")
_NAMED = (
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR})?", re.IGNORECASE),
    re.compile(rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_TIME_WORD}[\s-]+{_MONTH}", re.IGNORECASE),
)  # fmt: skip
_BARE_MONTH = re.compile(rf"\b(?P<month>{'|'.join(m.capitalize() for m in MONTHS if m not in ('may', 'march'))})\b")
_BARE_YEAR = re.compile(rf"(?<![\w.,$€£#-]){_YEAR}\b(?![-.,]\d)")
_COUNT = r"(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
_AGO = re.compile(rf"\b{_COUNT}\s+(?P<unit>day|week|month|year)s?\s+ago\b", re.IGNORECASE)
_LAST = re.compile(r"\b(?:last|past|previous)\s+(?P<unit>week|month|year|night)\b", re.IGNORECASE)
_SPELLED = {word: at for at, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_SPELLED |= {"a": 1, "an": 1}
_EPOCH = date(1970, 1, 1).toordinal()
_DAYS = {"night": 1, "day": 1, "week": 7, "month": 30, "year": 365}

# "may" the verb: in small letters, or opening a sentence, with neither a number nor a word of time beside it.
_MODAL_MAY = re.compile(r"(?<![\w'’-])[Mm]ay(?![\w'’-])(?!\s+\d)(?!,?\s+(?:19|20)\d\d)")
_BEFORE_MONTH = re.compile(rf"(?:\d(?:st|nd|rd|th)?(?:\s+of)?|\b(?:{_TIME_WORD}|from|to))[\s-]+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class When:
    """A date as far as a question names it: any of year, month and day, or a span of days."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    first: date | None = None
    last: date | None = None

    def covers(self, days: NDArray[np.int64]) -> NDArray[np.bool_]:
        """For each day, as `date.toordinal` numbers it, whether it fits all that is named."""
        if self.first is not None and self.last is not None:
            return (days >= self.first.toordinal()) & (days <= self.last.toordinal())
        dates = (days - _EPOCH).astype("datetime64[D]")
        years, months = dates.astype("datetime64[Y]"), dates.astype("datetime64[M]")
        fits = np.ones(len(days), np.bool_)
        if self.year is not None:
            fits &= years.astype(np.int64) == self.year - 1970
        if self.month is not None:
            fits &= (months - years).astype(np.int64) == self.month - 1
        if self.day is not None:
            fits &= (dates - months).astype(np.int64) == self.day - 1
        return fits


def dates_named(text: str, now: datetime) -> tuple[When, ...]:
    """The dates a question names, absolute ("7 May 2023", "in June", "2022") and relative to now ("last week")."""
    found: list[When] = []
    taken = [False] * len(text)
    for pattern in (_ISO, *_NAMED, _BARE_MONTH, _BARE_YEAR):
        for match in pattern.finditer(text):
            if not any(taken[match.start() : match.end()]):
                taken[match.start() : match.end()] = [True] * (match.end() - match.start())
                found.append(_read(match))
    return tuple(dict.fromkeys([*found, *_relative(text, now)]))


def without_modal_may(text: str) -> str:
    """The text without the verb "may", so that "May I ask" does not look for what happened in that month."""
    if "ay" not in text:
        return text
    return _MODAL_MAY.sub(lambda match: match[0] if _is_month(text, match) else " ", text)


def _is_month(text: str, match: re.Match[str]) -> bool:
    before = text[max(match.start() - 20, 0) : match.start()]
    if _BEFORE_MONTH.search(before):
        return True
    opens = not before.strip() or before.rstrip()[-1] in ".!?:\"'“("
    return match[0] == "May" and not opens


def _read(match: re.Match[str]) -> When:
    parts = match.groupdict()
    month = parts.get("month")
    number = _NUMBERS.get(month.lower()) if month and month.isalpha() else int(month) if month else None
    return When(
        year=int(parts["year"]) if parts.get("year") else None,
        month=number,
        day=int(parts["day"]) if parts.get("day") else None,
    )


def _relative(text: str, now: datetime) -> Iterator[When]:
    today = now.date()
    if re.search(r"\byesterday\b", text, re.IGNORECASE):
        yield When(first=today - timedelta(1), last=today - timedelta(1))
    for match in _LAST.finditer(text):
        days = _DAYS[match["unit"].lower()]
        yield When(first=today - timedelta(2 * days), last=today - timedelta(min(days, 1)))
    for match in _AGO.finditer(text):
        count = _SPELLED.get(match["count"].lower()) or int(match["count"])
        unit = _DAYS[match["unit"].lower()]
        middle = today - timedelta(count * unit)
        slack = timedelta(max(unit // 2, 1))
        yield When(first=middle - slack, last=middle + slack)
