"""A passage ready to be said: its words made safe, what they weigh, and what they say."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import NamedTuple

from memproxy.context.budget import quarters
from memproxy.context.sections import label, one_line
from memproxy.model import Candidate
from memproxy.trust import mask_secrets


class Phrase(NamedTuple):
    """What a block says of one passage. It depends on the passage alone, so it can be kept with it."""

    label: str  # who said it, before the words
    words: str  # in one line; "" where nothing of them may be said
    weight: int  # of a line of its own, in quarters of a token
    said: str  # the statement, as the passage's terms


Phrases = MutableMapping[int, Phrase]  # by passage id


def phrase(candidate: Candidate, known: Phrases | None = None) -> Phrase:
    """The phrase of a passage; it is among the known ones from then on.

    Secrets are masked here once more: what was stored before their shape was known is not handed out either.
    """
    found = known.get(candidate.passage_id) if known is not None else None
    if found is None:
        name, words = label(candidate), one_line(mask_secrets(candidate.text))
        words = candidate.text if words == candidate.text else words  # once in memory is enough
        found = Phrase(name, words, quarters(f"- {name}{words}\n"), candidate.terms)
        if known is not None:
            known[candidate.passage_id] = found
    return found
