"""Ranking what the indexes propose: lexical and dense evidence, and what a conversation's shape adds. Pure.

Each leg is scaled to 0..1 over the candidates and the two are summed; a few small additions follow, each measured on
LoCoMo and BEAM conversations. Scaling makes the best of anything look good, so whether a candidate bears on the
question at all is decided apart from it, on absolute evidence (`relevance.py`).

It stands between a person and their answer, hundreds of candidates at a time: all of it goes by columns, one number
for each candidate (`evidence.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from memproxy.lazy import Lazy
from memproxy.model import Candidate, Scored
from memproxy.recall.beside import Turns
from memproxy.recall.columns import FACT, NOWHERE, TURN
from memproxy.recall.dates import When
from memproxy.recall.evidence import Evidence
from memproxy.recall.lexical import Column, Rows
from memproxy.recall.query import Query
from memproxy.recall.relevance import related
from memproxy.recall.terms import DATE_TERMS, terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")


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
    session: float = 0.25  # share of the best score in the same conversation
    again: float = 0.2  # taken off for every better passage of the same turn
    length: float = 0.2  # taken off for every 480 characters: what is said briefly leaves room for more


DEFAULT_WEIGHTS = Weights()
_LENGTH_UNIT = 480
_OPENING = 2  # turns
LEADING = 3  # passages whose words are taken as feedback
FEEDBACK_TERMS = 10


class _Table:
    """Candidates with their scores, and the parts the scores are made of: a column each."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.score: Column = np.zeros(len(evidence))
        self._parts: dict[str, Column] = {}

    def add(self, part: str, amounts: NDArray[Any]) -> None:
        """Add a part to every score."""
        self.score += amounts
        self._parts[part] = amounts

    def only(self, kept: Rows) -> _Table:
        """The same table with these rows alone."""
        table = _Table(self.evidence.only(kept))
        table.score = self.score[kept]
        table._parts = {part: column[kept] for part, column in self._parts.items()}
        return table

    def order(self) -> Rows:
        """Best first; among equals what was stored last, so that the order is always the same."""
        return np.lexsort((-self.evidence.columns["passage"], -self.score))

    def scored(self, limit: int) -> list[Scored]:
        """The best rows, with the parts that count for each."""
        best = self.order()[:limit]
        candidates, rows = self.evidence.of.candidates, self.evidence.rows[best].tolist()
        parts = np.array([column[best] for column in self._parts.values()], np.float64).T.tolist()
        return [
            Scored(
                candidates[row],
                score,
                {part: value for part, value in zip(self._parts, values, strict=True) if value},
            )
            for row, score, values in zip(rows, self.score[best].tolist(), parts, strict=True)
        ]


def rank(
    query: Query, evidence: Evidence, *, floor: float | None, weights: Weights = DEFAULT_WEIGHTS, limit: int = 100
) -> list[Scored]:
    """The candidates that bear on a question, best first, at most `limit` of them.

    `floor` is the embedder's; None ranks without a bar, for an explicit search. A fact lifts the turn it was taken
    from, and is left out itself where that turn says all its words.
    """
    if not len(evidence):
        return []
    table = _Table(evidence)
    sure = 0.95 + 0.05 * evidence.columns["confidence"]
    for part, amounts in _legs(query, evidence, weights).items():
        table.add(part, amounts * sure)
    kept: Rows = np.arange(len(evidence))
    if floor is not None:
        kept = np.flatnonzero(related(query, evidence, floor))
        if not kept.size:
            return []
    said = _lift_turns(table, kept)
    table = table.only(kept if query.timeline else said)  # a turn tells when it was said, its fact when it happened
    _favour(table, query, weights)
    _favour_sessions(table, weights.session)
    _thin_out(table, weights)
    return table.scored(limit)


def leading(query: Query, evidence: Evidence, weights: Weights = DEFAULT_WEIGHTS) -> list[Candidate]:
    """The passages whose words `rank` takes as feedback: it has to be known of each how many passages hold it."""
    legs = _Legs(query, evidence, weights)
    return [evidence.of.candidates[evidence.rows[row]] for row in legs.leading()]


def _legs(query: Query, evidence: Evidence, weights: Weights) -> dict[str, Column]:
    """What words and meaning say of each candidate, scaled."""
    legs = _Legs(query, evidence, weights)
    lexical = legs.lexical
    if weights.feedback and legs.scores.any():
        lexical = _scaled(legs.scores + weights.feedback * legs.feedback())
    return {"lexical": weights.lexical * lexical, "dense": weights.dense * legs.dense, "spread": legs.beside}


