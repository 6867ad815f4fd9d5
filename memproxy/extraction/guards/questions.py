"""Questions state nothing: "do I like tea?" But what a question takes for granted ("my twins") is said."""

from __future__ import annotations

from memproxy.extraction.guards.claim import Claim, Clause
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
    r"est-ce qu\S*|¿|ai-je|suis-je|puis-je|"
    r"dois-je|сколько|есть ли|"
    r"do you (?:know|think)|is it|are there|can you|could you|would you)"
)
# What states something inside a question: "… now that I live in Tolm", and at its head "I live in Tolm, remember?"
_OPENS_STATING = Pattern(
    r"(?:i|we)(?:'\w{1,2})? \w+|(?:i'm|i've|we're)\b|(?:ich|wir|je|nous|yo|io|eu|ik|jag|jeg|я|мы) \w+|j'\w+|我|"
    r"私は|私が"
)
_STATES = Pattern(
    r"(?<!\w)(?:i|we)(?:'m|'ve|'re|'d|'ll)?(?= \w)|(?<!\w)(?:weil|da|dass|wo|seit|als|obwohl|parce que|car|où|"
    r"quand|depuis que|porque|ya que|"
    r"donde|cuando|perché|siccome|dove|quando|já que|onde|omdat|waar|eftersom|потому что|где|когда) (?:ich|wir|"
    r"je|j'\w+|nous|yo|io|eu|ik|jag|я|мы)(?!\w)"
)
_INVERTED = Pattern(
    rf"(?:{_AUX}|think|believe|says?|said|guess|if|whether|suppose|reckon|know what|know where|know when|know how|"
    rf"(?:true|possible|likely|certain|sure)(?: that)?) (?:i|"
    rf"we)(?!\w)"
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
    drawn = claim.drawn
    return bool(drawn) and all(_asks(clause) for clause in drawn) and not presupposed(claim, with_relatives=True)


def _asks(clause: Clause) -> bool:
    words = clause.words
    particle = _PARTICLE.search(words) is not None
    if not (clause.asked or particle or _ASKS.match(words)) or _WHY.match(words):
        return False
    if particle:
        return True
    if _OPENS_STATING.match(words):
        return False  # "I live in Tolm, remember?", "I still owe you money?"
    inverted = {match.end() for match in _INVERTED.finditer(words)}
    return all(match.end() in inverted for match in _STATES.finditer(words))
