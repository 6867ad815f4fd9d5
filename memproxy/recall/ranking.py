"""Ranking what the indexes propose: lexical and dense evidence, and what a conversation's shape adds. Pure.

Each leg is scaled to 0..1 over the candidates and the two are summed; a few small additions follow, each measured on
LoCoMo and BEAM conversations. Scaling makes the best of anything look good, so whether a candidate bears on the
question at all is decided apart from it, on absolute evidence (`relevance.py`).

It stands between a person and their answer, hundreds of candidates at a time: all of it goes by columns, one number
for each candidate (`evidence.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memproxy.lazy import Lazy
from memproxy.model import Candidate, Scored
from memproxy.recall import diversity
from memproxy.recall.columns import NOWHERE, TURN
from memproxy.recall.dates import When
from memproxy.recall.evidence import Evidence
from memproxy.recall.fusion import scaled
from memproxy.recall.legs import Legs, legs, own_or_named
from memproxy.recall.lexical import Rows
from memproxy.recall.lifting import lift_turns
from memproxy.recall.linked import BEST, things
from memproxy.recall.profiles import profile_of
from memproxy.recall.query import Query
from memproxy.recall.relevance import related
from memproxy.recall.table import Table
from memproxy.recall.terms import terms
from memproxy.recall.weights import DEFAULT_WEIGHTS, PLAIN, Manner, Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")

__all__ = ["DEFAULT_WEIGHTS", "PLAIN", "Manner", "Weights", "foremost", "leading", "rank"]

_LENGTH_UNIT = 480
_AS_LONG_AS_IT_TAKES = 12  # of the best passages: only what fills the rest of the room has to be brief
_OPENING = 2  # turns


def rank(
    query: Query,
    evidence: Evidence,
    *,
    floor: float | None,
    weights: Weights = DEFAULT_WEIGHTS,
    manner: Manner = PLAIN,
    limit: int = 100,
) -> list[Scored]:
    """The candidates that bear on a question, best first, at most `limit` of them.

    `floor` is the embedder's; None ranks without a bar, for an explicit search. A fact lifts the turn it was taken
    from, and is left out itself where that turn says all its words.
    """
    if not len(evidence):
        return []
    profile = profile_of(manner.profile, query)
    kept: Rows = np.arange(len(evidence))
    if floor is not None:
        kept = np.flatnonzero(related(query, evidence, floor + profile.raised))
        if not kept.size:
            return []
    table = _begun(query, evidence, weights, manner)
    said = lift_turns(table, kept)
    table = table.only(kept if query.timeline else said)  # a turn tells when it was said, its fact when it happened
    _favour(table, query, weights)
    if weights.linked:
        _follow_names(table, query, weights.linked)
    if profile.around:
        table.add("around", diversity.around(table.evidence.columns, table.score, profile.around))
    _favour_sessions(table, weights.session)
    _thin_out(table, weights)
    _make_way(table, query, manner, profile.quota, limit)
    return table.scored(limit)


def leading(query: Query, evidence: Evidence, weights: Weights = DEFAULT_WEIGHTS) -> list[Candidate]:
    """The passages whose words `rank` takes as feedback: it has to be known of each how many passages hold it."""
    both = Legs(query, evidence, weights)
    return [evidence.of.candidates[evidence.rows[row]] for row in both.leading()]


def foremost(query: Query, evidence: Evidence, weights: Weights = DEFAULT_WEIGHTS) -> list[Candidate]:
    """The passages among which those are whose names `rank` follows: it has to be known how many passages hold them."""
    if not (len(evidence) and weights.linked):
        return []
    table = _begun(query, evidence, weights, PLAIN)
    _favour(table, query, weights)
    return [scored.candidate for scored in table.scored(2 * BEST)]


def _begun(query: Query, evidence: Evidence, weights: Weights, manner: Manner) -> Table:
    table = Table(evidence)
    sure = 0.95 + 0.05 * evidence.columns["confidence"]
    for part, amounts in legs(query, evidence, weights, manner.fusion).items():
        table.add(part, amounts * sure)
    return table


def _follow_names(table: Table, query: Query, weight: float) -> None:
    """What the best passages name is looked for in all of them: BM25 of these terms, scaled."""
    evidence = table.evidence
    best = [evidence.of.candidates[row].text for row in evidence.rows[table.best(BEST)].tolist()]
    asked = {*query.terms, *(term for name in query.named for term in terms(name))}
    found = things(best, asked, evidence.of.frequency, evidence.passages)
    if found:
        table.add("linked", weight * scaled(evidence.score(evidence.counts(found), evidence.weights(found))))


def _make_way(table: Table, query: Query, manner: Manner, quota: int | None, limit: int) -> None:
    """What is old, like something better, or of a conversation of which enough was found, loses by that."""
    rows, evidence = table.evidence.columns, table.evidence
    if manner.recency and query.today is not None:
        days, today = rows["day"], query.today.toordinal()
        table.add("recency", diversity.aged(days, table.score, today, manner.recency, manner.recency_days))
    if manner.mmr:
        order = table.order()
        words = diversity.vocabulary([evidence.of.candidates[row].terms for row in evidence.rows[order[:limit]]])
        counts = evidence.counts(words) * evidence.weights(words)[:, None]
        table.add("mmr", diversity.alike(counts, order, table.score, manner.mmr, limit))
    if quota is not None:
        over = diversity.beyond_quota(rows["session"], table.order(), quota)
        table.add("quota", -max(float(np.ptp(table.score)), 1.0) * over)


def _favour(table: Table, query: Query, weights: Weights) -> None:
    """What speaks for a candidate by itself: who said it, when, and whether it is meant to last."""
    rows = table.evidence.columns
    table.add(*own_or_named(query, table.evidence, weights))
    table.add("wish", weights.wish * rows["wish"])
    table.add("opening", weights.opening * ((rows["kind"] == TURN) & (rows["seq"] <= _OPENING)))
    if query.named:
        table.add("asking", -weights.asking * rows["asks"])
    if query.dates:
        table.add("dated", weights.dated * _dated(rows["day"], query.dates))


def _dated(days: NDArray[np.int64], dates: Sequence[When]) -> NDArray[np.bool_]:
    """Whether something was said at a time that the question names."""
    covered: NDArray[np.bool_] = np.logical_or.reduce([when.covers(days) for when in dates])
    return covered


def _favour_sessions(table: Table, share: float) -> None:
    """Where one turn is good, the conversation is about it."""
    sessions = table.evidence.columns["session"]
    best = np.zeros(len(table.evidence.of.columns.sessions) + 1)
    np.maximum.at(best, sessions, table.score)
    best[NOWHERE] = 0.0
    table.add("session", share * best[sessions])


def _thin_out(table: Table, weights: Weights) -> None:
    """More of the same turn, and many words, leave less room for other things."""
    rows = table.evidence.columns
    if table.evidence.of.columns.repeats:
        table.add("again", -weights.again * _better_of_same(rows["owner"], table.order()))
    over = rows["chars"] / _LENGTH_UNIT
    over[table.best(_AS_LONG_AS_IT_TAKES)] = 0.0
    table.add("length", -weights.length * over)


def _better_of_same(owners: Rows, order: Rows) -> Rows:
    """How many better ones of the same owner each has."""
    owners = owners[order]
    by_owner = np.argsort(owners, kind="stable")  # the better ones of each first
    owners, place = owners[by_owner], np.arange(len(order))
    same = np.zeros(len(order), np.bool_)
    same[1:] = owners[1:] == owners[:-1]
    better = np.zeros(len(order), np.intp)
    better[order[by_owner]] = place - np.maximum.accumulate(np.where(same, 0, place))
    return better
