"""A model of the prompt caches that providers keep: what of a prompt was the beginning of an earlier one.

OpenAI's automatic cache gives hits in steps of 128 tokens from the first token on; the caches of servers that one runs
oneself behave alike. A token is taken to be four characters.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

STEP_TOKENS = 128
_STEP = 4 * STEP_TOKENS


class CacheUse(NamedTuple):
    """Tokens of one prompt, and how many of them had been seen."""

    cached: int
    prompt: int


class PrefixCache:
    """Remembers prompts by their beginnings, as chat completion requests hold them."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()
        self.uses: list[CacheUse] = []

    def read(self, request: dict[str, Any]) -> CacheUse:
        """What was known of a request's prompt; from now on all of it is."""
        prompt = _rendered(request)
        cached = 0
        hashed = hashlib.sha256()
        known = True
        for start in range(0, len(prompt) - _STEP + 1, _STEP):
            hashed.update(prompt[start : start + _STEP].encode("utf-8", "surrogatepass"))
            known = known and hashed.digest() in self._known
            cached += STEP_TOKENS * known
            self._known.add(hashed.copy().digest())
        use = CacheUse(cached, -(-len(prompt) // 4))
        self.uses.append(use)
        return use

    @property
    def share(self) -> float:
        """The share of all tokens read so far that were cached."""
        total = sum(use.prompt for use in self.uses)
        return sum(use.cached for use in self.uses) / total if total else 0.0


def _rendered(request: dict[str, Any]) -> str:
    """The prompt in the order in which caches see it: tools, then the messages."""
    tools = json.dumps(request.get("tools", []))
    messages = [f"<|{message.get('role')}|>{json.dumps(message)}" for message in request.get("messages", [])]
    return tools + "".join(messages)
