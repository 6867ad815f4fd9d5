"""Contradictions and collisions from the chat to the decision, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.test_api import is_problem
from tests.world import World, facts, user


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World.open(tmp_path) as world:
        yield world


async def says(world: World, text: str, **fields: Any) -> None:
    """The person says it, and the extraction model makes a fact of it."""
    world.ext.reply(facts({"text": text, "quote": text, **fields}))
    await world.chat("Bo", [user(text)])
    await world.drain()


async def note(world: World, text: str, slot: str | None = "location") -> str:
    response = await world.client.post(world.of("Bo", "/notes"), json={"text": text, "slot": slot})
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


async def contradictions(world: World, status: str = "open") -> list[dict[str, Any]]:
    response = await world.client.get(world.of("Bo", "/contradictions"), params={"status": status})
    items: list[dict[str, Any]] = response.json()["items"]
    return items


async def decide(world: World, row: dict[str, Any], decision: str) -> dict[str, Any]:
    address = world.of("Bo", f"/contradictions/{row['id']}/resolve")
    response = await world.client.post(address, json={"decision": decision, "note": "asked"})
    assert response.status_code == 200, response.text
    decided: dict[str, Any] = response.json()
    return decided


async def test_what_the_person_put_in_writing_is_not_overridden_by_learning(world: World) -> None:
    kept = await note(world, "Lives in Tolm")
    await says(world, "I live in Brask", slot="location")
    assert await world.mem("Bo") == ["Lives in Tolm"]
    [row] = await contradictions(world)
    assert (row["stored"], row["stated"], row["kind"]) == ("Lives in Tolm", "I live in Brask", "correction")
    assert (row["fact_id"], row["gate_path"], row["gate_reason"]) == (kept, "rules", "slot")


async def test_l5_the_same_said_again_is_one_contradiction_seen_twice(world: World) -> None:
    await note(world, "Lives in Tolm")
    await says(world, "I live in Brask", slot="location")
    [first] = await contradictions(world)
    await says(world, "i live in  BRASK!", slot="location")
    [again] = await contradictions(world)
    assert (again["repeat_count"], again["created_at"]) == (1, first["created_at"])


async def test_deciding_for_what_was_stated_makes_it_current_and_explicit(world: World) -> None:
    await note(world, "Lives in Tolm")
    await says(world, "I live in Brask", slot="location")
    [row] = await contradictions(world)
    decided = await decide(world, row, "user_stated")
    assert (decided["status"], decided["decision"], decided["note"]) == ("resolved", "user_stated", "asked")
    [fact] = await world.rows("Bo")
    assert (fact["text"], fact["source_role"], fact["confidence"]) == ("I live in Brask", "user_explicit", 1.0)
    [past] = await world.rows("Bo", status="historical")
    assert (past["text"], past["superseded_by"]) == ("Lives in Tolm", fact["id"])
    assert "Brask" in await world.ask("Bo", "where do I live?")


async def test_deciding_for_what_is_stored_leaves_it_and_the_other_is_never_true(world: World) -> None:
    await note(world, "Lives in Tolm")
    await says(world, "I live in Brask", slot="location")
    [row] = await contradictions(world)
    await decide(world, row, "stored")
    assert await world.mem("Bo") == ["Lives in Tolm"]
    await says(world, "I live in BRASK!", slot="location")
    assert await contradictions(world) == []  # decided is decided, however often it is said
    assert len(await contradictions(world, "resolved")) == 1


async def test_neither_leaves_nothing_current(world: World) -> None:
    await note(world, "Lives in Tolm")
    await says(world, "I live in Brask", slot="location")
    [row] = await contradictions(world)
    await decide(world, row, "neither")
    assert await world.mem("Bo") == []


async def test_l11_a_hold_lapses_when_the_value_moves(world: World) -> None:
    kept = await note(world, "Lives in Tolm")
    await says(world, "I live in Brask", slot="location")
    [row] = await contradictions(world)
    await world.client.post(world.of("Bo", f"/contradictions/{row['id']}/hold"))
    assert [r["id"] for r in await contradictions(world, "held")] == [row["id"]]
    await world.client.post(world.of("Bo", f"/facts/{kept}/correct"), json={"text": "Lives in Sorrel"})
    assert [r["id"] for r in await contradictions(world)] == [row["id"]]
    counts = (await world.client.get(world.of("Bo", "/contradictions/counts"))).json()
    assert counts == {"open": 1, "held": 0, "resolved": 0}


async def test_a_hold_stays_while_nothing_moves_and_a_resolved_one_cannot_be_held(world: World) -> None:
    await note(world, "Lives in Tolm")
    await says(world, "I live in Brask", slot="location")
    [row] = await contradictions(world)
    await world.client.post(world.of("Bo", f"/contradictions/{row['id']}/hold"), json={"note": "later"})
    await says(world, "I live in BRASK", slot="location")
    [held] = await contradictions(world, "held")
    assert (held["note"], held["repeat_count"]) == ("later", 1)
    await decide(world, row, "stored")
    is_problem(await world.client.post(world.of("Bo", f"/contradictions/{row['id']}/hold")), 409)


async def test_what_the_extractor_is_unsure_of_does_not_push_out_what_is_sure(world: World) -> None:
    await says(world, "I work at Tarrow", slot="employer", confidence=0.9)
    await says(world, "I work at Brask", slot="employer", confidence=0.3)
    assert await world.mem("Bo") == ["I work at Tarrow"]
    [row] = await contradictions(world)
    assert row["kind"] == "doubtful"


async def test_a_sure_and_newer_statement_of_the_person_needs_no_decision(world: World) -> None:
    await says(world, "I work at Tarrow", slot="employer")
    await says(world, "I work at Brask", slot="employer")
    assert await world.mem("Bo") == ["I work at Brask"]
    assert await contradictions(world) == []


@pytest.mark.parametrize("body", [{}, {"decision": "me"}, {"decision": "stored", "extra": 1}, []])
async def test_a_decision_that_names_no_winner_is_refused(world: World, body: Any) -> None:
    await note(world, "Lives in Tolm")
    await says(world, "I live in Brask", slot="location")
    [row] = await contradictions(world)
    is_problem(await world.client.post(world.of("Bo", f"/contradictions/{row['id']}/resolve"), json=body), 400)
    assert len(await contradictions(world)) == 1


async def test_what_is_forgotten_is_in_no_dispute(world: World) -> None:
    kept = await note(world, "Lives in Tolm")
    await says(world, "I live in Brask", slot="location")
    await world.client.delete(world.of("Bo", f"/facts/{kept}"))
    assert await contradictions(world) == []


# --- noticed in passing ------------------------------------------------------------------------------------------


async def test_a_message_that_says_otherwise_is_noticed_at_once_where_that_is_wanted(tmp_path: Path) -> None:
    async with World.open(tmp_path, facts__inline_contradictions=True) as world:
        await world.client.post(world.of("Bo", "/facts"), json={"text": "Lives in Tolm", "slot": "location"})
        await world.chat("Bo", [user("I moved to Quillhaven last week. Any tips?")])
        [row] = await contradictions(world)  # before anything was learned
        assert (row["kind"], row["stated"]) == ("inline", "I moved to Quillhaven last week")
        assert await world.mem("Bo") == ["Lives in Tolm"]
        text = {"text": "Lives in Quillhaven", "quote": "I moved to Quillhaven", "slot": "location"}
        world.ext.reply(facts(text))
        await world.drain()
        assert await world.mem("Bo") == ["Lives in Quillhaven"]
        [row] = await contradictions(world, "resolved")  # learning has decided it
        assert row["decision"] == "user_stated"


async def test_nothing_is_noticed_unless_it_is_wanted(world: World) -> None:
    await world.client.post(world.of("Bo", "/facts"), json={"text": "Lives in Tolm", "slot": "location"})
    await world.chat("Bo", [user("I moved to Quillhaven last week.")])
    assert await contradictions(world) == []


# --- collisions --------------------------------------------------------------------------------------------------


async def collisions(world: World) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await world.client.get(world.of("Bo", "/collisions"))).json()["items"]
    return items


async def settle(world: World, row: dict[str, Any], side: str) -> Any:
    return await world.client.post(world.of("Bo", f"/collisions/{row['id']}/settle"), json={"side": side})


async def test_l9_a_collision_is_settled_with_a_side_and_its_residue_shrinks(world: World) -> None:
    for text in ("Has a dog called Moss", "Moss is a cat", "The cat Moss sleeps all day"):
        await world.seed("Bo", text)
    [row] = await collisions(world)
    assert (row["family"], row["subject"], row["status"]) == ("species", "moss", "open")
    settled = (await settle(world, row, "dog")).json()
    assert settled["status"] == "settled"
    left = [fact["text"] for fact in settled["residue"]]
    assert sorted(left) == ["Moss is a cat", "The cat Moss sleeps all day"]
    for count in (1, 0):
        await world.client.delete(world.of("Bo", f"/facts/{settled['residue'][count]['id']}"))
        [row] = await collisions(world)
        assert (row["status"], len(row["residue"])) == ("settled", count)


async def test_l9_what_was_settled_is_never_raised_again(world: World) -> None:
    for text in ("Has a dog called Moss", "Moss is a cat"):
        await world.seed("Bo", text)
    [row] = await collisions(world)
    await settle(world, row, "dog")
    await world.seed("Bo", "The kitten Moss is asleep")
    [row] = await collisions(world)
    assert row["status"] == "settled"
    assert len(row["residue"]) == 2


async def test_l9_settling_needs_a_side_of_the_family(world: World) -> None:
    for text in ("Has a dog called Moss", "Moss is a cat"):
        await world.seed("Bo", text)
    [row] = await collisions(world)
    response = await settle(world, row, "ferret")
    is_problem(response, 422)
    assert "cat, dog" in response.json()["detail"]
    is_problem(await world.client.post(world.of("Bo", f"/collisions/{row['id']}/settle"), json={"note": "x"}), 400)
    assert [r["status"] for r in await collisions(world)] == ["open"]


async def test_a_collision_goes_by_itself_when_a_side_is_gone_and_comes_back_with_it(world: World) -> None:
    await world.seed("Bo", "Has a dog called Moss")
    cat = await world.client.post(world.of("Bo", "/facts"), json={"text": "Moss is a cat"})
    assert [r["status"] for r in await collisions(world)] == ["open"]
    await world.client.delete(world.of("Bo", f"/facts/{cat.json()['id']}"))
    assert [r["status"] for r in await collisions(world)] == ["resolved"]
    await world.client.post(world.of("Bo", f"/facts/{cat.json()['id']}/restore"))
    assert [r["status"] for r in await collisions(world)] == ["open"]


async def test_an_operators_families_count(tmp_path: Path) -> None:
    families = {"diet": {"meat": ["butcher"], "none": ["vegetarian"]}}
    async with World.open(tmp_path, facts__exclusive_families=families) as world:
        for text in ("Ada is a vegetarian", "Her friend the butcher Ada"):
            await world.seed("Bo", text)
        [row] = await collisions(world)
        assert set(row["sides"]) == {"meat", "none"}
