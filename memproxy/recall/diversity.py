"""What may make way for something else: more of the same conversation, more of the same, what is old. Off by default.

Each gives what a candidate loses, so that it shows among the parts of its score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memproxy.lazy import Lazy
from memproxy.recall.columns import NOWHERE, TURN, Table, places
from memproxy.recall.lexical import Column, Counts, Rows

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")


def beyond_quota(sessions: Rows, order: Rows, most: int) -> Column:
    """1 for what comes after `most` better ones of its conversation, else 0; what belongs to none counts as alone."""
    ranked = sessions[order]
    by_session = np.argsort(ranked, kind="stable")
    _, count = np.unique(ranked, return_counts=True)
    before = np.zeros(len(ranked), np.intp)
    before[order[by_session]] = np.arange(len(ranked)) - np.repeat(np.cumsum(count) - count, count)
    return np.asarray((before >= most) & (sessions != NOWHERE), np.float64)


def around(rows: Table, scores: Column, share: float) -> Column:
    """What the turns beside one lend it: so that a share of the better one's score is reached."""
    turns = np.flatnonzero(rows["kind"] == TURN)
    found, where = np.unique(places(rows)[turns], return_inverse=True)
    best = np.full(len(found), -np.inf)
    np.maximum.at(best, where, scores[turns])
    follows = np.diff(found) == 1
    beside = np.full(len(found), -np.inf)
    beside[1:] = np.where(follows, best[:-1], -np.inf)
    beside[:-1] = np.maximum(beside[:-1], np.where(follows, best[1:], -np.inf))
    lent = np.zeros(len(rows))
    lent[turns] = np.maximum(share * beside[where] - scores[turns], 0.0)
    return lent


def aged(days: Rows, scores: Column, today: int, share: float, window: int) -> Column:
    """What blending with recency changes: `share` of the score goes by age, all of it lost after `window` days."""
    best = max(float(scores.max(initial=0.0)), 0.0)
    fresh = np.clip(1 - (today - days) / max(window, 1), 0.0, 1.0)
    return np.asarray(share * (best * fresh - scores))


def alike(counts: Counts, order: Rows, scores: Column, share: float, most: int) -> Column:
    """What each loses by being like something better (maximal marginal relevance), for the best `most` of them.

    `counts` says how much each row (a column) has of each term. After Carbonell and Goldstein, "The Use of MMR" (1998),
    over the words that passages share: those that are not vectors yet are weighed like all others.
    """
    lost = np.zeros(len(scores))
    rows = order[:most]
    if not rows.size:
        return lost
    vectors = counts[:, rows].T
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    best = max(float(scores[rows[0]]), 1e-9)
    nearest = np.zeros(len(rows))
    value = (1 - share) * scores[rows]
    left = np.ones(len(rows), np.bool_)
    for _ in range(len(rows)):
        chosen = int(np.argmax(np.where(left, value - share * best * nearest, -np.inf)))
        left[chosen] = False
        lost[rows[chosen]] = value[chosen] - share * best * nearest[chosen] - scores[rows[chosen]]
        nearest = np.where(left, np.maximum(nearest, np.vecdot(vectors, vectors[chosen])), nearest)
    rest = order[most:]
    if rest.size:  # they stay behind
        lost[rest] = (scores + lost)[rows].min() - scores[order[most - 1]] - share * best
    return lost


def vocabulary(documents: Sequence[str]) -> list[str]:
    """The terms of some passages."""
    return sorted({term for document in documents for term in document.split()})
