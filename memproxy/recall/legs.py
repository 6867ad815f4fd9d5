"""The two legs that ranking stands on: what words say, and what meaning says."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from memproxy.lazy import Lazy
from memproxy.recall import fusion as fused
from memproxy.recall.beside import Turns
from memproxy.recall.evidence import Evidence
from memproxy.recall.lexical import Column, foremost, telling
from memproxy.recall.query import Query
from memproxy.recall.terms import statement, terms
from memproxy.recall.weights import Fusion, Weights

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

LEADING = 3  # passages whose words are taken as feedback
FEEDBACK_TERMS = 10


def legs(query: Query, evidence: Evidence, weights: Weights, fusion: Fusion = "weighted") -> dict[str, Column]:
    """What words and meaning say of each candidate, scaled."""
    both = Legs(query, evidence, weights, fusion)
    lexical = both.lexical
    if weights.feedback and both.scores.any():
        lexical = fused.lexical(both.scores + weights.feedback * both.feedback(), fusion)
    return {"lexical": weights.lexical * lexical, "dense": weights.dense * both.dense, "spread": both.beside}


class Legs:
    """The two legs over candidates: BM25 over words, their neighbours' among them, and nearness in meaning.

    Names of participants are no words here: they say whose words are meant, not which (`Weights.named`).
    """

    def __init__(self, query: Query, evidence: Evidence, weights: Weights, fusion: Fusion = "weighted") -> None:
        self._evidence = evidence
        self._asked = frozenset(query.terms)
        self._favoured = own_or_named(query, evidence, weights)[1]
        names = {term for name in query.named for term in terms(name)}
        words = [term for term in query.terms if term not in names] or list(query.terms)
        turns = Turns(evidence.columns)
        counts = evidence.counts(words)
        if weights.spread:
            counts = counts + weights.spread * turns.counts_beside(counts)
        self.scores = evidence.score(counts, evidence.weights(words))
        self.lexical = fused.lexical(self.scores, fusion)
        self.dense = fused.dense(evidence.cosines, fusion)
        self.beside = np.zeros(len(evidence))
        if weights.spread:
            nearest = turns.nearest_beside(evidence.cosines)
            self.beside = weights.spread * weights.dense * fused.dense(nearest, fusion, evidence.cosines)

    def leading(self) -> list[int]:
        """The best rows by both legs together; among equals what was stored last."""
        score = self.lexical + self.dense + self.beside + self._favoured
        best: list[int] = foremost(score, LEADING).tolist()
        return best

    def feedback(self) -> Column:
        """BM25 for the words that tell most among those that the best rows have and the question has not."""
        evidence = self._evidence
        best = [statement(evidence.of.candidates[evidence.rows[row]].terms) for row in self.leading()]
        found = Counter(term for said in best for term in said - self._asked)
        chosen = telling(found, evidence.of.frequency, evidence.passages, math.inf, FEEDBACK_TERMS)
        return evidence.score(evidence.counts(chosen), evidence.weights(chosen))


def own_or_named(query: Query, evidence: Evidence, weights: Weights) -> tuple[str, Column]:
    """Whose words are wanted: those of the participant that is named, the person's own, or anybody's."""
    if query.named:
        speakers = evidence.of.columns.speakers
        wanted = np.zeros(len(speakers) + 1)  # NOWHERE is the last
        wanted[[speakers[name] for name in query.named if name in speakers]] = weights.named
        return "named", wanted[evidence.columns["speaker"]]
    return "own", (0.0 if query.assistant else weights.own) * evidence.columns["own"].astype(np.float64)
