"""What a document says to a question by its words: how often it has each term, and how much a term tells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class TermCounts(NamedTuple):
    """A document as BM25 sees it for one question."""

    of: Mapping[str, int]  # how often it has each of the question's terms that it has at all
    length: int  # terms in all


def count_terms(document: str, wanted: Iterable[str]) -> TermCounts:
    """Count the wanted terms in a document given as terms separated by blanks."""
    words = document.split()
    return TermCounts({term: words.count(term) for term in set(wanted).intersection(words)}, len(words))


def idf(passages: int, containing: int) -> float:
    """How much a term tells, from the number of passages and of those that contain it: ln(1 + (N-n+½)/(n+½)) > 0."""
    passages = max(passages, containing, 1)
    return math.log1p((passages - containing + 0.5) / (containing + 0.5))
