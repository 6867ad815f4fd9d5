"""Questions state nothing: "do I like tea?" But what a question takes for granted ("my twins") is said."""

from __future__ import annotations

from memproxy.extraction.guards.claim import Claim, Clause, clauses
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.extraction.guards.presupposed import presupposed

_WH = (
    r"what|which|who|whom|whose|where|when|how|was|welche\w?|wer|wen|wem|wo|wohin|wann|wie|quoi|que|quel\w*|qui|où|"
    r"quand|comment|combien|qué|cuál\w*|quién\w*|dónde|cuándo|cómo|cuánt\w+|che|cosa|quale|chi|dove|come|quanto|"
    r"o que|qual|quem|onde|quando|como|quanto|wat|welke|wie|waar|wanneer|hoe|vad|var|hur|hva|hvor|co|kto|gdzie|kiedy|"
    r"jak|"
    r"что|кто|где|куда|когда|как|какой|какая|какие|сколько"
)
_AUX = (
    r"do|does|did|am|is|are|was|were|can|could|should|would|will|shall|may|might|must|have|has|had|don't|doesn't|"
    r"didn't|"
    r"isn't|aren't|can't|won't|shouldn't|haven't"
)
# A clause that asks, by how it begins. "When I was twelve" and "how I love tea" ask nothing.
_ASKS = Pattern(
    rf"(?:(?:and|so|but|or|also|hey|hi|ok|okay|please|tell me|und|oder|et|y|e|en|а|и),? )*+"
    rf"(?:(?:{_AUX}) (?:i|we|you|he|she|it|they|my|our|there|this|that)\b|(?:{_WH})(?:'s|'re|"
    rf"'d)? (?:\S+ ){{0,3}}?(?:{_AUX})\b|"
    r"(?:\w+ )(?:ich|wir)\b(?! (?:bin|habe|war|wohne|arbeite|lebe|komme))|est-ce qu\S*|¿|ai-je|suis-je|puis-je|"
    r"dois-je|сколько|есть ли|"
    r"do you (?:know|think)|is it|are there|can you|could you|would you)"
)
_STATES = Pattern(
    r"(?<!\w)(?:i|we)(?:'m|'ve|'re|'d|'ll)?(?: \w+)?(?!\w)|(?<!\w)(?:ich|wir|je|j'\w+|nous|yo|io|eu|ik|jag|jeg|я|"
    r"мы) \w+|我|私は|私が"
)
_INVERTED = Pattern(
    rf"(?:{_AUX}|think|believe|say|guess|if|whether|suppose|reckon|know what|know where|know when|know how|ob|si|se|"
    rf"ли) "
    r"(?:i|we|ich|wir|je|yo|io|eu|ik|jag|jeg|я|мы)(?!\w)"
)
_WHY = lexicon(
    "why | how come | warum | wieso | weshalb | pourquoi | por qué | perché | por que | waarom | varför | hvorfor |"
    " почему | зачем",
    "为什么 なぜ どうして 왜",
)
_PARTICLE = Pattern(r"[吗嗎呢]\s*[?？]?\Z|(?:です|ます|でしょう|の)か[。?？]?\Z|(?:까요|나요|니까)[?？]?\Z")


def only_asked(claim: Claim) -> bool:
    """Whether the words the fact is drawn from only ask. What the question presupposes is said, and so is what stands
    beside it; a tag ("…, right?") makes no question.
    """
    drawn = claim.drawn()
    sentence = {clause.words: clause for clause in clauses(claim.sentence)}
    asking = [_in_full(clause, sentence) for clause in drawn]
    return bool(asking) and all(_asks(clause) for clause in asking) and not presupposed(claim, with_relatives=True)


def _in_full(clause: Clause, sentence: dict[str, Clause]) -> Clause:
    """The whole clause of the sentence in which a quoted part of one stands."""
    return next((whole for words, whole in sentence.items() if clause.words.strip(" ?.!") in words), clause)


def _asks(clause: Clause) -> bool:
    words = clause.words
    if not (clause.asked or _ASKS.match(words) or _PARTICLE.search(words)):
        return False
    if _WHY.match(words):
        return False
    if clause.asked and _STATES.match(words) and not _PARTICLE.search(words):
        return False  # "I live in Tolm, remember?", "I still owe you money?"
    inverted = [match.end() for match in _INVERTED.finditer(words)]
    own = [
        match
        for match in _STATES.finditer(words)
        if not any(match.start() < end <= match.end() + 1 for end in inverted)
    ]
    return not own or bool(_PARTICLE.search(words)) or _ASKS_ITSELF.match(words) is not None


_ASKS_ITSELF = Pattern(rf"(?:{_AUX}) (?:i|we)\b(?!.*\b(?:i|we)(?:'m|'ve)? (?:\w+))")
