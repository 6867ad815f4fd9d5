"""Masking credentials by the shape of their value, before anything is stored, indexed, embedded, shown or logged.

Only precise shapes: vendors' documented prefixes, key blocks, tokens with a checkable structure, and a value that
follows a word like "password". Ordinary prose, ids and hashes stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable

MASK = "[secret]"

_PREFIXED = re.compile(
    r"""\b(?:
        sk-[A-Za-z0-9_-]{16,}                 # OpenAI, Anthropic, OpenRouter and others
      | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}   # Stripe
      | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_\w{20,} | glpat-[\w-]{16,}
      | xox[abeoprs]-[A-Za-z0-9-]{10,} | xapp-[A-Za-z0-9-]{10,}
      | (?:AKIA|ASIA)[A-Z0-9]{16}             # AWS access key id
      | AIza[\w-]{30,} | ya29\.[\w-]{20,}     # Google
      | hf_[A-Za-z0-9]{20,} | gsk_[A-Za-z0-9]{20,} | xai-[A-Za-z0-9]{20,} | pplx-[A-Za-z0-9]{20,}
      | npm_[A-Za-z0-9]{30,} | pypi-[\w-]{30,} | dop_v1_[a-f0-9]{32,} | SG\.[\w-]{16,}\.[\w-]{16,}
      | eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,} # JSON Web Token
      | bwm_sk_\w{16,}
    )""",
    re.VERBOSE,
)
_KEY_BLOCK = re.compile(
    r"-----BEGIN (?:[A-Z ]*PRIVATE KEY|PGP PRIVATE KEY BLOCK)-----.*?(?:-----END [A-Z ]+-----|\Z)", re.DOTALL
)
_AUTHORIZATION = re.compile(r"(?i)\b(authorization\s*:\s*(?:bearer|basic)\s+|bearer\s+)([A-Za-z0-9._~+/=-]{16,})")
_URL_PASSWORD = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://[^\s:/@]+:)([^\s@/]{3,})(@)")
_SPOKEN_NUMBER = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|double)"
_NAMED = re.compile(
    r"(?i)\b((?:pass(?:word|phrase|code)|passwd|pwd|pin(?:\s+(?:code|number))?|secret\s+key|api[\s_-]?key|access\s+token|"
    r"auth\s+token|cvv|cvc|recovery\s+(?:code|phrase|words)|seed\s+phrase)\b"
    r"(?:\s+(?:for|to|of|on)\s+(?:\w+\s+){0,3}?\w+)?"
    r"(?:\s+(?:is|was|are)\s*:?|\s*[:=]|\s+equals)\s*)"
    rf"((?:{_SPOKEN_NUMBER}[\s,-]+){{2,}}{_SPOKEN_NUMBER}\b|\"[^\"\n]{{3,80}}\"|'[^'\n]{{3,80}}'|`[^`\n]{{3,80}}`|[^\s,;]{{3,120}})"
)
_SEED_WORDS = re.compile(
    r"(?i)\b((?:recovery|seed)\s+(?:phrase|words)\s*(?:is|are|:|=)\s*)((?:[a-z]{3,8}[\s,]+){11,23}[a-z]{3,8})"
)
_CARD = re.compile(r"(?<![\d-])(?:\d[ -]?){12,18}\d(?![\d-])")

# What follows "password is" in ordinary talk about passwords; not a value.
_NOT_A_VALUE = re.compile(
    r"(?i)(?:the|a|an|my|your|not|no|too|very|so|in|on|at|for|from|with|wrong|correct|incorrect|expired|required|invalid|"
    r"missing|needed|hashed|stored|saved|same|weak|strong|set|reset|being|what|how|why|that|this|it|always|never|"
    r"good|bad|important|based|something|different|still|also|only|just|really|now|and|or|to|required\.)[.,!?:]?"
)


def mask_secrets(text: str) -> str:
    """The text with every recognised credential replaced by `[secret]`; the rest word for word."""
    text = _KEY_BLOCK.sub(MASK, text)
    text = _SEED_WORDS.sub(rf"\1{MASK}", text)
    text = _PREFIXED.sub(MASK, text)
    text = _AUTHORIZATION.sub(rf"\1{MASK}", text)
    text = _URL_PASSWORD.sub(rf"\1{MASK}\3", text)
    text = _NAMED.sub(_mask_named, text)
    return _CARD.sub(_masked_if(_passes_luhn), text)


def _mask_named(match: re.Match[str]) -> str:
    value = match[2]
    if _NOT_A_VALUE.fullmatch(value) or MASK in value:
        return match[0]
    kept = value[len(value.rstrip(".!?)")) :] if value[0] not in "\"'`" else ""
    return f"{match[1]}{MASK}{kept}"


def _masked_if(test: Callable[[str], bool]) -> Callable[[re.Match[str]], str]:
    return lambda match: MASK if test(match[0]) else match[0]


def _passes_luhn(number: str) -> bool:
    """ISO/IEC 7812-1 check digit: what tells a card number from any other long number."""
    digits = [int(c) for c in number if c.isdigit()]
    doubled = [d if i % 2 == 0 else (d * 2 - 9 if d > 4 else d * 2) for i, d in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and sum(doubled) % 10 == 0 and len(set(digits)) > 1
