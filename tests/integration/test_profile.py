"""The structured profile: filled from facts by a pack, changed by hand, never without its source."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.test_api import is_problem
from tests.world import World, facts, user


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World.open(tmp_path, facts__rule_packs=["health"]) as world:
        yield world


async def says(world: World, text: str, **fields: Any) -> None:
    world.ext.reply(facts({"text": text, "quote": text, **fields}))
    await world.chat("Bo", [user(text)])
    await world.drain()


async def profile(world: World) -> dict[str, list[Any]]:
    shown = (await world.client.get(world.of("Bo", "/profile"))).json()["fields"]
    return {name: [entry["value"] for entry in entries] for name, entries in shown.items() if entries}


async def change(world: World, **changes: Any) -> Any:
    return await world.client.patch(world.of("Bo", "/profile"), json=changes)


async def test_what_a_pack_finds_is_an_entry_and_stays_a_fact_pinned_where_it_matters(world: World) -> None:
    await says(world, "I am allergic to penicillin", significance=2)
    await says(world, "Blood pressure was 130/85")
    found = await profile(world)
    assert found == {"allergies": ["penicillin"], "vitals": [{"value": "130/85", "unit": "mmHg"}]}
    pinned = {row["text"]: row["pinned"] for row in await world.rows("Bo")}
    assert pinned == {"I am allergic to penicillin": True, "Blood pressure was 130/85": False}
    assert "penicillin" in await world.ask("Bo", "tell me a joke about otters")


async def test_without_a_pack_nothing_is_found(tmp_path: Path) -> None:
    async with World.open(tmp_path) as world:
        await says(world, "I am allergic to penicillin")
        assert await profile(world) == {}
        assert [row["pinned"] for row in await world.rows("Bo")] == [False]


async def test_a_new_dose_takes_the_place_of_the_old_one_and_history_keeps_both(world: World) -> None:
    await says(world, "I take metformin 500 mg")
    await says(world, "I take metformin 850 mg")
    assert await profile(world) == {"medications": [{"name": "metformin", "dose": "850 mg"}]}
    past = (await world.client.get(world.of("Bo", "/profile/history"))).json()["items"]
    assert [entry["value"]["dose"] for entry in past] == ["850 mg", "500 mg"]
    assert past[0]["removed_at"] is None
    assert past[1]["removed_at"] is not None


async def test_an_entry_goes_with_its_fact(world: World) -> None:
    await says(world, "I am allergic to latex")
    [fact] = await world.rows("Bo")
    await world.client.delete(world.of("Bo", f"/facts/{fact['id']}"))
    assert await profile(world) == {}
    await world.client.post(world.of("Bo", f"/facts/{fact['id']}/restore"))
    assert await profile(world) == {"allergies": ["latex"]}
    await world.client.delete(world.of("Bo", f"/facts/{fact['id']}"), params={"erase": "true"})
    assert (await world.client.get(world.of("Bo", "/profile/history"))).json()["items"] == []


async def test_what_the_person_takes_back_holds_no_more(world: World) -> None:
    await says(world, "I have asthma")
    await says(world, "I do not have asthma")
    assert await profile(world) == {}


async def test_entries_are_set_added_and_removed_by_hand(world: World) -> None:
    await change(world, add={"allergies": ["nickel", "Bee stings"], "pets": [{"name": "Moss", "kind": "dog"}]})
    found = await profile(world)
    assert sorted(found.pop("allergies")) == ["Bee stings", "nickel"]
    assert found == {"pets": [{"name": "Moss", "kind": "dog"}]}
    await change(world, remove={"allergies": ["bee STINGS"]}, add={"allergies": ["Nickel"]})
    assert (await profile(world))["allergies"] == ["Nickel"]
    await change(world, set={"allergies": ["dust"]})
    assert (await profile(world))["allergies"] == ["dust"]
    history = (await world.client.get(world.of("Bo", "/profile/history"), params={"field": "allergies"})).json()
    assert [entry["value"] for entry in history["items"]][:2] == ["dust", "Nickel"]
    assert sorted(entry["value"] for entry in history["items"][2:]) == ["Bee stings", "nickel"]


async def test_the_same_value_again_changes_nothing(world: World) -> None:
    for _ in range(3):
        await change(world, add={"allergies": ["nickel"]})
    assert len((await world.client.get(world.of("Bo", "/profile/history"))).json()["items"]) == 1


@pytest.mark.parametrize(
    "body",
    [{}, {"add": {"allergies": ["  "]}}, {"add": {"pets": [{"kind": "dog"}]}}, {"drop": {}}, {"add": {"a": "b"}}],
)
async def test_what_fits_no_entry_is_refused_and_nothing_is_half_written(world: World, body: Any) -> None:
    if "add" in body and isinstance(body["add"], dict):
        body = {**body, "set": {"goals": ["run"]}}
    is_problem(await change(world, **body), 400)
    assert await profile(world) == {}


async def test_a_secret_in_an_entry_is_masked(world: World) -> None:
    await change(world, add={"notes": ["password: hunter2hunter"]})
    assert "hunter2" not in str(await profile(world))


async def test_an_erasure_takes_the_profile_along(world: World) -> None:
    await change(world, add={"allergies": ["nickel"]})
    deleted = (await world.client.delete(world.of("Bo", ""))).json()["deleted"]
    assert deleted["profile_entries"] == 1
    assert await profile(world) == {}
