"""Codes, versions and amounts: a fact that leaves out the very thing that was told is no fact worth keeping."""

from __future__ import annotations

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.patterns import Pattern
from memproxy.folding import fold
from memproxy.recall.terms import terms

# Letters with digits, versions, long numbers, money; no counts, years, dates or times of day, which go elsewhere.
_LITERAL = Pattern(
    r"(?<![\w.])(?=[\w.+/#-]{0,60}\d)(?:[a-z][\w.+/#-]{1,80}|\d[\w.+/#-]{0,60}[a-z][\w.+/#-]{0,60}|"
    r"v?\d+(?:\.\d+){1,3}(?:\.(?!\w))?|"
    r"\d+-\d+-\d[\d-]*|(?!(?:19|20)\d\d(?!\d))\d{3,}(?:[.,]\d+)*)(?!\w)"
)
_NONE = Pattern(
    r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}(?:st|nd|rd|th|am|pm|h|min|s)|(?:19|20)\d\ds?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|"
    r"\d{1,2}\.\d{1,2}"
)
_UNITS = frozenset(
    terms(
        "month year week day hour minute euro euros dollar dollars pound pounds franc francs eur usd gbp chf kg g km "
        "m cm mm "
        "kilo kilos kilometres kilometers miles monat jahr woche tag mois an semaine jour mes año mese anno mês ano "
        "per pro par por kostet "
        "die der das den ein eine einen ist sind war est de du le la les un une mon ma mes son es el los mi mis "
        "su il lo mio mia "
        "os meu minha do da het een mijn number code label name version nummer numéro número numero"
    )
)


def vague(claim: Claim) -> bool:
    """Whether the text says all that its clause says but for a code, version or amount."""
    drawn = claim.drawn
    words = " ".join(clause.words for clause in drawn)
    literals = [found for found in _LITERAL.findall(fold(words)) if not _NONE.fullmatch(found)]
    if not literals or any(char.isdigit() for char in claim.text):
        return False
    told = set(terms(claim.text))
    of_literals = {term for literal in literals for term in terms(literal)}
    left_out = set(terms(words)) - told - of_literals - _UNITS
    return bool(told & set(terms(words))) and not left_out
