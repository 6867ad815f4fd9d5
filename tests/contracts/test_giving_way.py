"""Passages get their vectors while nobody asks anything, as far as such moments come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest

from memproxy.embedders.hashing import HashEmbedder
from memproxy.embedders.live import Embedders
from memproxy.interfaces import Vectors
from memproxy.lifecycle import embedding
from memproxy.lifecycle.embedding import Indexer
from memproxy.store import search
from memproxy.store.sqlite import SqliteDatabase
from tests.contracts.test_resident import say


class Noting(HashEmbedder):
    """Notes how many texts came at a time, and when so many came."""

    def __init__(self, expected: int = 0) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.expected = expected
        self.done = asyncio.Event()

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.sizes.append(len(texts))
        if sum(self.sizes) >= self.expected:
            self.done.set()
        return await super().embed_documents(texts)


@asynccontextmanager
async def indexing(db: SqliteDatabase, embedder: Noting, quiet: Callable[[], float]) -> AsyncIterator[Indexer]:
    indexer = Indexer(db, Embedders(embedder), quiet)
    task = asyncio.create_task(indexer.run())
    try:
        with anyio.fail_after(20):
            yield indexer
    finally:
        task.cancel()
        await asyncio.wait([task])


async def left(db: SqliteDatabase, embedder: Noting) -> int:
    return len(await db.read(lambda conn: search.unembedded(conn, embedder.info.model, 100)))


async def test_a_batch_waits_for_questions_and_goes_on_in_small_steps(
    db: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "PATIENCE", 3600.0)
    await db.write(say(*range(5), seen=False))
    embedder, seen = Noting(5), list[tuple[float, int]]()
    answers = iter([0.0, 0.0, 0.01, 0.06, 0.06, 0.0, 0.06])

    def quiet() -> float:
        seen.append((next(answers, 60.0), len(embedder.sizes)))
        return seen[-1][0]

    async with indexing(db, embedder, quiet) as indexer:
        await embedder.done.wait()
        await indexer.idle()
    assert embedder.sizes == [2, 2, 1]
    assert seen == [(0.0, 0), (0.0, 0), (0.01, 0), (0.06, 0), (0.06, 1), (0.0, 2), (0.06, 2)]


async def test_with_question_after_question_vectors_are_made_all_the_same(
    db: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "PATIENCE", 0.05)
    await db.write(say(*range(4), seen=False))
    embedder = Noting(4)
    async with indexing(db, embedder, lambda: 0.0) as indexer:
        await embedder.done.wait()
        await indexer.idle()
    assert embedder.sizes == [2, 2]


async def test_where_somebody_waits_for_the_vectors_nothing_is_waited_for(
    db: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "PATIENCE", 3600.0)
    await db.write(say(*range(3), seen=False))
    embedder = Noting()
    async with indexing(db, embedder, lambda: 0.0) as indexer:
        await indexer.idle()
    assert await left(db, embedder) == 0


async def test_where_nobody_asks_a_batch_is_one_step(db: SqliteDatabase) -> None:
    await db.write(say(*range(5), seen=False))
    embedder = Noting()
    async with indexing(db, embedder, lambda: 60.0) as indexer:
        await indexer.idle()
    assert embedder.sizes == [5]
