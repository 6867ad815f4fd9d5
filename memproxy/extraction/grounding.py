"""Whether what a model wrote about a conversation stands on it: names and numbers must occur there. Pure.

A sentence that brings in a name or a number of its own is left out, with the reason. So is one that reads like an
order. What nobody said cannot be told from its words alone in every case, but invented particulars can, and they are
what does harm.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from memproxy.folding import fold
from memproxy.recall.terms import fold_marks, terms
from memproxy.recall.words import STOPWORDS
from memproxy.trust import looks_like_instruction, mask_secrets

# A sentence ends at its mark and a blank (or the text's end), so that 3.5 and v1.2 stay whole; in CJK at the mark.
_SENTENCE = re.compile(r".+?(?:[.!?…]+[\"'”’)\]]*(?=\s|\Z)|[。！？]+|\Z)", re.DOTALL)
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# German begins all nouns with a capital: there it says nothing about names. Told by words that every text has.
_GERMAN = frozenset("der die das und ist nicht ein eine ich mit für zu wir den dem auf es sie hat".split())
_IS_GERMAN = 0.15  # share of the words
_GENERAL = frozenset(
    "user person assistant conversation talk chat both they he she it their the this that these next finally first "
    "then later also still open pending decided nothing no none overall topics topic questions question after before "
    "during when while because since although however instead another other some several two three four five they "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december i ai".split()
)
_VERBAL = ("ed", "ing", "ly")  # a sentence may begin with what was done, and how


@dataclass(frozen=True, slots=True)
class Grounded:
    """What is left of a text, and why sentences of it were left out."""

    text: str
    dropped: Mapping[str, int] = field(default_factory=dict)


def grounded(text: str, source: str, most_sentences: int) -> Grounded:
    """The sentences of a text that stand on the source, in order, `most_sentences` at most."""
    known = _Known(source)
    kept: list[str] = []
    dropped: Counter[str] = Counter()
    for match in _SENTENCE.finditer(mask_secrets(" ".join(text.split()))):
        sentence = match[0].strip()
        if not sentence:
            continue
        reason = known.objection(sentence)
        if reason is None and len(kept) == most_sentences:
            reason = "length"
        if reason is None:
            kept.append(sentence)
        else:
            dropped[reason] += 1
    return Grounded(" ".join(kept), dict(dropped))


class _Known:
    """The words and numbers of a source."""

    def __init__(self, source: str) -> None:
        folded = fold_marks(fold(source))
        self._words = {part for word in _WORD.findall(folded) for part in (word, *re.split(r"['’-]", word))}
        self._stems = set(terms(source))
        self._numbers = {number for found in _NUMBER.findall(folded) for number in (found, *_parts(found))}
        spoken = _WORD.findall(fold(source))
        self._names_show = sum(word in _GERMAN for word in spoken) < _IS_GERMAN * len(spoken)

    def objection(self, sentence: str) -> str | None:
        """Why a sentence cannot stay, if there is a reason."""
        if looks_like_instruction(sentence):
            return "instruction"
        folded = fold_marks(fold(sentence))
        if any(number not in self._numbers and not self._has(number) for number in _NUMBER.findall(folded)):
            return "number"
        if self._names_show and any(self._unknown(word, place) for place, word in enumerate(_WORD.findall(sentence))):
            return "name"
        return None

    def _has(self, number: str) -> bool:
        """Whether every part of a number (of a date, a time) stands in the source."""
        parts = _parts(number)
        return len(parts) > 1 and all(part in self._numbers for part in parts)

    def _unknown(self, word: str, place: int) -> bool:
        if not word[0].isupper():
            return False
        folded = fold_marks(fold(word))
        bare = re.sub(r"['’]s\Z", "", folded)
        if bare in self._words or bare in _GENERAL or bare in STOPWORDS or set(terms(bare)) & self._stems:
            return False
        return not (place == 0 and bare.endswith(_VERBAL))


def _parts(number: str) -> list[str]:
    return [part.lstrip("0") or "0" for part in re.split(r"[.,:/-]", number)]
