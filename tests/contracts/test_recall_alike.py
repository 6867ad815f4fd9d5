"""What is found does not depend on which SQLite there is, on its vector extension, or on where passages are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from memproxy.embedders.hashing import HashEmbedder
from memproxy.embedders.live import Embedders
from memproxy.events import Metrics
from memproxy.interfaces import Connection
from memproxy.model import Entity, Passage
from memproxy.recall.passages import embedding_text
from memproxy.recall.recall import Recaller
from memproxy.recall.terms import index_terms
from memproxy.settings import Recall, Settings
from memproxy.store import entities, passages, sessions, turns, vectors
from memproxy.store.driver import possible_drivers
from memproxy.store.sqlite import SqliteDatabase
from tests.contracts.test_resident import NOW, text

ADA = Entity("Ada")
QUESTIONS = (
    "Where did my sister play the piano?",
    "Who wrote a letter from Bergen in March 2024?",
    "coffee",
    "running",
    "What did Ines tell Bo about the river?",
)
SPEAKERS = (None, "Ines", "Bo Lind")


async def _fill(db: SqliteDatabase, embedder: HashEmbedder) -> None:
    """Three conversations of forty turns, each with its vector; some by speakers with a name."""
    said_by = [SPEAKERS[seed % 3] or "user" for seed in range(120)]
    made = await embedder.embed_documents([embedding_text(text(seed), said_by[seed]) for seed in range(120)])

    async def work(conn: Connection) -> None:
        await entities.ensure(conn, ADA, NOW)
        for seed in range(120):
            if seed % 40 == 0:
                session = await sessions.open_session(conn, ADA, None, NOW)
            said = text(seed)
            turn = await turns.append(
                conn, ADA, session.id, role="assistant" if seed % 3 else "user", name=SPEAKERS[seed % 3],
                content=said, time=NOW, learn="no", text_key=str(seed),
            )  # fmt: skip
            stored = Passage("turn", turn.id, 0, 0, len(said), index_terms(said, said_by[seed], NOW), said)
            [id] = await passages.add(conn, ADA, [stored])
            await vectors.add_vectors(conn, ADA, embedder.info.model, [(id, made[seed])])

    await db.write(work)


async def _found(db: SqliteDatabase, embedder: HashEmbedder, room: int) -> list[list[tuple[str, float]]]:
    recaller = Recaller(db, Embedders(embedder), Settings(recall=Recall(resident=room)), Metrics())
    out = []
    for asked in (QUESTIONS[0], *QUESTIONS):  # the first has the passages read into memory, where there is room
        async with recaller.asked(asked, now=NOW, floor=False) as question:
            found = await recaller.find(ADA, question, floor=False)
        await recaller.settled()
        out.append([(scored.candidate.text, scored.score) for scored in found.scored])
    await recaller.close()
    return out[1:]


async def test_every_sqlite_and_every_way_to_read_find_the_same(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    results = []
    for number, driver in enumerate(possible_drivers()):
        db = await SqliteDatabase.open(tmp_path / f"{number}.db", driver=driver)
        await _fill(db, embedder)
        results += [await _found(db, embedder, room) for room in (0, 10_000)]
        await db.close()
    for other in results[1:]:
        for one, same in zip(results[0], other, strict=True):
            assert dict(same) == pytest.approx(dict(one), abs=1e-5)
            # Equals may change places, others not.
            assert [score for _, score in same] == pytest.approx([score for _, score in one], abs=1e-5)
