"""Masking credentials by the shape of their value, before anything is stored, indexed, embedded, shown or logged.

Only precise shapes: vendors' documented prefixes, key blocks, tokens with a checkable structure, and a value that
follows a word like "password". Ordinary prose, ids, hashes, dates and telephone numbers stay as they are.

Texts come from anywhere, so each pattern takes time linear in its input: repetitions are possessive or bounded.
"""

from __future__ import annotations

import re

from memproxy.trust.credentials import MASK, mask_named

_PREFIXED = re.compile(
    r"""(?<![A-Za-z0-9])(?:
        (?P<digits>sk-[\w-]{16,}+)            # OpenAI, Anthropic, OpenRouter and others
      | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}+   # Stripe
      | gh[pousr]_[A-Za-z0-9]{20,}+ | github_pat_\w{20,}+ | glpat-[\w-]{16,}+
      | xox[abeoprs]-[A-Za-z0-9-]{10,}+ | xapp-[A-Za-z0-9-]{10,}+
      | (?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])       # AWS access key id
      | AIza[\w-]{30,}+ | ya29\.[\w-]{20,}+   # Google
      | hf_[A-Za-z0-9]{20,}+ | gsk_[A-Za-z0-9]{20,}+ | xai-[A-Za-z0-9]{20,}+ | pplx-[A-Za-z0-9]{20,}+
      | npm_[A-Za-z0-9]{30,}+ | pypi-AgE[\w-]{30,}+ | dop_v1_[a-f0-9]{32,}+
      | (?<!-)SG\.[\w-]{16,}+\.[\w-]{16,}+
      | (?<!-)eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]{8,}+ # JSON Web Token
      | bwm_sk_\w{16,}+
    )""",
    re.VERBOSE,
)
_SHORTEST_KEY = 15  # characters of the shortest of these, without a blank in them
_KEY_BLOCK = re.compile(
    r"-----BEGIN (?:[A-Z ]{0,40}PRIVATE KEY|PGP PRIVATE KEY BLOCK)-----.*?(?:-----END [A-Z ]{1,60}-----|\Z)", re.DOTALL
)
_AUTHORIZATION = re.compile(
    r"(?i)\b(authorization[\"']?\s{0,9}[:=]\s{0,9}[\"']?(?:bearer|basic|token)\s{1,9})([\w.~+/=-]{8,}+)"
    r"|\b(bearer\s{1,9})(?=[A-Za-z._~+/=-]{0,500}\d)([\w.~+/=-]{16,}+)"
)
_URL_PASSWORD = re.compile(r"(?i)(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{0,30}://[^\s:/@]{0,250}:)([^\s/]{1,250}@)(?=[\w\[])")
# It begins with a digit, which is looked for first: most texts hold few.
_CARD = re.compile(r"\d(?<![A-Za-z0-9+-]\d)(?<!\d \d)[ -]?(?:\d[ -]?){11,17}\d(?![A-Za-z0-9-])")
# How the numbers of card issuers begin, with their lengths (ISO/IEC 7812 ranges in use); an ISBN begins otherwise.
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d+|3[47]\d{13}|"
    r"(?:6011|64[4-9]\d|65\d\d)\d{12,15}|62\d{14,17}|3(?:0[0-5]|[68]\d)\d{11,16}|35[2-8]\d{13,16}|(?:50|5[6-8])\d{14,17}"
)

# --- a value behind a word that names it -----------------------------------------------------------------------

_SPOKEN = r"(?:zero|oh|nought|one|two|three|four|five|six|seven|eight|nine|ten|double)"
_NUMERIC = (
    r"pin(?:[ _-](?:code|number))?|cvv2?|cvc2?|"
    r"(?:door|gate|alarm|entry|access|lock|unlock|safe|security|locker)[ _-]?code"
)
_PHRASE = r"pass[ _-]?phrase|(?:recovery|seed|mnemonic|backup)[ _-]?(?:phrase|words)"
_WORD = (
    r"pass(?:word|code)|passwd|pwd|recovery[ _-]?code|(?:client|api|app)[ _-]?secret|"
    r"(?:api|secret|private|encryption|signing|access)[ _-]?(?:access[ _-]?)?key|"
    r"(?:access|auth|api|bot|refresh|session|bearer)[ _-]?token"
)
# One of these is in everything that `_NAMED` and `_PHRASED` begin with.
_STEMS = ("pass", "pwd", "pin", "cvv", "cvc", "cv2", "code", "phrase", "words", "secret", "key", "token")
_NAMED = re.compile(
    rf"(?i)(?<![^\W_])(?P<lead>(?:(?P<numeric>{_NUMERIC})|{_PHRASE}|{_WORD})(?![^\W_])"
    r"(?:(?: {1,3}(?:for|to|of|on)(?: {1,3}[\w'’-]{1,40}){1,4}?)?"
    r"(?:(?P<verb>(?: {1,3}(?:is|was|are|equals)|['’]s|, {1,3}it(?:['’]s| is))(?![^\W_]) {0,3}:?)|"
    r"(?P<sign>[\"']?[ \t]{0,9}(?::=|=>|[:=])))"
    r"|(?= ))"
    r"\s{0,9})"
    rf"(?:(?P<spoken>(?:{_SPOKEN}[\s,-]{{1,5}}){{2,20}}{_SPOKEN}\b)"
    r"|(?P<quoted>\"[^\"\n]{3,120}\"|'[^'\n]{3,120}'|`[^`\n]{3,120}`|“[^”\n]{3,120}”)"
    r"|(?P<bare>[^\s,;\"'`<>(){}\[\]]{3,200}+))"
)
_PHRASED = re.compile(
    rf"(?i)(?<![^\W_])((?:{_PHRASE})(?: {{1,3}}(?:is|was|are)(?![^\W_])|[\"']?\s{{0,9}}[:=])\s{{0,9}}:?\s{{0,9}}[\"']?)"
    r"([^\W\d_]{2,20}(?:[ ,\n-]{1,3}[^\W\d_]{2,20}){2,23}+)"
)
_CODE = re.compile(r"[A-Za-z#*]{0,4}\d[\w#*-]{2,11}")
_SHAPE = re.compile(r"\d|[#$%&*+=@^~|!?\\](?=\w)|(?<=[a-z])[A-Z]")
_ENDS = re.compile(r"\s*+(?:\Z|[.!?,;)\"'#\n]|(?:and|but|so|please|thanks)\b|\w{1,40} ?[:=])|[^\S\n]*+\n")
_URL = re.compile(r"(?i)[a-z]{2,10}://")
_PARTICIPLE = re.compile(r"(?i)\w+(?:ed|ing|ly|able|ible|less)")

