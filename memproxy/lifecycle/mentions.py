"""Who and what a conversation is about: the names in it, which a question that says only "it" may mean. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memproxy.recall.query import Query
from memproxy.recall.words import STOPWORDS

MOST = 15
FEW = 3  # results below which a vague question is asked again with the names
_VAGUE_TERMS = 3  # content terms that a vague question has at most

_TOKEN = re.compile(r"[\w@][\w@./'’-]*[\w]")
_PLAIN_START = re.compile(r"(?:\A|[.!?。！？:\n]\s*|[\"“(]\s*)\Z")
_POINTS = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|he|him|his|she|her|there|one|ones|both|other|"
    r"er|sie|ihn|ihm|ihr|dort|das|dieser|diese|elle|lui|leur|ça|cela|ello|ella|ellos|eso|ahí)\b",
    re.IGNORECASE,
)


def is_vague(query: Query) -> bool:
    """Whether a question points at something without naming it."""
    return not query.small_talk and len(query.terms) <= _VAGUE_TERMS and _POINTS.search(query.text) is not None


def names(texts: Sequence[str]) -> list[str]:
    """The names in texts (the newest last): the newest MOST of them, oldest first.

    A name begins with a capital inside a sentence, or holds a digit, a dot, a slash or an at sign.
    """
    found: dict[str, None] = {}
    for text in texts:
        for match in _TOKEN.finditer(text):
            token = match[0]
            if len(token) < 3 or token.casefold() in STOPWORDS:
                continue
            capital = token[0].isupper() and _PLAIN_START.search(text, max(0, match.start() - 4), match.start()) is None
            marked = any(c.isdigit() or c in "@./" for c in token) and any(c.isalpha() for c in token)
            if capital or marked:
                found.pop(token, None)
                found[token] = None
    return list(found)[-MOST:]
