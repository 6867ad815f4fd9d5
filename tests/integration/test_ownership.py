"""Whose it is (L58): on every route an id of somebody else is 404 and changes nothing; a key reaches its own alone.

The routes are read from the application, so a new one is tested the day it is added: if it takes an id of a kind that
is not known here, or a body that is not given here, these tests fail.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from memproxy.model import Entity, new_id
from memproxy.server.api import ROUTES
from memproxy.store import summaries
from memproxy.store.summaries import Summary
from tests.integration.test_api import is_problem
from tests.world import World, facts, user

pytestmark = pytest.mark.anyio

PREFIX = "/memproxy/v1/entities/{entity}"
OF_ENTITIES = [(route.method, route.path) for route in ROUTES if "{entity}" in route.path]
WITH_ID = [(method, path) for method, path in OF_ENTITIES if re.findall(r"{(\w+)}", path) != ["entity"]]
OTHERS = [route for route in ROUTES if "{entity}" not in route.path]

TURN = {"role": "user", "content": "I ski", "time": "2021-01-01T00:00:00Z"}
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/facts"): {"text": "Owns a raft"},
    ("POST", "/notes"): {"text": "Owns a raft"},
    ("PATCH", "/facts/{fact}"): {"text": "Owns a raft", "status": "current", "pinned": True},
    ("POST", "/facts/{fact}/correct"): {"text": "Owns a raft"},
    ("POST", "/turns"): {"session": "s", "turns": [TURN]},
    ("POST", "/denied"): {"text": "Owns a kayak"},
    ("POST", "/extract"): {"session": "s", "segments": [{"turns": [TURN]}]},
    ("PUT", "/preferences"): {"memory": False},
    ("POST", "/contradictions/{contradiction}/resolve"): {"decision": "neither"},
    ("POST", "/collisions/{collision}/settle"): {"side": "cat"},
    ("PATCH", "/profile"): {"add": {"allergies": ["latex"]}},
}


async def everything(world: World, who: str) -> dict[str, str]:
    """Give somebody one of everything that has an id; the ids by the names that routes have for them."""
    world.ext.reply(facts({"text": "Owns a kayak", "quote": "I own a kayak", "thread_status": "open"}))
    await world.chat(who, [user("I own a kayak")])
    await world.drain()
    denied = await world.client.post(world.of(who, "/denied"), json={"text": "Likes snow"})
    [fact], [turn, *_] = await world.rows(who), await world.turns(who)
    ids = {"fact": fact["id"], "turn": turn["id"], "session": turn["session_id"], "denied": denied.json()["id"]}
    return ids | {"summary": await summary(world, who)} | await disputes(world, who)


async def summary(world: World, who: str) -> str:
    """A summary of somebody's; its id."""
    assert world.app is not None
    now = world.app.parts.clock.now()
    one = Summary(new_id(), None, "Talked of rafts", now, now, now)
    await world.app.parts.db.write(lambda conn: summaries.insert(conn, Entity(who), one))
    return one.id


async def disputes(world: World, who: str) -> dict[str, str]:
    """A contradiction and a collision of somebody's; their ids."""
    for text in ("Has a dog called Moss", "Moss is a cat"):
        await world.seed(who, text)
    await world.client.post(world.of(who, "/notes"), json={"text": "Lives in Tolm", "slot": "location"})
    world.ext.reply(facts({"text": "Lives in Brask", "quote": "I live in Brask", "slot": "location"}))
    await world.chat(who, [user("I live in Brask")])
    await world.drain()
    found = {}
    for kind in ("contradiction", "collision"):
        [row] = (await world.client.get(world.of(who, f"/{kind}s"))).json()["items"]
        found[kind] = row["id"]
    return found


LISTED = ("/turns", "/denied", "/preferences", "/contradictions", "/collisions", "/profile")


async def left(world: World, who: str) -> list[Any]:
    """All that a person has."""
    rows = await world.rows(who, status="current,historical,expired,quarantined,forgotten")
    more = [(await world.client.get(world.of(who, path))).json() for path in LISTED]
    return [rows, await world.rows(who, status="current"), *more]


