"""Passages held in memory answer as the indexes on disk do, and are used only while they are what the disk holds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from memproxy.embedders.hashing import HashEmbedder
from memproxy.embedders.live import Embedders
from memproxy.interfaces import Connection, Vectors
from memproxy.model import EmbedderInfo, Entity, ItemKind, Passage
from memproxy.recall.evidence import Evidence, gather
from memproxy.recall.query import read_query
from memproxy.recall.ranking import leading, rank
from memproxy.recall.resident import STEP
from memproxy.recall.residents import Residents
from memproxy.recall.terms import index_terms
from memproxy.store import entities, erasure, facts, passages, search, sessions, turns, vectors
from memproxy.store import index as index_rows
from memproxy.store.sqlite import SqliteDatabase
from tests.contracts.test_store_rows import fact

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ADA, BO = Entity("Ada"), Entity("Bo")
TOY = EmbedderInfo("toy", 8, floor=0.5, duplicate=0.9)
WORDS = "kayak river garden piano sister Bergen March 2024 violin letter coffee always running".split()
QUERY = read_query("When did my sister play the piano in Bergen, in March 2024?", now=NOW)


class Toy(HashEmbedder):
    """An embedder of the vectors made here by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.info = TOY


Work = Callable[[Connection], Awaitable[Any]]


def text(seed: int) -> str:
    random = np.random.default_rng(seed)
    return " ".join(random.choice(WORDS, size=int(random.integers(2, 7)))) + f" n{seed}"


def vector(seed: int) -> Vectors:
    made: Vectors = np.random.default_rng(seed).normal(size=TOY.dimensions).astype(np.float32)
    return made


def say(*seeds: int, entity: Entity = ADA, seen: bool = True) -> Work:
    """Store turns in a session of their own, each with its vector (or still without)."""

    async def work(conn: Connection) -> list[str]:
        await entities.ensure(conn, entity, NOW)
        session = await sessions.open_session(conn, entity, None, NOW)
        said = []
        for seed in seeds:
            moment = NOW - timedelta(days=seed)
            turn = await turns.append(
                conn, entity, session.id, role="user" if seed % 3 else "assistant", name=None, content=text(seed),
                time=moment, learn="no", text_key=str(seed),
            )  # fmt: skip
            await index(
                conn, entity, Passage("turn", turn.id, 0, 0, len(text(seed)), "", text(seed)), moment, seed, seen
            )
            said.append(turn.id)
        return said

    return work


async def index(
    conn: Connection, entity: Entity, passage: Passage, moment: datetime, seed: int, seen: bool = True
) -> None:
    terms = index_terms(passage.text, "user", moment)
    stored = Passage(passage.kind, passage.owner_id, 0, 0, len(passage.text), terms, passage.text)
    [passage_id] = await passages.add(conn, entity, [stored])
    if seen:
        await vectors.add_vectors(conn, entity, TOY.model, [(passage_id, vector(seed))])


def learn(seed: int, *, entity: Entity = ADA) -> Work:
    """Store a fact with its vector."""

    async def work(conn: Connection) -> str:
        await entities.ensure(conn, entity, NOW)
        row = await facts.insert(conn, entity, fact(text(seed), confidence=0.5))
        await index(conn, entity, Passage("fact", row.id, 0, 0, 0, "", row.text), NOW, seed)
        return row.id

    return work


@pytest.fixture
def residents(db: SqliteDatabase) -> Residents:
    return Residents(db, Embedders(Toy()), room=1000)


async def held(db: SqliteDatabase, residents: Residents, entity: Entity = ADA) -> None:
    """Have an entity's passages read into memory."""
    residents.load(entity, await db.read(lambda conn: search.extent(conn, entity)))
    await residents.settled()


async def from_memory(
    db: SqliteDatabase,
    residents: Residents,
    seed: int | None = 1,
    *,
    entity: Entity = ADA,
    kinds: Sequence[ItemKind] | None = None,
    limit: int = 9,
) -> Evidence | None:
    async def work(conn: Connection) -> Evidence | None:
        resident = await residents.in_step(conn, entity, await search.extent(conn, entity))
        if resident is None:
            return None
        match = resident.match(QUERY.terms, limit, kinds)
        return resident.propose(match, None if seed is None else vector(seed) / np.linalg.norm(vector(seed)))

    return await db.snapshot(work)


