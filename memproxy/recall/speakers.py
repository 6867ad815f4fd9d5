"""Who of those that speak in somebody's conversations a question names, and the question without their names."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from memproxy.recall.languages import is_english
from memproxy.recall.query import Query
from memproxy.recall.terms import fold_marks
from memproxy.recall.words import SAID_ALL_THE_TIME, WORD

_OWNS = re.compile(r"['’]s?$")
_ROLES = ("user", "assistant")


def addressed(query: Query, speakers: Collection[str]) -> Query:
    """The same question, where it is known who speaks in the conversations that are asked."""
    names = named(query.text, speakers)
    if names == query.named:
        return query
    nameless = without_names(query.text, names)
    return replace(query, named=names, nameless=nameless if nameless != query.text else None)


def named(text: str, speakers: Collection[str]) -> frozenset[str]:
    """The speakers whose name, or first name, stands in the text as a word of its own."""
    if not speakers:
        return frozenset()
    words = {_bare(word) for word in WORD.findall(text)}
    return frozenset(s for s in speakers if s not in _ROLES and (parts := _parts(s)) and parts[0] in words)


def without_names(text: str, names: Collection[str]) -> str:
    """An English question with "they" for the speakers that it names; any other text as it is.

    Whose words are wanted is known by then, and has a weight of its own; in the question's vector a name outweighs what
    is asked, since every passage of that speaker is embedded with it.
    """
    if not names or not is_english(text.casefold()):
        return text
    firsts = {parts[0]: parts[1:] for name in names if (parts := _parts(name))}
    found: list[str] = []
    end, rest = 0, tuple[str, ...]()
    for match in WORD.finditer(text):
        word = _bare(match[0])
        if word in firsts and match[0][0].isupper():  # "mark the day" asks nobody of that name
            rest = firsts[word]
            found += [text[end : match.start()], "their" if _OWNS.search(match[0]) else "they"]
        elif rest and word == rest[0] and text[end : match.start()].isspace():  # the rest of a whole name
            rest = rest[1:]
            if _OWNS.search(match[0]):
                found[-1] = "their"
        else:
            rest = ()
            found.append(text[end : match.end()])
        end = match.end()
    return "".join([*found, text[end:]])


def _bare(word: str) -> str:
    return _OWNS.sub("", fold_marks(word.casefold()))


@lru_cache(maxsize=4096)  # the same few speakers are looked for in every question
def _parts(speaker: str) -> tuple[str, ...]:
    """The words of a name, the first name first; none where that is a word that people say all the time."""
    parts = tuple(fold_marks(part) for part in WORD.findall(speaker.casefold()))
    return () if not parts or parts[0] in SAID_ALL_THE_TIME else parts
