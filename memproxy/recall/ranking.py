"""Ranking what the indexes propose: lexical and dense evidence, and what a conversation's shape adds. Pure.

Each leg is scaled to 0..1 over the candidates and the two are summed; a few small additions follow, all measured on
LoCoMo and BEAM conversations (docs/recall.md). Scaling makes the best of anything look good, so whether a candidate
bears on the question at all is decided apart from it, on absolute evidence (`relevance.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memproxy.model import Candidate, Scored
from memproxy.recall.lexical import CollectionBM25, idf
from memproxy.recall.query import Query

TurnKey = tuple[str, int]  # session, place in it


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each piece of evidence counts. One set for every kind of conversation."""

    lexical: float = 1.0
    dense: float = 1.0
    k1: float = 0.9  # BM25: how soon repetitions of a term stop counting
    b: float = 0.5  # BM25: how much longer passages are discounted
    feedback: float = 0.2  # terms of the best matches, beside those of the question
    feedback_passages: int = 5
    feedback_terms: int = 10
    own: float = 0.3  # the person's own words, where the question names nobody
    named: float = 0.3  # words of the participant that the question names
    dated: float = 0.1  # said at a time that the question names
    spread: float = 0.1  # share of the score of the turns before and after
    session: float = 0.2  # share of the best score in the same conversation


def rank(
    query: Query,
    candidates: Sequence[Candidate],
    *,
    passages: int,
    document_frequencies: Mapping[str, int],
    average_length: float,
    floor: float | None,
    weights: Weights = Weights(),
    limit: int = 100,
) -> list[Scored]:
    if not candidates:
        return []
    texts = [candidate.terms.split() for candidate in candidates]
    known = {term: idf(passages, document_frequencies.get(term, 0)) for term in query.terms}
    lexical = CollectionBM25(texts, idf=known, average_length=average_length, k1=weights.k1, b=weights.b)
    parts: list[dict[str, float]] = [{} for _ in candidates]
    lex = scaled(lexical.score(query.terms))
    dense = scaled([c.cosine for c in candidates])
    if weights.feedback:
        base = [weights.lexical * a + weights.dense * b for a, b in zip(lex, dense)]
        more = feedback(lexical, base, query.terms, weights)
        if more:
            lexical.idf = {**known, **more}
            fb = lexical.score(tuple(more))
            raw = lexical.score(query.terms)
            lex = scaled([a + weights.feedback * b for a, b in zip(raw, fb)])
    total = []
    for c, a, b in zip(candidates, lex, dense):
        s = weights.lexical * a + weights.dense * b
        if query.named:
            s += weights.named * (c.speaker in query.named)
        elif query.assistant:
            s += weights.own * (c.role == "assistant") * 0
        else:
            s += weights.own * (c.role == "user")
        if query.dates and any(w.covers(c.time) for w in query.dates):
            s += weights.dated
        total.append(s)
    best: dict[TurnKey, float] = {}
    for c, s in zip(candidates, total):
        if c.session_id is not None:
            k = (c.session_id, c.seq)
            best[k] = max(best.get(k, 0.0), s)
    if weights.spread:
        total = [
            s
            + (
                weights.spread * (best.get((c.session_id, c.seq - 1), 0) + best.get((c.session_id, c.seq + 1), 0))
                if c.session_id
                else 0
            )
            for c, s in zip(candidates, total)
        ]
    if weights.session:
        bs: dict[str, float] = defaultdict(float)
        for c, s in zip(candidates, total):
            if c.session_id:
                bs[c.session_id] = max(bs[c.session_id], s)
        total = [s + weights.session * bs[c.session_id] if c.session_id else s for c, s in zip(candidates, total)]
    order = sorted(range(len(total)), key=lambda i: (-total[i], candidates[i].owner_id, candidates[i].ordinal))
    return [Scored(candidates[i], total[i], parts[i]) for i in order[:limit]]


def scaled(values):
    present = [v for v in values if v is not None]
    if not present:
        return [0.0] * len(values)
    low, high = min(present), max(present)
    if high <= low:
        return [0.0 if v is None else float(high > 0) for v in values]
    return [0.0 if v is None else (v - low) / (high - low) for v in values]


def feedback(lexical, base, terms, weights):
    top = sorted(range(len(base)), key=lambda i: -base[i])[: weights.feedback_passages]
    pool = Counter()
    for d in lexical.doc_freqs:
        pool.update(d.keys())
    n = len(base)
    value = Counter()
    for i in top:
        d = lexical.doc_freqs[i]
        for t in d:
            if t not in terms and pool[t] > 1:
                value[t] += idf(n, pool[t])
    return {t: idf(n, pool[t]) for t, _ in sorted(value.items(), key=lambda x: (-x[1], x[0]))[: weights.feedback_terms]}
