"""Text made comparable: the foldings under which two strings count as the same."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_SPACE = re.compile(r"\s+")
# Typographic quotes, apostrophes, dashes and minus signs made plain; what nobody sees (soft hyphens, zero width, the
# direction of writing) taken out.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("’‘‚‛ʼ´′", "'"),
        **dict.fromkeys("“”„«»″", '"'),
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("\u00ad\u200b\u200e\u200f\u2060\ufeff", None),
        **dict.fromkeys(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]), None),
    }
)


def fold_space(text: str) -> str:
    """NFC, white space collapsed to single blanks, ends trimmed: what a client may change by echoing a message."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def fold(text: str) -> str:
    """NFKC, case folded, typographic quotes and dashes made plain, white space collapsed: for finding a quote."""
    if text.isascii():  # a tenth of the time, for searches that fold thousands of texts
        return " ".join(text.lower().split())
    plain = unicodedata.normalize("NFKC", text.translate(_PLAIN)).casefold()
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", plain)).strip()


_JOINERS = "\u200c\u200d\ufe0e\ufe0f"  # between and behind characters; they change how these look


def content_key(text: str) -> str:
    """16 hex characters, equal for texts that differ only in case, punctuation or white space.

    Signs that carry meaning are kept: minus, decimal point and slash at digits, currency, percent, `C++` and `C#`,
    symbols and emoji, and the vowel marks that many scripts write as combining characters.
    """
    folded = fold(text)
    kept = "".join(c if _carries(folded, i, c) else " " for i, c in enumerate(folded) if c not in _JOINERS)
    return hashlib.sha256(_SPACE.sub(" ", kept).strip().encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _carries(text: str, index: int, char: str) -> bool:
    """Whether a character of a folded text tells statements apart."""
    if char.isalnum():
        return True
    before, after = text[index - 1 : index] if index else "", text[index + 1 : index + 2]
    if char in ".,:/":
        return after.isdigit() and (before.isdigit() or (char == "." and not before.isalnum()))
    if char == "-":
        return after.isdigit() and not before.isalnum()
    if char in "+#":
        return before.isalnum() or before == char or (char == "+" and after.isdigit())
    if char in "%‰":
        return True
    kind = unicodedata.category(char)
    return kind[0] in "SM" and kind != "Sk"
