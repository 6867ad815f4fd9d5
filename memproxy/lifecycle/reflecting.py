"""The second look applied: notes removed, enriched and added, conflicts decided. Any failure leaves the first notes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo

from memproxy.errors import ProviderError
from memproxy.extraction.drafts import drafts
from memproxy.extraction.reconcile import SECOND_LOOK, Verdicts
from memproxy.folding import content_key
from memproxy.model import Fact, FactDraft, Verdict
from memproxy.prompts import reflection as prompt
from memproxy.prompts.extraction import Window
from memproxy.providers.client import ChatClient, Endpoint
from memproxy.recall.terms import terms

MAX_OUTPUT_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class Reflected:
    """The notes after the second look, what it decided about known facts, and what it cost."""

    drafts: tuple[FactDraft, ...]
    verdicts: Verdicts = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)  # kept, enriched, removed, missed, conflicts, failed
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


async def reflect(
    client: ChatClient,
    endpoint: Endpoint,
    window: Window,
    notes: Sequence[FactDraft],
    known: Sequence[Fact],
    timezone: ZoneInfo,
) -> Reflected:
    """Look again at what a window gave. Never raises for a model's or a server's trouble.

    What is enriched or added passes every guard that first notes pass: it must have been said.
    """
    request = prompt.messages(window, notes, known, timezone)
    try:
        completion = await client.complete(endpoint, request, prompt.SCHEMA, MAX_OUTPUT_TOKENS)
        found = prompt.parse(completion.text, len(notes), len(known))
    except ProviderError:
        return Reflected(tuple(notes), counts={"failed": 1}, calls=1)
    cost = Reflected((), {}, {}, 1, completion.input_tokens or 0, completion.output_tokens or 0)
    return await asyncio.to_thread(_applied, found, window, notes, known, timezone, cost)


def _applied(
    found: prompt.Reflection,
    window: Window,
    notes: Sequence[FactDraft],
    known: Sequence[Fact],
    timezone: ZoneInfo,
    cost: Reflected,
) -> Reflected:
    dropped = found.removed | {c.note for c in found.conflicts if c.resolution == "keep_existing"}
    kept: dict[int, FactDraft] = {i: note for i, note in enumerate(notes) if i not in dropped}
    enriched = 0
    merged = {c.note: (c.text, known[c.known].text) for c in found.conflicts if c.resolution == "merge" and c.text}
    better = {place: (str(entry["text"]), "") for place, entry in found.enriched.items()} | merged
    for place, (text, other) in better.items():
        if place in kept:
            note = kept[place]
            quote = found.enriched.get(place, {}).get("quote") or note.quote
            again = drafts([{"text": text, "quote": quote}], window.turns, timezone, window.context).accepted
            said = f"{note.text} {other} {' '.join(turn.content for turn in window.turns if turn.role == 'user')}"
            if again and set(terms(again[0].text)) <= set(terms(said)):  # better words, and no word that nobody said
                kept[place] = replace(note, text=again[0].text, quote=again[0].quote, turn_id=again[0].turn_id)
                enriched += 1
    missed = drafts(found.missed, window.turns, timezone, window.context).accepted
    verdicts = {
        (content_key(kept[c.note].text), known[c.known].content_key): Verdict(
            "conflicting_answer", SECOND_LOOK, c.resolution
        )
        for c in found.conflicts
        if c.note in kept
    }
    counts = {
        "kept": len(kept),
        "enriched": enriched,
        "removed": len(notes) - len(kept),
        "missed": len(missed),
        "conflicts": len(found.conflicts),
    }
    return replace(cost, drafts=(*kept.values(), *missed), verdicts=verdicts, counts=counts)
