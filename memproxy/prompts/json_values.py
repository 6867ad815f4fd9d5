"""Finding JSON in what a model wrote: behind its thoughts, in fences, between sentences with brackets of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_THOUGHTS = r"(?:think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad)"
_REASONING = re.compile(rf"<{_THOUGHTS}>.*?(?:</{_THOUGHTS}>|\Z)", re.DOTALL | re.IGNORECASE)
_REASONED = re.compile(rf"\A.*</{_THOUGHTS}>", re.DOTALL | re.IGNORECASE)  # the opening tag stood in the prompt
_BRACKET = re.compile(r"[{\[]")
_MOST_FAILURES = 1000  # brackets of prose that begin no JSON; no answer has as many


def json_values(reply: str) -> Iterator[Any]:
    """Every outermost JSON object or array of a reply, left to right, without those the model thought aloud."""
    text = _REASONED.sub(" ", _REASONING.sub(" ", reply))
    decoder = json.JSONDecoder()
    position = failures = 0
    while failures < _MOST_FAILURES and (match := _BRACKET.search(text, position)) is not None:
        try:
            value, position = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position = match.start() + 1
            failures += 1
        else:
            yield value
