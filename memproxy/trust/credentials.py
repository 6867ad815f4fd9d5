"""Credentials named in other languages than English: "Mein Passwort ist …", "密码是…".

Fewer shapes than in English, and stricter ones: behind the name and a verb the value must hold a digit or a sign, be a
name, stand in quotation marks, or be digits spoken out. What people say *about* their passwords is in small words.
"""

from __future__ import annotations

import re

MASK = "[secret]"

_WORD = (
    r"passwort|kennwort|losungswort|mot de passe|contraseña|clave (?:de acceso|secreta|del wifi)|parola d'ordine|senha|"
    r"palavra-passe|wachtwoord|lösenord(?:et)?|passord(?:et)?|adgangskode(?:n)?|hasło|heslo|jelszó|jelszavam|"
    r"salasana(?:ni)?|"
    r"şifre(?:m)?|parola(?:m)?|пароль|password"
)
_NUMERIC = (
    r"pin(?:[ -]?(?:code|nummer|kode|kod))?|geheimzahl|geheimnummer|(?:tür|haus|tor|alarm|tresor|safe|"
    r"zugangs)-?code|digicode|"
    r"code (?:pin|secret|d'accès|d'entrée|de (?:la |l')?(?:porte|alarme|immeuble))|"
    r"c[oó]digo (?:pin|de (?:la |)(?:acceso|puerta|alarma|acesso)|d[ao] (?:porta|alarme))|"
    r"codice (?:pin|d'accesso|di accesso|della porta|dell'allarme)|toegangscode|deurcode|portkod(?:en)?|dørkode(?:n)?|"
    r"пин(?:-?код)?|код (?:от|для) [\w-]{2,20}"
)
_VERB = r"ist|lautet|war|est|était|es|era|è|é|is|är|er|to|jest|je|on|это|был"
_DIGITS = (
    "null|eins?|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun|zéro|un|deux|trois|quatre|cinq|six|sept|huit|neuf|"
    "cero|uno|dos|"
    "tres|cuatro|cinco|seis|siete|ocho|nueve|due|tre|quattro|cinque|sei|sette|otto|nove|um|dois|três|quatro|sete|oito|"
    "nul|een|twee|drie|vijf|zes|zeven|negen|noll|ett|två|fyra|fem|sex|sju|åtta|nio|ноль|один|два|три|четыре|пять|шесть|"
    "семь|восемь|девять|zero"
)
_NAMED = re.compile(
    rf"(?i)(?<![^\W_])(?P<lead>(?:(?P<numeric>{_NUMERIC})|{_WORD})(?![^\W_])"
    r"(?: {1,3}(?:für|von|zum|zur|vom|pour|de|du|des|del|della|dello|do|da|voor|van|till|til|för|do|для|от)"
    r"(?: {1,3}[\w'’-]{1,40}){1,3}?)?"
    rf"(?: {{1,3}}(?:{_VERB})(?![^\W_]) {{0,3}}:?| {{0,3}}[:=：]| {{1,3}}[—–-](?= ))\s{{0,9}})"
    rf"(?:(?P<spoken>(?:(?:{_DIGITS})[\s,-]{{1,5}}){{2,20}}(?:{_DIGITS})\b)"
    r"|(?P<quoted>\"[^\"\n]{3,120}\"|„[^“”\n]{3,120}[“”]|«[^»\n]{3,120}»|“[^”\n]{3,120}”)"
    r"|(?P<bare>[^\s,;\"'`<>(){}\[\]„“«»]{3,200}+))"
)
_SIGN = re.compile(r"\d|[#$%&*+=@^~|!?\\](?=\w)")
_CODE = re.compile(r"[A-Za-z#*]{0,4}\d[\w#*-]{2,11}")
_JOINED = re.compile(
    r"(?P<lead>(?:密码|密碼|口令|暗証番号|パスワード|ピン(?:コード)?|비밀번호|암호)(?: ?(?:是|为|為|は|が|는|"
    r"은)[:：]?| ?[:：]) ?)"
    r"(?P<value>[!-~]{4,200}+|[零〇一二三四五六七八九]{4,20}+)"
)


_STEMS = (
    "passw", "passord", "kennwort", "losungs", "mot de passe", "contrase", "clave", "parola", "senha", "palavra",
    "wachtw", "lösenord", "adgang", "hasło", "heslo", "jelsz", "salasana", "ifre", "пароль", "pin", "code", "digo",
    "codice", "geheim", "kod", "пин", "код",
)  # fmt: skip


def mask_named(text: str) -> str:
    """The text with every credential that a word of another language names replaced by `[secret]`."""
    folded = text.lower()
    if any(map(folded.__contains__, _STEMS)):  # most texts name none, and need not be looked through word by word
        text = _NAMED.sub(_named, text)
    return text if text.isascii() else _JOINED.sub(_joined, text)


def _named(match: re.Match[str]) -> str:
    lead = match["lead"]
    if match["spoken"]:
        return lead + MASK
    if match["quoted"]:
        return f"{lead}{match['quoted'][0]}{MASK}{match['quoted'][-1]}"
    core = match["bare"].rstrip(".!?:…")
    return f"{lead}{MASK}{match['bare'][len(core) :]}" if _is_value(core, match["numeric"] is not None) else match[0]


def _is_value(core: str, numeric: bool) -> bool:
    """A code of four digits or more; a word with a digit or sign in it, or written as a name."""
    if numeric:
        return sum(c.isdigit() for c in core) >= 4 and _CODE.fullmatch(core) is not None
    return len(core) >= 4 and (_SIGN.search(core) is not None or (core[0].isupper() and core.isalpha()))


def _joined(match: re.Match[str]) -> str:
    core = match["value"].rstrip(".,!?:;")
    known = core.isascii() and not any(c.isdigit() for c in core) and not _ends(match)
    return match[0] if known or not core else f"{match['lead']}{MASK}{match['value'][len(core) :]}"


def _ends(match: re.Match[str]) -> bool:
    """Whether nothing of the sentence follows the value."""
    return match.string[match.end() : match.end() + 1] in ("", "\n", "。", "，", "！", "、", " ")
