"""How people name times in passing: ago, last, next, for so long, until. Patterns only; `dates` says what they mean."""

from __future__ import annotations

import re
from typing import NamedTuple


class Mention(NamedTuple):
    """An expression and where it stands."""

    start: int
    end: int
    text: str


_NUMBER = (
    r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|a couple of|"
    r"a few)"
)
_UNIT = r"(?:hours?|days?|weeks?|fortnights?|months?|years?)"
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_TAGE = r"(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)"
_ZAHL = r"(?:\d{1,3}|eine[mrn]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)"
_NOMBRE = r"(?:\d{1,3}|une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze)"
_NUMERO = r"(?:\d{1,3}|una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez)"

_ANY = re.IGNORECASE
# Expressions that are relative to the day of speaking.
MENTIONS = tuple(
    re.compile(shape, _ANY)
    for shape in (
        rf"\b{_NUMBER} {_UNIT} ago\b|\b(?:the day before yesterday|yesterday|last night)\b|\ba fortnight ago\b",
        rf"\blast (?:week|month|year|weekend|spring|summer|autumn|fall|winter|{_DAYS})\b",
        rf"\b(?:next|this coming) (?:week|month|year|weekend|spring|summer|autumn|fall|winter|{_DAYS})\b",
        rf"\b(?:the day after tomorrow|tomorrow|in {_NUMBER} {_UNIT}(?! (?:ago|old)))\b|\bon {_DAYS}\b(?!s)",
        rf"\bvor {_ZAHL} (?:stunden?|tage?n?|wochen?|monate?n?|jahre?n?)\b|\b(?:vorgestern|gestern|übermorgen)\b",
        rf"\b(?:letzte[nrs]?|vorige[nrs]?|nächste[nrs]?) (?:woche|monat|jahr|{_TAGE})\b",
        rf"\bil y a {_NOMBRE} (?:jours?|semaines?|mois|ans?|années?)\b|\b(?:avant-hier|hier|demain|après-demain)\b",
        r"\bla semaine (?:dernière|prochaine)\b|\ble mois (?:dernier|prochain)\b|\bl'année dernière\b",
        rf"\bhace {_NUMERO} (?:días?|semanas?|meses|mes|años?)\b|\b(?:anteayer|ayer|pasado mañana)\b",
        r"\bla semana pasada\b|\bel (?:mes|año) pasado\b|\bla semana próxima\b",
        r"\b(?:l'altro ieri|ieri|dopodomani|la settimana scorsa|il mese scorso|l'anno scorso)\b",
        r"\b(?:anteontem|ontem|amanhã|a semana passada|o mês passado|o ano passado)\b",
        r"\b(?:eergisteren|gisteren|overmorgen|vorige (?:week|maand)|vorig jaar)\b",
        r"\b(?:позавчера|вчера|послезавтра|на прошлой неделе|в прошлом (?:месяце|году))\b",
        r"前天|昨天|明天|后天|後天|上周|上週|上个月|上個月|去年|明年|下周|下週|下个月|\d{1,3} ?(?:天|周|个月|年)前",
        r"一昨日|昨日|明日|明後日|先週|先月|来週|来月|\d{1,3} ?(?:日|週間|か月|ヶ月|年)前",
        r"그저께|어제|내일|모레|지난주|지난달|작년|다음 ?주|다음 ?달",
    )
)
# How long something has lasted.
SPANS = tuple(
    re.compile(shape, _ANY)
    for shape in (
        r"\b(?:since|seit|desde|depuis|sinds|dal) (?:early |late |about )?(?P<year>(?:19|20)\d\d)\b",
        rf"\b(?:for|over|almost|nearly|about) (?P<span>{_NUMBER} (?:weeks?|months?|years?)) (?:now|already)\b",
        r"\b(?:have|has|'ve|'s|been|had)\b[^.!?]{0,60}?\bfor (?:over |almost |nearly |about )?"
        rf"(?P<span>{_NUMBER} (?:weeks?|months?|years?))\b",
        r"\bsince (?P<when>last (?:week|month|year|spring|summer|autumn|fall|winter)|yesterday|"
        rf"{_NUMBER} {_UNIT} ago)\b",
    )
)
# Until when something lasts.
_DAY_NAMED = (
    rf"(?:next |this |the )?(?:{_DAYS}|week(?:end)?|month|tomorrow|tonight|(?:end|beginning|middle) of [a-z]{{3,9}}|"
    r"\d{1,2}(?:st|nd|rd|th)? (?:of )?[a-z]{3,9}(?: \d{4})?|[a-z]{3,9} \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|"
    r"\d{4}-\d\d-\d\d)"
)
ENDS = tuple(
    re.compile(shape, _ANY)
    for shape in (
        rf"\b(?:until|till|'til|through|up to) (?P<when>{_DAY_NAMED})\b",
        rf"\bbis (?:zum |nächsten )?(?P<when>{_TAGE}|morgen|ende der woche)\b",
        r"\b(?:this week|this month|diese woche|diesen monat|cette semaine|ce mois-ci|esta semana|este mes|"
        r"questa settimana)\b",
    )
)
