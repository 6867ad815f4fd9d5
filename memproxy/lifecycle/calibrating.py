"""The floor of a model that nobody has measured, found anew among what is remembered, in the background.

A few sentences tell roughly where a model's cosines lie. The passages of a memory tell it better: questions that have
nothing to do with them are held against a sample of everybody's. What is kept is a number, with the model's name.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
from typing import TYPE_CHECKING

from memproxy.embedders.calibration import QUESTIONS, floor_among
from memproxy.embedders.live import Embedders
from memproxy.errors import EmbedderError, StoreError
from memproxy.interfaces import Connection, Database, Embedder
from memproxy.lazy import Lazy
from memproxy.store import meta, reembedding, vectors

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

log = logging.getLogger(__name__)

FEWEST = 500  # passages with a vector, before it is tried
GROWN = 4  # times as many as the last time, before it is tried again
PAUSE = 600.0  # seconds
SAMPLE = 800  # ids that are drawn
_MEASURED = ("bge-small-en-v1.5", "hash-")  # their floors come from whole labelled conversations


class Calibrator:
    """Finds floors anew. Raises StoreError."""

    def __init__(self, db: Database, embedders: Embedders) -> None:
        self._db = db
        self._embedders = embedders

    async def run(self) -> None:
        """Do so now and then, for as long as the server runs."""
        while True:
            try:
                await self.resume()
                await self.step()
            except StoreError as error:
                log.warning("floors stay as they are for now: %s", type(error).__name__)
            await asyncio.sleep(PAUSE)

    async def resume(self) -> None:
        """Use what was found the last time."""
        for model, (floor, _) in (await self._db.read(_known)).items():
            self._embedders.floors[model] = floor

    async def step(self) -> bool:
        """Find the floor of the configured model anew, if there is so much more to find it by; whether it was."""
        embedder = self._embedders.current
        if embedder is None or embedder.info.model.startswith(_MEASURED):
            return False
        model = embedder.info.model
        passages = (await self._db.read(reembedding.models)).get(model, 0)
        _, before = (await self._db.read(_known)).get(model, (0.0, 0))
        if passages < max(FEWEST, GROWN * before):
            return False
        try:
            floor = await self._measured(embedder)
        except EmbedderError as error:
            log.warning("the floor of %s stays as it is: %s", model, error)
            return False
        if floor is None:
            return False
        self._embedders.floors[model] = floor
        note = json.dumps({"floor": floor, "passages": passages})
        await self._db.write(lambda conn: meta.put(conn, f"floor:{model}", note))
        return True

    async def _measured(self, embedder: Embedder) -> float | None:
        info = embedder.info
        rows = await self._db.read(
            lambda conn: vectors.sample(conn, info.model, info.dimensions, random.Random(0), SAMPLE)
        )
        if len(rows) < FEWEST // 5:
            return None
        questions = np.stack([await embedder.embed_query(question) for question in QUESTIONS])
        return floor_among(questions, rows, info.floor)


async def _known(conn: Connection) -> dict[str, tuple[float, int]]:
    """What was found, by model, with how many passages there were then."""
    found = {}
    for model in await reembedding.names(conn):
        note = await meta.get(conn, f"floor:{model}")
        if note is not None:
            said = json.loads(note)
            found[model] = (float(said["floor"]), int(said["passages"]))
    return found