async def from_disk(
    db: SqliteDatabase,
    seed: int | None = 1,
    *,
    entity: Entity = ADA,
    kinds: Sequence[ItemKind] | None = None,
    limit: int = 9,
) -> Evidence:
    asked = None if seed is None else vector(seed)

    async def work(conn: Connection) -> Evidence:
        extent = await search.extent(conn, entity)
        matched = await search.matching(conn, entity, extent, terms=QUERY.terms, limit=limit, kinds=kinds)
        found = await search.with_nearest(conn, matched, asked, TOY.model, beside=True)
        held = dict(found.document_frequencies)
        evidence = gather(
            found.candidates,
            passages=found.passages,
            document_frequencies=held,
            average_length=found.average_length,
        )
        words = {word for passage in leading(QUERY, evidence) for word in passage.terms.split()}
        held |= await index_rows.frequencies(conn, entity, words)
        return evidence

    return await db.read(work)


def same(memory: Evidence, disk: Evidence) -> None:
    """Both propose the same passages with the same evidence, up to last digits, and so they rank alike."""
    memory, disk = (found.only(np.argsort(-found.columns["passage"])) for found in (memory, disk))
    assert memory.passages == disk.passages
    assert [c._replace(cosine=None) for c in memory.candidates] == [c._replace(cosine=None) for c in disk.candidates]
    for column in ("passage", "kind", "seq", "own", "wish", "confidence", "chars", "day"):
        assert memory.columns[column].tolist() == disk.columns[column].tolist()
    for column in ("owner", "session"):
        assert alike(memory.columns[column]) == alike(disk.columns[column])
    for terms in (QUERY.terms, ["kayak", "river", "absent"]):
        assert memory.counts(terms).tolist() == disk.counts(terms).tolist()
    assert memory.weights(QUERY.terms) == pytest.approx(disk.weights(QUERY.terms))
    assert memory.coverage(QUERY.terms) == pytest.approx(disk.coverage(QUERY.terms))
    assert memory.cosines == pytest.approx(disk.cosines, abs=1e-5, nan_ok=True)
    ranks = [rank(QUERY, found, floor=TOY.floor) for found in (memory, disk)]
    assert len(ranks[0]) == len(ranks[1])
    for ours, theirs in zip(*ranks, strict=True):
        assert ours.score == pytest.approx(theirs.score, abs=1e-4)
        assert ours.cosine == pytest.approx(theirs.cosine, abs=1e-5)


def alike(numbers: Any) -> list[list[bool]]:
    """Which rows have the same number as which."""
    found: list[list[bool]] = (numbers[:, None] == numbers).tolist()
    return found


@pytest.mark.parametrize("limit", [3, 9, 100])
@pytest.mark.parametrize("seed", [1, 2, 3, None])
async def test_memory_proposes_what_the_disk_proposes(
    db: SqliteDatabase, residents: Residents, seed: int | None, limit: int
) -> None:
    await db.write(say(*range(1, 40)))
    await db.write(say(*range(40, 50), seen=False))
    await db.write(say(1, 2, 3, entity=BO))
    for number in range(60, 66):
        await db.write(learn(number))
    await held(db, residents)
    found = await from_memory(db, residents, seed, limit=limit)
    assert found is not None
    same(found, await from_disk(db, seed, limit=limit))


@pytest.mark.parametrize("kinds", [("fact",), ("turn",), ("fact", "turn")])
async def test_kinds_can_be_chosen(db: SqliteDatabase, residents: Residents, kinds: Sequence[ItemKind]) -> None:
    await db.write(say(*range(1, 8)))
    await db.write(learn(10))
    await held(db, residents)
    found = await from_memory(db, residents, kinds=kinds)
    assert found is not None
    assert {c.kind for c in found.candidates} == set(kinds)
    same(found, await from_disk(db, kinds=kinds))


async def test_what_is_added_later_is_there_at_once(db: SqliteDatabase, residents: Residents) -> None:
    await db.write(say(1, 2, 3))
    await held(db, residents)
    await db.write(say(*range(10, 12 + STEP), seen=False))
    await db.write(learn(9))
    found = await from_memory(db, residents, limit=500)
    assert found is not None
    same(found, await from_disk(db, limit=500))
    unembedded = await db.read(lambda conn: search.unembedded(conn, TOY.model, 500))
    await db.write(
        lambda conn: vectors.add_vectors(
            conn, ADA, TOY.model, [(u.passage_id, vector(u.passage_id)) for u in unembedded]
        )
    )
    found = await from_memory(db, residents, limit=500)
    assert found is not None
    same(found, await from_disk(db, limit=500))
    assert not np.isnan(found.cosines).any()


async def test_what_is_wanted_of_each_passage_is_worked_out_before_anybody_asks(db: SqliteDatabase) -> None:
    residents = Residents(
        db, Embedders(Toy()), 1000, lambda found, notes: notes.update({found.passage_id: found.owner_id})
    )
    said: list[str] = await db.write(say(1, 2, 3))
    await held(db, residents)

    async def noted(conn: Connection) -> set[Any]:
        resident = await residents.in_step(conn, ADA, await search.extent(conn, ADA))
        assert resident is not None
        return set(resident.notes.values())

    assert await db.snapshot(noted) == set(said)
    said += await db.write(say(4))
    assert await db.snapshot(noted) == set(said)


