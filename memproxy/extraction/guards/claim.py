"""A proposed fact beside the place where its words were said, cut into the clauses it can have been drawn from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from memproxy.extraction.guards.lexicon import FIRST
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.folding import fold
from memproxy.model import Turn
from memproxy.recall.terms import terms

_LONGEST_LEAD = 600  # characters of a sentence before a quotation that are looked at


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence with a statement of its own, folded."""

    words: str
    asked: bool = False  # it ends in a question mark


@dataclass(frozen=True)  # without slots: what many guards ask for is worked out once
class Claim:
    """What a model proposes to remember, and the words it says to have it from."""

    text: str  # of the fact, as the model puts it
    slot: str | None
    turn: Turn
    start: int  # where the quoted words stand in the turn
    end: int
    turns: Sequence[Turn] = ()  # the person's, in order; the turn is one of them
    context: Sequence[Turn] = ()  # the assistant's, just before

    @cached_property
    def told(self) -> str:
        """The fact's text, folded."""
        return fold(self.text)

    @cached_property
    def quote(self) -> str:
        """The person's words, as they stand in the turn."""
        return self.turn.content[self.start : self.end]

    @cached_property
    def said(self) -> str:
        """The person's words, folded."""
        return fold(self.quote)

    @cached_property
    def lead(self) -> str:
        """What the sentence says before the quoted words, folded."""
        return fold(self.turn.content[self._opening() : self.start])

    @cached_property
    def sentence(self) -> str:
        """The sentence or sentences around the quoted words, as they stand in the turn."""
        close = _END.search(self.turn.content, max(self.start, self.end - 1), self.end + _LONGEST_LEAD)
        return self.turn.content[self._opening() : close.end() if close else self.end + _LONGEST_LEAD]

    @cached_property
    def drawn(self) -> list[Clause]:
        """The clauses of the sentence that the fact's text shares most words with, among those that were quoted.

        All of those where no clause shares any (another language, other words).
        """
        whole = clauses(self.sentence)
        quoted = [_strip(clause.words) for clause in clauses(self.quote)]
        within = [clause for clause in whole if any(part and part in clause.words for part in quoted)] or whole
        words = set(terms(self.text))
        shared = [len(words & set(terms(clause.words))) for clause in within]
        most = max(shared, default=0)
        return [clause for clause, count in zip(within, shared, strict=True) if count == most]

    def drawn_within(self, start: int, end: int) -> bool:
        """Whether the text is drawn from nothing but what stands between two places of the turn: the quoted words lie
        there, or all that the text shares with them does, and the person adds nothing of their own behind it.
        """
        if start <= self.start and self.end <= end:
            return True
        if not self.start <= start < self.end:
            return False
        content = self.turn.content
        before, held, behind = content[self.start : start], content[start:end], content[end : self.end]
        told = set(terms(self.text))
        return (
            not told.isdisjoint(terms(held))
            and told.isdisjoint(terms(before))
            and told.isdisjoint(terms(behind))
            and not FIRST.search(fold(behind))
        )

    def _opening(self) -> int:
        """Where the sentence of the quoted words begins."""
        earliest = max(0, self.start - _LONGEST_LEAD)
        ends = [match.end() for match in _END.finditer(self.turn.content, earliest, self.start)]
        return ends[-1] if ends else earliest


def _strip(words: str) -> str:
    return words.strip(" .,;:!?…。，、；：！？¿¡\"'()")


def overlap(text: str, words: str) -> float:
    """The share of a text's content words that stand in other words too."""
    of_text = set(terms(text))
    return len(of_text & set(terms(words))) / len(of_text) if of_text else 0.0


# No end of a sentence: "Dr. Weber", "St. Pölten", "No. 5", "z. B. ".
_SHORT_FORMS = "".join(
    rf"(?<!\b{short})" for short in "Dr Mr Mrs Ms Prof St No Nr ca vs Fr Hr Sra Sr dr mr st no nr".split()
)
_END = Pattern(rf"{_SHORT_FORMS}[.!?…؟]++[\"'”’)\]»]*+(?=\s|\Z)|[。！？]+|\n+")
_CONJUNCTION = (
    "but|although|though|whereas|because|however|aber|sondern|obwohl|weil|während|mais|parce que|alors que|pero|sino|"
    "aunque|porque|mientras|però|perché|mentre|anche se|porém|embora|maar|omdat|hoewel|eftersom|ponieważ|но|однако|"
    "потому что|хотя|зато"
)
_BEHIND_A_COMMA = "so|yet|since|while|denn|car|ma|mas|want|men|ale|и|а"  # words of another meaning elsewhere
# Where one statement ends and another begins, whatever stands around.
_HARD = Pattern(
    rf"\s*[;；：—–()\n]\s*|(?=¿)|:\s+|\s+-\s+|"
    rf"[,，、]?\s+(?<!nothing )(?<!anything )(?<!nobody )(?<!all )(?=(?:{_CONJUNCTION})\s)|"
    rf"[,，]\s+(?=(?:{_BEHIND_A_COMMA})\s)"
    rf"|\s(?=(?:so|since) (?:i|we|no|my|our|the)\b)|\s+(?=(?:and|und|et|y|e|en|och|og|и) (?:i|we|my|it|the|ich|"
    rf"wir|je|j'|nous|yo|"
    rf"io|eu|ik|jag|jeg|я|мы)\b)"
    rf"|但是|但|可是|不过|因为|所以|虽然|けど|けれど|でも|から、|ので",
    re.IGNORECASE,
)
_SOFT = Pattern(r"(?<!\d)[,，]\s*|[,，](?!\d)\s*")
# How a part between commas begins that is no mere item of a list.
_OPENS = lexicon(
    """
    not | no | never | isn't | aren't | don't | doesn't | right | if | when | what | where | who | why | how | which
    and | or | do | can | could | should | am | is | are | please | nicht | kein\\w{0,2} | oder | wenn | was | wo
    wie | wer
    pas | non | ne | si | quand | que | où | comment | no | ni | nunca | cuando | qué | dónde | cómo | non | né | se
    che
    cosa | come | dove | não | nem | quando | o que | onde | como | niet | geen | als | wat | waar | hoe | inte | ikke
    не | ни | если | когда | что | где | как
    """
)
_FIRST_ENDING = Pattern(r"(?:\w+ )?(?:soy|estoy|voy|he|ho|sono|sou|estou|vou|(?!no\b|como\b)\w{2,}o) \w")
_BLANKS = Pattern(r"[^\S\n]+")
_UNSPACED = Pattern("[\u3040-\u30ff\u3400-\u9fff]")


def clauses(text: str) -> list[Clause]:
    """The statements of a text, in order, each with whether a question mark ends it."""
    text = _BLANKS.sub(" ", text)
    found: list[Clause] = []
    start = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        sentence = text[start:end]
        start = end
        parts = [part for piece in _HARD.split(sentence) if piece.strip() for part in _statements(piece)]
        asks = sentence.rstrip("\"'”’)]» \n").endswith(("?", "？", "؟"))
        found += [Clause(part, asks and i == len(parts) - 1) for i, part in enumerate(parts)]
    return found


def _statements(piece: str) -> list[str]:
    """A piece at its commas, but for lists: what has no subject of its own goes on with what stands before it."""
    out: list[str] = []
    for part in map(fold, _SOFT.split(piece)):
        if not part:
            continue
        if out and not _of_its_own(part):
            out[-1] += f", {part}"
        else:
            out.append(part)
    return out


def _of_its_own(part: str) -> bool:
    return bool(FIRST.search(part) or _OPENS.match(part) or _FIRST_ENDING.match(part) or _UNSPACED.search(part))
