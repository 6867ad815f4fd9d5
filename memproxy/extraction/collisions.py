"""Facts that exclude each other although they fill different attributes: Moss cannot be a cat here and a dog there.

Families of sides that exclude each other are kept narrow: a side is a handful of words, and a fact takes a side for a
subject only where it says so by name ("the dog Moss", "Moss is a dog"). Pure; nothing is ever written from here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Families = Mapping[str, Mapping[str, Sequence[str]]]  # family: side: words
_BETWEEN = frozenset("called named name is was his her my our the a an s whose".split())
_IS = frozenset("is was s isn".split())
_ELSEWHERE = frozenset("of by with to for from at in on like than and or near behind beside under over about".split())
_REACH = 6  # words between a name and the side it is said to be on
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A fact says that somebody or something is on one side of a family."""

    fact_id: str
    family: str
    side: str
    subject: str  # folded, so that "Moss" and "MOSS" are one


@dataclass(frozen=True, slots=True)
class Clash:
    """One subject on several sides: for each, the facts that say so."""

    family: str
    subject: str
    sides: Mapping[str, tuple[str, ...]]


def sightings(fact_id: str, text: str, families: Families) -> list[Sighting]:
    """Which sides a statement puts which subjects on. A side that is denied ("is not a dog") is no sighting."""
    words = _WORD.findall(text)
    found = []
    for family, sides in families.items():
        for side, names in sides.items():
            meant = {name.casefold() for name in names}
            for at, word in enumerate(words):
                if word.casefold() in meant and (subject := _subject(words, at)) is not None:
                    found.append(Sighting(fact_id, family, side, subject))
    return list(dict.fromkeys(found))


def clashes(found: Iterable[Sighting]) -> list[Clash]:
    """Subjects that stand on more than one side of a family, in the order of their names."""
    by_subject: dict[tuple[str, str], dict[str, list[str]]] = {}
    for sighting in found:
        sides = by_subject.setdefault((sighting.family, sighting.subject), {})
        sides.setdefault(sighting.side, []).append(sighting.fact_id)
    return [
        Clash(family, subject, {side: tuple(dict.fromkeys(ids)) for side, ids in sides.items()})
        for (family, subject), sides in sorted(by_subject.items())
        if len(sides) > 1
    ]


def _subject(words: Sequence[str], at: int) -> str | None:
    """Whose side the word tells: the name right behind it, or the one of which it says "is a …"."""
    for word in words[at + 1 : at + 1 + _REACH]:
        if _is_name(word):
            return word.casefold()
        if word.casefold() not in _BETWEEN:
            break
    before = words[max(0, at - _REACH) : at]
    said = [word.casefold() for word in before]
    if not _IS.intersection(said) or {"not", "t", "never", "no"}.intersection(said):
        return None
    verb = next(i for i, word in enumerate(said) if word in _IS)
    if _ELSEWHERE.intersection(said[verb:]):  # "is afraid of the dog"
        return None
    names = [word for word in before[:verb] if _is_name(word)]
    return names[-1].casefold() if names else None


def _is_name(word: str) -> bool:
    return word[0].isupper()
