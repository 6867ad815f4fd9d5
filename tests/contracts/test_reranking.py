"""A package's reranker orders the best of what was found, inside the deadline, and costs nothing where it cannot."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from memproxy.embedders.live import Embedders
from memproxy.errors import SettingsError
from memproxy.events import Metrics
from memproxy.model import Entity
from memproxy.recall.recall import Recaller
from memproxy.recall.reranking import MOST, reranked, reranker_named
from memproxy.settings import Memory, Recall, Settings
from memproxy.store.sqlite import SqliteDatabase
from tests.contracts.test_linked import say
from tests.contracts.test_resident import NOW
from tests.memories import candidate, scored

PACKAGE = """
class Backwards:
    async def rerank(self, question, passages):
        assert question == "Where is my boat?"
        return range(len(passages))

def broken():
    raise RuntimeError("no weights")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package that offers rerankers."""
    (tmp_path / "brought_along.py").write_text(PACKAGE)
    said = tmp_path / "brought_along-1.0.dist-info"
    said.mkdir()
    (said / "METADATA").write_text("Metadata-Version: 2.1\nName: brought-along\nVersion: 1.0\n")
    (said / "entry_points.txt").write_text(
        "[memproxy.rerankers]\nbackwards = brought_along:Backwards\nbroken = brought_along:broken\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("brought_along", None)


async def test_what_a_package_brings_along_orders_what_is_found(db: SqliteDatabase, package: None) -> None:
    entity = Entity("Ada")
    await db.write(lambda conn: say(conn, ["My boat is in Tolm.", "My boat is a boat, boat, boat.", "No boat here."]))

    async def found(name: str | None) -> list[tuple[str, float]]:
        settings = Settings(recall=Recall(reranker=name, threshold=0.0), memory=Memory(deadline_ms=60_000))
        recaller = Recaller(db, Embedders(), settings, Metrics())
        async with recaller.asked("Where is my boat?", now=NOW) as question:
            got = await recaller.find(entity, question)
        await recaller.close()
        return [(one.candidate.text, one.score) for one in got.scored]

    plain, backwards = await found(None), await found("backwards")
    assert len(plain) == 3
    assert [text for text, _ in backwards] == [text for text, _ in reversed(plain)]
    assert [score for _, score in backwards] == [score for _, score in plain]


def test_who_names_no_reranker_has_none_and_a_wrong_name_is_a_wrong_setting(package: None) -> None:
    assert reranker_named(None) is None
    with pytest.raises(SettingsError, match=r"forwards.*backwards, broken"):
        reranker_named("forwards")
    with pytest.raises(SettingsError, match="no weights"):
        reranker_named("broken")


class Says:
    def __init__(self, said: Any) -> None:
        self.said = said
        self.asked = 0

    async def rerank(self, question: str, passages: Sequence[str]) -> Any:
        self.asked = len(passages)
        if isinstance(self.said, Exception):
            raise self.said
        if self.said is None:
            await asyncio.Event().wait()
        return self.said


@pytest.mark.parametrize(
    ("said", "seconds", "reason"),
    [
        (None, 0.03, "slow"),
        ([1.0, 2.0], 0.01, "late"),
        ([1.0], 5, "failed"),
        ([1.0, float("nan")], 5, "failed"),
        (["best", "worst"], 5, "failed"),
        (5, 5, "failed"),
        (RuntimeError("out of memory"), 5, "failed"),
    ],
)
async def test_one_that_cannot_leaves_the_order_and_is_counted(said: Any, seconds: float, reason: str) -> None:
    found, metrics = scored(candidate("one", 1), candidate("two", 2)), Metrics()
    assert await reranked(Says(said), "?", found, seconds, metrics) == found
    assert metrics.rerank_skipped.labels(reason)._value.get() == 1


async def test_only_the_best_are_read(db: SqliteDatabase) -> None:
    found = scored(*(candidate(f"passage {n}", n) for n in range(MOST + 20)))
    reranker = Says([float(n) for n in range(MOST)])
    moved = await reranked(reranker, "?", found, 5, Metrics())
    assert reranker.asked == MOST
    assert [one.candidate.passage_id for one in moved] == [*range(MOST - 1, -1, -1), *range(MOST, MOST + 20)]
    assert all(one.score >= other.score for one, other in pairwise(moved))
    assert moved[0].reasons["rerank"] > 0
