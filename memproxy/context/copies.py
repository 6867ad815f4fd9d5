"""Telling near-copies apart from statements that only look alike."""

from __future__ import annotations

from collections import defaultdict

from memproxy.model import Candidate
from memproxy.recall.terms import DATE_TERMS

# Terms (stemmed) that may differ between two copies of one statement.
_FILLER = frozenset("user person name call own also realli current now said say tell told mention note that".split())
_NEGATIONS = frozenset("not no never none noth nobodi without cannot neither nor".split())
_ALIKE = 0.6  # share of the longer statement's terms that both must have


class Copies:
    """The statements said so far."""

    def __init__(self) -> None:
        self._said: list[frozenset[str]] = []
        self._with_term: dict[str, list[frozenset[str]]] = defaultdict(list)

    def holds(self, terms: frozenset[str]) -> bool:
        """Whether this was said already, near enough: it adds nothing but filler to something said.

        Numbers and negations must agree. Any other word of its own (hate for love) makes it a statement of its own.
        """
        content = terms - _FILLER
        # All terms of a copy but filler stand in what it copies: the rarest leads to the few that may be that.
        if not content <= self._with_term.keys():
            return False
        others = min((self._with_term[term] for term in content), key=len, default=self._said)
        return any(_near(terms, other) for other in others)

    def add(self, terms: frozenset[str]) -> None:
        """Note that this has been said."""
        self._said.append(terms)
        for term in terms - _FILLER:
            self._with_term[term].append(terms)


def statement(candidate: Candidate) -> frozenset[str]:
    """What a candidate says, as its terms."""
    return frozenset(candidate.terms.split()[DATE_TERMS:])


def _near(new: frozenset[str], said: frozenset[str]) -> bool:
    shared = len(new & said)
    if not shared or shared < _ALIKE * max(len(new), len(said)) or new - said - _FILLER:
        return False
    return not any(term in _NEGATIONS or not term.isalpha() for term in new ^ said)
