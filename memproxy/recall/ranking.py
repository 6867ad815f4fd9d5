"""Ranking what the indexes propose: lexical and dense evidence, and what a conversation's shape adds. Pure.

Each leg is scaled to 0..1 over the candidates and the two are summed; a few small additions follow, each measured on
LoCoMo and BEAM conversations. Scaling makes the best of anything look good, so whether a candidate bears on the
question at all is decided apart from it, on absolute evidence (`relevance.py`).

It stands between a person and their answer, hundreds of candidates at a time: scores are columns, one number for each
candidate, and what can be read before the question's vector is there is read apart (`read_candidate`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from memproxy.lazy import Lazy
from memproxy.model import Candidate, Scored
from memproxy.recall.lexical import TermCounts, count_terms, idf
from memproxy.recall.query import Query, is_standing_wish
from memproxy.recall.relevance import related
from memproxy.recall.terms import DATE_TERMS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column: TypeAlias = NDArray[np.float64]
else:
    np = Lazy("numpy")


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each piece of evidence counts; one set for every kind of conversation."""

    lexical: float = 1.0
    dense: float = 1.0
    k1: float = 0.9  # BM25: how soon repetitions of a term stop counting
    b: float = 0.75  # BM25: how much longer passages are discounted
    own: float = 0.4  # the person's own words, unless the question names somebody or asks what the assistant said
    named: float = 0.5  # words of the participant that the question names
    dated: float = 0.1  # said at a time that the question names
    wish: float = 0.4  # a standing wish of the person ("always …", "when I ask about … ")
    spread: float = 0.1  # share of the score of the turns before and after
    session: float = 0.2  # share of the best score in the same conversation
    again: float = 0.2  # taken off for every better passage of the same turn
    length: float = 0.2  # taken off for every 480 characters: what is said briefly leaves room for more


DEFAULT_WEIGHTS = Weights()
_LENGTH_UNIT = 480
_NOWHERE = -1  # the place of what is no turn
_LONGEST_SESSION = 40  # bits: turns of one conversation that can be told apart from the next one's


class Reading(NamedTuple):
    """What a candidate's words say to a question; no vector is needed for it."""

    counts: TermCounts
    wish: bool  # a standing wish of the person
    dated: bool  # said at a time that the question names


def read_candidate(query: Query, candidate: Candidate) -> Reading:
    """Read one candidate for a question."""
    return Reading(
        count_terms(candidate.terms, query.terms),
        candidate.role == "user" and is_standing_wish(candidate.text),
        bool(query.dates) and any(when.covers(candidate.time) for when in query.dates),
    )


