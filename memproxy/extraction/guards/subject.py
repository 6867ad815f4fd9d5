"""Whom a fact is about: the person, and others only in relation to the person. Never the assistant, model or "
"persona."""

from __future__ import annotations

import re

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.lexicon import FIRST, MY_PEOPLE, OF_PEOPLE
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.folding import fold

_ASSISTANT = Pattern(
    r"the (?:model|bot|system) (?:is|was|can|cannot|has|said|knows|likes|runs|recommended|suggested|does)\b|"
    r"(?:(?:the|this|an?|your|der|die|dein\w?|l'|le|la|el|il|lo|o|a|de|het) ?)?"
    r"(?:(?:ai|ki|ia|virtual|voice|digital|helpful|language|large language|chat)[ -]?)?"
    r"(?:assistant\w?|assistent\w?|asistente|assistente|chat ?bot|language model|llm|ai(?: model)?|ki|chatgpt|"
    r"gpt-?\d\w*|"
    r"claude|gemini|copilot|llama|mistral|deepseek|qwen|grok|persona|system prompt|sprachmodell)"
    r"(?:'s (?:name|persona|purpose|model|favou?rite|role))? "
    r"(?:is|was|are|were|has|had|can|cannot|can't|could|does|doesn't|did|didn't|runs?|uses?|used|knows?|likes?|"
    r"dislikes?|"
    r"loves?|hates?|prefers?|finds?|feels?|recommend\w*|suggest\w*|said|says|thinks?|believes?|explained|offer\w*|"
    r"helped|answered|"
    r"replied|provided|told|called|named|speaks?|learned|never|enjoys?|will|would|ist|hat|kann|heisst|mag|schlug|"
    r"empfahl|est|a|peut|aime|s'appelle|propose|es|tiene|puede|sugirió|recomendó|è|ha|può|consiglia|é|tem|pode|"
    r"sugeriu)\b"
    r"|(?:助手|助理|人工智能|ai助手|模型|アシスタント|어시스턴트)(?:是|叫|有|会|喜欢|建议|推荐|は|が|는|가)"
    r"|(?:ассистент|помощник|модель|нейросеть) (?:—|-|это|может|умеет|посоветовал|рекомендует|любит|сказал)"
)
# What the person does with a model is about the person.
_THEIRS = lexicon(
    "my assistant | mein\\w? assistent\\w* | my bot | my chatbot | i built | i train\\w* | we use | i use | i prefer"
)

_NEAR = 30  # characters between a name and what it is to the person
_NAME = r"[^\W\d_a-zß-öø-ÿ][\w'’.-]*"
_SUBJECT = Pattern(rf"(?:(?:The|Der|Die|La|Le|El|Il)\s)?({_NAME}(?:\s{_NAME}){{0,3}})\s(?=[a-zà-öø-ÿ])")
_VERB = Pattern(
    r"\s(?:is|was|are|were|has|had|will|can|likes?|liked|loves?|hates?|dislikes?|works?|worked|lives?|lived|wants?|"
    r"needs?|"
    r"owns?|plays?|studies|teaches|speaks|said|says|thinks|moved|got|became|leads|manages|sells|prefers|joined|left|"
    r"ist|war|hat|hatte|arbeitet|wohnt|lebt|mag|liebt|est|était|a|travaille|habite|vit|aime|es|era|está|tiene|trabaja|"
    r"vive|è|ha|lavora|abita|ama|é|tem|trabalha|mora|gosta)\b"
)
_PRONOUN = Pattern(r"(?:he|she)(?: |'s )")
_OF_THE_PERSON = lexicon(
    "user | user's | the person | person's | their | nutzer\\w* | utilisat\\w+ | usuari[oa] | utente | пользовател\\w+",
    "用户 ユーザー 사용자",
)


def about_the_assistant(claim: Claim) -> bool:
    """Whether the fact is about the assistant. What it *should* do is a wish of the person, and no such fact."""
    return _ASSISTANT.match(claim.told) is not None and _THEIRS.search(claim.said) is None


def about_others(claim: Claim) -> bool:
    """Whether the fact is about somebody else whom nothing relates to the person: neither its text, nor the sentence
    it was taken from, nor another one that names them."""
    told = claim.told
    if OF_PEOPLE.match(told) or _OF_THE_PERSON.search(told) or FIRST.search(told):
        return False
    sentence = claim.sentence
    if FIRST.search(fold(sentence)):
        return False
    name = _somebody(claim.text, sentence)
    if name is None:
        return _PRONOUN.match(told) is not None
    return not _is_related(name, claim)


def whose(claim: Claim) -> str | None:
    """Whose attribute a fact tells, where that is somebody whom the person calls theirs ("my sister Jorun"): the name
    its text begins with, folded.
    """
    subject = _SUBJECT.match(claim.text)
    if subject is None or OF_PEOPLE.match(claim.told) or not _VERB.match(claim.text, subject.end() - 1):
        return None
    name = fold(subject[1])
    for turn in claim.turns:
        for sentence in map(fold, re.split(r"[.!?\n]", turn.content)):
            at = sentence.find(name)
            if at >= 0 and MY_PEOPLE.search(sentence, max(0, at - _NEAR), at + len(name) + _NEAR):
                return name
    return None


def _somebody(text: str, sentence: str) -> str | None:
    """The name a text begins with, where the sentence has it as one: two words of a name, or one inside the "
    "sentence."""
    subject = _SUBJECT.match(text)
    if subject is None or not _VERB.match(text, subject.end() - 1):
        return None
    name = subject[1]
    at = sentence.find(name)
    if at < 0 or (" " not in name and not re.search(r"[\w,]\s+$", sentence[:at])):
        return None
    return name if " " in name or _VERB.match(text, subject.end() - 1) else None


def _is_related(name: str, claim: Claim) -> bool:
    """Whether another sentence, of the person or the assistant, tells what that name is to the person."""
    known = [fold(part) for part in name.split()]
    for turn in (*claim.turns, *claim.context):
        for sentence in re.split(r"[.!?\n]", turn.content):
            folded = fold(sentence)
            if any(part in folded for part in known) and (MY_PEOPLE.search(folded) or _YOURS.search(folded)):
                return True
            if turn.role == "user" and any(part in folded for part in known) and FIRST.search(folded):
                return True
    return False


_YOURS = lexicon(
    "your | dein\\w{0,2} | ihr\\w{0,2} | ton | ta | tes | votre | vos | tu | tus | tuo | tua | teu | seu | sua |"
    " jouw | твой | твоя",
    "你的 您的 あなたの 당신의",
)
