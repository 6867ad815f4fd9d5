"""Facts lift the turns they were taken from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memproxy.lazy import Lazy
from memproxy.model import Candidate
from memproxy.recall.columns import FACT, TURN
from memproxy.recall.lexical import Rows
from memproxy.recall.table import Table
from memproxy.recall.terms import statement

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")


def lift_turns(table: Table, rows: Rows) -> Rows:
    """Facts as further keys of the turns they were taken from: the turn's passage gets the fact's score if that's more.

    Which rows stay: all but the facts whose turn says the same. (Wu et al., "LongMemEval", 2024: facts in the key,
    verbatim turns as the value.)
    """
    kinds = table.evidence.columns["kind"][rows]
    facts = rows[kinds == FACT].tolist()
    if not facts:
        return rows
    candidates = table.evidence.candidates
    turns: dict[str, list[int]] = defaultdict(list)
    wanted = {candidates[row].turn_id for row in facts}
    for row in rows[kinds == TURN].tolist():
        if candidates[row].owner_id in wanted:
            turns[candidates[row].owner_id].append(row)
    lifted = [0.0] * len(candidates)
    scores = table.score.tolist()
    said = [
        row
        for row in facts
        if (source := turns.get(candidates[row].turn_id or "")) and _said_by(row, source, candidates, scores, lifted)
    ]
    table.add("fact", np.array(lifted))
    return rows[~np.isin(rows, said)]


def _said_by(
    fact: int, source: Sequence[int], candidates: Sequence[Candidate], scores: list[float], lifted: list[float]
) -> bool:
    """Give a fact's score to the passage that tells it; whether the turn says all the fact's words anyway."""
    words = statement(candidates[fact].terms)
    said = {i: statement(candidates[i].terms) for i in source}
    told = max(source, key=lambda i: (len(words & said[i]), scores[i], -candidates[i].ordinal))
    more = max(scores[fact] - scores[told], 0.0)
    scores[told] += more
    lifted[told] += more
    return words <= set().union(*said.values())