class _Table:
    """Candidates with their scores, and the parts the scores are made of: a column each."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.candidates = candidates
        self.score: Column = np.zeros(len(candidates))
        self._parts: dict[str, Column] = {}

    def add(self, part: str, amounts: Iterable[float] | Column) -> None:
        """Add a part to every score."""
        column = np.asarray(amounts if isinstance(amounts, np.ndarray) else list(amounts), np.float64)
        self.score += column
        self._parts[part] = self._parts[part] + column if part in self._parts else column

    def only(self, kept: Sequence[int]) -> _Table:
        """The same table with these rows alone."""
        table = _Table([self.candidates[i] for i in kept])
        rows = np.asarray(kept, np.intp)
        table.score = self.score[rows]
        table._parts = {part: column[rows] for part, column in self._parts.items()}
        return table

    def order(self) -> list[int]:
        """Best first; among equals what was stored last, so that the order is always the same."""
        stored = np.array([candidate.passage_id for candidate in self.candidates], np.int64)
        found: list[int] = np.lexsort((-stored, -self.score)).tolist()
        return found

    def scored(self, limit: int) -> list[Scored]:
        """The best rows, with the parts that count for each."""
        best = self.order()[:limit]
        parts = [(part, column.tolist()) for part, column in self._parts.items()]
        scores = self.score.tolist()
        return [
            Scored(self.candidates[i], scores[i], {part: values[i] for part, values in parts if values[i]})
            for i in best
        ]


def rank(
    query: Query,
    candidates: Sequence[Candidate],
    *,
    passages: int,
    document_frequencies: Mapping[str, int],
    average_length: float,
    floor: float | None,
    readings: Mapping[int, Reading] | None = None,
    weights: Weights = DEFAULT_WEIGHTS,
    limit: int = 100,
) -> list[Scored]:
    """The candidates that bear on a question, best first, at most `limit` of them.

    `passages`, `document_frequencies` (of the question's terms) and `average_length` (in terms) describe the whole
    memory the candidates come from. `floor` is the embedder's; None ranks without a bar, for an explicit search.
    `readings` holds what has been read already, by passage. A fact lifts the turn it was taken from, and is left out
    itself where that turn says all its words.
    """
    if not candidates:
        return []
    from memproxy.recall.bm25 import CollectionBM25  # loads numpy

    known = readings or {}
    read = [known.get(c.passage_id) or read_candidate(query, c) for c in candidates]
    idfs = {term: idf(passages, document_frequencies.get(term, 0)) for term in query.terms}
    counts = [reading.counts for reading in read]
    bm25 = CollectionBM25(counts, idfs, average_length=average_length, k1=weights.k1, b=weights.b)
    table = _Table(candidates)
    sure = 0.95 + 0.05 * np.array([c.confidence for c in candidates])
    table.add("lexical", weights.lexical * _scaled(bm25.scores()) * sure)
    table.add("dense", weights.dense * _scaled([c.cosine for c in candidates]) * sure)
    kept: Sequence[int] = range(len(candidates))
    if floor is not None:
        allowed = related(query, candidates, bm25.coverage(), floor=floor, passages=passages)
        kept = [i for i in kept if allowed[i]]
        if not kept:
            return []
    kept = _lift_turns(table, kept)
    table, read = table.only(kept), [read[i] for i in kept]
    _favour(table, query, read, weights)
    _spread(table, weights.spread)
    _favour_sessions(table, weights.session)
    _thin_out(table, weights)
    return table.scored(limit)


def _scaled(values: Sequence[float | None]) -> Column:
    """Min-max over what is known; the unknown counts as the least."""
    column = np.array(values, np.float64)  # None becomes NaN
    known = column[~np.isnan(column)]
    if not known.size:
        return np.zeros(len(values))
    low, high = known.min(), known.max()
    if high <= low:  # all alike: a full score if there is any evidence at all
        return np.where(np.isnan(column), 0.0, column > 0).astype(np.float64)
    return np.where(np.isnan(column), 0.0, (column - low) / (high - low))


def _lift_turns(table: _Table, rows: Sequence[int]) -> list[int]:
    """Facts as further keys of the turns they were taken from: the turn's passage gets the fact's score if that's more.

    Which rows stay: all but the facts whose turn says the same. (Wu et al., "LongMemEval", 2024: facts in the key,
    verbatim turns as the value.)
    """
    candidates = table.candidates
    sources = {candidates[i].turn_id for i in rows if candidates[i].kind == "fact"}
    turns: dict[str, list[int]] = defaultdict(list)
    for i in rows if sources else ():
        if candidates[i].kind == "turn" and candidates[i].owner_id in sources:
            turns[candidates[i].owner_id].append(i)
    if not turns:
        return list(rows)
    lifted = [0.0] * len(candidates)
    scores = table.score.tolist()
    kept = []
    for i in rows:
        source = turns.get(candidates[i].turn_id or "") if candidates[i].kind == "fact" else None
        if not source or not _said_by(i, source, candidates, scores, lifted):
            kept.append(i)
    table.add("fact", lifted)
    return kept


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


def _favour(table: _Table, query: Query, read: Sequence[Reading], weights: Weights) -> None:
    """What speaks for a candidate by itself: who said it, when, and whether it is meant to last."""
    if query.named:
        table.add("named", [weights.named * (c.speaker in query.named) for c in table.candidates])
    elif not query.assistant:
        table.add("own", [weights.own * (c.role == "user") for c in table.candidates])
    table.add("wish", [weights.wish * reading.wish for reading in read])
    if query.dates:
        table.add("dated", [weights.dated * reading.dated for reading in read])


def _spread(table: _Table, share: float) -> None:
    """Turns beside a good one are about the same: a question and its answer, a story over several turns."""
    places = _places(table.candidates)
    best: dict[int, float] = {}
    for place, score in zip(places, table.score.tolist(), strict=True):
        if score > best.get(place, 0.0):
            best[place] = score
    best.pop(_NOWHERE, None)
    table.add(
        "spread",
        [
            0.0 if place == _NOWHERE else share * (best.get(place - 1, 0.0) + best.get(place + 1, 0.0))
            for place in places
        ],
    )


def _places(candidates: Sequence[Candidate]) -> list[int]:
    """Where each turn stands, as a number: those of one conversation follow each other, no two conversations touch."""
    first: dict[str | None, int] = {}
    places = []
    for candidate in candidates:
        if candidate.kind == "turn":
            session = first.setdefault(candidate.session_id, (len(first) + 1) << _LONGEST_SESSION)
            places.append(session + candidate.seq)
        else:
            places.append(_NOWHERE)
    return places


def _favour_sessions(table: _Table, share: float) -> None:
    best: dict[str | None, float] = defaultdict(float)
    for candidate, score in zip(table.candidates, table.score.tolist(), strict=True):
        if candidate.session_id is not None:
            best[candidate.session_id] = max(best[candidate.session_id], score)
    table.add("session", [share * best[c.session_id] if c.session_id is not None else 0.0 for c in table.candidates])


def _thin_out(table: _Table, weights: Weights) -> None:
    """More of the same turn, and many words, leave less room for other things."""
    seen: dict[str, int] = defaultdict(int)
    better = [0] * len(table.candidates)
    for i in table.order():
        owner = table.candidates[i].owner_id
        better[i] = seen[owner]
        seen[owner] += 1
    table.add("again", [-weights.again * count for count in better])
    table.add("length", [-weights.length * len(c.text) / _LENGTH_UNIT for c in table.candidates])
