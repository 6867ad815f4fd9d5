"""Whose words or ways they are: what is said of a sister, or to the assistant, is not said of the person."""

from __future__ import annotations

from collections.abc import Iterator

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.lexicon import FIRST, MY_PEOPLE, OF_PEOPLE, PEOPLE, THIRD
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.folding import fold

_YOU_ARE = Pattern(
    r"(?:(?:so|and|but|wow|oh|well|ok|thanks|thank you|haha|honestly),? )?"
    r"(?:you are|you're|you were|you have|you've|you seem|you sound|your name is|du bist|du hast|du heisst|sie sind|"
    r"tu es|t'es|vous êtes|vous avez|tu as|tu t'appelles|eres|tienes|te llamas|usted es|sei|hai|ti chiami|você é|"
    r"você tem|"
    r"tu és|je bent|u bent|jij bent|ты|вы) \w|你(?:是|很|真|叫|有)|您(?:是|很|真)|あなたは|君は|너는|당신은"
)
_PHRASE_OF_SPEECH = lexicon(
    "you know | you see | you are right | you're right | you have to | you've got to | you have no idea"
)
# What becomes of the person through somebody else.
_OF_BOTH = lexicon(
    "widow\\w* | orphan\\w* | verwitwet | witwer? | veuf | veuve | viud[oa] | vedov[oa] | viúv[oa] | вдов\\w+"
)
# What others say of the person, and the person complains of.
_OPINION = Pattern(
    r"(?<!\w)(?:hate|hated|hates|annoy\w*|tired of|sick of|can't stand|cannot stand|angry|upset|offended|mad)(?!\w)"
    r"[^.]{0,40}?(?<!\w)(?:say|says|said|saying|think|thinks|thinking|assum\w+|claim\w*|tell(?:s|ing)? me|told me|"
    r"insist\w*|act like|acts like)(?: that)? i(?!\w)"
)
_REPORT = Pattern(
    r"(?:(?:the|this|that|an|one|some|most) )?(?:[\w-]+ ){0,2}?(?:article|paper|study|studies|report|book|post|blog|"
    r"news|website|page|video|podcast|author|researcher|scientist|expert|headline|review)s? (?:says?|said|claims?|"
    r"claimed|states?|stated|argues?|argued|reports?|reported|suggests?|shows?|showed)(?!\w)"
    r"(?!.*(?<!\w)(?:i|my|me|we)(?!\w))"
)
_CALLED = Pattern(
    rf"(?:{PEOPLE.source}),? (?:is called |called |named |heisst |s'appelle |se llama )?(?P<name>[^\W\d_]{{2,}})"
)


def of_somebody_else(claim: Claim) -> bool:
    """Whether the fact is phrased of the person, and the words are about somebody else: "my sister cannot stand opera"
    is no dislike of the person's.
    """
    told, said = claim.told, claim.said
    clauses = [clause.words for clause in claim.drawn]
    if clauses and all(_from_others(words, told) for words in clauses):
        return True
    if (
        OF_PEOPLE.match(told)
        or _OF_BOTH.search(told)
        or THIRD.search(told)
        or _shares_one(told, said)
        or _names_one(claim)
    ):
        return False
    if any(FIRST.search(_without_people(words)) for words in clauses):
        return False
    if any(MY_PEOPLE.search(words) or THIRD.search(words) for words in clauses):
        return True
    return not FIRST.search(_without_people(said)) and _last_subject(claim.lead) == "other"


def _from_others(words: str, told: str) -> bool:
    """Whether words tell of what a relative has ("my neighbour's dog") and the text leaves the relative out, or of what
    others think of the person, or what a paper says.
    """
    has = (match for match in MY_PEOPLE.finditer(words) if words.startswith(("'s ", "s' "), match.end()))
    if any(match[0].split()[-1] not in told for match in has):
        return True
    return _OPINION.search(words) is not None or _REPORT.match(words) is not None


def to_the_assistant(claim: Claim) -> bool:
    """Whether the words are about the one spoken to: "you are so patient"."""
    said = claim.said
    if FIRST.search(said) or FIRST.search(claim.lead) or _PHRASE_OF_SPEECH.match(said):
        return False
    return _YOU_ARE.match(said) is not None or (claim.lead != "" and _YOU_ARE.match(claim.lead) is not None)


def _without_people(words: str) -> str:
    """Words without "my sister" and her like, so that the person's own "I" and "my" are left."""
    return MY_PEOPLE.sub(" ", words)


def _shares_one(told: str, said: str) -> bool:
    """Whether the text speaks of the same relative as the words do: "has a sister who hates opera"."""
    return any(match[0].split()[-1] in told for match in MY_PEOPLE.finditer(said))


def _names_one(claim: Claim) -> bool:
    """Whether the text names somebody as the sentence does beside what they are to the person: "my sister Jorun"."""
    names = (match["name"] for match in _CALLED.finditer(fold(claim.sentence)))
    return any(name in _WORD.findall(claim.told) and name.capitalize() in claim.sentence for name in names)


_WORD = Pattern(r"\w+")


def _last_subject(lead: str) -> str | None:
    """Whom the words before the quotation speak of last: the person (own), somebody else (other), or nobody yet."""
    spans = sorted(_subjects(lead))
    return spans[-1][1] if spans else None


def _subjects(lead: str) -> Iterator[tuple[int, str]]:
    others = [match.span() for match in MY_PEOPLE.finditer(lead)]
    for start, _ in others:
        yield start, "other"
    for match in THIRD.finditer(lead):
        yield match.start(), "other"
    for match in FIRST.finditer(lead):
        if not any(start <= match.start() < end for start, end in others):
            yield match.start(), "own"
