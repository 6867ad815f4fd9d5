"""Ranking what the indexes propose: lexical and dense evidence, and what a conversation's shape adds. Pure.

Each leg is scaled to 0..1 over the candidates and the two are summed; a few small additions follow, each measured on
LoCoMo and BEAM conversations. Scaling makes the best of anything look good, so whether a candidate bears on the
question at all is decided apart from it, on absolute evidence (`relevance.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memproxy.model import Candidate, Scored
from memproxy.recall.lexical import CollectionBM25, idf
from memproxy.recall.query import Query, is_standing_wish
from memproxy.recall.relevance import related
from memproxy.recall.terms import DATE_TERMS


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


@dataclass(slots=True)
class _Tally:
    """A candidate's score while it is being put together, with the parts it is made of."""

    candidate: Candidate
    score: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)

    def add(self, part: str, amount: float) -> None:
        if amount:
            self.score += amount
            self.parts[part] = self.parts.get(part, 0.0) + amount

    @property
    def order(self) -> tuple[float, int, str, int]:
        """Best first; among equals what was stored last, so that the order is always the same."""
        candidate = self.candidate
        return (-self.score, -candidate.passage_id, candidate.owner_id, candidate.ordinal)


def rank(
    query: Query,
    candidates: Sequence[Candidate],
    *,
    passages: int,
    document_frequencies: Mapping[str, int],
    average_length: float,
    floor: float | None,
    weights: Weights = DEFAULT_WEIGHTS,
    limit: int = 100,
) -> list[Scored]:
    """The candidates that bear on a question, best first, at most `limit` of them.

    `passages`, `document_frequencies` (of the question's terms) and `average_length` (in terms) describe the whole
    memory the candidates come from. `floor` is the embedder's; None ranks without a bar, for an explicit search.
    A fact lifts the turn it was taken from, and is left out itself where that turn says all its words.
    """
    if not candidates:
        return []
    idfs = {term: idf(passages, document_frequencies.get(term, 0)) for term in query.terms}
    bm25 = CollectionBM25(
        [c.terms for c in candidates], idfs, average_length=average_length, k1=weights.k1, b=weights.b
    )
    legs = zip(candidates, _scaled(bm25.scores()), _scaled([c.cosine for c in candidates]), strict=True)
    tallies = [_begin(candidate, lexical, dense, weights) for candidate, lexical, dense in legs]
    if floor is not None:
        allowed = related(query, candidates, bm25.coverage(), floor=floor, passages=passages)
        tallies = [tally for tally, may in zip(tallies, allowed, strict=True) if may]
    tallies = _lift_turns(tallies)
    for tally in tallies:
        _favour(tally, query, weights)
    _spread(tallies, weights.spread)
    _favour_sessions(tallies, weights.session)
    _thin_out(tallies, weights)
    return [Scored(t.candidate, t.score, t.parts) for t in sorted(tallies, key=lambda t: t.order)[:limit]]


def _scaled(values: Sequence[float | None]) -> list[float]:
    """Min-max over what is known; the unknown counts as the least."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if high <= low:  # all alike: a full score if there is any evidence at all
        return [float(value is not None and value > 0) for value in values]
    return [0.0 if value is None else (value - low) / (high - low) for value in values]


def _begin(candidate: Candidate, lexical: float, dense: float, weights: Weights) -> _Tally:
    tally = _Tally(candidate)
    sure = 0.95 + 0.05 * candidate.confidence
    tally.add("lexical", weights.lexical * lexical * sure)
    tally.add("dense", weights.dense * dense * sure)
    return tally


def _lift_turns(tallies: Sequence[_Tally]) -> list[_Tally]:
    """Facts as further keys of the turns they were taken from: the turn's passage gets the fact's score if that's more.

    (Wu et al., "LongMemEval", 2024: facts in the key, verbatim turns as the value.)
    """
    sources = {tally.candidate.turn_id for tally in tallies if tally.candidate.kind == "fact"}
    turns: dict[str, list[_Tally]] = defaultdict(list)
    for tally in tallies:
        if tally.candidate.kind == "turn" and tally.candidate.owner_id in sources:
            turns[tally.candidate.owner_id].append(tally)
    kept = []
    for tally in tallies:
        source = turns.get(tally.candidate.turn_id or "") if tally.candidate.kind == "fact" else None
        if not source or not _said_by(tally, source):
            kept.append(tally)
    return kept


def _said_by(fact: _Tally, source: Sequence[_Tally]) -> bool:
    """Give a fact's score to the passage that tells it; whether the turn says all the fact's words anyway."""
    words = _content(fact)
    told = max(source, key=lambda t: (len(words & _content(t)), t.score, -t.candidate.ordinal))
    told.add("fact", max(fact.score - told.score, 0.0))
    return words <= {term for t in source for term in _content(t)}


def _content(tally: _Tally) -> set[str]:
    return set(tally.candidate.terms.split()[DATE_TERMS:])


def _favour(tally: _Tally, query: Query, weights: Weights) -> None:
    """What speaks for a candidate by itself: who said it, when, and whether it is meant to last."""
    candidate = tally.candidate
    if query.named:
        tally.add("named", weights.named * (candidate.speaker in query.named))
    elif not query.assistant:
        tally.add("own", weights.own * (candidate.role == "user"))
    if candidate.role == "user" and is_standing_wish(candidate.text):
        tally.add("wish", weights.wish)
    if query.dates and any(when.covers(candidate.time) for when in query.dates):
        tally.add("dated", weights.dated)


def _spread(tallies: Sequence[_Tally], share: float) -> None:
    """Turns beside a good one are about the same: a question and its answer, a story over several turns."""
    turns = [tally for tally in tallies if tally.candidate.kind == "turn"]
    best: dict[tuple[str | None, int], float] = {}
    for tally in turns:
        key = (tally.candidate.session_id, tally.candidate.seq)
        best[key] = max(best.get(key, 0.0), tally.score)
    for tally in turns:
        session, seq = tally.candidate.session_id, tally.candidate.seq
        tally.add("spread", share * (best.get((session, seq - 1), 0.0) + best.get((session, seq + 1), 0.0)))


def _favour_sessions(tallies: Sequence[_Tally], share: float) -> None:
    of_a_session = [tally for tally in tallies if tally.candidate.session_id is not None]
    best: dict[str | None, float] = defaultdict(float)
    for tally in of_a_session:
        best[tally.candidate.session_id] = max(best[tally.candidate.session_id], tally.score)
    for tally in of_a_session:
        tally.add("session", share * best[tally.candidate.session_id])


def _thin_out(tallies: Sequence[_Tally], weights: Weights) -> None:
    """More of the same turn, and many words, leave less room for other things."""
    seen: dict[str, int] = defaultdict(int)
    for tally in sorted(tallies, key=lambda t: t.order):
        owner = tally.candidate.owner_id
        tally.add("again", -weights.again * seen[owner])
        tally.add("length", -weights.length * len(tally.candidate.text) / _LENGTH_UNIT)
        seen[owner] += 1
