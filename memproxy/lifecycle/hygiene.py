"""In what condition a memory is: what says the same twice, what nobody says or needs any more, what is held back.

Looked for in the columns that the store has at hand, without vectors or a model: it is a look, and changes nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations

from memproxy.recall.terms import DATE_TERMS, terms
from memproxy.recall.words import STOPWORDS
from memproxy.store.overview import Condition

STALE_AFTER = timedelta(days=180)  # neither said again nor recalled for that long
SETTLED_AFTER = timedelta(days=30)  # a fact younger than that has had no occasion to be recalled
# Facts that a further one with the same key is compared with, the oldest: where thousands are made after one pattern, a
# comparison of each with each would take minutes.
MOST_OF_A_KEY = 20
ALIKE = 0.75  # of the content words of two facts together, those that both have
_FILLER = STOPWORDS | frozenset(terms(" ".join(["user", *sorted(STOPWORDS)])))
_NEGATIONS = frozenset(terms("not no never none nothing nobody without cannot neither nor"))
_Key = tuple[frozenset[str], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Hygiene:
    """Ids of the facts of each condition, the newest first; a fact may be of several."""

    duplicates: list[list[str]]  # groups of current facts that say nearly the same
    stale: list[str]  # current, not pinned, neither said nor recalled for `STALE_AFTER`
    never_recalled: list[str]  # current, older than `SETTLED_AFTER`
    expired: list[str]
    quarantined: list[str]


def look(facts: Sequence[Condition], now: datetime) -> Hygiene:
    """The condition of all facts of one memory."""
    current = [fact for fact in facts if fact.status == "current"]
    return Hygiene(
        _duplicates(current),
        [f.id for f in current if not f.pinned and max(f.said_at, f.recalled_at) < now - STALE_AFTER],
        [f.id for f in current if f.recall_count == 0 and f.recorded_at < now - SETTLED_AFTER],
        [f.id for f in facts if f.status == "expired"],
        [f.id for f in facts if f.status == "quarantined"],
    )


def _duplicates(facts: Sequence[Condition]) -> list[list[str]]:
    """Facts that share nearly all content words, in whatever order and form, and no number or negation tells apart.

    A group is called after its oldest; what is like several groups is of the oldest of them.
    """
    words = {fact.id: _words(fact) for fact in facts}
    often = Counter(word for held in words.values() for word in held)
    rarity = {word: place for place, word in enumerate(sorted(often, key=lambda word: (often[word], word)))}
    by_key: dict[_Key, list[str]] = {}
    group = {fact.id: fact.id for fact in facts}
    for fact in reversed(facts):
        held, apart = words[fact.id], _telling_apart(words[fact.id])
        keys = [(apart, key) for key in _keys([rarity[word] for word in held])]
        others = {other for key in keys for other in by_key.get(key, ())}
        group[fact.id] = min((group[other] for other in others if _alike(held, words[other])), default=fact.id)
        for key in keys:
            if len(same := by_key.setdefault(key, [])) < MOST_OF_A_KEY:
                same.append(fact.id)
    groups: dict[str, list[str]] = {}
    for fact in facts:
        groups.setdefault(group[fact.id], []).append(fact.id)
    return [ids for ids in groups.values() if len(ids) > 1]


def _keys(words: list[int]) -> list[tuple[int, ...]]:
    """What a set of words, numbered by how rare they are, has in common with each that is alike: one key at least.

    Two sets that share n words share two of them among the rarest of each, all but its n - 2 others: few pairs, and
    hardly any two facts of one. After Chaudhuri et al., "A primitive operator for similarity joins" (2006), and Wang et
    al., "Can we beat the prefix filtering?" (2012).
    """
    if len(words) < 2:
        return [tuple(words)] if words else []
    words.sort()
    return list(combinations(words[: len(words) - math.ceil(ALIKE * len(words)) + 2], 2))


def _words(fact: Condition) -> frozenset[str]:
    return frozenset((fact.terms or "").split()[DATE_TERMS:]) - _FILLER


def _telling_apart(words: frozenset[str]) -> frozenset[str]:
    """Numbers and negations: facts that have not the same of them are never alike."""
    return frozenset(word for word in words if word in _NEGATIONS or any(map(str.isdigit, word)))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= ALIKE * (len(one) + len(other) - shared)
