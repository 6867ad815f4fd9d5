"""Whether two short statements say the same, or the opposite: by their words, with cosine only as a hint.

Cosine prunes, it never decides: a near statement is the same one only if no number, name, negation or opposite word
tells the two apart. (Measured in the field: paraphrase .80, negation .85, value swap .87.) Where in doubt, two
statements stay two: a copy is shown once, a lost statement is lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from memproxy.folding import fold
from memproxy.recall.terms import terms

# Words of which each tells two statements apart: they must stand in both, or in neither.
_NEGATIONS = frozenset(
    "not no never nor none nothing nobody cannot without neither stopped quit longer hates hate dislikes dislike "
    "kein keine keinen keiner keinem nicht nie niemals ne pas jamais nunca non mai não nao niet geen nooit inte ikke "
    "aldrig не нет никогда nie nigdy".split()
)
_NO_MORE = frozenset("plus mehr ya più piu mais meer больше уже".split())  # of no weight beside a negation
_NOT_JOINED = re.compile("不再|已经不|没有|沒有|[不没沒未]")  # in scripts without blanks
_ELIDED = re.compile(r"\b(n|j|d|l|m|t|s|c|qu)['’](?=\w)", re.IGNORECASE)  # "n'aime", "j'aime"
_OPPOSITES = frozenset("former formerly used ex before left previously anymore allergic afraid avoid avoids".split())
_MODIFIERS = frozenset(
    "plan plans planning planned want wants wanted wish wishes hope hopes hoping might may would could should will "
    "consider considers considering intends intend thinking dream dreams almost nearly maybe perhaps possibly if "
    "only sometimes rarely usually always".split()
)
_PEOPLE = frozenset(
    "mother mum mom mama father dad papa parent parents sister sisters brother brothers sibling siblings wife husband "
    "spouse partner girlfriend boyfriend fiance fiancé fiancée son sons daughter daughters child children kid kids "
    "grandmother grandma grandfather grandpa grandparents grandson granddaughter aunt uncle cousin niece nephew "
    "friend friends colleague colleagues boss neighbour neighbor roommate flatmate dog cat".split()
)
_PAST = frozenset(
    "was were had did went gave took made saw knew bought sold ate lost met told wrote taught thought felt grew kept "
    "sang spoke swam drove rode ran began broke chose fell forgot".split()
)
# Ways to say that somebody likes something; which one is used makes no difference to what is liked.
_LIKING = frozenset(terms("like likes love loves enjoy enjoys adore adores fond keen fan"))
_DISLIKING = frozenset(terms("hate hates dislike dislikes loathe loathes detest detests"))
_FILLER = frozenset(terms("user person really very much quite is of on the a an to be"))
_CALENDAR = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday".split()
)
_LIKED = "♥"
_DENYING = frozenset(terms(" ".join(_NEGATIONS | _NO_MORE))).union(
    _NEGATIONS, _NO_MORE, "any anymor do does did doesnt dont isnt hasnt wont cant didnt".split()
)


class Statement:
    """A short statement, read once however often it is compared."""

    def __init__(self, text: str) -> None:
        self.text = _ELIDED.sub(r"\1e ", text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words, folded."""
        return _words(self.text)

    @cached_property
    def tells(self) -> _Tells:
        """What tells it from a near one."""
        return _tells(self.text, self.words)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in it, folded."""
        return _names(self.text)

    @cached_property
    def gist(self) -> list[str]:
        """Its content words in order, with all ways of liking made one."""
        return _gist(self.text)

    @cached_property
    def liking(self) -> bool | None:
        """Whether it is about liking (True) or disliking (False) something, or about neither."""
        return _liking(self.text, self.words)


def says_the_same(draft: Statement, known: Statement, cosine: float | None, duplicate: float) -> bool:
    """Whether a known fact says all that the draft says: the same words, or near in meaning and no word missing.

    The order of words counts: "from Tolm to Brask" is not "from Brask to Tolm".
    """
    gist, whole = draft.gist, known.gist
    if not gist or (gist != whole and (cosine is None or cosine < duplicate or not _runs_through(gist, whole))):
        return False
    return _same_names(draft, known) and draft.tells == known.tells


def reverses(draft: Statement, known: Statement) -> bool:
    """Whether one says what the other denies, with nothing else to tell the two: a liking, or anything with a "not"."""
    if draft.liking is not None and known.liking is not None and draft.liking != known.liking:
        if draft.tells.past != known.tells.past:
            return False  # somebody may hate what they loved
        affirmed, denied = _object(draft.text), _object(known.text)
    elif bool(draft.tells.negations) != bool(known.tells.negations):
        affirmed, denied = _denied(draft.text), _denied(known.text)
    else:
        return False
    if not affirmed or affirmed != denied or not _same_names(draft, known):
        return False
    return draft.tells.affirmed() == known.tells.affirmed()


def shares_words(draft: Statement, known: Statement) -> bool:
    """Whether at least half of the content words of the shorter one stand in the other too."""
    ours, theirs = set(draft.gist), set(known.gist)
    return bool(ours and theirs) and 2 * len(ours & theirs) >= min(len(ours), len(theirs))


def says_of_the_same(draft: Statement, known: Statement, attribute: str) -> bool:
    """Whether a draft speaks of the very value of an attribute that a known fact names: by its names, else by half of
    the known content words (but for those that name the attribute).
    """
    names = draft.names - _CALENDAR
    if names:
        return names <= known.words
    value = set(known.gist) - set(terms(attribute.replace("_", " ")))
    return bool(value) and 2 * len(value & set(draft.gist)) >= len(value)


def people(text: str) -> frozenset[str]:
    """Whom a statement is about, besides the person: "mother", "friend"."""
    return _words(text) & _PEOPLE


@dataclass(frozen=True, slots=True)
class _Tells:
    """What tells two near statements apart."""

    numbers: tuple[str, ...]
    signs: tuple[str, ...]  # "C++" and "C", "🍕" and "🎸"
    negations: frozenset[str]
    past: frozenset[str]
    opposites: frozenset[str]
    modifiers: frozenset[str]
    people: frozenset[str]

    def affirmed(self) -> _Tells:
        """The same without what denies, and without the tense (what is no longer so was so)."""
        return replace(self, negations=frozenset(), past=frozenset())


def _tells(text: str, words: frozenset[str]) -> _Tells:
    signs = re.findall(r"\w[+#]+", text)
    if not text.isascii():
        signs += [c for c in fold(text) if unicodedata.category(c) == "So"]
    return _Tells(
        numbers=tuple(re.findall(r"\d+(?:[.,:/]\d+)*", text)),
        signs=tuple(signs),
        negations=(words & _NEGATIONS)
        | {"not" for word in words if word.endswith("n't")}
        | ({"not"} if not text.isascii() and _NOT_JOINED.search(text) else frozenset()),
        past=frozenset(word for word in words if word in _PAST or (len(word) > 4 and word.endswith("ed"))),
        opposites=words & _OPPOSITES,
        modifiers=words & _MODIFIERS,
        people=words & _PEOPLE,
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+(?:'\w+)?", fold(text).replace("'s ", " ")))


def _same_names(one: Statement, other: Statement) -> bool:
    """Whether each name in one text stands in the other too (however it is written there)."""
    return one.names <= other.words and other.names <= one.words


def _names(text: str) -> frozenset[str]:
    found = re.findall(r"(?<=\s)\w+", text)
    return frozenset(fold(name) for name in found if name[0].isupper() and not name.isupper())


def _gist(text: str) -> list[str]:
    """The content words in order, with all ways of liking made one."""
    words = [_LIKED if word in _LIKING else word for word in terms(text) if word not in _FILLER]
    return [word for i, word in enumerate(words) if word != _LIKED or _LIKED not in words[:i]]


def _runs_through(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether the words of one stand in the other in the same order."""
    left = iter(whole)
    return all(word in left for word in part)


def _liking(text: str, folded: frozenset[str]) -> bool | None:
    words = set(terms(text))
    if words & _DISLIKING:
        return False
    if not words & _LIKING:
        return None
    return "not" not in words and not folded & _NEGATIONS


def _denied(text: str) -> list[str]:
    """What is affirmed or denied: the content words without those that deny."""
    return [word for word in _gist(_NOT_JOINED.sub("", text)) if word not in _DENYING]


def _object(text: str) -> list[str]:
    """What is liked or not: the content words without those that say so."""
    said = _LIKING | _DISLIKING | _FILLER | _NEGATIONS | {"not", "doesnt", "dont"}
    return [word for word in terms(text) if word not in said]
