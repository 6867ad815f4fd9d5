"""How evidence of different kinds is made comparable, so that it can be added up.

A score by words has no upper bound, a cosine hardly uses its range. All of these give 0..1, and 0 where nothing is
known (NaN).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memproxy.lazy import Lazy
from memproxy.recall.lexical import Column
from memproxy.recall.weights import Fusion

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

_RRF_K = 60  # Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion" (2009)
_HALF = 8.0  # the score by words that counts for half, in `linear`


def scaled(column: Column, over: Column | None = None) -> Column:
    """Min-max over what is known (there, or in another column)."""
    known = column if over is None else over
    low, high = np.fmin.reduce(known, initial=np.nan), np.fmax.reduce(known, initial=np.nan)
    if not low < high:  # all alike: a full score if there is any evidence at all
        return np.asarray(column > 0, np.float64)
    found: Column = (column - low) / (high - low)
    found[np.isnan(found)] = 0.0
    return found


def lexical(scores: Column, fusion: Fusion) -> Column:
    """What scores by words, 0 or more each, say."""
    if fusion == "rrf":
        return _by_place(np.where(scores > 0, scores, np.nan))
    return np.asarray(scores / (scores + _HALF)) if fusion == "linear" else scaled(scores)


def dense(cosines: Column, fusion: Fusion, over: Column | None = None) -> Column:
    """What cosines say; among those of another column, where one is given."""
    if fusion == "rrf":
        return _by_place(cosines)
    return np.clip(np.nan_to_num(cosines), 0.0, 1.0) if fusion == "linear" else scaled(cosines, over)


def _by_place(column: Column) -> Column:
    """The best has 1, the next 61/62 of that, and so on; equals have the same."""
    known = column[~np.isnan(column)]
    better = len(known) - np.searchsorted(np.sort(known), column, "right")
    return np.where(np.isnan(column), 0.0, (_RRF_K + 1) / (_RRF_K + 1 + better))
