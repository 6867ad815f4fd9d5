"""How passages are ranked: what each piece of evidence counts, how the legs are put together, how deep it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

# weighted: each leg scaled to 0..1 over the candidates. rrf: by its place in each. linear: as far as it goes by itself.
Fusion: TypeAlias = Literal["weighted", "rrf", "linear"]
ProfileName: TypeAlias = Literal["default", "gather", "pinpoint", "auto"]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each piece of evidence counts; one set for every kind of conversation."""

    lexical: float = 1.0
    dense: float = 1.0
    spread: float = 0.3  # share of what the turns before and after say, by their words and by their meaning
    feedback: float = 0.2  # of words that the best passages have in common, and the question does not have
    own: float = 0.4  # the person's own words, unless the question names somebody or asks what the assistant said
    named: float = 0.5  # words of the participant that the question names
    dated: float = 0.2  # said at a time that the question names
    wish: float = 0.4  # a standing wish of the person ("always …", "when I ask about … ")
    opening: float = 0.1  # what opens a conversation: there people tell what is new
    asking: float = 0.1  # taken off for a question, where somebody is named: it tells little of whoever asks it
    session: float = 0.25  # share of the best score in the same conversation
    again: float = 0.2  # taken off for every better passage of the same turn
    length: float = 0.2  # taken off for every 480 characters: what is said briefly leaves room for more
    linked: float = 0.2  # what the best passages name: other passages that name it


DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Manner:
    """What can be set of the ranking, beside the weights. As it stands it changes nothing."""

    fusion: Fusion = "weighted"
    profile: ProfileName = "default"
    mmr: float = 0.0  # how much what is like something better loses by that: 0..1
    recency: float = 0.0  # how much of the score goes by age: 0..1
    recency_days: int = 90  # after which nothing of that is left


PLAIN = Manner()
