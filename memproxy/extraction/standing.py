"""Whether a statement says what an attribute is now, or what it was, is not, may become, or is besides. Pure.

"Used to live in Tolm", "Ex-wife is called Ada", "Might move to Lund" and "Also freelances for Olm" are about a home, a
spouse and an employer, and say of none of them what it is: a model names the attribute all the same, and the person's
only home would be given away to a former one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from memproxy.extraction.guards.certainty import left_open
from memproxy.extraction.guards.negation import denies
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.folding import fold

Standing = Literal["now", "over", "open", "beside"]

# What was. "Has lived there for years" is now; so is what a change left behind ("was promoted").
_WAS = lexicon(
    """
    used to | former(?:ly)? | previous(?:ly)? | ex | ex-\\w+ | erstwhile | until recently
    once(?= (?:lived|worked|was|had))
    (?<!has )(?<!have )(?<!'ve )(?<!always )(?:lived|worked|resided|studied|attended|belonged|dated)
    (?:first|second|third|late|old|last) (?:wife|husband|spouse|partner|employer|job|boss|manager|school|team|address)
    (?:was|were)(?! (?:\\w+ly )?(?:born|promoted|hired|transferred|appointed|elected|moved|renamed|baptised|posted))
    früher\\w* | ehemalig\\w* | einstig\\w* | damals | war | waren | wohnte | lebte | arbeitete | hiess
    ancien(?:ne)? | autrefois | auparavant | était | habitait | vivait | travaillait | s'appelait
    antes | antigu[oa] | anterior | era | vivía | trabajaba | se llamaba
    prima | precedente | abitava | viveva | lavorava | si chiamava
    vroeger | voormalige? | woonde | werkte | раньше | бывш\\w+ | жила? | работала?
    """,
    "以前 曾经 曾經 曾在 原来 原先 前妻 前夫 前任 之前 昔 かつて だった でした ていた 예전 이전",
)
# What has ended; where an attribute is a state, that is its value ("is divorced").
_ENDED = lexicon(
    """
    ended | gave up | quit | resigned | retired from | fired | sacked | laid off | left | lost
    divorced?(?: from)? | separated from | broke up | gekündigt | geschieden | getrennt | verlassen | quitté
    divorcée? | divorciad[oa] | dejó | divorziat[oa] | gescheiden
    """,
    "離婚 离婚",
)
_CHANGED = lexicon(
    "now | nowadays | joined | started | instead | new | jetzt | neu\\w* | maintenant | désormais | ahora | adesso"
    " | ora | nu | теперь",
    "现在 現在 如今 今は 지금",
)
_BESIDE = lexicon(
    """
    also | too | as well | besides | in addition | additionally | another | other | second(?:ary)? | on the side
    side (?:job|business|project|gig) | auch | ausserdem | zusätzlich | nebenbei | nebenher | zweit\\w*
    aussi | également | en plus | también | además | anche | inoltre | também | além disso | ook | daarnaast
    också | også | тоже | также
    """,
    "另外 同时 同時 第二 もう一",
)
_PERSISTS = frozenset("birthday hometown blood_type height".split())  # what is said of the past holds for good
_STATES = frozenset("marital_status diet".split())  # "is divorced", "does not eat meat"
_WISHED = frozenset("name first_name last_name nickname pronouns".split())  # whoever wants to be called Max is
# "Second Street" is no second one, "Will" no future, "no-reply@…" and "No, Maxi" deny nothing.
_NO_WORDS = Pattern(r"(?<=\s)[A-ZÀ-ÖØ-Þ][\w'’-]*|\S*@\S*|^(?:[Nn]o|[Nn]ein|[Nn]on)\s*[,:;]")


@lru_cache(maxsize=4096)
def standing(text: str, attribute: str) -> Standing:
    """What a statement says of an attribute of one value. In doubt, that it is so now."""
    words = fold(_NO_WORDS.sub("", text))
    if attribute not in _WISHED and left_open(words):
        return "open"
    if attribute not in _PERSISTS and _is_over(words, attribute in _STATES):
        return "over"
    return "beside" if _BESIDE.search(words) else "now"


def _is_over(words: str, of_a_state: bool) -> bool:
    if not of_a_state and denies(words):
        return True
    was = _WAS.search(words) or (not of_a_state and _ENDED.search(words))
    return bool(was) and not _CHANGED.search(words)
