"""When it happened, since when, until when: dates as models and people give them, resolved where they were said.

What is relative ("two weeks ago", "letzten Dienstag") is resolved once, at write time, against the turn's own time in
the person's own time zone, whenever it is learned. dateparser reads the expressions; what it does not know of
(weekends, seasons, ends of months) is told here. A date that cannot be read loses the date, never the fact.

Days are kept as midnight UTC of that day, whoever's day it was: a day is no moment.
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, timedelta, tzinfo

from memproxy.extraction.expressions import ENDS, MENTIONS, SPANS, Mention

_OLDEST = 1900  # nobody's life began before
_FAR = timedelta(days=3)  # a model further off than this (or a quarter of the way) has reckoned from its own today


def day(value: object) -> datetime | None:
    """A date or time in ISO form as UTC, or None: a bad date loses the date, not the fact."""
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value.strip())
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def reference(value: object, said_at: datetime, zone: tzinfo, quote: str = "") -> datetime:
    """When it happened or was said.

    What the person's own words say of it counts more than what a model made of them. The very day of speaking is the
    moment of speaking: what is said in the evening comes after what was said in the morning.
    """
    given = day(value) or (when(value, said_at, zone) if isinstance(value, str) else None)
    told = mentioned(quote, said_at, zone)
    here = _midnight(said_at.astimezone(zone).date())
    if told is not None and (given is None or given == here or abs(given - told) > _slack(told, said_at)):
        given = told
    if given is None or (_is_midnight(given) and given == here):
        return said_at
    return given


def since(value: object, said_at: datetime, zone: tzinfo = UTC, quote: str = "") -> str | None:
    """Since when, as an ISO date; None for what is no date, lies ahead, or is older than any person."""
    parsed = day(value) or (when(value, said_at, zone) if isinstance(value, str) else None)
    if parsed is None:
        parsed = _begin(quote, said_at, zone)
    if parsed is None or parsed.year < _OLDEST or parsed.date() > said_at.astimezone(zone).date():
        return None
    return date(parsed.year, parsed.month, parsed.day).isoformat()


def until(quote: str, said_at: datetime, zone: tzinfo) -> datetime | None:
    """The end of what is said to last until some day ("till Friday", "this week"): the end of that day, there."""
    for shape in ENDS:
        for match in shape.finditer(quote):
            named = match["when"] if "when" in match.groupdict() and match["when"] else match[0]
            ends = _last_day(named, said_at, zone)
            if ends is not None and ends >= said_at.astimezone(zone).date():
                return datetime(ends.year, ends.month, ends.day, tzinfo=zone).astimezone(UTC) + timedelta(days=1)
    return None


def mentioned(quote: str, said_at: datetime, zone: tzinfo) -> datetime | None:
    """The day that words name relative to when they were said; None where they name none, or several."""
    days = {found for mention in mentions(quote) if (found := when(mention, said_at, zone)) is not None}
    return days.pop() if len(days) == 1 else None


def mentions(quote: str) -> list[str]:
    """The relative expressions of time in a text, the longer where two overlap."""
    found: list[Mention] = []
    for shape in MENTIONS:
        found += [Mention(match.start(), match.end(), match[0]) for match in shape.finditer(quote)]
    kept: list[Mention] = []
    for mention in sorted(found, key=lambda m: (m.start - m.end, m.start)):
        if all(mention.end <= other.start or other.end <= mention.start for other in kept):
            kept.append(mention)
    return [mention.text for mention in sorted(kept, key=lambda m: m.start)]


def when(expression: str, said_at: datetime, zone: tzinfo) -> datetime | None:
    """The day an expression names, seen from when and where it was said; None where it names none."""
    here = said_at.astimezone(zone)
    words = " ".join(expression.casefold().split()).strip(" .,;:!?\"'")
    if not words or len(words) > 60 or words.isdecimal() or _NEARLY_ISO.fullmatch(words):
        return None
    found = _told_here(words, here.date()) or _parsed(words, here)
    return _midnight(found) if found is not None else None


_NEARLY_ISO = re.compile(r"\d{4}-\d{1,2}-\d{1,2}.*")  # what `day` could not read is none


def _begin(quote: str, said_at: datetime, zone: tzinfo) -> datetime | None:
    """When something began that lasts "for three years", or "since 2019"."""
    for shape in SPANS:
        match = shape.search(quote)
        if match is not None:
            ago = match.groupdict().get("span")
            year = match.groupdict().get("year")
            if year is not None:
                return datetime(int(year), 1, 1, tzinfo=UTC)
            found = when(f"{ago} ago" if ago is not None else match["when"], said_at, zone)
            if found is not None:
                return found
    return None


# --- what the library does not know of -----------------------------------------------------------------------------

_WEEKDAYS = {name: i for i, name in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())}
_WEEKDAYS |= {
    name: i
    for names in (
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunes martes miércoles jueves viernes sábado domingo",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    )
    for i, name in enumerate(names.split())
}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_MONTHS = {name.casefold(): i for i, name in enumerate(calendar.month_name) if name}
_LAST = "last|past|letzte[nrs]?|vorige[nrs]?|dernière?|passée?|pasad[oa]|scors[oa]|vorige|afgelopen"
_NEXT = "next|coming|this coming|nächste[nrs]?|kommende[nrs]?|prochaine?|próxim[oa]|prossim[oa]|volgende"
_WEEKDAY = re.compile(
    rf"(?:(?P<last>{_LAST})\s)?(?:(?P<next>{_NEXT})\s)?(?:on\s|am\s|el\s|le\s|op\s)?(?P<day>{'|'.join(_WEEKDAYS)})"
    rf"(?:\s(?P<after>{_LAST}|{_NEXT}))?"
)
_WEEKEND = re.compile(r"(?:(?P<last>last|over the|at the|on the)|(?P<next>next)|this|the)\sweekend")
_SEASON = re.compile(rf"(?:in\s)?(?:(?P<last>last)|(?P<next>next)|this|the)\s(?P<season>{'|'.join(_SEASONS)})")
_EDGE = re.compile(
    rf"(?:at\s)?(?:the\s)?(?P<edge>beginning|start|end|middle) of (?P<month>{'|'.join(_MONTHS)})"
    r"(?:\s(?P<year>\d{4}))?"
)


def _told_here(words: str, today: date) -> date | None:
    if match := _WEEKDAY.fullmatch(words):
        after = match["after"]
        ahead = match["next"] is not None or (after is not None and re.fullmatch(_NEXT, after) is not None)
        return _weekday(_WEEKDAYS[match["day"]], today, ahead)
    if match := _WEEKEND.fullmatch(words):
        return _weekday(5, today, ahead=bool(match["next"]) or words.startswith("this"))
    if match := _SEASON.fullmatch(words):
        return _season(_SEASONS[match["season"]], today, bool(match["last"]), bool(match["next"]))
    if match := _EDGE.fullmatch(words):
        month, year = _MONTHS[match["month"]], int(match["year"] or 0)
        year = year or (today.year if month <= today.month else today.year - 1)
        number = {"end": calendar.monthrange(year, month)[1], "middle": 15}.get(match["edge"], 1)
        return date(year, month, number)
    return None


def _weekday(number: int, today: date, ahead: bool) -> date:
    """The nearest such day before today, or after it."""
    if ahead:
        return today + timedelta(days=(number - today.weekday()) % 7 or 7)
    return today - timedelta(days=(today.weekday() - number) % 7 or 7)


def _season(month: int, today: date, last: bool, following: bool) -> date:
    year = today.year
    begun = month <= today.month
    if last:
        # "Last summer", said in summer, is the one before.
        year -= 0 if begun and today.month - month >= 3 else 1
    elif following:
        year += 1 if begun else 0
    return date(year, month, 1)


# --- the library ---------------------------------------------------------------------------------------------------

_LATIN = ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "nb", "da", "fi", "pl", "cs", "tr", "id", "vi"]
_SCRIPTS = (
    (re.compile("[\u3040-\u30ff]"), ["ja"]),
    (re.compile("[\u4e00-\u9fff]"), ["zh", "ja"]),
    (re.compile("[\uac00-\ud7af]"), ["ko"]),
    (re.compile("[\u0400-\u04ff]"), ["ru", "uk", "bg"]),
    (re.compile("[\u0600-\u06ff]"), ["ar", "fa"]),
    (re.compile("[\u0590-\u05ff]"), ["he"]),
    (re.compile("[\u0900-\u097f]"), ["hi"]),
    (re.compile("[\u0370-\u03ff]"), ["el"]),
)


def _parsed(words: str, here: datetime) -> date | None:
    from dateparser import parse  # loaded with the first expression: most replies have plain dates

    languages = next((names for script, names in _SCRIPTS if script.search(words)), _LATIN)
    found = parse(
        words,
        languages=languages,
        settings={
            "RELATIVE_BASE": here.replace(tzinfo=None),
            "PREFER_DATES_FROM": "past",
            "PREFER_DAY_OF_MONTH": "first",
            "RETURN_AS_TIMEZONE_AWARE": False,
            "PARSERS": ["relative-time", "absolute-time"],
        },
    )
    return found.date() if found is not None and found.year >= _OLDEST else None


def _last_day(named: str, said_at: datetime, zone: tzinfo) -> date | None:
    """The last day of a span ("this week"), or the day that is named, ahead."""
    today = said_at.astimezone(zone).date()
    words = " ".join(named.casefold().split())
    if re.search(r"\b(?:week|woche|semaine|semana|settimana)\b", words) and not re.search(_NEXT, words):
        return today + timedelta(days=6 - today.weekday())
    if re.search(r"\b(?:month|monat|mois|mes|mese)\b", words) and not re.search(_NEXT, words):
        return today.replace(day=calendar.monthrange(today.year, today.month)[1])
    if re.search(r"\b(?:today|tonight|heute|aujourd'hui|hoy|oggi)\b", words):
        return today
    if match := _WEEKDAY.fullmatch(words):
        return _weekday(_WEEKDAYS[match["day"]], today, ahead=True)
    found = day(words) or when(words, said_at, zone)
    if found is None:
        return None
    ends = found.date()
    if ends < today and ends.day < 29 and not re.search(r"\d{4}", words):
        return ends.replace(year=ends.year + 1)
    return ends


def _slack(told: datetime, said_at: datetime) -> timedelta:
    return max(_FAR, abs(said_at - told) / 4)


def _midnight(found: date) -> datetime:
    return datetime(found.year, found.month, found.day, tzinfo=UTC)


def _is_midnight(moment: datetime) -> bool:
    return (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0)
