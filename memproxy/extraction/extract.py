"""One window of turns through the model: request, reply, drafts. No store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from memproxy.context.budget import estimate_tokens
from memproxy.errors import EmptyAnswer, TruncatedCompletion, UnusableReply
from memproxy.extraction.drafts import Drafts, drafts
from memproxy.extraction.windows import halves
from memproxy.model import FactDraft
from memproxy.prompts import extraction as prompt
from memproxy.providers.client import ChatClient, Endpoint

log = logging.getLogger(__name__)

MAX_OUTPUT_TOKENS = 2048
TOKENS_TO_THINK = 4 * MAX_OUTPUT_TOKENS  # the limit for a model that spends the usual one on thoughts
LEAST_COUNTED = 32  # tokens; a server that reports fewer for a whole request does not count them


@dataclass(frozen=True, slots=True)
class Extracted:
    """What one window gave, and what it cost."""

    drafts: Drafts
    calls: int
    input_tokens: int
    output_tokens: int
    partial: bool = False  # taken from a reply that hit its limit, as the last resort
    failures: tuple[str, ...] = ()  # why calls on the way gave nothing, in words

    def __add__(self, other: Extracted) -> Extracted:
        rejected = dict(self.drafts.rejected)
        for reason, count in other.drafts.rejected.items():
            rejected[reason] = rejected.get(reason, 0) + count
        accepted: tuple[FactDraft, ...] = self.drafts.accepted + other.drafts.accepted
        return Extracted(
            Drafts(accepted, rejected, self.drafts.translated + other.drafts.translated),
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.partial or other.partial,
            self.failures + other.failures,
        )


async def extract(
    client: ChatClient,
    endpoint: Endpoint,
    window: prompt.Window,
    timezone: ZoneInfo,
    max_tokens: int = MAX_OUTPUT_TOKENS,
) -> Extracted:
    """The drafts of a window.

    A reply that hits the output limit is asked for again in smaller parts, a part that cannot get smaller once more
    with twice the limit; only then are its complete objects taken, marked partial. A reply without a word is asked for
    once more with room for thoughts. A request of which the model's server read only a part is sent again in smaller
    parts: an empty list of facts from half a conversation says nothing of the other half.

    Raises ProviderBusy, ProviderError, UnusableReply.
    """
    messages = prompt.messages(window, timezone)
    again = partial(extract, client, endpoint, timezone=timezone)
    try:
        completion = await client.complete(endpoint, messages, prompt.SCHEMA, max_tokens)
    except EmptyAnswer:
        if max_tokens >= TOKENS_TO_THINK:
            raise
        return _failed("empty-answer", output=max_tokens) + await again(window, max_tokens=TOKENS_TO_THINK)
    except TruncatedCompletion as cut:
        spent = _failed("truncated", output=max_tokens)
        if parts := halves(window):
            return await _each(again, parts, spent, max_tokens)
        if max_tokens == MAX_OUTPUT_TOKENS:
            return spent + await again(window, max_tokens=2 * MAX_OUTPUT_TOKENS)
        return replace(spent, drafts=await _drafts(prompt.salvage(cut.text), window, timezone), partial=True)
    found = await _drafts(prompt.parse(completion.text), window, timezone)
    if not found.accepted and prompt_cut(messages, completion.input_tokens):
        log.warning("the server of %s read only a part of an extraction request (prompt-cut)", endpoint.model)
        spent = _failed("prompt-cut", completion.input_tokens or 0, completion.output_tokens or 0)
        if parts := halves(window):
            return await _each(again, parts, spent, max_tokens)
        raise UnusableReply("prompt-cut")
    return Extracted(found, 1, completion.input_tokens or 0, completion.output_tokens or 0)


def prompt_cut(messages: Sequence[Mapping[str, str]], reported: int | None) -> bool:
    """Whether a server's count of the request's tokens is so far below the estimate that it cannot have read it all.

    A server that counts only what it had not in its cache leaves out the instructions, which all requests begin with;
    one that counts next to nothing does not count. So both the whole and the conversation alone must be far above.
    """
    if reported is None or reported < LEAST_COUNTED:
        return False
    conversation = estimate_tokens(messages[-1]["content"])
    whole = sum(estimate_tokens(message["content"]) for message in messages)
    return reported < 0.5 * conversation and reported < 0.4 * whole


async def _each(again: Any, parts: Sequence[prompt.Window], spent: Extracted, max_tokens: int) -> Extracted:
    for part in parts:
        spent = spent + await again(part, max_tokens=max_tokens)
    return spent


def _failed(reason: str, input_tokens: int = 0, output: int = 0) -> Extracted:
    """A call that gave nothing, and what it cost."""
    return Extracted(Drafts((), {}), 1, input_tokens, output, failures=(reason,))


async def _drafts(facts: Sequence[Mapping[str, Any]], window: prompt.Window, timezone: ZoneInfo) -> Drafts:
    """In a thread: reading the first relative date loads a library, and long turns take their time."""
    return await asyncio.to_thread(drafts, facts, window.turns, timezone, window.context)
