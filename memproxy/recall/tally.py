"""The words of a few passages, counted when they are asked for: what is read for one question and then let go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memproxy.lazy import Lazy
from memproxy.recall.lexical import Column, Counts, Rows

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

_APART = "|"  # stands between two passages; terms are letters and digits


class Tally:
    """Passages by their terms, like `lexical.Postings`, which costs ten times as much to make and less to ask.

    Terms are told apart by their hashes: of 64 bits, and other ones in every process.
    """

    def __init__(self, documents: Sequence[str]) -> None:
        words = f" {_APART} ".join(documents).split()  # in one go: a call a passage would take twice as long
        self._held = np.fromiter(map(hash, words), np.int64, len(words))
        apart = self._held == hash(_APART)
        self._where = np.cumsum(apart)
        self._lengths = np.bincount(self._where[~apart], minlength=len(documents)).astype(np.float64)

    def counts(self, terms: Sequence[str], rows: Rows) -> Counts:
        """How often each row holds each term: a line a term."""
        found = np.zeros((len(terms), len(rows)))
        for line, term in zip(found, terms, strict=True):
            there = self._where[self._held == hash(term)]
            line[:] = np.bincount(there, minlength=len(self._lengths))[rows]
        return found

    def lengths(self, rows: Rows) -> Column:
        """How many terms each row has."""
        return self._lengths[rows]
