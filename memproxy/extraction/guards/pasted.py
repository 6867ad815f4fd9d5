"""Text put in to be worked on: mails, transcripts, code, whatever follows "make this friendlier:". The "I" in it is
anybody's; what the person says around it counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.patterns import Pattern

Span = tuple[int, int]

_FENCE = Pattern(r"^[ \t]{0,3}(```+|~~~+)[^\n]*\n", re.MULTILINE)
_QUOTED_LINE = Pattern(r"^[ \t]*+>[^\n]*", re.MULTILINE)
_HEADER = Pattern(
    r"^[ \t]*+\**(?:from|to|cc|subject|date|sent|reply-to|von|an|betreff|gesendet|datum|de|à|objet|envoyé|para|"
    r"asunto|enviado|fecha|da|a|oggetto|inviato|assunto|"
    r"van|aan|onderwerp|от кого|от|кому|тема|дата|发件人|收件人|主题|差出人|宛先|件名|보낸사람|받는사람|"
    r"제목)\**[ \t]*+[:：][ \t]*+(?P<value>\S[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
_SUBJECT = Pattern(
    r"\s*\**(?:subject|sent|betreff|gesendet|objet|envoyé|asunto|enviado|oggetto|inviato|assunto|onderwerp|тема|主题|"
    r"件名|제목)",
    re.IGNORECASE,
)
_LABEL = Pattern(
    r"^[ \t]*+(?:(?:for )?(?:example|sample|template|draft)|beispiel(?:text)?|vorlage|entwurf|"
    r"exemple|modèle|brouillon|ejemplo|plantilla|borrador|esempio|bozza|exemplo|modelo|rascunho|voorbeeld|"
    r"exempel|eksempel|"
    r"пример|шаблон|черновик|示例|例子|範例|例文|예시)(?: (?:text|mail|e-?mail|letter|message))?"
    r"[ \t]*+\d{0,2}[ \t]*+[:：]",
    re.MULTILINE | re.IGNORECASE,
)
_SPEAKER = Pattern(
    r"^[ \t]*+(?:\[?[\d/.,: -]{4,20}(?:[ap]m)?\]?[ \t]*+[-–]?[ \t]*+)?"
    r"(?P<name>[^\W\d_][\w .'-]{0,24}?)[ \t]*+[:：][ \t]*+\S",
    re.MULTILINE,
)

_WORK = (
    r"rewrite|rephrase|reword|proof-?read|translate|summari[sz]e|shorten|correct|fix|improve|polish|edit|paraphrase|"
    r"simplify|condense|revise|expand|"
    r"what does (?:this|that|it) mean|review|grade|classify|analy[sz]e|critique|convert|explain|check|"
    r"spell-?check|reply to|respond to|answer this|"
    r"clean up|tidy up|format|"
    r"make (?:this|it|the following|that|my \w+|the \w+)(?: \w+){0,2}? (?:\w+er|more \w+|less \w+|sound|formal|"
    r"polite|better|clear|concise|professional|nice)|"
    r"übersetzen?|übersetzt?|umschreiben|schreibe? (?:das|dies\w*|den|die)|formuliere?|korrigiere?n?|fasse?|"
    r"zusammenfassen|kürzen?|verbessern?|verbessere|prüfe?|mach\w* (?:das|dies\w*|die|den|"
    r"es)(?: \w+){0,2}? (?:\w+er)|lektoriere|"
    r"traduis|traduisez|traduire|reformule[rz]?|corrige[rz]?|résume[rz]?|résumé|améliore[rz]?|raccourci[st]\w*|"
    r"relis(?:ez)?|rends?(?:ez)?(?: \w+){1,3} plus|"
    r"traduce|traduzca|traducir|reescribe|reescriba|corrige|corrija|resume|resuma|mejora|mejore|acorta|revisa|"
    r"haz(?: \w+){1,3} más|"
    r"traduci|traduca|riscrivi|riscriva|correggi|corregga|riassumi|riassuma|migliora|accorcia|rivedi|"
    r"rendi(?: \w+){1,3} più|"
    r"traduza|traduz|reescreva|reescreve|corrija|corrige|resuma|melhore|melhora|encurte|revise|"
    r"deixe(?: \w+){1,3} mais|torne(?: \w+){1,3} mais|"
    r"vertaal|herschrijf|corrigeer|verbeter|vat|kort|maak(?: \w+){1,3} \w+er|översätt|skriv om|rätta|förbättra|"
    r"sammanfatta|oversett|oversæt|rett|forbedre|przetłumacz|popraw|streść|przeredaguj|"
    r"переведи\w*|перепиши\w*|исправь\w*|перефразируй\w*|сократи\w*|улучши\w*|отредактируй\w*|проверь\w*|"
    r"сделай(?: \S+){1,3} (?:более )?\w+|перескажи"
)
_ASKED = (
    r"(?:\A|[\n.!?:;,—-]\s{0,3}|\b(?:please|pls|bitte|por favor|per favore|s'il (?:te|vous) plaît|пожалуйста|can you|"
    r"could you|would you|will you|i want you to|i need you to|i'd like you to|help me(?: to)?|"
    r"kannst du|könntest du|können sie|könnten sie|peux-tu|pouvez-vous|pourriez-vous|puedes|podrías|puede|puoi|"
    r"potresti|pode|poderia|podes|kun je|kunt u|можешь|можете|and|then|und|et|y|e|и|now|hi|hello|ok|okay|"
    r"just)[, ]\s{0,3}(?:me |mir |bitte |please |mal |das |den |die |dies\w* |diesen |folgende\w* |kurz )?)"
)
_REQUEST = Pattern(rf"{_ASKED}(?P<verb>{_WORK})(?!\w)(?P<rest>[^\n:：]{{0,160}})", re.IGNORECASE)
_REQUEST_JOINED = Pattern(
    r"(?:翻译|翻譯|改写|改寫|润色|潤色|校对|校對|总结|總結|概括|修改|缩写|改得|改成)(?P<rest>[^\n:：]{0,40})|"
    r"(?:翻訳|書き直|添削|要約|校正|言い換え|直して|"
    r"まとめて)(?P<rest2>[^\n:：]{0,40})|(?:번역|고쳐|다듬|요약|교정)(?P<rest3>[^\n:：]{0,40})"
)
_POINTS = Pattern(
    r"\b(?:this|following|below|these|text|mail|e-?mail|letter|paragraph|sentence|message|essay|article|das|dies\w*|"
    r"folgend\w*|text|brief|satz|ce|cet|cette|ces|suivant\w*|texte|courriel|lettre|phrase|"
    r"est[ea]|siguiente|texto|correo|carta|frase|quest[oa]|seguente|testo|lettera|est[ea]|seguinte|dit|deze|volgende|"
    r"tekst|den här|det här|ten|это\w*|этот|следующ\w+|текст|письмо|предложение)\b|这|這|以下|下面|次の|この|다음|이 ",
    re.IGNORECASE,
)
# A request that points back at what stands above it.
_BACK = Pattern(
    rf"(?:{_WORK})(?!\w)[^\n]{{0,60}}?\b(?:the above|above|das obige|obigen?|ci-dessus|de arriba|anterior|qui sopra|"
    rf"acima|hierboven|выше)\b|"
    rf"(?:{_WORK})\s(?:this|das|dies|ceci|esto|questo|isto|dit|это)(?=\s*[.!?]?\s*\Z|\s(?:into|to|in|for|more|please|"
    rf"a bit|ins|auf|en|al|in|per|для|на)\b)|"
    r"make this (?:sound )?(?:more \w+|\w+er|better|professional|formal|polite)|(?:把上面|上面的|上の|위의)",
    re.IGNORECASE,
)
# How people leave what they pasted and speak for themselves again.
_ASIDE = Pattern(
    r"\n[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,})[ \t]*\n|(?:(?<=\n)|(?<=[.!?] ))[ \t]*(?=(?:by the way|btw|also,|ps\b|"
    r"p\.s\.|thanks|thank you|(?:some )?context:|for context|that was|that's (?:it|all|the (?:text|mail|letter))|"
    r"end of|"
    r"übrigens|nebenbei|danke|so weit der|au fait|merci|soit dit en passant|por cierto|gracias|a proposito|grazie|"
    r"aliás|obrigad[oa]|trouwens|bedankt|förresten|tack|for øvrig|кстати|спасибо)\b)|(?=顺便说|順便說|另外|"
    r"ちなみに|ところで|참고로|"
    r"그런데 )",
    re.IGNORECASE,
)


# Requests behind which people put nothing but the text: "Fix: I meant …" may be their own words, this is not.
_ONLY_MATERIAL = Pattern(
    r"\b(?:translate|grammar|spelling|typos|proof-?read|rephrase|paraphrase|übersetzen?|übersetzt?|grammatik|traduis\w*|"
    r"traduire|traduce|traduzca|traduci|traduza|vertaal|översätt|oversett|przetłumacz|переведи\w*)\b|翻译|翻譯|翻訳|번역",
    re.IGNORECASE,
)


def pasted(claim: Claim) -> bool:
    """Whether the words stand in pasted text; also where all of a request to translate it is quoted."""
    content = claim.turn.content
    return any(
        (start <= claim.start and claim.end <= end)
        or (_ONLY_MATERIAL.search(content, max(0, start - 80), start) is not None and claim.drawn_within(start, end))
        for start, end in spans(content)
    )


def worked_on(content: str) -> bool:
    """Whether any of it may be a text to work on, also where nothing marks where that begins ("Translate this. I …").

    Wider than `spans`: for what must not be done unless it is plain that the person speaks for themselves.
    """
    asked = (*_REQUEST.finditer(content), *_REQUEST_JOINED.finditer(content))
    return bool(spans(content)) or any(_POINTS.search(r[0]) or _ONLY_MATERIAL.search(r[0]) for r in asked)


def spans(content: str) -> list[Span]:
    """Where pasted text stands in a turn."""
    found = [*_fenced(content), *((m.start(), m.end()) for m in _QUOTED_LINE.finditer(content))]
    found += [*_mails(content), *_examples(content), *_transcript(content), *_handed_over(content)]
    return found


def _fenced(content: str) -> Iterator[Span]:
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(content + "\n"):
        if opened is None:
            opened = fence
        else:
            yield opened.end(), fence.start()
            opened = None
    if opened is not None:
        yield opened.end(), len(content)


def _mails(content: str) -> Iterator[Span]:
    """From the first of two header lines, one of which only mails have, to where the person speaks again."""
    headers = list(_HEADER.finditer(content))
    for first, second in pairwise(headers):
        near = content.count("\n", first.end(), second.start()) <= 2
        if near and any(_SUBJECT.match(h[0]) or "@" in h["value"] for h in (first, second)):
            yield first.start(), _until_aside(content, second.end())
            return


def _examples(content: str) -> Iterator[Span]:
    """What stands behind "Example:", to the end of its paragraph."""
    for label in _LABEL.finditer(content):
        end = content.find("\n\n", label.end())
        yield label.end(), end if end >= 0 else len(content)


def _transcript(content: str) -> Iterator[Span]:
    """Lines of two or more who speak in turn. A form, whose labels differ, is the person's own."""
    lines = list(_SPEAKER.finditer(content))
    names = [line["name"].casefold() for line in lines]
    if len(lines) >= 3 and len(set(names)) >= 2 and any(names.count(name) > 1 for name in set(names)):
        end = content.find("\n", lines[-1].end())
        yield lines[0].start(), end if end >= 0 else len(content)


def _handed_over(content: str) -> Iterator[Span]:
    """What stands behind a request to work on it (a colon or a new line comes before), or before one that points "
    "back."""
    for request in (*_REQUEST.finditer(content), *_REQUEST_JOINED.finditer(content)):
        start = _material(content, request)
        if start is not None:
            yield start, _until_aside(content, start)
    back = list(_BACK.finditer(content))
    if back and not content[back[-1].end() :].strip(" .!?\n").count(" ") > _SHORT:
        yield 0, back[-1].start()


_SHORT = 12  # words behind a request that points back; more of them are what it is about


def _material(content: str, request: re.Match[str]) -> int | None:
    """Where the text to work on begins, or None where none follows."""
    after = content[request.end() : request.end() + 1]
    if after in (":", "："):
        start = request.end() + 1
    elif after == "\n" and _POINTS.search(request[0]):
        start = request.end()
    else:
        return None
    return start if content[start:].strip() else None


def _until_aside(content: str, start: int) -> int:
    aside = _ASIDE.search(content, start)
    return aside.start() if aside else len(content)
