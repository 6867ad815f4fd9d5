"""What is only supposed: "if I were a pilot", "let's say I live in Oslo"."""

from __future__ import annotations

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.folding import fold
from memproxy.recall.terms import terms

# What a person never says of how things are: of this sentence alone.
_UNREAL = Pattern(
    r"(?<!\w)(?:if|even if|as if|as though|what if) (?:only )?(?:i|we|my \w+) (?:were|was|had|won|could|didn't|"
    r"wasn't|weren't|hadn't|lived|owned|worked|ever)\b|(?<!\w)i wish (?:i|we) (?:were|was|had|could|lived|owned)\b|"
    r"(?<!\w)(?:were i|had i) (?:to |a |an |the |not )|wenn ich (?:\S+ ){0,6}?(?:wäre|hätte|könnte|würde)|wäre ich |"
    r"hätte ich |würde ich .{0,40}(?:wäre|hätte)|als ob ich|"
    r"si (?:j'étais|j'avais|je pouvais|j'habitais|nous étions|nous avions)|si (?:yo )?(?:fuera|fuese|tuviera|tuviese|"
    r"viviera|pudiera)|ojalá|"
    r"se (?:io )?(?:fossi|avessi|potessi|vivessi)|se (?:eu )?(?:fosse|tivesse|pudesse|morasse)|"
    r"als ik (?:\S+ ){0,5}?(?:was|had|zou)\b|om jag (?:vore|hade)|hvis jeg (?:var|hadde|havde)|gdybym|"
    r"если бы|будь я |如果我是|要是我|假如我|もし(?!れ)|만약 (?:내가|제가)"
)
# What opens a supposition that may go on for sentences.
_SUPPOSE = lexicon(
    """
    suppose | supposing | let's say | lets say | let us say | say i were | imagine | assume | assuming | let's assume
    hypothetically | hypothetical(?:ly speaking)?(?= (?:question|scenario|case|speaking)) | picture this
    (?:as an|for) example,? say | for instance,? say | say for example | say,? for (?:instance|example)
    let's imagine | let's suppose | for the sake of argument | in a hypothetical \\w++ | thought experiment
    angenommen | nehmen wir an | nehmen wir mal an | gesetzt den fall | stell dir vor | stellen sie sich vor
    mal angenommen | hypothetisch
    supposons | imagine(?:z|ons)? que | imaginons | admettons | mettons que | hypothétiquement
    supongamos | imagina que | imaginemos | pongamos que | digamos que | hipotéticamente | supponiamo | immagina
    mettiamo che | poniamo che | diciamo che | ipoteticamente
    suponha(?:mos)? | imagine que | imagina que | digamos que | vamos supor | hipoteticamente | stel dat
    stel je voor | anta att | tänk dig | anta at | tenk deg | załóżmy | wyobraź sobie
    предположим | допустим | представь | представим | гипотетически
    """,
    "假设 假設 假如 假定 想象一下 仮に たとえば私が 가정 상상해",
)  # fmt: skip
_REAL = lexicon(
    """
    in reality | in real life | really though | for real | actually | in fact | as a matter of fact | in truth
    seriously | btw | by the way | jokes aside | back to
    in wirklichkeit | tatsächlich | eigentlich | übrigens | im ernst | en réalité | en fait | au fait | sérieusement
    en realidad | en verdad | por cierto | en serio
    in realtà | a proposito | sul serio | na verdade | na realidade | aliás | in werkelijkheid | trouwens | egentligen
    på riktigt | på ordentlig | naprawdę | на самом деле | кстати | серьёзно
    """,
    "其实 其實 实际上 事实上 顺便 実は 実際 ところで 사실 실제로",
)
_IF = lexicon(
    "if(?! (?:possible|necessary|needed|you|it)\\b) | in case | unless | falls | sofern | wenn | si | au cas où |"
    " en caso de que | se | qualora | caso | als |"
    " indien | om | hvis | jeśli | если",
    "如果 要是 もし(?!れ) 만약 ",
)
_STILL_OPEN = lexicon(
    "if | when\\w* | wish\\w* | want\\w* | would | could | unless | in case | hypothetical\\w* | wenn | falls |"
    " bei | würde | si | quand |"
    " cuando | se | quando | als | если | когда",
    "如果 要是 时 もし なら たら 면 때",
)
_SURE = lexicon(
    "suppose you're right | suppose you are right | suppose that's | suppose not | suppose so | i suppose |"
    " i assume | imagine that | imagine my | can you imagine | you can imagine | i imagine |"
    " you can assume"
)


def supposed(claim: Claim) -> bool:
    """Whether the words only suppose what the text states. A condition that the text keeps is a fact of its kind."""
    if _STILL_OPEN.search(claim.told):
        return False
    before = f"{claim.lead} {claim.said}"
    return _UNREAL.search(before) is not None or _in_a_supposition(claim) or _only_a_condition(claim)


def _in_a_supposition(claim: Claim) -> bool:
    """Whether the paragraph opened a supposition before the words, and did not come back to how things are."""
    start = max(claim.turn.content.rfind("\n\n", 0, claim.start), 0)
    before = fold(claim.turn.content[max(start, claim.start - 1500) : claim.end])
    opened = [match.end() for match in _SUPPOSE.finditer(_SURE.sub(" ", before))]
    return bool(opened) and not _REAL.search(_SURE.sub(" ", before), opened[-1])


def _only_a_condition(claim: Claim) -> bool:
    """Whether all that the text says stands in an "if …"."""
    drawn = claim.drawn
    words = set(terms(claim.text))
    return bool(drawn) and all(_IF.match(clause.words) and words <= set(terms(clause.words)) for clause in drawn)
