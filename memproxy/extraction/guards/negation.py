"""Negation, in many languages: a fact that lost its "not", or gained one, says the opposite of what was said."""

from __future__ import annotations

import re

from memproxy.extraction.guards.claim import Claim, overlap
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.folding import fold
from memproxy.recall.terms import terms

_ENGLISH = Pattern(
    r"(?<!\w)(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|cannot|without|dont|doesnt|didnt|isnt|arent|"
    r"wasnt|cant|wont|havent|hasnt|\w{1,20}n't)(?!\w)"
)
_OTHER = lexicon(
    """
    nicht | kein\\w{0,2} | nie | niemals | ohne | nichts | niemand\\w{0,2} | nirgends | weder | keinesfalls
    (?:ne|n'\\w*+)(?= (?:\\S++ ){0,5}?(?:pas|jamais|plus|rien|personne|aucune?|guère|ni|point)\\b)
    n'\\w++(?= (?:\\S++ ){0,4}?(?:pas|jamais|plus|rien|personne|aucune?|guère|ni)\\b)
    pas | jamais | aucune? | sans | non | nunca | jamás
    (?<!med )(?<!av )(?<!för )(?<!til )(?<!till )(?<!i )(?<!på )(?<!for )(?<!och )(?<!og )(?<!hos )sin
    ning[uú]n\\w{0,2} | nadie | tampoco | ni
    (?<!im )(?<!de )(?<!itte )(?<!ang )(?<!seit )(?<!bis )(?<!en )(?<!fin )(?<!ut )(?<!uis )(?<!\\d )(?<!\\. )mai
    senza | nessun\\w{0,2} | niente | nulla | neanche | nemmeno | não | nao | jamais | sem | nenhum\\w{0,2}
    ninguém | nem
    niet | geen | nooit | zonder | niets | niemand | nergens | inte | ikke | ikkje | aldrig | aldri | utan | uten
    uden | ingen | inget | inga | ingenting
    nie | nigdy | bez | żad\\w{1,4} | nikt | nic | ani | nejsem | nemám | nejím | nepij\\w* | nikdy | nem | soha
    nincs | nélkül | ilman | değil | yok | hiç | asla
    не | нет | никогда | ни | без | никто | ничего | нельзя | нигде | ні | ніколи | немає
    لا | ليس | لست | لم | لن | بدون | أبدا | אינו | לא | אין | בלי | नहीं | नही | मत | बिना | không | chưa | chẳng
    tidak | bukan | jangan
    안 | 못
    """,
    "不 没 沒 别 別 无 無 非 未 勿 ない ません なかった なく ずに なし 않 없 아니 못해 못하 ไม่",
)  # fmt: skip
# Where a negation denies nothing of what is said.
_IDIOMS = Pattern(
    r"(?:oh |ah )?no,? (?:wait|sorry|i mean|i meant|make that|hang on|hold on)\b|no, (?:actually|rather)\b|"
    r"(?:nein|non|no|nee|não), (?:moment|warte|quatsch|ich meine|doch|attends?|attendez|pardon|je veux dire|plutôt|"
    r"espera|perdón|perdona|mejor|digo|aspetta|scusa|anzi|desculpa|quero dizer|wacht)\b|不[对對]，|不是，|いや、|"
    r"(?:can|could)(?:no|n')t (?:believe|wait|help|stop|live|imagine \w+ life|resist|get enough)|(?:couldn't|"
    r"can't) be (?:more|\w+er)|"
    r"not only|not just|not merely|(?:nothing|anything) but|(?:do not|don't|never) (?:forget|worry|mind|get me wrong|"
    r"hesitate|panic|judge|laugh)|"
    r"(?:wouldn't|would not) mind|no (?:problem|doubt|wonder|matter|worries|offen[cs]e|idea why|later than|more than|"
    r"less than|fewer than|longer than)|"
    r"not (?:too )?(?:far|bad|long ago|so long ago|to mention|until|uncommon\w*|unusual\w*)|whether or not|or not\b|"
    r"if not|why not|no\. ?(?=\d)|"
    r"(?:no|not) (?=\d)(?=\d+ \w+ (?:street|road))|nothing (?:\S+ ){0,4}?(?:more|better|like)\b|(?:no one|"
    r"nobody) (?:\S+ ){0,5}?more than|"
    r"never (?:miss|without|say never)\w*|not without|nothing beats|can't say no to|(?:haven't|not) (?:\w+ )?stopped|"
    r"(?<!\w)(?:not|\w{1,20}n't)(?=(?: \S+){1,8}? (?:until|till|unless|before)\b)|not a (?:day|week|"
    r"month) (?:goes by|passes)|"
    r"(?:i |we )?(?:don't|do not) know (?:if|whether) (?:i|we)(?:'ve)?(?: have)? (?:told|mentioned|said)|"
    r"(?<!\w)(?:isn't it|aren't i|don't i|don't you|doesn't it|won't i|haven't i|right|no)\?|"
    r"(?<!\w)(?:no|nicht|nichts|kein\w{0,2}|ne|pas|non|não|не) (?:\S+ ){0,6}?(?:ohne|sans|sin|senza|sem|без)(?!\w)|"
    r"(?<!\w)ohne (?:\S+ ){1,6}?(?:nicht|nichts|kein\w{0,2})(?!\w)|不能没有|不可没有|"
    r"(?<!\w)(?:moro|mora|vivo|vive|trabalh[oa]|nasci|nasceu|estou|está|estud[oa]|fui|foi|sou|é|fico|fica|"
    r"enfermeir[oa]|\w+r) no (?=\w)|"
    r"nicht nur|nicht weit|nicht wahr|nicht schlecht|kein problem|ohne zweifel|nicht zuletzt|"
    r"pas seulement|pas mal|n'est-ce pas|non seulement|(?:ne|n'\w*) (?:\S+ ){1,4}?que\b|sans doute|sans problème|"
    r"pas de (?:problème|souci)|"
    r"no s[oó]lo|no solamente|sin duda|¿no|sin problema|por qué no|non solo|senza dubbio|não só|não apenas|"
    r"sem dúvida|niet alleen|inte bara|ikke bare|"
    r"не только|не забудь\w*|без проблем|"
    r"不过|不過|不错|不錯|差不多|不好意思|特别|特別|别人|別人|区别|個別|个别|非常|除非|无论|無論|未来|未來|"
    r"没问题|沒問題|不仅|不僅|不但|不只|没关系|"
    r"不客气|不同|了不起|不得不|无所谓|告别|性别|级别|别墅|并非|无线|無線|莫非|非洲|未婚|无聊|不久|对不起|忍不住|"
    r"离不开|离别|"
    r"かもしれない|しかない|しかありません|に違いない|なければならない|なければなりません|なければいけない|"
    r"ないといけ\w+|なくてはな\w+|もったいない|少ない|とんでもない|"
    r"危ない|無料|無線|名無し|未来|非常|なくなり|特別|別に|別の|別々|未満|"
    r"안녕|안경|없이는 못|지 않을까"
)
# Ways to say that something is not, or no longer, without a word of negation.
_POLAR = lexicon(
    """
    leave out | leaves out | exclud\\w+ | omit\\w* | without | dislik\\w++ | hat(?:e|es|ed|ing) | loath\\w++
    detest\\w* | avoid\\w*+ | stop(?:s|ped)? | quit\\w*+
    former(?:ly)? | used to | ex | lacks? | lacking
    refus\\w++ | unable | intoleran\\w++ | allerg\\w++ | vegan\\w* | vegetarian\\w* | single | widow\\w* | divorced
    unemployed | jobless | retired | only
    except\\w* | free | away | off | left | lost | ended | gave up | give up | gives up | given up | abstain\\w*
    teetotal\\w* | sober | skips? | missed | miss(?:es|ing)?
    rejects? | rejected | fail(?:s|ed|ing)? | declin\\w++ | against | oppos\\w++ | instead | rather | fear\\w*
    afraid | scared | reluctant | difficult\\w* | hard | struggl\\w++ | trouble\\w*
    forget\\w* | forgot\\w* | ignor\\w++ | barely | hardly | rarely | seldom | little | few | last | previous\\w*
    past | before | once | deceased | died | dead | late | past
    cancel\\w++ | bans? | banned | forbid\\w* | forbidden | illiterate | blind | deaf | homeless | childless | orphan
    virgin | stranger | new | first | yet | still | un\\w{4,} | non-?\\w+
    in(?:experienced|secure|capable|active|complete|different) | im(?:possible|patient|perfect) | ir\\w{5,}
    dis(?:connected|abled|interested|agree\\w*|satisfied|trust\\w*|continued) | mis\\w{4,} | \\w+less | \\w+-free
    anti\\w+
    hass\\w* | verzicht\\w* | meidet | vermeidet | aufgehört | ehemalig\\w* | früher\\w* | allergi\\w* | vegetari\\w*
    ledig | arbeitslos\\w* | \\w+los | \\w+frei | nur | un\\w{4,} | fehlt | weigert | selten | kaum | ablehnt | lehnt
    déteste\\w* | évite\\w* | arrêt\\w+ | ancien\\w* | allergique\\w* | végétari\\w+ | végane? | végétalien\\w*
    célibataire | refuse\\w* | seulement | manque | que | rarement
    odi[ao]\\w* | evit[ao]\\w* | dej[óo]\\w* | alérgic\\w+ | vegetarian\\w* | vegan\\w* | solter\\w+ | sólo | solo
    detest\\w+ | rechaz\\w+ | falta | antigu\\w+ | rara vez | intoleran\\w+
    smess\\w+ | allergic\\w+ | single | celibe | nubile | ex | soltanto | rifiut\\w+ | parei | parou | apenas | só
    solteir\\w+ | haat | vermijdt | gestopt | alleen | allergisch
    ненави\\w+ | избега\\w+ | бросил\\w* | аллерг\\w+ | вегетариан\\w+ | веган\\w* | холост\\w* | бывш\\w+
    перестал\\w* | только | отказ\\w+ | безработ\\w+ | нелюб\\w+
    hatar | hater | allergisk\\w* | undviker | unngår | unika | nienawidz\\w+ | wegetarian\\w+ | weganin\\w*
    """,
    "讨厌 討厭 戒 禁 过敏 過敏 素食 单身 單身 避免 拒绝 停止 放弃 失业 怕 前任 曾 只 忌 嫌い 苦手 アレルギー "
    "やめ 避け 菜食 ベジタリアン 独身 以前 だけ 싫어 알레르기 끊 채식 독신 미혼 전에 만",
)  # fmt: skip
_NO_MORE = Pattern(
    r"\bno longer\b|\b(?:any ?more|any longer)\b|\bnicht mehr\b|\bkein\w{0,2} \w+ mehr\b|\bplus\b|\bya no\b|"
    r"\bnon \w+ più\b|\bpiù\b|"
    r"\bnão \w+ mais\b|\bmais\b|\bniet meer\b|\bgeen \w+ meer\b|больше не|уже не|不再|已经不|もう"
)
_PAST = lexicon(
    "was | were | had | lived | \\w{2,}ed | did | went | ate | drove | drank | smoked | war | hatte | wohnte |"
    " früher | était | avait | fue | era | tenía | vivía | fu | aveva | foi | tinha | был\\w? | жил\\w? | раньше",
    "曾 以前 过去 だった していた 했었",
)
# "not in Brask", "pas à Brask": takes away from what stands before it.
_BARE = Pattern(
    r"(?:and )?(?:not|nicht|pas|no|non|não|niet|inte|ikke|не|而?不是|而非)\s(?!\w+(?:n't)?\s(?:i|ich|"
    r"je)\b)(?:\S+\s?){1,4}\Z"
)
_SAME = 0.6  # share of the text's content words from which it says the same thing in the same words


