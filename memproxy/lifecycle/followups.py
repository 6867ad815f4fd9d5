"""Questions that only make sense after what was said before: "why?", "and the other one?", "where does she live?".

They are put to memory together with the question they follow and with the names in its answer, as far as the request
itself carries these. A question that stands by itself is asked by itself: what was drifted through earlier in a
conversation does not colour it. By rules alone, and rather too seldom than too often. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memproxy.lifecycle.mentions import names
from memproxy.model import Message
from memproxy.recall.query import is_small_talk
from memproxy.recall.terms import query_terms

LOOKED_BACK = 3  # messages of the person that a chain of such questions may lead back over
NAMES = 8  # of the answer before, the last ones
EARLIER_CHARS = 400  # of a message that is followed up, its end: there it asks
_LONGEST = 120  # characters of a follow-up
_STRONG_TERMS, _WEAK_TERMS = 3, 2  # content terms beside a word that points, clearly or perhaps

# All there is to a message, but for marks: a question word without its question.
_BARE = frozenset(
    (
        *(
            "why",
            "why not",
            "why so",
            "why is that",
            "why was that",
            "how",
            "how so",
            "how come",
            "when",
            "where",
            "who",
        ),
        *("whom", "which", "which one", "which ones", "since when", "with whom", "with who", "who with", "what for"),
        *("what else", "who else", "where else", "when else", "anything else", "anyone else", "and then", "like what"),
        *("how long", "how much", "how many", "how often", "how old", "how far", "what kind", "and what else"),
        *("warum", "wieso", "weshalb", "warum nicht", "wie", "wann", "wo", "wer", "wen", "wem", "welche", "welcher"),
        *("welches", "was noch", "wer noch", "wo noch", "und dann", "seit wann", "mit wem", "wofür", "wie lange"),
        *("wie viel", "wie viele", "wie oft", "wie alt", "wie weit", "sonst noch was"),
        *("pourquoi", "pourquoi pas", "comment", "quand", "où", "qui", "lequel", "laquelle", "lesquels", "lesquelles"),
        *("quoi d'autre", "qui d'autre", "et après", "et ensuite", "depuis quand", "avec qui", "combien"),
        *("combien de temps", "por qué", "por qué no", "cómo", "cuándo", "dónde", "quién", "cuál", "cuáles"),
        *("qué más", "quién más", "y luego", "y después", "desde cuándo", "con quién", "cuánto", "cuántos"),
        *("perché", "perché no", "come", "dove", "chi", "quale", "quali", "cos'altro", "e poi", "da quando", "con chi"),
        *("quanto", "quanti", "por quê", "como", "quando", "onde", "quem", "qual", "quais", "o que mais", "e depois"),
        *("desde quando", "com quem", "waarom", "hoezo", "hoe", "wanneer", "waar", "wie nog meer", "welke", "en dan"),
        *("sinds wanneer", "met wie", "hoe lang", "hoeveel", "почему", "зачем", "как", "когда", "где", "кто", "какой"),
        *("какая", "какие", "а потом", "с кем", "сколько", "как долго", "что ещё", "кто ещё"),
        *("为什么", "为什么呢", "怎么", "什么时候", "在哪里", "哪里", "哪个", "谁", "然后呢", "还有呢", "多久", "多少"),
        *(
            "なぜ",
            "なんで",
            "どうして",
            "いつ",
            "どこ",
            "誰",
            "だれ",
            "どれ",
            "どっち",
            "それから",
            "他には",
            "ほかには",
        ),
        *("왜", "왜요", "어떻게", "언제", "어디", "어디서", "누구", "어느", "그리고", "또"),
    )
)
# How somebody asks on: what follows is only what is different now.
_ON = re.compile(
    r"^\W*(?:and|but|(?:and )?(?:what|how) about|what of|und|aber|was ist mit|wie steht(?:'s| es) mit|"
    r"et|mais|qu'en est-il d[eu']|y|pero|qué (?:hay de|pasa con)|e|ma|mas|che mi dici di|en|maar|hoe zit het met|"
    r"а как насч[её]т|а|и|но)\b\s*(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_AUXILIARIES = frozenset("is are am was were do does did has have had can could will would should may must".split())
_ON_AT_THE_END = re.compile(r"^[^?？。!！]{1,12}(?:呢|は|のは|은요|는요|도요)\s*[?？]\W*$")
_CLEAR = re.compile(
    r"\b(?:he|him|his|she|her|hers|they|them|their|theirs|(?:the|that|this|these|those) (?:other|others|first|second|"
    r"third|last|latter|former|same|one|ones|two)|neither|"
    r"er|ihn|ihm|ihnen|(?:der|die|das|den|dem) ander\w*|dort|dazu|davon|damit|dabei|darüber|"
    r"elle|elles|lui|leur|eux|l['’]autre|ella|ellas|ellos|él|el otro|la otra|los otros|las otras|"
    r"lei|loro|l['’]altr[oa]|ela|elas|ele|eles|o outro|a outra|hij|hem|zij|haar|hen|(?:de|het) andere|"
    r"он|его|ему|ним|она|её|ей|ней|они|их|им|друг(?:ой|ая|ое|ие))\b|她|他|它|那个|另一个|另外|彼|それ|あれ|もう一つ|그녀|그는|그것|다른",
    re.IGNORECASE,
)
_PERHAPS = re.compile(
    r"\b(?:it|its|that|this|those|these|there|both|sie|ihr|das|dies\w*|ça|cela|eso|esto|ahí|questo|quello|isso|"
    r"dat|dit|это|этот|эта|там)\b",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\b(?:(?:what|which) (?:time|day|date|year)|how late) is it\b|"
    r"\b(?:is|was|will|would) it (?:be )?(?:rain|snow|cold|hot|warm|sunny|"
    r"windy|dark|late|early|possible|true|safe|legal|worth|ok|okay|normal|bad|good)",
    re.IGNORECASE,
)
# Somebody's or something's own: what is asked about is named in the question.
_OWN = re.compile(
    r"\b(?:my|our|your|mein\w*|unser\w*|mon|ma|mes|nos|notre|mi|mis|nuestr\w+|mio|mia|miei|mie|meu|minha|meus|minhas|"
    r"mijn|onze|мо[йяеёи]\w*|наш\w*)\s+\w",
    re.IGNORECASE,
)


def resolved(words: str, earlier: Sequence[Message]) -> str:
    """A message as a question to memory: as it is, or after what it follows up.

    `earlier` are the messages of the request before it that the person and the assistant spoke, in order.
    """
    if not earlier or not follows_up(words):
        return words
    asked: list[str] = []
    for message in reversed(earlier):
        if message.role != "user" or is_thanks(message.text):
            continue
        asked.insert(0, message.text.strip()[-EARLIER_CHARS:])
        if len(asked) == LOOKED_BACK or not follows_up(message.text):
            break
    last = earlier[-1]
    answered = names([last.text])[-NAMES:] if last.role == "assistant" else []
    return "\n".join([*asked, *([", ".join(answered)] if answered else []), words])


def follows_up(text: str) -> bool:
    """Whether a message asks on about something that it does not name."""
    said = text.strip()
    if len(said) > _LONGEST:
        return False
    bare = re.sub(r"[^\w'’ ]+", " ", said).casefold().replace("’", "'")
    if " ".join(bare.split()) in _BARE or _ON_AT_THE_END.match(said):
        return True
    if is_thanks(said):
        return False
    if _asks_on(said):
        return True
    terms = len(query_terms(said))
    if _EXPLETIVE.search(said) is not None or names([said]) or _OWN.search(said) is not None:
        return False
    return (_CLEAR.search(said) is not None and terms <= _STRONG_TERMS) or (
        _PERHAPS.search(said) is not None and 0 < terms <= _WEAK_TERMS and ("?" in said or "？" in said)
    )


def _asks_on(said: str) -> bool:
    """Whether it says only what is different now ("and my brother?"), not a question of its own ("and where is …?")."""
    match = _ON.match(said)
    if match is None or not ("?" in said or "？" in said):
        return False
    first = re.split(r"\W", match["rest"].casefold(), maxsplit=1)[0]
    return first not in _BARE and first not in _AUXILIARIES and len(query_terms(match["rest"])) <= _STRONG_TERMS


def is_thanks(text: str) -> bool:
    """Whether a message is a greeting, thanks, or a bare command, and no question."""
    return "?" not in text and "？" not in text and is_small_talk(text)
