"""The merge gate: near statements of which rules cannot tell whether they are one are put to the model, if any.

It fails open: without an answer a statement is stored beside the near one, and its history says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memproxy.errors import ProviderError
from memproxy.extraction.reconcile import Verdicts, doubtful
from memproxy.folding import content_key
from memproxy.lifecycle.known import Known
from memproxy.lifecycle.learning import Grounds
from memproxy.lifecycle.neighbours import Neighbours
from memproxy.model import Fact, FactDraft, Verdict
from memproxy.prompts import merging as prompt
from memproxy.providers.client import ChatClient, Endpoint

NEAREST = 3  # facts a draft is compared with
PAIRS = 12  # in one request
TOKENS_A_PAIR = 60


@dataclass(frozen=True, slots=True)
class Doubt:
    """A draft and a fact near to it."""

    draft: FactDraft
    fact: Fact

    @property
    def key(self) -> tuple[str, str]:
        """By which the verdict is found again."""
        return content_key(self.draft.text), self.fact.content_key


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdicts, and what they cost."""

    verdicts: Verdicts
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


def find_doubts(
    drafts: Sequence[FactDraft], nearby: Sequence[Neighbours], known: Known, grounds: Grounds
) -> list[Doubt]:
    """The pairs to ask about, the nearest of each draft. Without vectors there is nothing to be near by."""
    doubts: list[Doubt] = []
    for draft, cosines in zip(drafts, nearby, strict=True):
        close = {id: cosine for id, cosine in cosines.items() if cosine is not None and cosine >= grounds.band}
        if close:
            unsure = doubtful(draft, known.near(draft, close), grounds.duplicate, grounds.band, grounds.policy)
            doubts += [Doubt(draft, n.fact) for n in unsure[:NEAREST]]
    return doubts[:PAIRS]


async def judge(client: ChatClient, endpoint: Endpoint, doubts: Sequence[Doubt]) -> Judged:
    """Ask the model about pairs. Never raises for a model's or a server's trouble: then all are unknown."""
    if not doubts:
        return Judged({})
    pairs = [
        prompt.Pair(d.fact.text, d.fact.reference_time or d.fact.recorded_at, d.draft.text, d.draft.reference_time)
        for d in doubts
    ]
    limit = 200 + TOKENS_A_PAIR * len(pairs)
    try:
        completion = await client.complete(endpoint, prompt.messages(pairs), prompt.SCHEMA, limit)
        verdicts = prompt.parse(completion.text, len(pairs))
    except ProviderError as error:  # fails open: both statements are kept, and flagged
        failed = Verdict("unknown", "model", f"the gate failed: {error.reason}")
        return Judged({doubt.key: failed for doubt in doubts}, calls=1)
    found = {doubt.key: verdict for doubt, verdict in zip(doubts, verdicts, strict=True)}
    return Judged(found, 1, completion.input_tokens or 0, completion.output_tokens or 0)
