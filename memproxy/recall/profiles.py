"""How deep a question goes: one thing, or all of a kind. Used where `recall.profile` asks for it. Pure.

What measures best on labelled conversations is one way for all questions (`default`); these are for those who would
rather have more for "list all …" and less for "where is …".
"""

from __future__ import annotations

from dataclasses import dataclass

from memproxy.recall.query import Query
from memproxy.recall.weights import ProfileName


@dataclass(frozen=True, slots=True)
class Profile:
    """How deep to go."""

    least: int = 0  # results at most, or more where more are allowed anyway …
    most: int | None = None  # … and no more than that
    raised: float = 0.0  # how much higher the bar of relevance is
    quota: int | None = None  # of one conversation; what is over comes after all others
    around: float = 0.0  # share of the score that the turns before and after get

    def depth(self, limit: int) -> int:
        """How many results there may be, where `limit` is what is set."""
        deep = max(limit, self.least)
        return deep if self.most is None else min(deep, self.most)


DEFAULT = Profile()
GATHER = Profile(least=200, raised=-0.05, quota=5, around=0.8)
PINPOINT = Profile(most=25, raised=0.05)


def profile_of(name: ProfileName, query: Query) -> Profile:
    """The profile of that name; `auto` goes by the question's shape."""
    if name == "auto":
        return GATHER if query.gathers else PINPOINT if query.pinpoints else DEFAULT
    return {"gather": GATHER, "pinpoint": PINPOINT, "default": DEFAULT}[name]
