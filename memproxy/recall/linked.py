"""The second step of recall: whom and what the best passages name leads to the other passages that name them.

A question that takes several steps ("what does the sister of whoever sold me the boat do?") shares no word with its
answer; the passage in between names somebody. Names and other rare capitalised words of the best passages are looked
up like words of the question, for less. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from memproxy.recall.lexical import telling
from memproxy.recall.terms import terms

BEST = 8  # passages whose names are followed
TERMS = 10  # names that are followed, those that tell most
FETCHED = 50  # passages that they may add to what is proposed
_MOST = 0.03  # share of all passages that may hold a name: what stands everywhere leads nowhere …
_FEW = 3  # … but in a small memory so many may
_READ = 1_000  # characters of a passage
# What begins with a capital inside a sentence.
_NAME = re.compile(r"(?:(?<=[^\W_] )|(?<=[,;:&–-] )|(?<=[(\"“«]))[^\W\d_a-z][\w'’-]+")


def things(passages: Sequence[str], asked: Collection[str], frequency: Callable[[str], int], total: int) -> list[str]:
    """The terms of what the passages name, at most TERMS of them: in how many of them, by how rare.

    `asked` are terms that are looked up anyway; `frequency` tells how many of `total` passages hold a term.
    """
    found = Counter(term for text in passages for term in named(text) if term not in asked)
    most = max(_FEW, _MOST * total)
    return telling(found, frequency, total, most, TERMS)


@lru_cache(maxsize=1024)  # the best by words are mostly among the best of all
def named(text: str) -> frozenset[str]:
    """The terms of the names in a text."""
    words = {word for word in _NAME.findall(text[:_READ]) if word[0].isupper()}
    return frozenset(term for word in words for term in _terms(word))


@lru_cache(maxsize=16_384)
def _terms(word: str) -> tuple[str, ...]:
    return tuple(terms(word))
