"""Remarks of the extractor about its material, taken for facts."""

from __future__ import annotations

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.patterns import Pattern, lexicon

# "I cannot eat nuts" and "The user does not drive" are none.
_REMARK = Pattern(
    r"""(?x)
    (?: i\ (?:cannot|can't|could\ not|couldn't|am\ unable\ to|found\ no|find\ no|did\ not\ find) | unable\ to
      | no\ (?:lasting\ |relevant\ |new\ |personal\ |specific\ |notable\ |further\ )*+
        (?:facts?|information|details?|data|memories|results?|matches)\b
      | (?:the\ )?(?:memory\ |web\ )?search(?:es)?\ (?:returned|found|gave|yielded|showed)
      | nothing\ (?:to|was|relevant|new|notable|personal)\b | there\ (?:is|are|was|were)\ (?:no|nothing)\b )
    (?=.*\b(?:extract|find|found|identify|determine|note|record|report|remember|store|provided|given|mentioned|stated
      |shared|available|facts?|information|details|results?|matches|nothing|returned)\b)
    | (?:the|this)\ (?:conversation|chat|text|message|transcript|input|turn|exchange|quote)s?
      \ (?:is|are|does|do|contains?|holds?|has|have|only|provides?|shows?|consists?|was|suggests?|mentions?)\b
    | (?:the\ )?user
      \ (?:asked|asks|is\ asking|wants\ to\ know|inquire[sd]?|greet(?:s|ed)|thank(?:s|ed)\ the\ assistant|sent|typed
        |wrote\ a\ message|said\ (?:hello|hi|thanks|ok)|acknowledge[sd]?|responded|replied)\b
    | (?:the\ )?user
      \ (?:did\ not|didn't|does\ not|doesn't|has\ not|hasn't|provides?\ no|provided\ no|shares?\ no|shared\ no)
      .{0,20}\b(?:mention|state|share|provide|reveal|give|disclose|information|details|facts)\b
    | (?:der|die)\ (?:nutzer(?:in)?|user|benutzer(?:in)?)\ (?:fragt|fragte|möchte\ wissen|hat\ gefragt|bittet|grüsst)\b
    | l'utilisat(?:eur|rice)\ (?:demande|a\ demandé|veut\ savoir|salue|remercie)\b
    | (?:el|la)\ usuari[oa]\ (?:pregunta|preguntó|quiere\ saber|saluda|pide|pidió)\b
    | l'utente\ (?:chiede|ha\ chiesto|vuole\ sapere|saluta)\b
    | [oa]\ usuári[oa]\ (?:pergunta|perguntou|quer\ saber|cumprimenta)\b
    | пользователь\ (?:спрашивает|спросил|хочет\ узнать|поздоровался|просит)
    | 用户(?:询问|问|想知道|请求|打招呼|提问) | ユーザーは?.{0,20}(?:尋ね|質問し|聞い|挨拶)
    | 사용자(?:가|는).{0,20}(?:물었|질문|인사)
    """
)
# A request, retold as if it said something of the person. "Asked for a raise" may do so; its words tell.
_RETOLD = Pattern(
    r"(?:(?:the )?user )?(?:asked|asks|asking|is asking|inquired|inquires|enquired|requested|requests|is requesting|"
    r"wanted to know|wants to know|is looking for an answer|sought|queried|wonders|wondered) "
    r"(?:\w+ ){0,3}?(?:about|for|how|what|whether|if|why|when|where|which|who|the assistant|to|an?|the|help)\b"
)
_OF_ASKING = lexicon(
    "ask\\w*+ | inquir\\w++ | enquir\\w++ | request\\w*+ | want\\w* to know | sought | wonder\\w*+ | quer\\w++"
)


def comments(claim: Claim) -> bool:
    """Whether the text is about the conversation, the search or the request, and not about the person."""
    told = claim.told
    if _REMARK.match(told):
        return True
    return _RETOLD.match(told) is not None and _OF_ASKING.search(claim.said) is None
