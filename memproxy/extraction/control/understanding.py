"""Plain wishes to a memory in what somebody typed; whatever is not plain is none.

Rules alone: a wish has to be a whole sentence of its own, and not quoted, pasted, asked, supposed or denied. "Don't
forget to call", "forget it", "never forget that", "remember that film?" are none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from memproxy.extraction.control.languages import LANGUAGES, Language
from memproxy.extraction.guards.pasted import worked_on
from memproxy.folding import fold
from memproxy.recall.terms import terms
from memproxy.recall.words import STOPWORDS

LONGEST = 600  # characters of a message; a longer one is a text to be worked on
MOST_SENTENCES = 6
LONGEST_WISH = 300
# Quoted, pasted or code: the words may be anybody's.
_FOREIGN = re.compile(r"```|~~~|^\s*>|^\s{4,}\S|[\"“”„«»「」『』]|^\s*[\w .'-]{1,24}:\s*$", re.MULTILINE)
# A wish in brackets is still the person's; a list is not.
_LIST = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?。！？؟\n]+(?:[.!?](?=\S)[^.!?。！？؟\n]+)*[.!?。！？؟]*")
_ASKS = re.compile(r"[?？؟]\s*$")
_EMPTY = frozenset("it that this everything all them".split())


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep this, as the person says it."""

    text: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Never recall this again."""

    text: str


@dataclass(frozen=True, slots=True)
class AboutMe:
    """Tell what is known."""


Wish = Remember | Forget | AboutMe


def understood(text: str) -> list[Wish]:
    """The plain wishes of a message, in order; none where anything in it may be somebody else's words."""
    if len(text) > LONGEST or _FOREIGN.search(text) or _LIST.search(text) or worked_on(text):
        return []
    sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
    sentences = [sentence for sentence in sentences if sentence]
    if len(sentences) > MOST_SENTENCES:
        return []
    return [wish for sentence in sentences if (wish := _wish(sentence)) is not None]


def _wish(sentence: str) -> Wish | None:
    if len(sentence) > LONGEST_WISH:
        return None
    folded = fold(sentence)
    for rules in _compiled():
        if rules.about_me.fullmatch(folded):
            return AboutMe()
        if _ASKS.search(sentence):
            continue
        found = rules.remember.match(folded)
        if found is not None and rules.own.match(folded, found.end()):
            said = _rest(sentence, folded, found.end())
            return Remember(said) if len(_content(said)) >= 2 else None
        found = rules.forget.match(folded)
        if found is not None:
            said = _rest(sentence, folded, found.end())
            return Forget(said) if _content(said) else None
    return None


def _rest(sentence: str, folded: str, end: int) -> str:
    """What follows, as it was typed, where folding moved nothing; else as it was folded."""
    said = sentence[end:] if len(sentence) == len(folded) else folded[end:]
    return said.strip(" ,:;.!。！،").strip()


def _content(text: str) -> set[str]:
    return {term for term in terms(text) if term not in STOPWORDS and term not in _EMPTY}


@dataclass(frozen=True, slots=True)
class _Rules:
    remember: re.Pattern[str]
    own: re.Pattern[str]
    forget: re.Pattern[str]
    about_me: re.Pattern[str]


@cache
def _compiled() -> tuple[_Rules, ...]:
    return tuple(_rules(language) for language in LANGUAGES.values())


def _rules(language: Language) -> _Rules:
    before = rf"(?:{language.please}[,،]?\s*){{0,3}}"
    after = r"[\s.!?。！？؟]*"
    return _Rules(
        re.compile(rf"{before}(?:{language.remember})\s*"),
        re.compile(language.own),
        re.compile(rf"{before}(?:{language.forget})\s*"),
        re.compile(rf"{before}[¿]?(?:{language.about_me}){after}"),
    )
