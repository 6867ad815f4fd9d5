"""People with invented pasts, as many and as long as a measurement wants them, brought into a store as any past is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Literal

from memproxy.assembly.parts import open_parts
from memproxy.bench import importing, past
from memproxy.bench.searched import SearchedMemory
from memproxy.importing.bringing import Importer, Wish
from memproxy.importing.door import embedding_meanwhile
from memproxy.importing.records import Conversation, Said
from memproxy.model import Entity, new_id
from memproxy.settings_sources import load

SIZES = (10, 30, 100, 300, 1000)  # turns of most people, in turn
SESSION = 50  # turns of one conversation
LARGEST = 100_000  # turns of one person at most
SECOND = 10_000  # of the next one, where the store has room for the two and as much again
SAMPLE = 600  # turns by which bringing in is measured beside the embedder
DIMENSIONS = 384  # of invented vectors: as many as those of the model that comes along

Kind = Literal["made", "invented"]


@dataclass(frozen=True, slots=True)
class Plan:
    """How large the store is to be, and what it is filled with."""

    turns: int = 10_000
    largest: float = 0.5  # the share of one person
    provider: str = "local"
    vectors: Kind = "made"  # by the provider; or invented: sums of directions that words have at random
    store: Path | None = None

    @property
    def filling(self) -> dict[str, object]:
        """The embedder's settings while the store is filled and asked."""
        if self.vectors == "invented":
            return {"embed.provider": "hash", "embed.dimensions": DIMENSIONS}
        return {"embed.provider": self.provider}


def people(plan: Plan) -> list[tuple[str, int]]:
    """Everybody with how many turns they have: the one with most first."""
    found = [("largest", min(LARGEST, max(1, int(plan.turns * plan.largest))))]
    left = plan.turns - found[0][1]
    if found[0][1] > SECOND and left > 2 * SECOND:
        found.append(("second", SECOND))
        left -= SECOND
    while left > 0:
        size = min(SIZES[len(found) % len(SIZES)], left)
        found.append((f"person {len(found)}", size))
        left -= size
    return found


async def fill(memory: SearchedMemory, everybody: Sequence[tuple[str, int]], told: Callable[[int], None]) -> int:
    """Bring in everybody who is not there; how many turns were new. `told` is given their numbers, step by step."""
    return await embedding_meanwhile(memory.indexer, _bring(memory, everybody, told))


async def _bring(memory: SearchedMemory, everybody: Sequence[tuple[str, int]], told: Callable[[int], None]) -> int:
    new, saying = 0, _sayings()
    for name, size in everybody:
        turns = list(islice(saying, size))
        if await memory.passages(name) < size:
            report = await Importer(memory.parts, Entity(name), Wish(learn=False)).bring(_conversations(turns))
            new += report.new_turns
        told(size)
    return new


async def ingest(folder: Path, plan: Plan) -> importing.Measured:
    """Bring in a sample for somebody new, into the store as it is, beside the embedder alone over the same passages."""
    with (folder / "ingest.json").open("w") as file:
        json.dump({}, file)
    flags = {"db": str(folder / "memory.db"), "embed.provider": plan.provider, "llm.borrow": False}
    said = list(islice(_sayings("I forgot to say:"), SAMPLE))
    async with open_parts(load(file.name, flags, {}).settings) as parts:
        return await importing.run(parts, Entity(f"newcomer {new_id()}"), list(_conversations(said)))


def _sayings(prefix: str = "") -> Iterator[Said]:
    """Turns without end, each but once said by anybody."""
    for at, turn in enumerate(past.said()):
        text = f"{prefix} {turn['content']} That was number {at}.".strip()
        yield Said("user", text, datetime.fromisoformat(turn["time"]))


def _conversations(turns: Sequence[Said]) -> Iterator[Conversation]:
    for start in range(0, len(turns), SESSION):
        name = str(start // SESSION)
        yield Conversation(name, name, tuple(turns[start : start + SESSION]))
