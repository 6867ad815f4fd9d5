"""Summaries freed of what holds no more: a sentence that says a superseded value would stand beside the current one."""

from __future__ import annotations

from dataclasses import replace

from memproxy.interfaces import Connection
from memproxy.lifecycle.indexing import repetitions, summary_passages
from memproxy.model import Entity, Fact
from memproxy.store import passages, summaries

MOST_SUMMARIES = 10_000


async def overtake(conn: Connection, entity: Entity, fact: Fact) -> int:
    """Take the sentences that say a fact out of all summaries; how many summaries that changed."""
    changed = 0
    for summary in await summaries.list_summaries(conn, entity, MOST_SUMMARIES):
        spans = [span for words in (fact.text, fact.quote) if words for span in repetitions(summary.text, words)]
        if not spans:
            continue
        changed += 1
        kept = _without(summary.text, spans)
        await summaries.delete(conn, entity, summary.id)
        if kept:
            shorter = replace(summary, text=kept)
            await summaries.insert(conn, entity, shorter)
            if shorter.kind == "conversation":
                await passages.add(conn, entity, summary_passages(shorter))
    return changed


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """A text without the sentences in which any of the spans lies."""
    kept = []
    end = 0
    for start, stop in sorted(spans):
        start = max(text.rfind(mark, end, start) + 1 for mark in ".!?。！？")
        if start > end:
            kept.append(text[end:start])
        ends = [at for at in (text.find(mark, stop - 1) for mark in ".!?。！？") if at >= 0]
        end = max(end, min(ends) + 1 if ends else len(text))
    return " ".join("".join([*kept, text[end:]]).split())
