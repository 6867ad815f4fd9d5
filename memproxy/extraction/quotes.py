"""Where a quotation stands in what was really said, whatever its case, Unicode form and spacing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from memproxy.folding import fold
from memproxy.recall.terms import terms
from memproxy.recall.words import SMALL_TALK
from memproxy.trust import mask_secrets

_EDGES = " .,;:!?\"'()[]{}…。、，；：！？「」『』*_`>-"
_AN_ANSWER = SMALL_TALK | {"not", "never", "none", "always", "often", "maybe", "perhaps"}
_MOST_PLACES = 8  # of one quotation in one turn that are looked at

# Thai, Lao, Myanmar and Khmer, and everything from the CJK blocks on: written without blanks.
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff"
_IS_SPACELESS = re.compile(f"[{_SPACELESS}]")
_PIECE = re.compile(f"\\s+|[{_SPACELESS}][\u3099\u309a\uff9e\uff9f]*+|[^\\s{_SPACELESS}]++")


class Said:
    """One turn's words, made comparable, with a way back to where each stands."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._folded = fold(content)
        self._offsets: tuple[str, list[int]] | None = None

    def places(self, words: str) -> list[tuple[int, int]]:
        """Where the words stand in the turn, as spans of its text: in order, the first few.

        A word without content ("I", "the") stands everywhere and proves nothing; a "yes" or "no" only where it is all
        that was said.
        """
        needle = fold(mask_secrets(words)).strip(_EDGES)
        if not _has_content(needle):
            return []
        spoken = re.findall(r"\w+", needle)
        if spoken and _AN_ANSWER.issuperset(spoken):
            return [(0, len(self._content))] if self._folded.strip(_EDGES) == needle else []
        if next(_places(needle, self._folded), None) is None:
            return []
        return self._spans(needle) or [(0, len(self._content))]

    def _spans(self, needle: str) -> list[tuple[int, int]]:
        """The same places in the text as it was written (words are folded one by one to find the way back)."""
        text, offsets = self._offsets = self._offsets or _mapped(self._content)
        found = []
        for start in _places(needle, text):
            found.append((offsets[start], offsets[start + len(needle)]))
            if len(found) == _MOST_PLACES:
                break
        return found


def _mapped(content: str) -> tuple[str, list[int]]:
    """The folded text, and for each of its characters (and its end) where that began in the content."""
    text: list[str] = []
    offsets: list[int] = []
    for piece in _PIECE.finditer(content):
        folded = " " if piece[0].isspace() else fold(piece[0])
        if folded == " " and (not text or text[-1] == " "):
            continue
        text.append(folded)
        same = len(folded) == len(piece[0])  # then characters stand where they stood
        offsets += [piece.start() + (i if same else 0) for i in range(len(folded))]
    return "".join(text), [*offsets, len(content)]


def _has_content(needle: str) -> bool:
    """Whether there is a content word (in scripts without blanks: more than one character) or a symbol."""
    if any(len(term) > 1 or term.isdigit() for term in terms(needle)):
        return True
    return re.search(r"\w[+#]", needle) is not None or any(unicodedata.category(c) == "So" for c in needle)


def _places(needle: str, text: str) -> Iterator[int]:
    """Where a needle begins, as whole words: "art" does not stand in "start", nor "I can" in "I can't"."""
    start = text.find(needle)
    while start >= 0:
        end = start + len(needle)
        if not (_joins(text, start - 1, needle[0]) or _joins(text, end, needle[-1]) or text.startswith("'t", end)):
            yield start
        start = text.find(needle, start + 1)


def _joins(text: str, index: int, edge: str) -> bool:
    """Whether the character at an edge continues the word there (scripts without blanks never count as joined)."""
    if not 0 <= index < len(text):
        return False
    other = text[index]
    return _of_a_word(other) and _of_a_word(edge) and not (_IS_SPACELESS.match(other) or _IS_SPACELESS.match(edge))


def _of_a_word(char: str) -> bool:
    return unicodedata.category(char)[0] in "LMN"
