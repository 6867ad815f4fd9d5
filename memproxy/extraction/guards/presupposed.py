"""What a request takes for granted: "a poem for my wife Anna" says that there is a wife called Anna."""

from __future__ import annotations

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.lexicon import MY_PEOPLE, PEOPLE
from memproxy.extraction.guards.patterns import Pattern
from memproxy.folding import fold
from memproxy.recall.terms import terms

_MY = (
    r"my|our|mein\w{0,2}|unser\w{0,2}|mon|ma|mes|notre|nos|mis?|nuestr[oa]s?|mi[ao]|miei|mie|nostr[oaie]|meus?|"
    r"minhas?|noss[oa]s?|"
    r"mijn|onze|ons|min|mitt|mina|mine|mój|moja|moje|moi|mojej|mojego|мо[йяеи]|моего|моей|моему|моих|мою"
)
_STOPS = (
    r"is|are|was|were|has|have|had|do|does|did|can|could|should|would|will|may|might|must|be|get|ist|sind|hat|haben|"
    r"kann|soll|"
    r"est|sont|a|peut|es|está|son|tiene|puede|è|sono|ha|può|é|são|tem|pode|goes?|needs?|wants?|likes?|makes?"
)
_PHRASE = Pattern(rf"(?<!\w)(?:{_MY}) ((?:(?!(?:{_STOPS})\b)[^\s,.;:!?]+[\s]?){{1,6}})")
_RELATIVE = Pattern(
    rf"(?<!\w)(?:{_MY}) ((?:[^\s,.;:!?]+ ){{1,4}}?,? ?(?:who|whose|that|which|where|with|in|from|called|named|on|at|"
    rf"der|die|das|mit|qui|que|avec|che|con|com|die|с) [^,;:!?]*)"
)
_ASIDE = Pattern(
    r"(?<!\w)(?:as an? |since i |because i |now that i |given that i |where i |"
    r"(?<!true )(?<!sure )(?<!possible )(?<!likely )that i |which i |while i |when i |"
    r""
    r"weil ich |da ich |wo ich |als |puisque je |parce que je |où j|como |ya que |dove |siccome |visto che |já que |"
    r"onde |omdat ik )([^,;:!?]*)"
)
_MY_JOINED = Pattern("(?:我们?的|私の|僕の|내 |우리 )([^，。？、？!！ ]{1,12})")
_HAVING = frozenset(
    terms(
        "has have owns own called named call name user plan plans planning go goes going travel travelling "
        "travels there is a an the one hat heisst tiene llama tem ha s'appelle "
        "ein eine einen un une una uno um uma een il lo la"
    )
)


def presupposed(claim: Claim, with_relatives: bool = False) -> bool:
    """Whether all that the text says stands in what the sentence takes for granted: in "my …", and (with relatives)
    in a clause that tells more of it, or in an aside ("as a nurse", "where I live").
    """
    sentence = fold(claim.sentence)
    given = [match[1] for match in _PHRASE.finditer(sentence)] + [match[1] for match in _MY_JOINED.finditer(sentence)]
    if with_relatives:
        given += [match[1] for match in _RELATIVE.finditer(sentence)] + [
            match[1] for match in _ASIDE.finditer(sentence)
        ]
    told = set(terms(PEOPLE.sub(" ", claim.told))) - _HAVING
    if not told:
        return PEOPLE.search(claim.told) is not None and MY_PEOPLE.search(sentence) is not None
    return told <= {term for words in given for term in terms(words)}
