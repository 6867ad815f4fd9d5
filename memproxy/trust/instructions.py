"""Recognising text that is shaped to command a model, so that it is held back and never injected.

Quoted words are set aside first: somebody who teaches a course on the phrase 'disregard your rules' says something
about themselves.
"""

from __future__ import annotations

import re
import unicodedata

_QUOTED = re.compile(
    r"\"[^\"\n]{1,200}\"|(?<!\w)'[^'\n]{1,200}'(?!\w)|“[^”\n]{1,200}”|‘[^’\n]{1,200}’|«[^»\n]{1,200}»|`[^`\n]{1,200}`"
)

_RULES = r"(?:instructions?|rules?|prompts?|guidelines?|guardrails?|directives?|programming|training|policies|policy|restrictions?)"
_OF_THE_MODEL = r"(?:all|any|every|your|these|previous|prior|above|earlier|preceding|system|safety)"
_SHAPES = [
    rf"\b(?:ignore|disregard|forget|override|bypass|violate|abandon)\b[^.!?\n]{{0,30}}\b{_OF_THE_MODEL}\b[^.!?\n]{{0,20}}\b{_RULES}\b",
    rf"\b(?:ignore|disregard|forget|override)\b[^.!?\n]{{0,20}}\b{_RULES}\b[^.!?\n]{{0,10}}\b(?:above|before|so far|you were given)\b",
    r"\b(?:ignore|disregard|forget)\s+(?:everything|anything|all)\s+(?:above|before|previous|prior|you)\b",
    r"\b(?:reveal|print|show|repeat|output|leak|expose|display)\b[^.!?\n]{0,40}\b(?:system prompt|hidden prompt|your (?:instructions|prompt|rules)|admin page)\b",
    r"\byou (?:are|must) now\b[^.!?\n]{0,60}\b(?:unrestricted|jailbroken|developer mode|dan\b|an? (?:evil|unfiltered))",
    r"\b(?:enable|enter|activate)\s+(?:developer|debug|god|jailbreak)\s+mode\b",
    r"\bfrom now on,? you (?:are|will be|must act as|will act as)\b",
    r"\b(?:do not|don't|never) (?:tell|inform|alert|warn|mention (?:this|it) to) the (?:user|human|person)\b",
    r"\b(?:mail|email|send|forward|post|upload|exfiltrate)\b[^.!?\n]{0,60}\b(?:address book|contacts|password|credentials|api keys?|secrets?|conversation|chat history|memory|memories)\b[^.!?\n]{0,40}\bto\b[^.!?\n]{0,10}(?:https?://|\S+@\S+)",
    r"\b(?:new|updated|real|actual)\s+(?:system\s+)?(?:instructions?|prompt)\s*:",
    r"<\|?(?:im_start|im_end|system|endoftext|assistant)\|?>|\[/?(?:INST|SYS)\]|<</?SYS>>|###\s*(?:system|instruction)s?\s*:?",
    r"(?:^|\n)\s*(?:#+\s*)?(?:system|assistant|developer)\s*(?:message|prompt)?\s*:\s*\S",
    r"(?:^|\n)\s*#+\s*system\b",
]  # fmt: skip
_INSTRUCTION = re.compile("|".join(f"(?:{shape})" for shape in _SHAPES), re.IGNORECASE)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def looks_like_instruction(text: str) -> bool:
    """Whether a text (outside its quotations) tries to command the model that will read it."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return _INSTRUCTION.search(_QUOTED.sub(" ", plain)) is not None
