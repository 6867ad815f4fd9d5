"""`memproxy bench facts`: what it costs to keep facts true, beside what it costs to embed them, in the same run.

A store is generated: one person with many facts, many people with some. Then drafts are reconciled against the first
one's, twice: the second time nothing may change but how often things were said. Last, what people do to their memory
is timed in the full store.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from memproxy.assembly.parts import Parts, open_parts
from memproxy.bench.load import quantile
from memproxy.extraction.drafts import Drafts
from memproxy.extraction.extract import Extracted
from memproxy.extraction.reconcile import as_fact
from memproxy.interfaces import Connection
from memproxy.lifecycle.curation import Curator
from memproxy.lifecycle.indexing import fact_passages
from memproxy.lifecycle.learner import Learner
from memproxy.model import Entity, Fact, FactDraft, Job, Turn, new_id
from memproxy.prompts.extraction import Window
from memproxy.providers.client import Endpoint
from memproxy.recall.passages import embedding_text
from memproxy.settings import Settings
from memproxy.settings_sources import load
from memproxy.store import entities, sessions, turns
from memproxy.store import facts as fact_rows
from memproxy.store import passages as passage_rows
from memproxy.store import vectors as vector_rows
from memproxy.testing import ScriptedUpstream

MOST_TIMES_EMBEDDING = 5.0
MOST_MILLISECONDS = 10.0
WINDOW = 10  # drafts of one extraction reply
BATCH = 200
START = datetime(2026, 1, 1, tzinfo=UTC)

_WHO = "Ada Bo Cleo Dag Eva Finn Gro Hal Ida Jon Kari Leif Mona Nils Oda Per Rut Siv Tor Una".split()
_WHERE = "Tolm Brask Quillhaven Lindholm Sorrel Brunn Marsk Oslo Vardo Alta Narvik Bergen".split()
_WHAT = "kayak cello beehive bicycle loom telescope piano tent canoe greenhouse camera sled anvil kiln".split()
_SHAPES = (
    ("Owns a {what} that {who} built in {year}", None),
    ("Went to {where} with {who} in {year}", None),
    ("Keeps the {what} number {n} in a shed near {where}", None),
    ("Learned to repair a {what} from {who}", "skill"),
    ("Pays {n} a month for a room in {where}", None),
    ("Plans to sell the {what} to {who} for {n}", None),
    ("Is afraid of the {what} since {year}", None),
    ("Sings with {who} on the {n}th floor in {where}", "hobby"),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much."""

    facts: int = 10_000
    drafts: int = 1_000
    people: int = 1_000
    all_facts: int = 100_000


def statements(seed: int) -> Iterator[FactDraft]:
    """Endless statements, as people make them: many alike, few the same."""
    rng = random.Random(seed)
    while True:
        shape, slot = rng.choice(_SHAPES)
        text = shape.format(
            who=rng.choice(_WHO),
            where=rng.choice(_WHERE),
            what=rng.choice(_WHAT),
            year=rng.randint(1990, 2025),
            n=rng.randint(1, 900),
        )
        yield FactDraft(text, slot=slot, reference_time=START + timedelta(minutes=rng.randint(0, 60 * 24 * 300)))


async def measure(plan: Plan, out: Console, json_output: bool) -> int:
    """Run it and print the figures; 1 where one is missed."""
    with tempfile.TemporaryDirectory() as folder:
        async with ScriptedUpstream(lambda request: '{"verdicts": []}') as model:
            settings = _settings(Path(folder), model.url)
            async with open_parts(settings) as parts:
                if parts.embedder is None:
                    out.print(f"no embedder: {parts.embedders.problem}")
                    return 1
                figures = await _Run(plan, parts, model, out).all()
    if json_output:
        out.print_json(data=figures)
    else:
        _show(figures, out)
    return 0 if all(figure["holds"] for figure in figures) else 1


