"""How facts are put: as the past, as not settled yet, with the person's own words beside them."""

from __future__ import annotations

from memproxy.context.budget import quarters
from memproxy.context.phrases import Phrase
from memproxy.context.sections import one_line
from memproxy.model import Fact, speaker_of
from memproxy.recall.terms import terms
from memproxy.trust import mask_secrets

LONGEST_QUOTE = 200  # characters


def with_words(words: Phrase, *, label: str | None = None, tail: str = "") -> Phrase:
    """A phrase with another label, or something after its words."""
    new = words.label if label is None else label
    weight = words.weight + quarters(new) - quarters(words.label) + quarters(tail)
    return words._replace(label=new, words=words.words + tail, weight=weight)


def as_past(words: Phrase, fact: Fact) -> Phrase:
    """A fact that held once, said as one: until when."""
    until = f"until {fact.valid_until.date().isoformat()}" if fact.valid_until else "no longer so"
    return with_words(words, label=f"[historical, {until}] ")


def still_open(words: Phrase, fact: Fact) -> Phrase:
    """Something that is not settled yet: since when."""
    since = fact.started_at or (fact.reference_time or fact.recorded_at).date().isoformat()
    return with_words(words, tail=f" (open since {since})")


def quoted(words: Phrase, fact: Fact) -> Phrase:
    """A fact with the person's own words, where these say more than it does."""
    quote = one_line(mask_secrets(fact.quote or ""))
    if not quote or len(quote) > LONGEST_QUOTE or speaker_of(fact.source_role) != "user":
        return words
    if set(terms(quote)) <= set(terms(words.words)):
        return words
    return with_words(words, tail=f' (in their words: "{quote}")')
