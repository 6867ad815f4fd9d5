"""One window of turns through the model: request, reply, drafts. No store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from memproxy.errors import TruncatedCompletion
from memproxy.extraction.drafts import Drafts, drafts
from memproxy.extraction.windows import halves
from memproxy.model import FactDraft
from memproxy.prompts import extraction as prompt
from memproxy.providers.client import ChatClient, Endpoint

MAX_OUTPUT_TOKENS = 2048


@dataclass(frozen=True, slots=True)
class Extracted:
    """What one window gave, and what it cost."""

    drafts: Drafts
    calls: int
    input_tokens: int
    output_tokens: int
    partial: bool = False  # taken from a reply that hit its limit, as the last resort

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
        )


async def extract(
    client: ChatClient,
    endpoint: Endpoint,
    window: prompt.Window,
    timezone: ZoneInfo,
    max_tokens: int = MAX_OUTPUT_TOKENS,
) -> Extracted:
    """The drafts of a window. A reply that hits the output limit is asked for again in smaller parts, a part that
    cannot get smaller once more with twice the limit; only then are its complete objects taken, marked partial.

    Raises ProviderBusy, ProviderError, UnusableReply.
    """
    try:
        completion = await client.complete(endpoint, prompt.messages(window, timezone), prompt.SCHEMA, max_tokens)
    except TruncatedCompletion as cut:
        spent = Extracted(Drafts((), {}), 1, 0, max_tokens)
        if parts := halves(window):
            for part in parts:
                spent = spent + await extract(client, endpoint, part, timezone, max_tokens)
            return spent
        if max_tokens == MAX_OUTPUT_TOKENS:
            return spent + await extract(client, endpoint, window, timezone, 2 * MAX_OUTPUT_TOKENS)
        return replace(spent, drafts=await _drafts(prompt.salvage(cut.text), window, timezone), partial=True)
    found = await _drafts(prompt.parse(completion.text), window, timezone)
    return Extracted(found, 1, completion.input_tokens or 0, completion.output_tokens or 0)


async def _drafts(facts: Sequence[Mapping[str, Any]], window: prompt.Window, timezone: ZoneInfo) -> Drafts:
    """In a thread: reading the first relative date loads a library, and long turns take their time."""
    return await asyncio.to_thread(drafts, facts, window.turns, timezone, window.context)