class _Run:
    def __init__(self, plan: Plan, parts: Parts, model: ScriptedUpstream, out: Console) -> None:
        assert parts.embedder is not None
        self._plan = plan
        self._parts = parts
        self._embedder = parts.embedder
        self._model = model
        self._out = out
        self._who = Entity("person-0")

    async def all(self) -> list[dict[str, Any]]:
        await self._fill()
        embedding, first, second, untouched = await self._reconcile()
        return [
            _figure("embedding the drafts, ms each", embedding, None),
            _figure("reconciling them, ms each", first, None),
            _figure("reconciling, × embedding", first / embedding, MOST_TIMES_EMBEDDING),
            _figure("reconciling them again, ms each", second, None),
            _figure("rows changed the second time, but for reinforcement", 0.0 if untouched else 1.0, 0.0),
            *await self._operations(),
        ]

    async def _fill(self) -> None:
        plan, db = self._plan, self._parts.db
        said = statements(1)
        for start in track(range(0, plan.facts, BATCH), "one person's facts", console=self._out):
            drafts = [next(said) for _ in range(min(BATCH, plan.facts - start))]
            vectors = await self._embedder.embed_documents([embedding_text(d.text, "user") for d in drafts])

            async def put(conn: Connection, drafts: Sequence[FactDraft] = drafts, vectors: Any = vectors) -> None:
                await entities.ensure(conn, self._who, START)
                for draft, vector in zip(drafts, vectors, strict=True):
                    fact = as_fact(draft, START)
                    if (await fact_rows.insert(conn, self._who, fact)).id != fact.id:
                        continue  # it was said already
                    if ids := await passage_rows.add(conn, self._who, fact_passages(fact)):
                        await vector_rows.add_vectors(conn, self._who, self._embedder.info.model, [(ids[0], vector)])

            await db.write(put)
        others = range(1, plan.people)
        each = max(0, plan.all_facts - plan.facts) // max(1, len(others))
        for index in track(others, "everybody else's", console=self._out):
            drafts = [next(said) for _ in range(each)]

            async def put_other(conn: Connection, drafts: Sequence[FactDraft] = drafts, index: int = index) -> None:
                entity = Entity(f"person-{index}")
                await entities.ensure(conn, entity, START)
                for draft in drafts:
                    await fact_rows.insert(conn, entity, as_fact(draft, START))

            await db.write(put_other)

    async def _reconcile(self) -> tuple[float, float, float, bool]:
        """Milliseconds a draft: to embed, to reconcile, again; and whether the second time changed no row."""
        said = statements(2)
        turn = await self._parts.db.write(self._turn)
        drafts = [
            FactDraft(d.text, slot=d.slot, reference_time=d.reference_time, turn_id=turn.id)
            for d in (next(said) for _ in range(self._plan.drafts))
        ]
        texts = [embedding_text(draft.text, "user") for draft in drafts]
        begin = time.perf_counter()
        for start in range(0, len(texts), WINDOW):
            await self._embedder.embed_documents(texts[start : start + WINDOW])
        embedding = time.perf_counter() - begin
        first = await self._learn(drafts, turn)
        before = await self._rows()
        second = await self._learn(drafts, turn)
        same = before == await self._rows()
        each = 1000 / len(drafts)
        return embedding * each, (first - embedding) * each, (second - embedding) * each, same

    async def _turn(self, conn: Connection) -> Turn:
        session = await sessions.open_session(conn, self._who, None, START)
        return await turns.append(
            conn,
            self._who,
            session.id,
            role="user",
            name=None,
            content="…",
            time=START,
            learn="pending",
            text_key="bench",
        )

    async def _learn(self, drafts: Sequence[FactDraft], turn: Turn) -> float:
        """Seconds to learn all drafts, a window at a time, their embedding included."""
        learner: Learner = self._parts.learner
        endpoint = Endpoint(f"{self._model.url}/v1", "scripted", {})
        job = Job(new_id(), self._who, "extract", turn.session_id, "running", 1, START, None, None, START, START)
        begin = time.perf_counter()
        for start in track(range(0, len(drafts), WINDOW), "reconciling", console=self._out):
            found = Extracted(Drafts(tuple(drafts[start : start + WINDOW]), {}), 1, 0, 0)
            await learner.store(job, endpoint, Window((turn,), ()), found)
        return time.perf_counter() - begin

    async def _rows(self) -> list[Fact]:
        """All facts, without what saying them again changes."""

        async def read(conn: Connection) -> list[Fact]:
            return await fact_rows.everything(conn, self._who)

        return [_bare(fact) for fact in await self._parts.db.read(read)]

    async def _operations(self) -> list[dict[str, Any]]:
        curator: Curator = self._parts.curator
        db, rng = self._parts.db, random.Random(3)
        timed: dict[str, list[float]] = {"listing": [], "correcting": [], "pinning": []}

        for number in track(range(100), "what people do", console=self._out):
            entity = Entity(f"person-{rng.randint(1, self._plan.people - 1)}")
            begin = time.perf_counter()
            listed = await db.read(partial(fact_rows.list_facts, entity=entity, limit=100))
            fact, listing = rng.choice(listed), time.perf_counter()
            await curator.correct(entity, fact.id, {"text": f"{fact.text}, as was said in conversation {number}"})
            correcting = time.perf_counter()
            await curator.pin(entity, fact.id)
            timed["listing"].append((listing - begin) * 1000)
            timed["correcting"].append((correcting - listing) * 1000)
            timed["pinning"].append((time.perf_counter() - correcting) * 1000)
        return [
            _figure(f"{name}, {share} ms", quantile(values, part), most)
            for name, values in timed.items()
            for share, part, most in (("p50", 0.5, MOST_MILLISECONDS), ("p95", 0.95, None))
        ]


def _bare(fact: Fact) -> Fact:
    return replace(
        fact,
        reinforced_count=0,
        reinforced_at=None,
        confidence=1.0,
        significance=1,
        updated_at=START,
        expires_at=None,
    )


def _figure(name: str, value: float, most: float | None) -> dict[str, Any]:
    return {"figure": name, "value": round(value, 3), "most": most, "holds": most is None or value <= most}


def _show(figures: Sequence[dict[str, Any]], out: Console) -> None:
    table = Table("figure", "measured", "at most", "holds")
    for figure in figures:
        most = "" if figure["most"] is None else f"{figure['most']:g}"
        table.add_row(figure["figure"], f"{figure['value']:g}", most, "yes" if figure["holds"] else "NO")
    out.print(table)


def _settings(folder: Path, url: str) -> Settings:
    config = folder / "memg.json"
    config.write_text("{}")
    flags = {
        "db": str(folder / "memory.db"),
        "llm.base_url": f"{url}/v1",
        "llm.api_key": "scripted",
        "extraction.daily_calls": 1_000_000,
    }
    return load(str(config), flags, {}).settings