def negation_changed(claim: Claim) -> bool:
    """Whether the words deny what the text affirms, or the other way round."""
    told = _plain(claim.told)
    drawn = [(clause.words, _plain(clause.words)) for clause in claim.drawn]
    if _negated(told):
        return _invented(claim, told, [plain for _, plain in drawn])
    if _says_it_otherwise(told, " ".join(plain for _, plain in drawn)):
        return False
    denied = [words for words, plain in drawn if _denies(plain)]
    if any(_BARE.match(words) for words in denied):
        return True
    if not denied or len(denied) < len(drawn):
        return False
    if any(_NO_MORE.search(words) for words in denied) and _PAST.search(told):
        return False
    foreign = not any(_ENGLISH.search(_plain(words)) for words in denied)
    return foreign or overlap(claim.text, " ".join(denied)) >= _SAME


def _says_it_otherwise(told: str, said: str) -> bool:
    """Whether the text has a word that may stand for a "not" of the person's ("doesn't eat meat": "is vegetarian"); not
    where that very word is what they deny ("not allergic").
    """
    words = said.split()
    denied = {
        term
        for at, word in enumerate(words)
        if _negated(" ".join(words[max(0, at - _NEAR) : at]))
        for term in terms(word)
    }
    return any(denied.isdisjoint(terms(word)) for word in _POLAR.findall(told))


_NEAR = 2  # words between a negation and what it denies


def denies(words: str) -> bool:
    """Whether folded words deny something; turns of speech like "not only" do not."""
    return _negated(_plain(words))


def _invented(claim: Claim, told: str, drawn: list[str]) -> bool:
    """Whether the text denies in their own words what the person affirmed."""
    words = _plain(fold(claim.sentence))
    if _negated(words) or _POLAR.search(words) or _denies(claim.lead + " " + claim.said):
        return False
    said = overlap(_without_negation(claim.text), " ".join(drawn))
    return said >= _SAME


def _plain(words: str) -> str:
    """Folded words without the turns of speech whose negation denies nothing."""
    return _IDIOMS.sub(" ", words)


def _negated(words: str) -> bool:
    return _ENGLISH.search(words) is not None or _OTHER.search(words) is not None


def _denies(words: str) -> bool:
    """Whether one negation stands in the words; two may take each other back, and are no matter for a rule."""
    return len(_ENGLISH.findall(words)) == 1 or (not _ENGLISH.search(words) and _OTHER.search(words) is not None)


def _without_negation(text: str) -> str:
    return _ENGLISH.sub(" ", re.sub(r"(?i)\b(?:do|does|did|is|has|have|can)(?=n't)", " ", text))
