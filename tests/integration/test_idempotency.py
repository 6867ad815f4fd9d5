"""Writes that are sent again: done once, answered alike, and of no answer is kept what was forgotten since."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from memproxy.server.api import ROUTES
from memproxy.testing import FrozenClock
from tests.integration.test_api import is_problem
from tests.world import World, together

pytestmark = pytest.mark.anyio

FALCONS = {"text": "Keeps falcons in Brask"}


async def post(world: World, path: str, body: Any, key: str, who: str = "Bo", **headers: str) -> httpx.Response:
    return await world.client.post(world.of(who, path), json=body, headers={"Idempotency-Key": key, **headers})


async def test_a_write_sent_again_is_done_once_and_answered_alike(world: World) -> None:
    first = await post(world, "/facts", FALCONS, "k1")
    await world.client.patch(world.of("Bo", f"/facts/{first.json()['id']}"), json={"tag": "birds"})
    again = await post(world, "/facts", FALCONS, "k1")
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert len(await world.rows("Bo")) == 1
    turns = {"session": "s", "turns": [{"role": "user", "content": "I ski", "time": "2021-01-01T00:00:00Z"}]}
    ids = [(await post(world, "/turns", turns, "k2")).json()["ids"] for _ in range(2)]
    assert ids[0] == ids[1]


async def test_a_key_is_for_one_request_of_one_entity(world: World) -> None:
    await post(world, "/facts", FALCONS, "k")
    is_problem(await post(world, "/facts", {"text": "Keeps owls"}, "k"), 422)
    is_problem(await post(world, "/notes", FALCONS, "k"), 422)
    assert (await post(world, "/facts", {"text": "Keeps owls"}, "k", "Ada")).status_code == 201
    for key in ("", "a b", "x" * 256, "é"):
        is_problem(await post(world, "/facts", FALCONS, key.encode("latin-1")), 400)  # type: ignore[arg-type]
    assert await world.mem("Bo") == ["Keeps falcons in Brask"]


async def test_a_second_request_waits_for_the_first_and_one_is_done(world: World) -> None:
    answers = await together(*[post(world, "/facts", FALCONS, "k") for _ in range(5)])
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert 201 in {answer.status_code for answer in answers}
    assert len(await world.rows("Bo")) == 1


async def test_what_was_refused_is_tried_anew_and_leaves_nobody_behind(world: World) -> None:
    is_problem(await post(world, "/facts", {"text": "!!!"}, "k"), 400)
    is_problem(await post(world, "/facts/nope/pin", None, "k2"), 404)
    assert (await world.client.get(world.own("entities"))).json()["items"] == []
    assert (await post(world, "/facts", FALCONS, "k")).status_code == 201


@pytest.mark.parametrize("way", ["forget", "erase", "deny", "correct-and-erase"])
async def test_no_answer_outlives_what_it_tells_of(world: World, way: str) -> None:
    fact = (await post(world, "/facts", FALCONS, "k1")).json()["id"]
    address = world.of("Bo", f"/facts/{fact}")
    if way == "forget":
        gone = await world.client.delete(address, headers={"Idempotency-Key": "k2"})
    elif way == "deny":
        gone = await world.client.post(f"{address}/deny", headers={"Idempotency-Key": "k2"})
    else:
        if way == "correct-and-erase":
            await post(world, f"/facts/{fact}/correct", {"text": "Keeps hawks"}, "k3")
        gone = await world.client.delete(f"{address}?erase=true", headers={"Idempotency-Key": "k2"})
    assert gone.status_code == 200, gone.text
    is_problem(await post(world, "/facts", FALCONS, "k1"), 410)
    assert await world.mem("Bo") == []
    if way != "forget":
        assert b"falcons" not in world.files()
    if way in ("forget", "erase"):
        again = await world.client.delete(
            address if way == "forget" else f"{address}?erase=true", headers={"Idempotency-Key": "k2"}
        )
        assert (again.status_code, again.content) == (gone.status_code, gone.content)


async def test_an_erased_entity_leaves_neither_answers_nor_its_name(world: World) -> None:
    await post(world, "/facts", FALCONS, "k", "Zephyrine")
    await world.client.delete(world.of("Zephyrine"), headers={"Idempotency-Key": "k2"})
    assert b"falcons" not in world.files()
    assert b"Zephyrine" not in world.files()
    assert (await post(world, "/facts", FALCONS, "k", "Zephyrine")).status_code == 201


async def test_after_a_day_or_for_another_caller_a_key_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FrozenClock()
    for name in ("ONE", "TWO"):
        monkeypatch.setenv(f"KEY_{name}", f"key-{name.lower()}")
    keys = [{"key_env": "KEY_ONE", "admin": True}, {"key_env": "KEY_TWO", "admin": True}]
    async with World.open(tmp_path, clock=clock, keys=keys) as world:
        one, two = {"X-MemG-Key": "key-one"}, {"X-MemG-Key": "key-two"}
        await post(world, "/facts", FALCONS, "k", **one)
        assert (await post(world, "/facts", {"text": "Keeps owls"}, "k", **two)).status_code == 201
        await world.restart()
        assert "idempotency-replayed" in (await post(world, "/facts", FALCONS, "k", **one)).headers
        clock.advance(hours=24)
        assert (await post(world, "/facts", {"text": "Keeps hens"}, "k", **one)).status_code == 201


def test_every_write_takes_a_key_but_those_that_are_the_same_again() -> None:
    without = {f"{route.method} {route.path}" for route in ROUTES if not route.reads and not route.once}
    assert without == {
        "POST /memproxy/v1/flush",
        "DELETE /memproxy/v1/entities/{entity}",
        "POST /memproxy/v1/entities/{entity}/import",
    }