# What follows "my password is" in ordinary talk about passwords; not a value.
_NO_VALUE = frozenset(
    """
    the a an my your our his her their its not no none too very so in on at for from with to of by as and or but if
    being what how why that this it there here always never often usually still also only just really now again
    wrong correct incorrect right required optional invalid valid missing needed good bad great fine okay important
    different same new old strong weak long short simple complex easy hard safe unsafe secure insecure unique random
    empty blank secret private public visible hidden plain plaintext unknown known lost gone broken stale back
    something nothing anything everything somewhere elsewhere case sensitive like see ask use please contact tbd n/a
    null nil undefined true false string str int text env secret default red blue green black white
    """.split()
)
_FUNCTION_WORDS = frozenset(
    "the a an my your our in on at for from with to of by as and or not is it that this too very so which when i "
    "you we he she they because after before was are has have be".split()
)


def mask_secrets(text: str) -> str:
    """The text with every recognised credential replaced by `[secret]`; the rest word for word."""
    # Most texts hold no word that could begin one, and need not be looked through by a pattern.
    folded = text.casefold()
    if not text.isascii():
        folded = folded.replace("ı", "i").replace("\u0307", "")  # what patterns that ignore case take for one
    if "-----begin" in folded:
        text = _KEY_BLOCK.sub(MASK, text)
    if max(map(len, text.split()), default=0) >= _SHORTEST_KEY:
        text = _PREFIXED.sub(_prefixed, text)
    if "authorization" in folded or "bearer" in folded:
        text = _AUTHORIZATION.sub(lambda match: f"{match[1] or match[3]}{MASK}", text)
    if "://" in folded:
        text = _URL_PASSWORD.sub(rf"\1{MASK}@", text)
    if any(map(folded.__contains__, _STEMS)):
        text = _NAMED.sub(_named, _PHRASED.sub(_phrased, text))
    text = mask_named(text)
    return _CARD.sub(lambda match: MASK if _is_card(match[0]) else match[0], text)


def _prefixed(match: re.Match[str]) -> str:
    """A made key holds digits; "sk-" also begins ordinary hyphenated names."""
    words = match["digits"]
    return MASK if words is None or any(c.isdigit() for c in words) else match[0]


def _phrased(match: re.Match[str]) -> str:
    """Words in a row that no sentence is made of."""
    words = re.findall(r"[^\W\d_]+", match[2].lower())
    return match[0] if _FUNCTION_WORDS.intersection(words) else match[1] + MASK


def _named(match: re.Match[str]) -> str:
    value = match[0][len(match["lead"]) :]
    if match["spoken"]:
        return match["lead"] + MASK
    if match["quoted"]:
        return match[0] if value[1:-1].lower() in _NO_VALUE else f"{match['lead']}{value[0]}{MASK}{value[-1]}"
    core = value.rstrip(".!?:")
    return f"{match['lead']}{MASK}{value[len(core) :]}" if _is_value(match, core) else match[0]


def _is_value(match: re.Match[str], core: str) -> bool:
    """Whether what follows the name of a credential is its value, or how a sentence about it goes on."""
    digits = sum(c.isdigit() for c in core)
    if match["numeric"]:
        short = match["numeric"].lower().startswith("cv")
        return digits >= (3 if short else 4) and _CODE.fullmatch(core) is not None
    if core.lower() in _NO_VALUE or _URL.match(core) or (digits == len(core) and digits < 4):
        return False
    if not (match["verb"] or match["sign"]):
        return len(core) >= 6 and 0 < digits < len(core) and core.isascii()
    if _SHAPE.search(core):
        return True
    if not _ENDS.match(match.string, match.start("bare") + len(core)):
        return False
    return match["sign"] is not None or (core.isalpha() and len(core) > 3 and not _PARTICIPLE.fullmatch(core))


def _is_card(number: str) -> bool:
    """An issuer's range and the ISO/IEC 7812-1 check digit: what tells a card number from any other long number."""
    digits = [int(c) for c in number if c.isdigit()]
    doubled = [d if i % 2 == 0 else (d * 2 - 9 if d > 4 else d * 2) for i, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0 and _ISSUERS.fullmatch("".join(map(str, digits))) is not None
