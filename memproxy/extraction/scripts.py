"""Facts in another script than the one they were told in: kept in the person's own words.

A model that answers Chinese with English notes gives memories that neither the person reads nor their next question
finds. The words they said are at hand, so those become the text; nothing is lost but the model's wording. Between
languages of one script a rule cannot tell a translation from a name, and leaves the text alone.
"""

from __future__ import annotations

from dataclasses import replace

from memproxy.extraction.guards.patterns import Pattern
from memproxy.model import FactDraft

_LATIN = Pattern("[A-Za-z\u00c0-\u024f]+")
_DENSE = Pattern("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_OTHER = Pattern("[\u0370-\u1fff]+")
_TO_A_WORD = 1.5  # dense characters
_ENOUGH = 4  # characters of a quotation that can stand for itself


def translated(draft: FactDraft) -> FactDraft:
    """The draft with the person's words as its text where the model wrote another script; else the draft itself."""
    quote = " ".join((draft.quote or "").split())
    if len(quote) < _ENOUGH or _script(quote) in (None, _script(draft.text)):
        return draft
    return replace(draft, text=quote) if not _has_script_of(quote, draft.text) else draft


def _script(text: str) -> str | None:
    """The script that most of a text is in, by words; None for a text without letters."""
    weights: dict[str, float] = {
        "latin": len(_LATIN.findall(text)),
        "dense": len(_DENSE.findall(text)) / _TO_A_WORD,
        "other": len(_OTHER.findall(text)),
    }
    script = max(weights, key=lambda name: weights[name])
    return script if weights[script] else None


def _has_script_of(quote: str, text: str) -> bool:
    pattern = {"latin": _LATIN, "dense": _DENSE, "other": _OTHER}[_script(quote) or "latin"]
    return pattern.search(text) is not None
