"""Erasing an entity: nothing of it in any row, index or file; nothing of anybody else missing."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memproxy.errors import StoreError
from memproxy.interfaces import Connection, Vectors
from memproxy.model import BlockItem, ContextBlock, Entity, Passage, Receipt, new_id
from memproxy.store import (
    entities,
    erasure,
    facts,
    jobs,
    meta,
    passages,
    receipts,
    search,
    sessions,
    summaries,
    turns,
    usage,
    vectors,
)
from memproxy.store.driver import Driver
from memproxy.store.sqlite import SqliteDatabase
from memproxy.store.summaries import Summary
from tests.contracts.test_store_rows import fact

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
VICTIM = Entity("quillhaven-person")
CANARIES = (b"quillhaven", b"xylorimba", b"zorbing", b"brindlewick", b"plover-code", b"snorkelkei", b"fernsum")


def vector(seed: int) -> Vectors:
    made: Vectors = np.random.default_rng(seed).normal(size=16).astype(np.float32)
    return made


async def live(conn: Connection, entity: Entity, words: str, seed: int) -> None:
    """Leave one of everything."""
    await entities.ensure(conn, entity, NOW)
    session = await sessions.open_session(conn, entity, f"{words} session", NOW)
    text = f"I play the {words} " * random.Random(seed).choice([1, 3, 30, 300])
    turn = await turns.append(
        conn, entity, session.id, role="user", name=words, content=text, time=NOW, learn="pending", text_key=words
    )
    await sessions.put_mark(conn, entity, f"key-{words}-{seed}", session.id, turn.seq, "said", NOW)
    row = await facts.insert(conn, entity, fact(f"Plays {words} {seed}", turn_id=turn.id, quote=words))
    await facts.update(conn, entity, row.id, {"tag": "music"}, f"because {words}", NOW)
    await facts.counts_in(conn, entity, row.id, session.id, NOW)
    erased = await facts.insert(conn, entity, fact(f"Really {words} {seed}", turn_id=turn.id))
    await facts.delete(conn, entity, erased.id)
    summary = Summary(new_id(), session.id, f"Talked of {words}", NOW, NOW, NOW)
    await summaries.insert(conn, entity, summary)
    ids = await passages.add(
        conn,
        entity,
        [
            Passage("turn", turn.id, 0, 0, len(text), f"play {words}", text),
            Passage("fact", row.id, 0, 0, len(row.text), f"play {words} {seed}", row.text),
            Passage("summary", summary.id, 0, 0, len(summary.text), f"talk {words}", summary.text),
        ],
    )
    await search.add_vectors(conn, entity, "toy", [(i, vector(seed + n)) for n, i in enumerate(ids)])
    items = (BlockItem("fact", row.id, f"line of {words}", 1.0, "[X]"),)
    await receipts.put(
        conn, Receipt(f"r-{words}-{seed}", entity, session.id, words, NOW, ContextBlock(f"block of {words}", 1, items))
    )
    await jobs.enqueue(conn, entity, "extract", session.id, NOW, None, NOW)
    await usage.add(conn, entity, "2026-11-30", "extract")


def all_bytes(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


async def test_a_byte_search_of_all_files_finds_nothing_of_the_erased(
    db: SqliteDatabase, tmp_path: Path, driver: Driver
) -> None:
    words = [canary.decode() for canary in CANARIES[1:]]
    for n in range(60):  # between one another, so that pages split where their rows are
        await db.write(lambda conn, n=n: live(conn, VICTIM, words[n % len(words)], 10 * n))  # type: ignore[misc]
        await db.write(lambda conn, n=n: live(conn, Entity(f"other-{n % 3}"), "harmonium", 10 * n + 5))  # type: ignore[misc]
    before = [await db.read(counting(i)) for i in range(3)]
    seen = all_bytes(tmp_path)
    assert all(canary in seen for canary in CANARIES)
    blob = vectors.to_blob(vector(0))
    assert blob in seen

    deleted = await db.write(lambda conn: erasure.erase(conn, VICTIM))
    assert {name: deleted[name] for name in ("turns", "facts", "passages", "vectors", "receipts", "summaries")} == {
        "turns": 60, "facts": 60, "passages": 180, "vectors": 180, "receipts": 60, "summaries": 60,
    }  # fmt: skip
    assert await db.scrub()
    left = all_bytes(tmp_path)
    assert [canary for canary in CANARIES if canary in left.lower()] == []
    assert blob not in left

    assert set((await db.read(lambda conn: entities.counts(conn, VICTIM))).values()) == {0}
    after = [await db.read(counting(i)) for i in range(3)]
    assert after == before
    found = await db.read(
        lambda conn: search.propose(
            conn, Entity("other-0"), terms=["harmonium"], vector=vector(5), model="toy", limit=200
        )
    )
    assert len(found.candidates) == before[0]["passages"]
    assert found.candidates[0].cosine is not None
    nearest = await db.read(lambda conn: vectors.nearest(conn, Entity("other-0"), vector(5), "toy", 200))
    assert len(nearest) == before[0]["vectors"]
    await db.write(lambda conn: live(conn, Entity("other-0"), "harmonium", 9999))
    assert await db.read(meta.integrity) == []


def counting(number: int) -> Callable[[Connection], Awaitable[dict[str, int]]]:
    return lambda conn: entities.counts(conn, Entity(f"other-{number}"))


async def test_copies_that_page_splits_left_behind_go_too(db: SqliteDatabase, tmp_path: Path) -> None:
    chance = random.Random(13)
    people = [
        Entity(f"{n:02d}-{'staying' if n % 2 else 'quillhaven'}") for n in range(40)
    ]  # side by side in every tree

    async def chatter(conn: Connection) -> None:
        opened = {}
        for person in people:
            await entities.ensure(conn, person, NOW)
            opened[person] = (await sessions.open_session(conn, person, None, NOW)).id
        for _ in range(3000):
            person, key = chance.choice(people), f"{chance.getrandbits(64):016x}" * chance.randint(1, 8)
            await sessions.put_mark(conn, person, key, opened[person], 1, "said", NOW)

    await db.write(chatter)
    for person in people[::2]:
        await db.write(lambda conn, e=person: erasure.erase(conn, e))  # type: ignore[misc]
    assert await db.scrub()
    left = all_bytes(tmp_path)
    assert b"quillhaven" not in left
    assert b"staying" in left


async def test_a_running_job_cannot_bring_erased_data_back(db: SqliteDatabase) -> None:
    await db.write(lambda conn: live(conn, VICTIM, "xylorimba", 1))
    job = await db.write(lambda conn: jobs.claim(conn, "w", NOW, 60))
    assert job is not None
    await db.write(lambda conn: erasure.erase(conn, VICTIM))
    assert not await db.write(lambda conn: jobs.renew(conn, job, NOW, 60))
    assert not await db.write(lambda conn: jobs.finish(conn, job))
    with pytest.raises(StoreError):
        await db.write(lambda conn: facts.insert(conn, VICTIM, fact("Plays xylorimba")))
    assert await db.read(lambda conn: entities.list_entities(conn, "default", 9)) == []


async def test_an_erasure_that_was_not_scrubbed_is_scrubbed_at_the_next_start(driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    database = await SqliteDatabase.open(path, driver=driver)
    for n in range(5):
        await database.write(lambda conn, n=n: live(conn, VICTIM, "xylorimba", 10 * n))  # type: ignore[misc]
    await database.write(lambda conn: erasure.erase(conn, VICTIM))
    await database.close()
    database = await SqliteDatabase.open(path, driver=driver)
    left = all_bytes(tmp_path)
    assert b"xylorimba" not in left
    assert b"quillhaven" not in left
    await database.close()


async def test_a_long_reader_delays_the_scrub_but_does_not_break_it(driver: Driver, tmp_path: Path) -> None:
    database = await SqliteDatabase.open(tmp_path / "memory.db", driver=driver, busy_timeout=0.05)
    await database.write(lambda conn: live(conn, VICTIM, "xylorimba", 1))

    async def reads_meanwhile(conn: Connection) -> bool:
        await entities.counts(conn, VICTIM)
        await database.write(lambda writer: erasure.erase(writer, VICTIM))
        return await database.scrub()

    assert not await database.snapshot(reads_meanwhile)
    assert await database.scrub()
    assert b"xylorimba" not in all_bytes(tmp_path)
    await database.close()


async def test_erasing_nobody_deletes_nothing(db: SqliteDatabase) -> None:
    await db.write(lambda conn: live(conn, VICTIM, "xylorimba", 1))
    assert set((await db.write(lambda conn: erasure.erase(conn, Entity("nobody")))).values()) == {0}
    assert (await db.read(lambda conn: entities.counts(conn, VICTIM)))["turns"] == 1
