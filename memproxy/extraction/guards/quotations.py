"""Other people's "I": what stands in quotation marks as somebody's speech, and what repeats the assistant's words."""

from __future__ import annotations

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.lexicon import FIRST
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.folding import fold
from memproxy.recall.terms import terms

_MARKS = Pattern(
    r"\"(?P<a>[^\"\n]{8,600})\"|“(?P<b>[^”\n]{8,600})”|„(?P<c>[^“”\"\n]{8,600})[“”\"]|«(?P<d>[^»\n]{8,600})»|"
    r"»(?P<e>[^«\n]{8,600})«|「(?P<f>[^」\n]{4,600})」|(?<![\w'])'(?P<g>[^'\n]{12,600})'(?!\w)"
)
# "I told her …": the person quotes themselves.
_OWN_SPEECH = lexicon(
    "i (?:\\w+ )?(?:said|told|say|wrote|answered|replied|asked|always say|tell) | i'm like | i was like | and i |"
    " my motto\\w* | my name\\w* | ich (?:sagte|habe gesagt|schrieb|antwortete|sage) | j'ai (?:dit|répondu|écrit) |"
    " je (?:dis|lui ai dit) | "
    "(?:yo )?(?:dije|le dije|respondí|digo) | ho (?:detto|risposto) | eu (?:disse|falei|respondi) | я (?:сказал\\w?|"
    "ответил\\w?|говорю)",
    "我说 我說 私は「",
)
_REPEATED = 6  # words that nobody says by chance as the assistant said them


def quoted(claim: Claim) -> bool:
    """Whether the words are somebody's speech in quotation marks, or what the text says was said by the assistant."""
    return _in_marks(claim) or _repeats_the_assistant(claim) or _only_the_assistant_said_it(claim)


def _in_marks(claim: Claim) -> bool:
    """Whether the words are somebody's speech: quoted within its marks, or drawn from nothing but what these hold."""
    for marks in _MARKS.finditer(claim.turn.content):
        start, end = marks.span()
        if claim.drawn_within(start, end):
            before = fold(claim.turn.content[max(0, start - 80) : start])
            return FIRST.search(fold(marks[0])) is not None and not _OWN_SPEECH.search(before)
    return False


def _repeats_the_assistant(claim: Claim) -> bool:
    said = claim.said.strip(" .,;:!?\"'")
    if len(said.split()) < _REPEATED or not FIRST.search(said):
        return False
    return any(said in fold(turn.content) for turn in claim.context)


def _only_the_assistant_said_it(claim: Claim) -> bool:
    """Whether all that the text shares with the conversation is what the assistant said, without asking: "Sounds good"
    to a lake that it praised makes no liking of that lake. An answer to a question takes its words from the question.
    """
    before = max((t for t in claim.context if t.seq < claim.turn.seq), key=lambda turn: turn.seq, default=None)
    if before is None or any(mark in before.content for mark in "?？؟"):
        return False
    told = set(terms(claim.text))
    return bool(told & set(terms(before.content))) and not told & set(terms(claim.turn.content))
