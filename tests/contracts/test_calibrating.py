"""The floor of a model that nobody has measured is found anew among what is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memproxy.embedders.calibration import MOST_OFF, floor_among
from memproxy.embedders.hashing import HashEmbedder
from memproxy.embedders.live import Embedders
from memproxy.interfaces import Vectors
from memproxy.lifecycle.calibrating import FEWEST, GROWN, Calibrator
from memproxy.model import EmbedderInfo, Entity
from memproxy.store import meta, vectors
from memproxy.store.sqlite import SqliteDatabase
from tests.contracts.test_linked import say


class Near(HashEmbedder):
    """A model whose cosines all lie high."""

    def __init__(self) -> None:
        super().__init__()
        self.info = EmbedderInfo("near", self.info.dimensions, 0.5, 0.9)

    async def embed_query(self, text: str) -> Vectors:
        made: Vectors = (await self.embed_documents([text]))[0]
        return made

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        made = await super().embed_documents(texts)
        made[:, 0] += 0.9
        unit: Vectors = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
        return unit


async def fill(db: SqliteDatabase, embedder: HashEmbedder, entity: Entity, count: int) -> None:
    texts = [f"note {n} about the weather in week {n % 52}" for n in range(count)]
    made = await embedder.embed_documents(texts)
    ids = await db.write(lambda conn: say(conn, texts, entity))
    rows = list(zip(ids, made, strict=True))
    await db.write(lambda conn: vectors.add_vectors(conn, entity, embedder.info.model, rows))


async def test_a_floor_is_found_among_everybodys_passages_and_kept_with_the_models_name(db: SqliteDatabase) -> None:
    embedder = Near()
    embedders = Embedders(embedder)
    calibrator = Calibrator(db, embedders)
    await fill(db, embedder, Entity("Ada"), FEWEST // 2)
    assert not await calibrator.step()  # too few to tell
    await fill(db, embedder, Entity("Bo"), FEWEST // 2)
    assert await calibrator.step()
    assert embedder.info.floor < embedders.floor(embedder) <= embedder.info.floor + MOST_OFF
    assert not await calibrator.step()  # not before there are so many more
    assert GROWN > 1
    assert await db.read(lambda conn: meta.get(conn, "floor:near")) is not None

    later = Embedders(embedder)
    assert later.floor(embedder) == embedder.info.floor
    await Calibrator(db, later).resume()
    assert later.floor(embedder) == embedders.floor(embedder)
    other = HashEmbedder()
    other.info = replace(other.info, model="other")
    assert later.floor(other) == other.info.floor


async def test_a_model_measured_on_whole_conversations_keeps_its_floor(db: SqliteDatabase) -> None:
    embedder = HashEmbedder()
    await fill(db, embedder, Entity("Ada"), FEWEST)
    assert not await Calibrator(db, Embedders(embedder)).step()


def test_a_floor_goes_no_farther_than_so_much_from_what_was_stated() -> None:
    same: Vectors = np.full((3, 4), 0.5, np.float32)
    opposite: Vectors = np.full((3, 4), -0.5, np.float32)
    near: Vectors = np.full((3, 4), 0.26, np.float32)
    assert floor_among(same, same, 0.5) == 0.5 + MOST_OFF
    assert floor_among(same, opposite, 0.5) == 0.5 - MOST_OFF
    assert abs(floor_among(same, near, 0.5) - 0.52) < 1e-3
