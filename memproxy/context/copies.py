"""Telling near-copies apart from statements that only look alike."""

from __future__ import annotations

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
        self._terms: set[str] = set()  # of all of them

    def holds(self, terms: frozenset[str]) -> bool:
        """Whether this was said already, near enough: it adds nothing but filler to something said.

        Numbers and negations must agree. Any other word of its own (hate for love) makes it a statement of its own.
        """
        content = terms - _FILLER  # all of this stands in what a copy copies
        return content <= self._terms and any(_near(terms, other) for other in self._said if content <= other)

    def add(self, terms: frozenset[str]) -> None:
        """Note that this has been said."""
        self._said.append(terms)
        self._terms |= terms


def statement(candidate: Candidate) -> frozenset[str]:
    """What a candidate says, as its terms."""
    return frozenset(candidate.terms.split()[DATE_TERMS:])


def _near(new: frozenset[str], said: frozenset[str]) -> bool:
    shared = len(new & said)
    if not shared or shared < _ALIKE * max(len(new), len(said)) or new - said - _FILLER:
        return False
    return not any(term in _NEGATIONS or not term.isalpha() for term in new ^ said)