async def test_whether_anything_is_always_true_of_somebody_is_known_without_looking_for_it(db: SqliteDatabase) -> None:
    async def standing() -> tuple[bool, int]:
        async def look(conn: Connection) -> tuple[bool, int]:
            return (await search.extent(conn, ADA)).standing, len(await facts.standing(conn, ADA, 8, 10))

        return await db.read(look)

    async def insert(made: Any) -> None:
        await db.write(lambda conn: facts.insert(conn, ADA, made))

    await db.write(say(1))
    await insert(fact("Likes plums", type="event", significance=9))
    assert await standing() == (False, 0)
    await insert(fact("Speaks Basque", type="identity", significance=3))
    assert await standing() == (True, 0)
    await insert(fact("Is a midwife", type="identity", significance=9))
    await insert(fact("Keeps bees", pinned=True))
    assert await standing() == (True, 2)


async def test_many_who_ask_at_once_add_what_is_new_once(db: SqliteDatabase, residents: Residents) -> None:
    await db.write(say(1, 2, 3))
    await held(db, residents)
    await db.write(say(*range(10, 40)))
    everyone = await asyncio.gather(*(from_memory(db, residents) for _ in range(8)))
    expected = await from_disk(db)
    for found in everyone:
        assert found is not None
        same(found, expected)


async def _forget(conn: Connection, turn: str, fact_id: str) -> None:
    await facts.set_status(conn, ADA, fact_id, "forgotten", "asked", NOW)


async def _supersede(conn: Connection, turn: str, fact_id: str) -> None:
    await facts.set_status(conn, ADA, fact_id, "historical", "superseded", NOW)


async def _remove(conn: Connection, turn: str, fact_id: str) -> None:
    await turns.delete(conn, ADA, turn)


async def _erase(conn: Connection, turn: str, fact_id: str) -> None:
    await erasure.erase(conn, ADA)
    await say(21, 22)(conn)


async def _embed_again(conn: Connection, turn: str, fact_id: str) -> None:
    await vectors.add_vectors(conn, ADA, TOY.model, [(1, vector(77))])


@pytest.mark.parametrize("change", [_forget, _supersede, _remove, _erase, _embed_again])
async def test_after_any_change_the_copy_is_not_used_and_a_new_one_says_what_holds(
    db: SqliteDatabase, residents: Residents, change: Callable[[Connection, str, str], Awaitable[None]]
) -> None:
    [turn, _] = await db.write(say(1, 2))
    fact_id = await db.write(learn(9))
    await held(db, residents)
    assert await from_memory(db, residents) is not None
    await db.write(lambda conn: change(conn, turn, fact_id))
    assert await from_memory(db, residents) is None
    await held(db, residents)
    found = await from_memory(db, residents)
    assert found is not None
    same(found, await from_disk(db))


async def test_facts_that_held_once_take_no_place_of_those_that_hold(db: SqliteDatabase, residents: Residents) -> None:
    for seed in range(40):
        fact_id = await db.write(learn(seed))
        if seed % 4:
            await db.write(lambda conn: facts.set_status(conn, ADA, fact_id, "historical", "superseded", NOW))  # noqa: B023
    await held(db, residents)
    for asked in (None, 1, 2, 3):  # by words alone, and with what is nearest to facts that hold no more
        found, expected = await from_memory(db, residents, asked), await from_disk(db, asked)
        assert found is not None
        same(found, expected)
        assert len(expected) >= 9


async def test_one_persons_copy_is_nobody_elses(db: SqliteDatabase, residents: Residents) -> None:
    await db.write(say(1, 2, 3))
    await db.write(say(4, 5, entity=BO))
    await held(db, residents)
    assert await from_memory(db, residents, entity=BO) is None
    await held(db, residents, BO)
    found = await from_memory(db, residents, entity=BO)
    assert found is not None
    assert {c.text for c in found.candidates} <= {text(4), text(5)}


async def test_those_who_spoke_last_stay_and_a_memory_without_room_is_never_held(db: SqliteDatabase) -> None:
    small = Residents(db, Embedders(Toy()), room=5)
    await db.write(say(1, 2, 3))
    await db.write(say(4, 5, 6, entity=BO))
    await db.write(say(*range(10, 20), entity=Entity("Cy")))
    await held(db, small)
    await held(db, small, BO)
    await held(db, small, Entity("Cy"))
    assert await from_memory(db, small) is None
    assert await from_memory(db, small, entity=BO) is not None
    assert await from_memory(db, small, entity=Entity("Cy")) is None
    small.drop(BO)
    assert await from_memory(db, small, entity=BO) is None