def url(world: World, path: str, who: str, ids: dict[str, str]) -> str:
    return world.url + path.format(entity=who, **ids)


@pytest.mark.parametrize(("method", "path"), WITH_ID)
async def test_l58_an_id_of_somebody_else_is_not_there_and_nothing_happens(
    world: World, method: str, path: str
) -> None:
    ids = await everything(world, "Bo")
    await world.seed("Ada", "Owns a canoe")
    before = await left(world, "Bo"), await left(world, "Ada")
    body = BODIES.get((method, path.removeprefix(PREFIX)))
    for variation in ("", "?erase=true&sources=true"):
        response = await world.client.request(method, url(world, path, "Ada", ids) + variation, json=body)
        is_problem(response, 404)
    assert (await left(world, "Bo"), await left(world, "Ada")) == before
    theirs = await world.client.request(method, url(world, path, "Bo", ids), json=body)
    assert theirs.status_code in (200, 201, 409), theirs.text  # to its owner it is there


async def test_l58_an_id_that_nobody_has_matches_nothing_and_says_so(world: World) -> None:
    ids = dict.fromkeys(("fact", "turn", "session", "denied", "contradiction", "collision", "summary"), "0" * 32)
    for method, path in WITH_ID:
        body = BODIES.get((method, path.removeprefix(PREFIX)))
        is_problem(await world.client.request(method, url(world, path, "Bo", ids), json=body), 404)
    assert (await world.client.get(world.own("entities"))).json()["items"] == []


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    for name in ("BO", "ADMIN"):
        monkeypatch.setenv(f"KEY_{name}", f"key-{name.lower()}")
    return [{"key_env": "KEY_BO", "entities": ["Bo"]}, {"key_env": "KEY_ADMIN", "admin": True}]


async def test_l58_a_key_reaches_no_route_of_somebody_else(tmp_path: Path, keys: list[dict[str, Any]]) -> None:
    async with World.open(tmp_path, keys=keys) as world:
        fact = await world.client.post(
            world.of("Ada", "/facts"), json={"text": "Owns a canoe"}, headers={"X-MemG-Key": "key-admin"}
        )
        none = dict.fromkeys(("turn", "session", "denied", "contradiction", "collision", "summary"), "0" * 32)
        ids = {"fact": fact.json()["id"], **none}
        for method, path in OF_ENTITIES:
            body = BODIES.get((method, path.removeprefix(PREFIX)))
            address = url(world, path, "Ada", ids) + "?query=canoe"
            foreign = await world.client.request(method, address, json=body, headers={"X-MemG-Key": "key-bo"})
            assert foreign.status_code == 403, (method, path)
            nobody = await world.client.request(method, address, json=body)
            assert nobody.status_code == 401, (method, path)
        rows = await world.client.get(world.of("Ada", "/facts"), headers={"X-MemG-Key": "key-admin"})
        assert [row["text"] for row in rows.json()["items"]] == ["Owns a canoe"]


async def test_l58_what_concerns_everybody_needs_an_admin_key(tmp_path: Path, keys: list[dict[str, Any]]) -> None:
    async with World.open(tmp_path, keys=keys) as world:
        for route in OTHERS:
            response = await world.client.request(
                route.method,
                world.url + route.path.format(job="x", request_id="0" * 32, file="main.js"),
                headers={"X-MemG-Key": "key-bo"},
            )
            scoped_by_its_row = route.path.endswith("/receipts/{request_id}")
            expected = 403 if route.admin else 404 if scoped_by_its_row else route.statuses[0]
            assert response.status_code == expected, route.path
        assert {route.path.removeprefix("/memproxy/v1") for route in OTHERS if not route.admin} == OPEN_TO_ALL


# Every route that is of no entity and needs no key that administers: a new one has to be thought of here.
OPEN_TO_ALL = {
    *("/memproxy", "/memproxy/", "/memproxy/web/{file}", "/memproxy/health", "/memproxy/ready", "/memproxy/metrics"),
    *("/openapi.json", "/entities", "/receipts/{request_id}"),
}
