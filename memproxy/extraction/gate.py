"""Which turns are worth a model call at all."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from memproxy.folding import fold
from memproxy.model import Turn

# Acknowledgements and greetings that hold nothing to remember (yes and no may answer a question, so they are not here).
_TRIVIAL = frozenset(
    phrase.strip()
    for phrase in """
    thanks | thank you | thank you so much | thanks a lot | thx | ty | cheers | merci | danke | gracias
    hello | hi | hey | hi there | hello there | hola | bonjour | hallo | good morning | morning | good afternoon
    good evening | good night | bye | goodbye | see you
    ok | okay | okey | k | kk | got it | sure | understood | roger | ack | right | alright | all right | fine | indeed
    ok thanks | okay thanks | np | no problem | cool | great | awesome | nice | perfect | good | wow | lol | haha
    hm | hmm | hm ok | go on | continue | please continue | again | try again | fix it | test | ping
    """.replace("\n", "|").split("|")
    if phrase.strip()
)


def trivial(text: str) -> bool:
    """Whether a turn is empty or nothing but a greeting or an acknowledgement, in any script."""
    words = " ".join(re.findall(r"\w+", fold(text)))
    if not words:
        return not any(unicodedata.category(c)[0] in "LN" for c in text)
    return words in _TRIVIAL


def ignored(text: str, patterns: Iterable[re.Pattern[str]]) -> bool:
    """Whether an operator's ignore pattern matches the turn."""
    return any(pattern.search(text) for pattern in patterns)


def without_quotations(turn: Turn, earlier: Sequence[Turn]) -> str:
    """The turn's text without quoted lines ("> …") that repeat what the assistant said before."""
    if ">" not in turn.content:
        return turn.content
    said = fold(" ".join(other.content for other in earlier if other.role == "assistant"))
    kept = []
    for line in turn.content.split("\n"):
        match = re.match(r"\s*(?:>\s*)+(.+)", line)
        if match is None or fold(match[1]) not in said:
            kept.append(line)
    return "\n".join(kept).strip()
