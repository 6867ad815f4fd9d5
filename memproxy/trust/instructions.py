"""Recognising text that is shaped to command a model, so that it is held back and never injected.

People talk of rules and instructions all day: of school, of work, of a doctor. What gives a command away is that it is
said *to* the model, or of the things that only a model has. Quoted words are set aside first: somebody who teaches a
course on the phrase 'disregard your rules' says something about themselves; a text that is nothing but a quotation is
read like any other.
"""

from __future__ import annotations

import re
import unicodedata

_QUOTED = re.compile(
    r"\"[^\"\n]{1,200}\"|(?<!\w)'[^'\n]{1,200}'(?!\w)|“[^”\n]{1,200}”|‘[^’\n]{1,200}’|«[^»\n]{1,200}»|`[^`\n]{1,200}`"
)
_WORDS_BESIDE_A_QUOTATION = 3

# Where a command begins: at the head of a sentence, or behind a word that addresses the model.
_TO_THE_MODEL = (
    r"(?:(?:\A|[.!?:;,\n>*•–—-]|\b(?:please|kindly|now|then|and|just|instead|immediately|so|also|first|"
    r"(?:you|assistant|model|ai|chatbot|bot|llm)(?: (?:must|should|shall|will|can|have to|need to|are to|to|may|agree to))))"
    r"\s{0,9})"
)
_DROP = r"(?:ignore|disregard|forget|override|bypass|violate|abandon|discard)"
_WHOSE = r"(?:all|any|every|your|these|those|the|previous|prior|above|earlier|preceding|system|safety)"
_BEFORE = r"(?:previous|prior|above|earlier|preceding|system|safety)"
_OF_A_MODEL = r"(?:(?:system )?prompts?|instructions?|directives?|guardrails?|programming)"
_RULES = rf"(?:{_OF_A_MODEL}|rules?|guidelines?|training|policies|policy|restrictions?)"
_SECRET_TEXT = r"(?:(?:system|hidden|secret|initial) prompt|your (?:(?:hidden|secret|initial|original|internal|system) )?prompt|your (?:hidden|secret|initial|original|internal|system) (?:instructions|rules))"

# On the text with its white space collapsed.
_SAID = [
    rf"\b{_DROP}\b[^.!?]{{0,30}}\b{_BEFORE}\b[^.!?]{{0,20}}\b{_OF_A_MODEL}\b",
    rf"{_TO_THE_MODEL}{_DROP}\b[^.!?]{{0,30}}\b{_WHOSE}\b[^.!?]{{0,20}}\b{_RULES}\b",
    rf"{_TO_THE_MODEL}{_DROP}\b[^.!?]{{0,20}}\b{_RULES}\b[^.!?]{{0,10}}\b(?:above|before|so far|you were given)\b",
    rf"{_TO_THE_MODEL}{_DROP} (?:everything|anything|all)(?: (?:that was|that is|said|written|of the))? (?:above|before (?:this|that)|previous|prior|you (?:were|have been|know))\b",
    rf"\b(?:reveal|print|show|repeat|output|leak|expose|display|quote|recite)\b[^.!?]{{0,40}}\b{_SECRET_TEXT}\b",
    r"\b(?:reveal|leak|expose)\b[^.!?]{0,30}\b(?:admin page|system message)\b",
    r"\byou (?:are|must) now\b[^.!?]{0,60}\b(?:unrestricted|jailbroken|developer mode|dan\b|an? (?:evil|unfiltered))",
    r"\b(?:enable|enter|activate) (?:god|jailbreak|dan) mode\b",
    r"\bfrom now on,? you (?:are|will be|must act as|will act as)\b",
    r"\b(?:do not|don't|never) (?:tell|inform|alert|warn|mention (?:this|it) to) the (?:user|human)\b",
    r"\b(?:mail|email|send|forward|post|upload|exfiltrate)\b[^.!?]{0,60}\b(?:address book|contacts|password|credentials|api keys?|secrets?|conversation|chat history|memory|memories)\b[^.!?]{0,40}\bto\b[^.!?]{0,10}(?:https?://|[^\s@]{1,60}@\S)",
    r"\b(?:new|updated|real|actual) system (?:instructions?|prompt|message)\b",
    r"<\|(?:im_start|im_end|system|user|endoftext|assistant)\|?>|\[/?(?:INST|SYS)\]|<</?SYS>>",
]  # fmt: skip
# On the text as it stands, at the head of a line.
_LINES = [
    r"^[^\S\n]*+(?:new|updated|real|actual)[ ](?:instructions?|prompt)[^\S\n]*+:",
    r"^[^\S\n]*+#++[^\S\n]*+(?:system|instructions?)(?:[ ](?:prompt|message|override))?[^\S\n]*+:?[^\S\n]*+$",
    r"^[^\S\n]*+</?(?:system|instructions?)>",
    r"^[^\S\n]*+(?:#++[^\S\n]*+|\[)?(?:system|assistant|developer)(?:[ ](?:message|prompt|note|override))?\]?[^\S\n]*+:\s*+"
    r"(?:you\b|your\b|ignore|disregard|forget|override|always|never|from now|do not|don't|reveal|obey|answer|respond|reply|act)",
]  # fmt: skip
_SAID_SHAPE = re.compile("|".join(f"(?:{shape})" for shape in _SAID), re.IGNORECASE)
# Of what can stand in `_SAID` one of these does, in any text of ASCII (others have more ways to write a letter, case
# aside). Most texts hold none, and to look for these costs next to nothing beside looking for the shapes.
_SIGNS = (
    "ignore", "disregard", "forget", "override", "bypass", "violate", "abandon", "discard", "prompt", "instructions",
    "rules", "admin page", "system ", "you are now", "you must now", " mode", "from now on", "the user", "the human",
    "://", "@", "<|", "inst]", "sys]", "sys>>",
)  # fmt: skip
_LINE_SHAPE = re.compile("|".join(f"(?:{shape})" for shape in _LINES), re.IGNORECASE | re.MULTILINE)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def looks_like_instruction(text: str) -> bool:
    """Whether a text (outside its quotations) tries to command the model that will read it."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).replace("’", "'")
    beside = _QUOTED.sub(" … ", plain)
    if len(re.findall(r"[^\W_]+", beside)) < _WORDS_BESIDE_A_QUOTATION:
        beside = plain.strip(" \t\n\"'`“”‘’«»")
    return _LINE_SHAPE.search(beside) is not None or _says(" ".join(beside.split()))


def _says(text: str) -> bool:
    folded = text.lower()
    if text.isascii() and not any(sign in folded for sign in _SIGNS):
        return False
    return _SAID_SHAPE.search(text) is not None
