"""Memories made by hand, for tests of recall and of the block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from memproxy.model import Candidate, Fact, Scored
from memproxy.recall.evidence import gather
from memproxy.recall.query import read_query
from memproxy.recall.ranking import DEFAULT_WEIGHTS, PLAIN, Manner, Weights, rank
from memproxy.recall.speakers import addressed
from memproxy.recall.terms import index_terms

START = datetime(2024, 3, 15, 9, tzinfo=UTC)


def candidate(text: str, at: int = 0, **changed: Any) -> Candidate:
    """A passage of the person's turn number `at`, said on day `at`; anything can be set otherwise."""
    time = changed.pop("time", START + timedelta(days=at))
    speaker = changed.get("speaker")
    values: dict[str, Any] = {
        "passage_id": at,
        "kind": "turn",
        "owner_id": f"id{at:04}",
        "ordinal": 0,
        "text": text,
        "terms": index_terms(text, speaker or changed.get("role", "user"), time),
        "session_id": f"s{at}",
        "seq": 1,
        "role": "user",
        "speaker": None,
        "time": time,
        "confidence": 1.0,
        "cosine": None,
        **changed,
    }
    values.setdefault("turn_id", values["owner_id"] if values["kind"] == "turn" else None)
    return Candidate(**values)


def fact(text: str, at: int = 0, **changed: Any) -> Fact:
    """A current fact with sensible defaults."""
    moment = START + timedelta(days=at)
    values: dict[str, Any] = {
        "id": f"fact{at:04}",
        "text": text,
        "type": "identity",
        "tag": "other",
        "slot": None,
        "significance": 8,
        "confidence": 0.9,
        "source_role": "user",
        "quote": None,
        "turn_id": None,
        "status": "current",
        "valid_from": None,
        "valid_until": None,
        "recorded_at": moment,
        "updated_at": moment,
        "superseded_at": None,
        "superseded_by": None,
        "reference_time": None,
        "started_at": None,
        "reinforced_count": 0,
        "recall_count": 0,
        "pinned": False,
        "thread_status": None,
        "emotional_weight": None,
        "emotional_valence": None,
        "embedding_model": None,
        "content_key": text,
        **changed,
    }
    return Fact(**values)


def scored(*candidates: Candidate) -> list[Scored]:
    """Candidates in the order of their scores, best first."""
    return [Scored(c, 2.0 - n / 100, {"lexical": 1.0}) for n, c in enumerate(candidates)]


def ranked(
    question: str,
    candidates: Sequence[Candidate],
    *,
    floor: float | None = None,
    weights: Weights = DEFAULT_WEIGHTS,
    manner: Manner = PLAIN,
    limit: int = 100,
    speakers: Sequence[str] = (),
) -> list[Scored]:
    """What a question finds in a memory that holds the candidates and nothing else."""
    frequencies = Counter(term for c in candidates for term in set(c.terms.split()))
    lengths = [len(c.terms.split()) for c in candidates]
    query = read_query(question, now=START + timedelta(days=100))
    evidence = gather(
        candidates,
        passages=len(candidates),
        document_frequencies=frequencies,
        average_length=sum(lengths) / len(lengths) if lengths else 0.0,
    )
    query = addressed(query, speakers)
    return rank(query, evidence, floor=floor, weights=weights, manner=manner, limit=limit)
