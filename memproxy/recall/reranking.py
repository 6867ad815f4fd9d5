"""A second opinion on the best of what was found: a cross-encoder that a package brings along, inside the deadline.

A package offers a callable under the entry point group `memproxy.rerankers`; it is called once, with no arguments, and
gives an object as `Reranker` has it. What it says orders the best MOST passages anew; the scores themselves stay, so
that whatever is weighed afterwards (age) weighs as much as before.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Sequence
from typing import Protocol

from memproxy.calling import plugins
from memproxy.errors import SettingsError
from memproxy.events import Metrics
from memproxy.model import Scored

MOST = 50  # passages that are read with the question
LEAST_SECONDS = 0.02  # below which it is not even begun
GROUP: plugins.Group = "memproxy.rerankers"


class Reranker(Protocol):
    """What a package's reranker is. It is asked on the path of a request, and must not block the event loop."""

    async def rerank(self, question: str, passages: Sequence[str]) -> Iterable[float]:
        """For each passage how well it answers the question; the greater the better. May raise anything."""
        ...


def reranker_named(name: str | None) -> Reranker | None:
    """The reranker of that name. Raises SettingsError naming those there are."""
    if name is None:
        return None
    factory = plugins.load(GROUP, name)
    if factory is None:
        known = ", ".join(plugins.names(GROUP)) or "no installed package offers any"
        raise SettingsError(f"recall.reranker: {name!r} is none of those there are: {known}")
    try:
        made: Reranker = factory()
    except Exception as error:  # another package's code, which may raise anything
        raise SettingsError(f"recall.reranker: {name!r} cannot be made: {type(error).__name__}: {error}") from error
    return made


async def reranked(
    reranker: Reranker, question: str, scored: Sequence[Scored], seconds: float, metrics: Metrics
) -> list[Scored]:
    """What was found, the best of it in the reranker's order; as it was where it fails or has no time."""
    best = scored[:MOST]
    if len(best) < 2:
        return list(scored)
    if seconds < LEAST_SECONDS:
        metrics.rerank_skipped.labels("late").inc()
        return list(scored)
    try:
        async with asyncio.timeout(seconds):
            said = [float(one) for one in await reranker.rerank(question, [item.candidate.text for item in best])]
    except TimeoutError:
        metrics.rerank_skipped.labels("slow").inc()
        return list(scored)
    except Exception:  # another package's code, which may raise anything; its words may quote somebody
        metrics.rerank_skipped.labels("failed").inc()
        return list(scored)
    if len(said) != len(best) or not all(map(math.isfinite, said)):
        metrics.rerank_skipped.labels("failed").inc()
        return list(scored)
    order = sorted(range(len(best)), key=lambda place: (-said[place], place))
    moved = [_at(best[place], best[now].score) for now, place in enumerate(order)]
    return [*moved, *scored[MOST:]]


def _at(item: Scored, score: float) -> Scored:
    """The item with the score that belongs to its new place."""
    if score == item.score:
        return item
    return item._replace(score=score, reasons={**item.reasons, "rerank": score - item.score})
