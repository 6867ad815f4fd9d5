"""Where a memory stands in the block, and how its words are made safe to stand there."""

from __future__ import annotations

import re
from functools import lru_cache

from memproxy.model import Candidate

IDENTITY = "[IDENTITY]"
VERIFIED = "[RECALLED CONTEXT -- VERIFIED]"
INFERRED = "[RECALLED CONTEXT -- INFERRED]"
UNCERTAIN = "[RECALLED CONTEXT -- UNCERTAIN]"
TIMELINE = "[TIMELINE]"
ARTIFACTS = "[CODE AND DATA]"
EMOTIONAL = "[EMOTIONAL STATE]"
THREADS = "[OPEN THREADS]"
PROACTIVE = "[PROACTIVE CONTEXT]"
PAST = "[PAST CONVERSATIONS]"
SESSION = "[SESSION CONTEXT]"
ORDER = (
    IDENTITY,
    EMOTIONAL,
    THREADS,
    VERIFIED,
    INFERRED,
    UNCERTAIN,
    TIMELINE,
    ARTIFACTS,
    PROACTIVE,
    PAST,
    SESSION,
)
SURE = 0.8  # confidence from which a fact the person stated counts as verified
LIKELY = 0.5  # … and below which it is uncertain

# Bidirectional embeddings, overrides and isolates could reorder what stands around them; zero-width and tag characters
# hide text. Joiners stay (emoji families, Persian), as do left-to-right and right-to-left marks and a flag's own tags.
_UNSEEN = re.compile(
    "[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u200b\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
    "|(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0001-\U000e007f]+"
)
_ROLE_LABEL = re.compile(
    r"^([ \t>#*_]{0,8}(?:system|assistant|developer|user|human|ai|tool|function)[*_]{0,3}[ \t]{0,3})[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_MARKER = re.compile(r"<?\s*/?\s*memproxy[\s_-]*memory\s*>?", re.IGNORECASE)
_NAMES = "|".join(name.strip("[]").split(" -- ")[0].replace(" ", r"\s+") for name in ORDER)
_SECTION = re.compile(rf"[\[［【]\s*((?:{_NAMES})[^\[\]\n]{{0,40}}?)\s*[\]］】]", re.IGNORECASE)
_TEMPLATE = re.compile(r"<(?=\|)|\|(?=>)|<<(?=/?SYS>>)|\[(?=/?INST\])")  # chat templates' own tokens: broken by a blank
_BRACKET = re.compile("[<\\[［【]")


def section_of(candidate: Candidate) -> str:
    """The person's own words and sure facts are verified; what the assistant said, or is less sure, is inferred, and
    facts that are less than likely are uncertain.
    """
    if candidate.kind == "summary":
        return PAST
    if candidate.role == "user" and (candidate.kind == "turn" or candidate.confidence >= SURE):
        return VERIFIED
    return UNCERTAIN if candidate.kind == "fact" and candidate.confidence < LIKELY else INFERRED


def one_line(text: str) -> str:
    """The text as one line that can pose as nothing but an item: no marker, section, role label, hidden character.

    Ordinary text comes out word for word; only its white space is collapsed.
    """
    if not (text.isascii() and text.isprintable()):  # cheap looks first: most text needs none of this
        text = _UNSEEN.sub("", text)
    if ":" in text or "：" in text:
        text = _ROLE_LABEL.sub(r"\1 -", text)
    if "memproxy" in text.lower():
        text = _MARKER.sub(" (memory block) ", text)
    if _BRACKET.search(text):
        text = _SECTION.sub(r"(\1)", text)
        text = _TEMPLATE.sub(r"\g<0> ", text)
    return " ".join(text.split())


def label(candidate: Candidate) -> str:
    """What stands before the words: who said them, or how far they can be relied on. A sure fact stands for itself."""
    if candidate.kind == "turn":
        return _name(candidate.speaker or "", candidate.role)
    if candidate.kind != "fact":
        return ""
    if candidate.confidence < LIKELY:
        return "Perhaps: "
    if candidate.role != "user":
        return "As the assistant put it: "
    return "" if candidate.confidence >= SURE else "Probably: "


def topic(tag: str) -> str:
    """A tag as the heading of what is known about it; "" for what has none of its own."""
    name = re.sub(r"[^\w &/]+", " ", one_line(tag)).strip()[:40]
    return "" if name.casefold() in ("", "other") else f"{name[:1].upper()}{name[1:]}:"


@lru_cache(maxsize=1024)  # the same few speakers stand before every line
def _name(speaker: str, role: str) -> str:
    name = one_line(speaker).strip(" -:[]<>#")[:60]
    return f"{name or ('User' if role == 'user' else 'Assistant')}: "
