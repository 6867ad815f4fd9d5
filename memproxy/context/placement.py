"""Where in a request a block goes, and what of it stays in place as a conversation goes on.

In placement `split` a block has a stable part, at the end of the system prompt, and one recalled part a user turn.
Whatever stands in the conversation goes in again byte for byte, so that the upstream sees a prompt that only grows, and
its prompt cache works as if there were no memory. Taking a part out costs the cache everything after it, so parts are
taken out seldom and many at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memproxy.model import Addition, BlockItem, ContextBlock, Part

MOST_BUDGETS = 3  # of the token budget: what all parts of a conversation may take together
FEWEST_BUDGETS = 1.5  # what is left in place when they would take more
LEAST_SHARE = 0.25  # of the budget: a new part can have that much, or old parts make way


@dataclass(frozen=True, slots=True)
class InPlace:
    """The parts that stand in a conversation, each recalled one with the place it has (see `Addition`)."""

    stable: Part | None  # None: not decided yet
    recalled: tuple[tuple[int | None, Part], ...] = ()  # in the order of the turns

    @property
    def parts(self) -> tuple[Part, ...]:
        """All of them, the stable one first."""
        recalled = tuple(part for _, part in self.recalled)
        return recalled if self.stable is None else (self.stable, *recalled)

    @property
    def tokens(self) -> int:
        """What they take together."""
        return sum(part.block.tokens for part in self.parts)

    @property
    def items(self) -> tuple[BlockItem, ...]:
        """What they say."""
        return tuple(item for part in self.parts for item in part.block.items)

    def additions(self) -> tuple[Addition, ...]:
        """The parts that say something, as additions to the request."""
        stable = [Addition(self.stable.block.text)] if self.stable is not None and self.stable.block.text else []
        return (*stable, *(Addition(part.block.text, place) for place, part in self.recalled if part.block.text))

    def block(self) -> ContextBlock:
        """Everything that goes into the request, as one block."""
        texts = [part.block.text for part in self.parts if part.block.text]
        return ContextBlock("\n".join(texts), self.tokens, self.items)


def make_room(standing: InPlace, budget: int) -> tuple[InPlace, int, Sequence[Part]]:
    """What stays in place, how many tokens a new part may take, and the parts (the oldest) that make way for it.

    A new part gets the budget, or half of what is still free: a long conversation is not to be filled by its beginning.
    """
    free = MOST_BUDGETS * budget - standing.tokens
    gone: list[Part] = []
    kept = list(standing.recalled)
    if free // 2 < LEAST_SHARE * budget:
        while kept and standing.tokens - _tokens(gone) > FEWEST_BUDGETS * budget:
            gone.append(kept.pop(0)[1])
        free += _tokens(gone)
    return InPlace(standing.stable, tuple(kept)), max(min(budget, free // 2), 0), gone


def _tokens(parts: Iterable[Part]) -> int:
    return sum(part.block.tokens for part in parts)
