"""How sure a statement is: the extractor may neither guess about the person, nor make a certainty of their "maybe"."""

from __future__ import annotations

from itertools import pairwise

from memproxy.extraction.guards.claim import Claim, Clause, clauses
from memproxy.extraction.guards.patterns import lexicon

# Words by which an extractor tells what it only concludes.
_GUESSES = lexicon(
    """
    suggest(?:s|ing|ive)? | impl(?:ies|y|ying) | indicat(?:es|ing|e) | might
    may(?= (?:be|have|also|not|prefer|like|want|enjoy|need|live|work|own|suffer))
    hypothes\\w++ | hypothetically | potential(?:ly)? | seems? | seemingly | appears? to | apparently | presumably
    possibl[ey] | perhaps | maybe | probabl[ey] | likely | could be | speculat\\w++ | assum(?:ed|ably) | supposedly
    hints? at | points? to | inferred
    scheint | anscheinend | vermutlich | wahrscheinlich | möglicherweise | vielleicht | offenbar | deutet | könnte
    womöglich | wohl
    semble(?:rait)? | probablement | peut-être | suggère | pourrait | apparemment | sans doute | vraisemblablement
    parece | probablemente | quizás? | tal vez | sugiere | podría | posiblemente | aparentemente
    sembra | probabilmente | forse | potrebbe | suggerisce | a quanto pare
    provavelmente | talvez | poderia | possivelmente | sugere
    misschien | waarschijnlijk | lijkt | vermoedelijk | kanske | troligen | kanskje | måske | chyba | może
    prawdopodobnie
    похоже | вероятно | возможно | видимо | наверное | может быть | кажется | предположительно
    """,
    "可能 似乎 也许 也許 大概 或许 暗示 好像 看起来 かもしれ ようだ ようです らしい おそらく たぶん 아마 것 같 듯하",
)  # fmt: skip
# Words by which a person leaves something open.
_OPEN = lexicon(
    """
    might | may(?= (?:go|be|move|try|get|have|not|also|take|buy|start|come|leave|stay|quit|sell|join|visit|do))
    maybe | perhaps | (?<!if )(?<!as )possibl[ey]
    probabl[ey] | most likely | likely to | thinking (?:about|of) | considering | toying with | not sure | unsure
    undecided | if all goes well
    could imagine | half a mind | on the fence | tempted to | wondering whether | wondering if | playing with the idea
    vielleicht | eventuell | möglicherweise | wahrscheinlich | überlege | überlegen | womöglich | nicht sicher
    könnte sein
    peut-être | j'envisage | nous envisageons | je pense à | probablement | il se peut | pas sûre?
    quizás? | tal vez | a lo mejor | probablemente | estoy pensando en | puede que | no estoy segur[oa]
    forse | magari | può darsi | probabilmente | sto pensando | non sono sicur[oa]
    talvez | provavelmente | estou pensando em | estou a pensar | se calhar | não tenho certeza
    misschien | waarschijnlijk | ik overweeg | kanske | kanskje | måske | chyba | być może | może
    может | может быть | возможно | наверное | наверно | подумываю | думаю о | не уверена? | belki | talán
    ربما | אולי | शायद | có lẽ | mungkin
    """,
    "可能 也许 也許 或许 大概 考虑 考慮 说不定 かもしれ かも たぶん おそらく 検討 考えて 아마 고민 생각 중 อาจ บางที",
)
# What keeps it open in the fact's text: a hedge, a wish, a plan, a condition.
_KEPT = lexicon(
    """
    might
    (?<!in )(?<!of )(?<!by )(?<!since )(?<!until )(?<!this )(?<!next )(?<!last )(?<!early )(?<!late )may(?= [a-z])
    maybe | perhaps | possibl[ey] | probabl[ey] | likely | considers? | considering | thinks? | thinking
    thoughts?
    plans? | planning | planned | wants? | hopes? | hoping | would | could | wish(?:es)? | intends? | dreams? | unsure
    undecided | not sure
    wonders? | wondering | contemplat\\w++ | tempted | if | idea | interested | toying | weighing | debating
    uncertain | potential(?:ly)? | tentative\\w*
    seems? | option | eventually | someday | looking (?:into|at)
    vielleicht | eventuell | möglicherweise | wahrscheinlich | überlegt | überlege | erwägt | denkt | plant | will
    möchte | könnte | unsicher | würde
    peut-être | envisage | pense | probablement | veut | souhaite | hésite | songe
    quizás? | tal vez | a lo mejor | probablemente | piensa | pensando | considera | quiere | podría | puede | duda
    forse | magari | probabilmente | pensa | pensando | considera | vuole | vorrebbe | potrebbe
    talvez | provavelmente | pensa | pensando | considera | quer | poderia | pode
    misschien | waarschijnlijk | overweegt | denkt | wil | kanske | kanskje | måske | chyba | może | rozważa
    может | может быть | возможно | наверное | наверно | подумывает | думает | хочет | планирует | рассматривает
    не уверен\\w* | belki | talán
    """,
    "可能 也许 也許 或许 大概 考虑 考慮 想 打算 说不定 かもしれ かも たぶん おそらく 検討 考え たい 予定 아마 "
    "고민 생각 싶 อาจ บางที",
)
_SAME_WORD = 5  # letters by which two forms of a word are known ("suggests", "suggested")


def speculates(claim: Claim) -> bool:
    """Whether the text guesses where the person said no such thing. A hedge of their own stays."""
    guess = _GUESSES.search(claim.told)
    if guess is None:
        return False
    words = claim.lead + " " + claim.said
    return not (_OPEN.search(words) or _GUESSES.search(words) or guess[0][:_SAME_WORD] in words or _softened(words))


def _softened(words: str) -> bool:
    return _SOFT.search(words) is not None


_SOFT = lexicon(
    "i think | i guess | i suppose | i believe | i feel like | i'd say | kind of | sort of | apparently |"
    " pretty sure | "
    "could | can | should | ich glaube | ich denke | je crois | je pense | creo que | credo | penso | acho que |"
    " ik denk | "
    "думаю | кажется | по-моему | suspect\\w* | expect\\w*",
    "觉得 我想 应该 と思 気がする",
)


def left_open(words: str) -> bool:
    """Whether folded words are a hedge, a wish, a plan or a condition."""
    return _KEPT.search(words) is not None


def certainty_raised(claim: Claim) -> bool:
    """Whether the person left it open ("I might go to Oslo") and the text does not ("Goes to Oslo")."""
    if left_open(claim.told):
        return False
    drawn = claim.drawn
    if drawn and all(_OPEN.search(clause.words) for clause in drawn):
        return True
    return _opened_by_a_word(claim, drawn)


def _opened_by_a_word(claim: Claim, drawn: list[Clause]) -> bool:
    """Whether a clause of nothing but a hedge stands before what was drawn from: "Perhaps, I move to Oslo"."""
    whole = clauses(claim.sentence)
    return any(
        _OPEN.fullmatch(before.words.strip(" ,.")) is not None and after in drawn for before, after in pairwise(whole)
    )
