"""How much may be said: one estimate of tokens for everything, and what a model's window leaves of the budget."""

from __future__ import annotations

import math
import re

# In quarters of a token. Four characters of Latin text make about one token; letters of other alphabets weigh twice as
# much; a Han, Kana or Hangul character is at least one token, an emoji about two.
_NARROW = 1
_OTHER = re.compile("[\u0370-\u1fff\u2c00-\u2dff\ua000-\ua95f\ufb1d-\ufdff\ufe70-\ufeff]")
_WIDE = re.compile("[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_LATIN = re.compile("[\0-\u036f]+")  # none of these
_MARGIN = 64  # tokens left free for the request's own framing: roles, separators, tool schemas


def quarters(text: str) -> int:
    """The estimated weight of a text in quarters of a token; that of two texts together is the sum."""
    if text.isascii():
        return len(text)
    rest = _LATIN.sub("", text)  # of most texts hardly anything
    other, wide, astral = (len(pattern.findall(rest)) for pattern in (_OTHER, _WIDE, _ASTRAL))
    return _NARROW * len(text) + other + 3 * wide + 7 * astral


def estimate_tokens(text: str) -> int:
    """About how many tokens a text takes, rounded up: 4 Latin characters make one, a Han character is one."""
    return math.ceil(quarters(text) / 4)


def fit(
    budget: int, context_window: int | None, request_tokens: int, reply_tokens: int, window_share: float = 1.0
) -> int:
    """The budget, or a share of the model's window, or what that leaves beside the request and room for the reply.

    0 or more. The client's own content is never trimmed; it is the block that shrinks.
    """
    if context_window is None:
        return max(budget, 0)
    left = context_window - request_tokens - reply_tokens - _MARGIN
    return max(min(budget, int(window_share * context_window), left), 0)
