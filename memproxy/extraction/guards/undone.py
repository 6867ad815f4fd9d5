"""What was not, is not any more, or is yet to be: "almost bought", "dreamed that", "should quit", "used to live"."""

from __future__ import annotations

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.folding import fold

_DREAMED = Pattern(
    r"(?<!\w)(?:(?:i|we) (?:dream(?:ed|t)|had (?:a|this) (?:\w+ )?(?:dream|nightmare))(?! (?:of|about|job))|"
    r"(?:ich|wir) (?:träumten?)|geträumt,? dass|j'ai rêvé|soñé que|ho sognato|sonhei que|ik droomde|jag drömde|"
    r"мне (?:при)?снилось)(?!\w)|梦见|夢見|梦到|という夢|夢を見|꿈을 꿨|꿈에서"
)
_ALMOST = Pattern(
    r"(?<!\w)(?:i|we)(?:'ve| have|'d| had)? (?:almost|nearly)"
    r"(?! (?:always|all|every\w*|never|nothing|daily|only|exclusively|entirely|\d))(?!\w)|"
    r"(?<!\w)(?:beinahe|um ein haar|j'ai failli|nous avons failli|чуть не)(?!\w)|差点|差點|もう少しで|하마터면"
)
_SHOULD = Pattern(
    r"(?<!\w)(?:i|we) (?:(?:really|probably|definitely|just) )?(?:should|ought to|(?:am|was|were|are) supposed to)"
    r"(?! (?:\w+ )?(?:mention|say|add|note|tell|warn|point|clarify|explain|admit|have))(?!\w)|"
    r"(?<!\w)(?:ich sollte|wir sollten)(?! (?:\w+ )?(?:erwähnen|sagen|dazusagen))(?!\w)|"
    r"(?<!\w)(?:je devrais|debería|dovrei|eu deveria|ik zou moeten|jag borde|мне (?:следует|стоит))"
    r"(?! (?:dire|préciser|mentionner|decir|mencionar|menzionare|dizer|сказать))(?!\w)|我应该|我應該"
)
_USED_TO = Pattern(
    r"(?<!\w)(?:i|we) (?:once |always |also )?used to(?! (?:it|this|that|the|being|having|living|my))(?!\w)|"
    r"(?<!\w)(?:früher|damals) (?:\S+ ){0,2}?(?:ich|wir)(?!\w)|(?<!\w)(?:ich|wir) \S+ früher(?!\w)|"
    r"(?<!\w)(?:autrefois|solía|antigamente|vroeger|раньше я|я раньше)(?!\w)|我以前|我曾|以前は|昔は|예전에"
)
# What says in the text that it is a wish, a dream, advice.
_SAID_SO = lexicon(
    """
    almost | nearly | dream\\w* | nightmare\\w* | should | ought | supposed | advi\\w+ | recommend\\w* | needs? | must
    has to | wants? | plans? | intend\\w* | consider\\w* | think\\w* | told | suggest\\w* | could | would
    fast | beinahe | träum\\w* | geträumt | sollte | soll | muss | will | möchte | failli | rêv\\w* | devrait | doit
    veut | casi | soñ\\w* | debe\\w* | quiere | quasi | sogn\\w* | dovrebbe | deve | vuole | quase | sonh\\w* | quer
    bijna | чуть | снил\\w* | приснил\\w* | должен | должна | следует | стоит | хочет
    """,
    "差点 差點 梦 夢 应该 應該 想 要 べき たい 꿈 해야",
)
# … and that it was.
_WAS = lexicon(
    """
    used to | was | were | had | did | went | former\\w* | previous\\w* | once | past | no longer | ex | \\w{2,}ed
    grew | left | gave up | quit | ate | drove | drank | spoke | taught | ran | rode | kept | sang | wrote | saw | wore
    swam | sold | bought | built | ago | as a (?:child|kid|teen\\w*|student)
    früher | war | hatte | ehemal\\w* | einst | damals | \\w{2,}te | avant | autrefois | était | avait | \\w{2,}ait
    antes | era | solía | \\w{2,}aba | \\w{2,}ía | una volta | \\w{2,}va | antigamente | vroeger | woonde | werkte | had
    раньше | был\\w? | жил\\w? | \\w{2,}лa?
    """,
    "以前 曾 过去 過去 だった していた でいた 昔 예전 했었 었",
)


def undone(claim: Claim) -> bool:
    """Whether what was only dreamed, nearly done or advised is told as a fact."""
    if _SAID_SO.search(claim.told):
        return False
    return _DREAMED.search(fold(claim.sentence)) is not None or _all(claim, _ALMOST) or _all(claim, _SHOULD)


def bygone(claim: Claim) -> bool:
    """Whether what the person did once is told as what they do."""
    return _all(claim, _USED_TO) and not _WAS.search(claim.told)


def _all(claim: Claim, pattern: Pattern) -> bool:
    """Whether every clause that the text can be drawn from says it so."""
    return bool(claim.drawn) and all(pattern.search(clause.words) for clause in claim.drawn)
