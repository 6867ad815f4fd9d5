"""Facts of the moment, and facts that change all the time.

What is true "right now" ends by itself within hours; where it fills an attribute that people keep for years ("at the
moment I work at Tarrow") it is only temporary. When somebody sleeps or how they feel is kept as long as other facts,
but a new value contradicts nothing.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, tzinfo

from memproxy.extraction import dates
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.folding import fold
from memproxy.model import FactDraft, Lifetime

_CURRENT = "current_"
# Attributes kept for long, also where a model calls them "current_…".
_KEPT = frozenset(
    "employer company job job_title role position profession occupation city town country home residence address "
    "hometown school university team manager spouse partner phone email car diet medication language name age weight "
    "height project course hobby goal relationship marital_status nationality timezone".split()
)
_NOW = lexicon(
    """
    right now | at the moment | at this moment | just now | this very moment | this minute | as we speak | as i type
    for the moment
    gerade eben | gerade jetzt | im moment | momentan | im augenblick | jetzt gerade | en ce moment | à l'instant
    là maintenant | pour l'instant
    ahora mismo | en este momento | por el momento | justo ahora | in questo momento | al momento | proprio ora
    adesso adesso
    neste momento | nesse momento | agora mesmo | no momento | op dit moment | nu net | just nu | för tillfället
    akkurat nå | for øyeblikket | lige nu | w tej chwili | właśnie teraz | teraz
    прямо сейчас | в данный момент | в настоящий момент | сейчас | şu anda | şu an | الآن | עכשיו | अभी
    """,
    "此刻 现在正 正在 這一刻 刚刚 今まさに ただいま たった今 いま現在 지금 방금",
)  # fmt: skip
_FOR_A_WHILE = lexicon(
    """
    on holiday | on holidays | on vacation | on leave | on sick leave | on parental leave | on maternity leave
    for now | for the time being | temporarily | these days | house-sitting | staying with | staying at | visiting
    im urlaub | in elternzeit | vorübergehend | zur zeit | zurzeit | vorerst | zu besuch
    en vacances | en congé | temporairement | en ce moment | ces jours-ci
    de vacaciones | de baja | temporalmente | por ahora | in vacanza | temporaneamente | per ora
    de férias | temporariamente | por enquanto | op vakantie | tijdelijk | voorlopig | på semester | på ferie
    в отпуске | временно | пока что
    """,
    "度假 休假 暂时 暫時 休暇中 一時的 휴가 중 당분간",
)  # fmt: skip
_DONE = Pattern(
    r"\b(?:just now|gerade eben|à l'instant|刚刚)\b|刚刚|たった今|방금"
)  # of what has just happened, not of what is
_STAYS = Pattern(
    r"\b(?:live|living|lives|reside|based|work|working|works|study|studying|studies|wohn\w*|leb\w*|arbeit\w*|"
    r"studier\w*|habit\w*|viv\w*|travaill\w*|trabaj\w*|étudi\w*|estud\w*|lavor\w*|abit\w*|moro|mora|trabalh\w*|woon|"
    r"werk|bor|jobbar|жив\w*|работа\w*|учусь)\b|住|工作|働|住ん|살|일하"
)
_VOLATILE_SLOTS = Pattern(
    r"(?:^|_)(?:schedule\w*|sleep\w*|wake\w*|bed_?time|mood|feeling\w*|emotion\w*|energy|stress|hunger|appetite|"
    r"weather|availability|busy|status|activity|agenda|today|tonight|tomorrow|shift\w*)(?:_|$)"
)
_VOLATILE = Pattern(
    r"\b(?:wakes? up|gets? up|goes to (?:bed|sleep)|falls asleep|slept|sleeps? (?:at|until|for|from|\d)|"
    r"feels? (?:\w+ )?(?:tired|sad|happy|down|great|good|bad|sick|stressed|anxious|lonely|exhausted|better|worse|"
    r"bored)|is (?:\w+ )?(?:tired|hungry|sleepy|exhausted|stressed|bored|busy|in a (?:good|bad) mood)|"
    r"steht um|wacht um|geht um \S+ (?:uhr )?(?:ins bett|schlafen)|ist (?:gerade )?(?:müde|hungrig|gestresst)|"
    r"se (?:lève|couche|réveille)|est (?:fatiguée?|stressée?)|se (?:levanta|acuesta|despierta)|está (?:cansad[oa]|"
    r"triste|content[oa])|si (?:sveglia|alza)|è stanc[oa]|acorda às|dorme às|está cansad[oa])\b"
    r"|起床|睡觉|心情|很累|饿|起きる|寝る|眠い|疲れ|기상|피곤"
)


def timed(draft: FactDraft, said_at: datetime, zone: tzinfo) -> FactDraft:
    """The draft with how long it will stand, by its attribute and by how the person put it then and there."""
    lifetime = _lifetime(draft)
    ends = dates.until(draft.quote or draft.text, said_at, zone) if draft.type != "event" else None
    if ends is not None:
        return replace(draft, lifetime="temporary", valid_until=ends)
    volatile = (
        lifetime == "momentary"
        or (draft.slot is not None and _VOLATILE_SLOTS.search(draft.slot) is not None)
        or _VOLATILE.search(fold(draft.text)) is not None
    )
    return replace(draft, lifetime=lifetime, volatile=volatile)


def _lifetime(draft: FactDraft) -> Lifetime:
    slot = draft.slot or ""
    kept = slot.removeprefix(_CURRENT) in _KEPT
    if slot.startswith(_CURRENT) and not kept:
        return "momentary"
    said = fold(f"{draft.quote or ''} {draft.text}")
    now = _NOW.search(said)
    if now is None or (draft.type == "event" and _DONE.search(said)):
        return "temporary" if draft.type != "event" and _FOR_A_WHILE.search(said) else draft.lifetime
    return "temporary" if kept or _STAYS.search(said) else "momentary"
