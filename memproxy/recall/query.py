"""Reading a message as a question to memory: what it asks for, whom and when it names, or that it asks for nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from memproxy.recall.dates import When, dates_named
from memproxy.recall.terms import fold_marks, query_terms
from memproxy.recall.words import SAID_ALL_THE_TIME, SMALL_TALK_PHRASES, WORD

QUERY_CHARS = 2_000  # of a message; a longer one is shortened to its beginning, its questions and its end
_HEAD, _QUESTIONS, _TAIL = 400, 800, 800

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_LETTERS = re.compile(r"[^\W\d_]")
_SENTENCE = re.compile(r"[^.!?\n。！？]+([.!?\n。！？]?)")
_LONGEST_QUESTION, _SHORTEST_QUESTION = 400, 8
_SELF = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b", re.IGNORECASE)
# Words for oneself and for what is one's own, in the languages that people write most.
_ONESELF = re.compile(
    r"\b(?:i|me|my|mine|myself|we|us|our|ours|i['’](?:m|ve|d|ll)|ich|mir|mich|mein\w*|wir|uns\w*|je|j['’]\w+|moi|mon|ma|mes|nous|"
    r"nos|notre|yo|mi|mis|mío|mía|conmigo|nosotros|nuestr\w+|io|mio|mia|miei|mie|noi|nostr\w+|eu|meu|minha|meus|minhas|"
    r"nós|noss\w+|jag|mig|min|mitt|mina|vi|oss|jeg|meg|ik|mij|mijn|wij|ons|onze|én|nekem|engem|ja|mój|moja|moje|mnie|"
    r"я|меня|мне|мной|мой|моя|моё|мое|мои|моего|моей|мы|нас|наш\w*)\b|我|咱|私|僕|俺|나는|내가|저는|제가|우리|أنا|لدي|עצמי|שלי",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\b(?:who|whom|whose|what|which|where|when|why|how)\b", re.IGNORECASE)
_PERSONAL = re.compile(
    r"\b(?:who|whom|whose|what|which|where|when|why|how|do|does|did|am|was|is|are|have|has|remind)\b"
    r"[^.!?\n]{0,60}?\b(?:i|my|mine|me)\b[^.!?\n]{0,60}\?",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"^\W*(?:please\s+)?(?:always|never|from now on|whenever|in (?:the )?future)\b|"
    r"\b(?:when(?:ever)? I ask|I(?:'d| would)? (?:always |generally |really )?prefer|make sure (?:to|you) always)\b",
    re.IGNORECASE,
)
_WISH_HINTS = ("always", "never", "from now on", "whenever", "future", "i ask", "prefer")  # a cheap look first
_PAST = re.compile(
    r"\b(?:used to|previously|originally|formerly|earlier|before|back then|in the past|at first|history|"
    r"remember|recall|last time|was i|were we|did (?:i|we|you)|have (?:i|we|you) (?:ever|already)|yesterday|ago)\b",
    re.IGNORECASE,
)
_TIMELINE = re.compile(
    r"\bhow (?:long|many (?:hours|days|weeks|months|years))\b|\bwhen (?:did|was|were|is|will|does|had|have|has)\b|"
    r"\bwhat (?:date|day|month|year)\b|\b(?:what|which) order\b|\bbefore or after\b|\b(?:chronolog|timeline)\w*|"
    r"\b(?:which|who|what)\b[^.!?\n]{0,60}\b(?:first|earlier|later|last|before|after|since)\b|"
    r"\b(?:wie lange|wann|seit wann|combien de temps|depuis quand|quand|cuánto tiempo|cuándo|desde cuándo|da quanto|"
    r"quando|quanto tempo|hoelang|wanneer)\b|多久|什么时候|何时|いつ|何年|언제|когда|сколько времени",
    re.IGNORECASE,
)
_ELAPSED = re.compile(r"\bhow (?:long|many (?:hours|days|weeks|months|years))\b", re.IGNORECASE)
# Asks for all of something, over many conversations.
_GATHERS = re.compile(
    r"\b(?:list|enumerate|summari[sz]e|recap|compare)\b|\b(?:all|every|each) (?:the|of|my|our|that|those|time|\w+s?)\b|"
    r"\b(?:how many|how much|in total|altogether|overall|summary|overview|walk me through|across|throughout|so far|"
    r"comparison|difference between|versus|what (?:kinds|types|sorts) of)\b|"
    r"\b(?:alle[rns]?|sämtliche\w*|auflist\w*|liste|insgesamt|wie ?viele?|zusammenfass\w*|überblick|"
    r"tous|toutes|combien|énumère|résum\w+|todos|todas|cuánt[oa]s?|enumera|resum\w+|tutt[ie]|quant[ie]|elenca|"
    r"riassum\w+|quantos|quantas|lista|hoeveel|samenvatt\w*|opsomm\w*|все|всех|сколько|перечисл\w+)\b|"
    r"所有|全部|列出|总共|总结|多少|すべて|一覧|まとめ|いくつ|모든|전부|목록|요약|몇 ",
    re.IGNORECASE,
)
_ASSISTANT = re.compile(
    r"\b(?:you|your)\b(?:\s+\w+){0,3}?\s+\b(?:sa(?:y|id)|t(?:ell|old)|mention(?:ed)?|suggest(?:ed)?|recommend(?:ed)?|"
    r"advise[d]?|propose[d]?|g[ai]ve|explain(?:ed)?|answer(?:ed)?|reply|replied|list(?:ed)?|name[d]?|"
    r"wr(?:ite|ote)|describe[d]?|generate[d]?|promise[d]?|come up with|came up with)\b|"
    r"\byour (?:\w+ )?(?:answer|suggestion|recommendation|advice|reply|list|explanation|proposal|idea)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Query:
    """A message as a question to memory."""

    text: str  # the message, shortened where it is long
    terms: tuple[str, ...]  # what is looked up lexically: distinct, in order
    small_talk: bool = False  # a greeting, thanks, a bare command: nothing is recalled
    named: frozenset[str] = frozenset()  # participants it names, as their names were given
    nameless: str | None = None  # how it is put without those names, where it is
    dates: tuple[When, ...] = ()
    past: bool = False  # asks how things were
    timeline: bool = False  # asks when, in what order, or how long
    assistant: bool = False  # asks what the assistant said
    personal: bool = False  # asks about oneself ("where do I live?")
    oneself: bool = False  # has a word for oneself or one's own in it
    gathers: bool = False  # asks for all of something
    pinpoints: bool = False  # asks for one thing, or when or in what order something was
    today: date | None = None
    shortened: bool = False

    @property
    def embedded(self) -> str:
        """The words that its vector is made of."""
        return self.nameless or self.text


def read_query(text: str, *, now: datetime) -> Query:
    """Read a message. `now` resolves "last week". Whom it names shows when it is known who is there (`addressed`)."""
    focused = focus(text)
    timeline = _TIMELINE.search(focused) is not None
    gathers = _GATHERS.search(focused) is not None and not (timeline and _ELAPSED.search(focused))
    return Query(
        text=focused,
        terms=tuple(query_terms(focused)),
        small_talk=is_small_talk(text),
        dates=dates_named(focused, now),
        past=_PAST.search(focused) is not None,
        timeline=timeline,
        assistant=_ASSISTANT.search(focused) is not None,
        personal=is_personal(focused),
        oneself=_ONESELF.search(focused) is not None,
        gathers=gathers,
        pinpoints=not gathers and (timeline or _ASKS.search(focused) is not None),
        today=now.date(),
        shortened=focused != text.strip(),
    )


def focus(text: str, limit: int = QUERY_CHARS) -> str:
    """A message short enough to be a question: pasted code and documents are cut down, what was asked about is kept."""
    text = _beside_code(text.strip())
    if len(text) <= limit:
        return text
    head = _up_to_a_blank(text[:_HEAD])
    tail = _from_a_blank(text[-_TAIL:])
    middle = text[len(head) : len(text) - len(tail)]
    asked = " ".join(_questions(middle))
    return "\n".join(filter(None, (head, asked[-_QUESTIONS:], tail)))


def _questions(text: str) -> Iterator[str]:
    """The questions in a text; of a long one its end."""
    for match in _SENTENCE.finditer(text):
        if match[1] in ("?", "？") and len(match[0]) > _SHORTEST_QUESTION:
            yield match[0][-_LONGEST_QUESTION:].strip()


def _beside_code(text: str) -> str:
    """The text without fenced blocks, where it says something beside them: memory is asked by words, not by code."""
    if "```" not in text and "~~~" not in text:
        return text
    words = _FENCED.sub("\n", text).strip()
    return words if words != text and not is_small_talk(words) else text


def is_small_talk(text: str) -> bool:
    """Whether a message asks memory for nothing: no letter in it, or only greetings, thanks and bare commands.

    A question about oneself ("who am I?") is none, whatever its words. A script is never trivial for not being Latin.
    """
    if not _LETTERS.search(text):
        return not re.search(r"\d", text)
    folded = text.casefold()
    words = WORD.findall(folded)
    if len(words) > 12 or (_ASKS.search(folded) and _SELF.search(folded)):
        return False
    phrase = fold_marks(re.sub(r"[^\w]+", "", folded))
    if phrase in _PHRASES:
        return True
    trivial = all(word in SAID_ALL_THE_TIME or word.replace("’", "'") in _CONTRACTED for word in words)
    return trivial and not (words[0] in ("who", "what", "where", "when") and len(words) > 3)


def is_personal(text: str) -> bool:
    """Whether a message asks something about the person who wrote it."""
    return _PERSONAL.search(text) is not None


def is_standing_wish(text: str) -> bool:
    """Whether somebody says how they want things done from now on; such wishes bear on whole kinds of questions."""
    folded = text.lower()
    for hint in _WISH_HINTS:  # asked of every passage that is read: `any` takes twice as long
        if hint in folded:
            return _WISH.search(text) is not None
    return False


def _up_to_a_blank(text: str) -> str:
    cut = max(text.rfind(" "), text.rfind("\n"))
    return text[:cut] if cut > len(text) // 2 else text


def _from_a_blank(text: str) -> str:
    found = re.search(r"\s", text[: len(text) // 2])
    return text[found.end() :] if found else text


_CONTRACTED = frozenset("i'm you're it's that's what's let's don't i'll i've there's how's who's here's we're".split())
_PHRASES = frozenset(fold_marks(phrase) for phrase in SMALL_TALK_PHRASES)
