"""Whether anything found bears on the question at all: absolute evidence, apart from the ranking.

What is injected unasked needs a stricter bar than what a search shows: a question to which the memory holds nothing
gets nothing, however well the best of the unrelated compares with the rest.

Evidence is the cosine plus a share for the question's terms that the passage contains, weighted by how rare they are.
The bars were set on questions of LoCoMo and BEAM conversations, put to the conversation they belong to and to foreign
ones, and on two hundred requests that need no memory (`bench/needless.py`: small talk, code, general knowledge,
chatter of tools). In their own memory 99.7 and 100 % of the questions pass; of the requests that need none, 4 % in
memories of two people's talk and 10 % in memories that are mostly about code, where something often does bear on them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from memproxy.lazy import Lazy
from memproxy.recall.columns import Mask
from memproxy.recall.evidence import Evidence
from memproxy.recall.query import Query

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

COVERAGE_WEIGHT = 0.2  # what containing every term of the question adds to the cosine
COVERED = 0.3  # share of the question's terms that is evidence by itself, where there is no cosine
SECONDARY = 0.18  # how far below the floor others may lie, once something is above it …
WORDLESS = 0.3  # … and this share of it at most, where they hold no term of the question
SECONDARY_COVERED = 0.05  # the same without any vectors
SMALL_MEMORY = 8  # passages for which the floor holds as it is
GROWTH = 0.005  # how much it rises whenever they double: the best of many unrelated is nearer than the best of few
IMPERSONAL = 0.06  # how much higher it is for what says nothing of oneself, of anybody by name, or of what was said …
TOLD = 0.5  # … unless a passage holds this share of its terms
PERSONAL = 0.04  # how much lower it is for a question about oneself ("what is my job?") or a participant by name
NAMELESS = 0.08  # … and where that is asked without the name: every passage of theirs is embedded with it


def related(query: Query, evidence: Evidence, floor: float) -> Mask:
    """For each candidate whether it may be injected: all False where none is clear evidence.

    `floor` is the embedder's (see EmbedderInfo.floor).
    """
    if query.nameless:
        floor -= NAMELESS
    bar = floor - PERSONAL if query.personal or query.named else floor
    bar += GROWTH * math.log2(max(evidence.passages / SMALL_MEMORY, 1))
    covered, cosines = evidence.coverage(query.terms), evidence.cosines
    unseen = np.isnan(cosines)
    farthest = np.fmin.reduce(cosines, initial=np.nan)
    sightless = bool(np.isnan(farthest))  # there are no vectors at all
    # Without a vector, or not among the nearest, a candidate is taken to lie where the farthest of those lies.
    strength = np.where(unseen, 0.0 if sightless else farthest, cosines) + COVERAGE_WEIGHT * covered
    impersonal = not (query.oneself or query.named or query.past or query.assistant)
    clear = (strength >= bar + IMPERSONAL * (impersonal & (covered < TOLD))) | (unseen & (covered >= COVERED))
    if not clear.any():
        return clear
    below = np.where(covered > 0, SECONDARY, min(SECONDARY, WORDLESS * floor))
    may = strength >= floor - below
    return may | (covered >= SECONDARY_COVERED) if sightless else may
