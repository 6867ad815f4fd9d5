"""Why each passage was found or not: what spoke for it, in what parts, and what became of it. Made on demand only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from memproxy.model import Candidate
from memproxy.recall.evidence import Evidence
from memproxy.recall.profiles import profile_of
from memproxy.recall.query import Query
from memproxy.recall.ranking import DEFAULT_WEIGHTS, PLAIN, Manner, Weights, rank
from memproxy.recall.relevance import related

# found: offered to the block. unrelated: too little speaks for it. told: its turn says all its words.
# overtaken: a later fact took its place. present: it stands in the request anyway. limit: others were better.
Verdict: TypeAlias = Literal["found", "unrelated", "told", "overtaken", "present", "limit"]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A passage that the indexes proposed."""

    candidate: Candidate
    verdict: Verdict
    score: float  # of those that were not found: as if there were no bar
    reasons: Mapping[str, float]  # the parts of the score
    bm25: float  # of its own words
    coverage: float  # the share of the question's words that it holds
    cosine: float | None


def weighed(
    query: Query,
    evidence: Evidence,
    *,
    floor: float | None,
    limit: int,
    weights: Weights = DEFAULT_WEIGHTS,
    manner: Manner = PLAIN,
    present: Collection[int] = (),
    overtaken: Collection[int] = (),
) -> list[Weighed]:
    """Every proposed passage, the found ones first. `present` and `overtaken` are ids of passages left out for that."""
    gone = {*present, *overtaken}
    left = evidence.only([row for row, c in enumerate(evidence.candidates) if c.passage_id not in gone])
    found = rank(query, left, floor=floor, weights=weights, manner=manner, limit=len(left))
    anyway = {
        s.candidate.passage_id: s
        for s in rank(query, evidence, floor=None, weights=weights, manner=manner, limit=len(evidence))
    }
    ranked = {scored.candidate.passage_id: scored for scored in found}
    verdicts: dict[int, Verdict] = {id: "found" if place < limit else "limit" for place, id in enumerate(ranked)}
    if floor is not None and len(left):
        bar = floor + profile_of(manner.profile, query).raised
        verdicts |= {c.passage_id: "unrelated" for c, may in _each(left, related(query, left, bar).tolist()) if not may}
    verdicts |= dict.fromkeys(present, "present")
    verdicts |= dict.fromkeys(overtaken, "overtaken")
    bm25 = evidence.score(evidence.counts(query.terms), evidence.weights(query.terms))
    out = []
    for row, (candidate, coverage) in enumerate(_each(evidence, evidence.coverage(query.terms).tolist())):
        scored = ranked.get(candidate.passage_id) or anyway.get(candidate.passage_id)
        cosine = float(evidence.cosines[row])
        out.append(
            Weighed(
                candidate,
                verdicts.get(candidate.passage_id, "told"),
                scored.score if scored is not None else 0.0,
                scored.reasons if scored is not None else {},
                float(bm25[row]),
                float(coverage),
                None if cosine != cosine else cosine,  # NaN
            )
        )
    return sorted(out, key=lambda one: (one.verdict != "found", -one.score, one.candidate.passage_id))


def _each(evidence: Evidence, values: Sequence[float]) -> list[tuple[Candidate, float]]:
    return list(zip(evidence.candidates, values, strict=True))
