"""Whoever is erased stays erased, also where an import of theirs was under way: nothing of the rest of it comes in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from memproxy.archive import rows
from memproxy.archive.restoring import Restorer
from memproxy.assembly.parts import Parts
from memproxy.errors import Problem
from memproxy.importing.bringing import STATEMENTS_AT_ONCE, Importer, Wish
from memproxy.importing.records import Conversation, Said, Statement
from memproxy.model import Entity
from memproxy.store.rows import to_text
from tests.world import World, user

pytestmark = pytest.mark.anyio

BO = Entity("Bo")
AT = datetime(2024, 1, 1, tzinfo=UTC)
Step = Callable[[int], Awaitable[None]]  # one part of an import, by its number


def conversations(parts: Parts) -> Step:
    importer = Importer(parts, BO, Wish())
    return lambda number: importer.take([Conversation("", f"c{number}", (Said("user", f"I keep hen {number}", AT),))])


def statements(parts: Parts) -> Step:
    importer = Importer(parts, BO, Wish())
    texts = (f"Keeps bee {n}" for n in range(1000))
    return lambda number: importer.take([Statement("", next(texts), AT) for _ in range(STATEMENTS_AT_ONCE)])


def rows_of_ours(parts: Parts) -> Step:
    restorer = Restorer(parts.db, BO, parts.clock, learns=False)
    at = to_text(AT)
    fact: Any = {
        "type": "identity", "tag": "pets", "significance": 5, "confidence": 0.9, "source_role": "user",
        "status": "current", "recorded_at": at, "updated_at": at, "lifetime": "lasting",
    }  # fmt: skip

    async def step(number: int) -> None:
        session = rows.SessionRow(id=f"{number:032x}", turns=0, started_at=at, last_at=at)
        known = rows.FactRow(id=f"{number + 100:032x}", text=f"Keeps hen {number}", **fact)
        await restorer.take([("line", rows.EntityRow(first_seen=at, last_seen=at)), ("line 2", session), ("3", known)])

    return step


@pytest.mark.parametrize("comes_back", [False, True], ids=["gone", "back"])
@pytest.mark.parametrize("kind", [conversations, statements, rows_of_ours])
async def test_an_import_under_way_ends_with_the_erasure(
    world: World, kind: Callable[[Parts], Step], comes_back: bool
) -> None:
    assert world.app is not None
    parts = world.app.parts
    step = kind(parts)
    await step(1)
    await step(2)
    await parts.erase(BO)
    if comes_back and kind is not statements:
        await world.chat("Bo", [user("I am back")])
        await world.heard("Bo")
    with pytest.raises(Problem) as ended:
        await step(3)
    assert (ended.value.status, ended.value.title) == (409, "Erased meanwhile")
    assert await world.said("Bo") == (["I am back"] if comes_back and kind is not statements else [])
    assert await world.mem("Bo") == []


async def test_the_same_import_begun_anew_after_an_erasure_is_another(world: World) -> None:
    assert world.app is not None
    for kind in (conversations, rows_of_ours):
        await kind(world.app.parts)(1)
        await world.app.parts.erase(BO)
        await kind(world.app.parts)(1)
        assert (await world.client.get(world.of("Bo"))).json()["sessions"] == 1
        await world.app.parts.erase(BO)