class _Legs:
    """The two legs over candidates: BM25 over words, their neighbours' among them, and nearness in meaning.

    Names of participants are no words here: they say whose words are meant, not which (`Weights.named`).
    """

    def __init__(self, query: Query, evidence: Evidence, weights: Weights) -> None:
        self._evidence = evidence
        self._asked = frozenset(query.terms)
        self._favoured = _own_or_named(query, evidence, weights)[1]
        names = {term for name in query.named for term in terms(name)}
        words = [term for term in query.terms if term not in names] or list(query.terms)
        turns = Turns(evidence.columns)
        counts = evidence.counts(words)
        if weights.spread:
            counts = counts + weights.spread * turns.counts_beside(counts)
        self.scores = evidence.score(counts, evidence.weights(words))
        self.lexical = _scaled(self.scores)
        self.dense = _scaled(evidence.cosines)
        self.beside = np.zeros(len(evidence))
        if weights.spread:
            nearest = turns.nearest_beside(evidence.cosines)
            self.beside = weights.spread * weights.dense * _scaled(nearest, evidence.cosines)

    def leading(self) -> list[int]:
        """The best rows by both legs together; among equals what was stored last."""
        score = self.lexical + self.dense + self.beside + self._favoured
        best: list[int] = np.lexsort((-self._evidence.columns["passage"], -score))[:LEADING].tolist()
        return best

    def feedback(self) -> Column:
        """BM25 for the words that tell most among those that the best rows have and the question has not.

        After Robertson, "On Term Selection for Query Expansion" (1990): in how many of the best, by how rare.
        """
        evidence = self._evidence
        found = Counter(
            term
            for row in self.leading()
            for term in set(evidence.of.candidates[evidence.rows[row]].terms.split()[DATE_TERMS:]) - self._asked
        )
        known = [term for term in found if evidence.of.frequency(term) > 1]
        worth = {term: found[term] * weight for term, weight in zip(known, evidence.weights(known), strict=True)}
        chosen = sorted(worth, key=lambda term: (-worth[term], term))[:FEEDBACK_TERMS]
        return evidence.score(evidence.counts(chosen), evidence.weights(chosen))


def _scaled(column: Column, over: Column | None = None) -> Column:
    """Min-max over what is known (there, or in another column); the unknown (NaN) counts as the least."""
    known = column if over is None else over
    known = known[~np.isnan(known)]
    if not known.size:
        return np.zeros(len(column))
    low, high = known.min(), known.max()
    if high <= low:  # all alike: a full score if there is any evidence at all
        return np.where(np.isnan(column), 0.0, column > 0)
    return np.where(np.isnan(column), 0.0, (column - low) / (high - low))


def _lift_turns(table: _Table, rows: Rows) -> Rows:
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
    words = _content(candidates[fact])
    said = {i: _content(candidates[i]) for i in source}
    told = max(source, key=lambda i: (len(words & said[i]), scores[i], -candidates[i].ordinal))
    more = max(scores[fact] - scores[told], 0.0)
    scores[told] += more
    lifted[told] += more
    return words <= set().union(*said.values())


def _content(candidate: Candidate) -> set[str]:
    return set(candidate.terms.split()[DATE_TERMS:])


def _favour(table: _Table, query: Query, weights: Weights) -> None:
    """What speaks for a candidate by itself: who said it, when, and whether it is meant to last."""
    rows = table.evidence.columns
    table.add(*_own_or_named(query, table.evidence, weights))
    table.add("wish", weights.wish * rows["wish"])
    table.add("opening", weights.opening * ((rows["kind"] == TURN) & (rows["seq"] <= _OPENING)))
    if query.dates:
        table.add("dated", weights.dated * _dated(rows["day"], query.dates))


def _own_or_named(query: Query, evidence: Evidence, weights: Weights) -> tuple[str, Column]:
    """Whose words are wanted: those of the participant that is named, the person's own, or anybody's."""
    if query.named:
        numbers = [evidence.of.columns.speakers.get(name, NOWHERE - 1) for name in query.named]
        return "named", weights.named * np.isin(evidence.columns["speaker"], numbers).astype(np.float64)
    return "own", (0.0 if query.assistant else weights.own) * evidence.columns["own"].astype(np.float64)


def _dated(days: NDArray[np.int64], dates: Sequence[When]) -> NDArray[np.bool_]:
    """Whether something was said at a time that the question names."""
    known, where = np.unique(days, return_inverse=True)
    covered = [any(when.covers(date.fromordinal(day)) for when in dates) for day in known.tolist()]
    return np.array(covered)[where]


def _favour_sessions(table: _Table, share: float) -> None:
    """Where one turn is good, the conversation is about it."""
    sessions, where = np.unique(table.evidence.columns["session"], return_inverse=True)
    best = _best(where, table.score, len(sessions))
    best[sessions == NOWHERE] = 0.0
    table.add("session", share * best[where])


def _best(groups: Rows, scores: Column, count: int) -> Column:
    """The best score of each group, by its number: 0 at least."""
    best = np.zeros(count)
    np.maximum.at(best, groups, scores)
    return best


def _thin_out(table: _Table, weights: Weights) -> None:
    """More of the same turn, and many words, leave less room for other things."""
    rows, order = table.evidence.columns, table.order()
    owners = rows["owner"][order]
    by_owner = np.argsort(owners, kind="stable")  # the better ones of each first
    _, count = np.unique(owners, return_counts=True)
    better = np.zeros(len(rows), np.intp)
    better[order[by_owner]] = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    table.add("again", -weights.again * better)
    table.add("length", -weights.length * rows["chars"] / _LENGTH_UNIT)
