"""How a block is divided: what each part of it may take of the budget, and how much of it may be unasked for."""

from __future__ import annotations

from dataclasses import dataclass

from memproxy.settings import Settings


@dataclass(frozen=True, slots=True)
class Shape:
    """The parts of a block. Each has a limit of its own, and what one leaves over the others may use.

    Shares are of the token budget.
    """

    identity: float = 0.15  # who the person is, with feelings and open threads: what is said unasked
    session: float = 0.25  # what was said earlier in the same conversation
    artifacts: float = 0.15  # code and data shown whole
    past: float = 0.35  # summaries of other conversations
    past_tokens: int = 1000  # … and at most so many tokens
    past_count: int = 5  # … and so many of them
    past_cosine: float = 0.3  # … no farther from the question than that
    personal: int = 15  # lines that are said unasked
    identity_count: int = 10  # … of which so many say who the person is
    topic: float = 0.4  # share of those that may be of one topic, while there are others
    confidence: float = 0.3  # facts less sure than that are not said
    quotes: bool = True  # the person's own words beside a fact that says less than they do


DEFAULT_SHAPE = Shape()


def shape_of(settings: Settings) -> Shape:
    """The shape that the settings ask for."""
    memory = settings.memory
    return Shape(
        identity=memory.identity_share,
        session=memory.session_share,
        artifacts=memory.artifact_share,
        past=memory.past_share,
        past_tokens=memory.summary_budget,
        past_count=settings.recall.summary_limit,
        past_cosine=settings.recall.summary_threshold,
        personal=memory.personal_limit,
        identity_count=settings.conscious_limit,
        topic=memory.topic_share,
        confidence=memory.confidence_floor,
        quotes=memory.quotes,
    )
