"""What a person denied is not learned again and not recalled, although its words are kept nowhere.

What is kept are hashes under the store's own key: of a statement up to case, punctuation and white space, and of its
content words in any order, with whether it is negated. So a statement is known again in other order, inflection and
company ("Good news: I keep falcons in Brask"), not in other words ("my birds of prey live in Brask").
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Sequence

from memproxy.folding import content_key
from memproxy.interfaces import Connection
from memproxy.lifecycle.indexing import SENTENCE
from memproxy.model import Entity, Turn
from memproxy.recall.terms import fold_marks, terms
from memproxy.store import denied

_NEGATIONS = frozenset(terms("not no never none nothing nobody without cannot neither nor"))
_NOTHING = content_key("")  # that of all texts without a word
_SUBJECT = frozenset(terms("user person"))  # how facts call whom they are about
LEAST = 2  # content words; one alone stands in many sentences that say something else
_LEAST_LEARNED = 3  # that somebody denies "owns a car" is no reason not to learn "I own a car wash"


class Denials:
    """The keyed hashes of one entity."""

    def __init__(self, secret: bytes, entity: Entity) -> None:
        self._secret = secret
        self._scope = f"denied\0{entity.tenant}\0{entity.name}\0"

    def words(self, *texts: str | None) -> dict[str, int]:
        """The hashes of statements, each with the number of its content words (0: of all it says)."""
        found = {}
        for text in filter(None, texts):
            if content_key(text) == _NOTHING:
                continue
            found[self._exact(text)] = 0
            content = _content(text)
            if content:
                found[self._gist(content, _negated(text))] = len(set(content))
        return found

    def says(self, text: str, known: denied.Words) -> bool:
        """Whether a text as a whole is what was denied."""
        content = _content(text)
        return self._exact(text) in known or (bool(content) and self._gist(content, _negated(text)) in known)

    def forbid(self, text: str, quote: str | None, known: denied.Words) -> bool:
        """Whether a fact, or the words it stands on, say what was denied."""
        return self.says(text, known) or (quote is not None and bool(self.spans(quote, known, _LEAST_LEARNED)))

    def spans(self, text: str, known: denied.Words, least: int = LEAST) -> list[tuple[int, int]]:
        """The sentences that say what is denied, or hold its content words next to one another, as character spans.

        `least` is the number of content words by which a statement is known inside a longer sentence.
        """
        if not known:
            return []
        if self.says(text, known):
            return [(0, len(text))]
        return [match.span() for match in SENTENCE.finditer(text) if self._holds(match[0], known, least)]

    def _holds(self, sentence: str, known: denied.Words, least: int) -> bool:
        if self.says(sentence, known):
            return True
        content, negated = _content(sentence), _negated(sentence)
        sizes = {size for size in known.values() if size >= least}
        return any(known.get(self._gist(run, negated)) == size for size in sizes for run in _runs(content, size))

    def _exact(self, text: str) -> str:
        return self._hash(f"exact\0{content_key(text)}")

    def _gist(self, content: Sequence[str], negated: bool) -> str:
        return self._hash(f"gist\0{negated}\0{' '.join(sorted(set(content)))}")

    def _hash(self, text: str) -> str:
        said = (self._scope + text).encode("utf-8", "surrogatepass")
        return hmac.new(self._secret, said, hashlib.sha256).hexdigest()[:32]


async def hide_denied(conn: Connection, entity: Entity, secret: bytes, turn: Turn) -> list[tuple[int, int]]:
    """Note where a turn says what the person denied, so that it is not recalled from there; these places."""
    spans = Denials(secret, entity).spans(turn.content, await denied.words(conn, entity))
    await denied.hide(conn, entity, turn.id, spans)
    return spans


def _content(text: str) -> list[str]:
    found = terms(fold_marks(text))  # with their accents words would come twice, and the second time out of place
    return [
        term
        for term, after in zip(found, [*found[1:], ""], strict=False)
        if term not in _NEGATIONS and term not in _SUBJECT and not (after == "not" and term.endswith("nt"))  # "dont"
    ]


def _negated(text: str) -> bool:
    return any(term in _NEGATIONS for term in terms(text))


def _runs(content: Sequence[str], size: int) -> Iterator[list[str]]:
    """The shortest run of words from each place on that has so many different ones."""
    for start in range(len(content)):
        seen: set[str] = set()
        for end in range(start, len(content)):
            seen.add(content[end])
            if len(seen) == size:
                yield list(content[start : end + 1])
                break
