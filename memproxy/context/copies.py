"""Telling near-copies apart from statements that only look alike."""

from __future__ import annotations

from memproxy.recall.terms import statement

# Terms (stemmed) that may differ between two copies of one statement.
_FILLER = frozenset("user person name call own also realli current now said say tell told mention note that".split())
_NEGATIONS = frozenset("not no never none noth nobodi without cannot neither nor".split())
_ALIKE = 0.6  # share of the longer statement's terms that both must have


class Copies:
    """The statements said so far, each given as the terms of the passage that makes it."""

    def __init__(self) -> None:
        self._said: list[frozenset[str]] = []
        self._known = set(_FILLER)  # with the terms of all of them

    def holds(self, terms: str) -> bool:
        """Whether this was said already, near enough: it adds nothing but filler to something said.

        Numbers and negations must agree. Any other word of its own (hate for love) makes it a statement of its own.
        """
        new = statement(terms)
        if not new <= self._known:  # so it is with nearly all
            return False
        content = new - _FILLER
        return any(content <= other and _near(new, other) for other in self._said)

    def add(self, terms: str) -> None:
        """Note that this has been said."""
        said = statement(terms)
        self._said.append(said)
        self._known |= said


def _near(new: frozenset[str], said: frozenset[str]) -> bool:
    shared = len(new & said)
    if not shared or shared < _ALIKE * max(len(new), len(said)) or new - said - _FILLER:
        return False
    return not any(term in _NEGATIONS or not term.isalpha() for term in new ^ said)
