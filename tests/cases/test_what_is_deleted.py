"""Case H and L56: what is deleted is gone everywhere, at once and for good; what is not, stays."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memproxy.model import Entity, new_id
from memproxy.store import passages, summaries
from memproxy.store.summaries import Summary
from memproxy.testing import FrozenClock
from tests.world import World, facts, user

pytestmark = pytest.mark.anyio

START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
EVERY = "current,historical,expired,quarantined,forgotten"
Way = Callable[[World, dict[str, Any]], Awaitable[Any]]


async def forget(world: World, row: dict[str, Any]) -> Any:
    return await world.client.delete(world.of("Bo", f"/facts/{row['id']}"))


async def erase(world: World, row: dict[str, Any]) -> Any:
    return await world.client.delete(world.of("Bo", f"/facts/{row['id']}"), params={"erase": "true"})


async def deny(world: World, row: dict[str, Any]) -> Any:
    return await world.client.post(world.of("Bo", f"/facts/{row['id']}/deny"))


async def deny_by_its_words(world: World, row: dict[str, Any]) -> Any:
    return await world.client.post(world.of("Bo", "/denied"), json={"text": row["text"]})


async def remove_its_turn(world: World, row: dict[str, Any]) -> Any:
    return await world.client.delete(world.of("Bo", f"/turns/{row['turn_id']}"))


async def erase_the_person(world: World, row: dict[str, Any]) -> Any:
    return await world.client.delete(world.of("Bo"))


ONE: list[Way] = [forget, erase, deny, deny_by_its_words]
WAYS: list[Way] = [*ONE, remove_its_turn, erase_the_person]


async def learned(world: World, who: str = "Bo") -> dict[str, Any]:
    world.ext.reply(facts({"text": "Keeps falcons in Brask", "quote": "I keep falcons in Brask"}))
    await world.chat(who, [user("Good news: I keep falcons in Brask. My sister paints boats.")])
    await world.drain()
    [row] = await world.rows(who)
    return row


async def seen(world: World, who: str = "Bo") -> str:
    """Everything that list, get, search by word and by meaning, a dry run and a chat say to falcons."""
    told = []
    for path, query in (
        ("/facts", {}),
        ("/facts", {"query": "falcons"}),
        ("/facts", {"group": "tag"}),
        ("/facts", {"as_of_txn": "2999-01-01"}),
        ("/search", {"query": "falcons Brask"}),
        ("/search", {"query": "keep falcons in Brask", "kind": "fact"}),
        ("/search", {"query": "where I keep my falcons", "kind": "turn,summary"}),
        ("/context", {"query": "Where do I keep my falcons?"}),
    ):
        told.append((await world.client.get(world.of(who, path), params=query)).text)
    return "".join(told) + await world.ask(who, f"Remind me where those falcons are, please? {new_id()}")


# --- H1 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
async def test_h1_whichever_way_it_goes_all_views_agree_at_once(world: World, way: Way) -> None:
    row = await learned(world)
    assert "Brask" in await seen(world)
    receipt = await world.chat("Bo", [user("Falcons of mine: where do I keep them?")])
    assert "Brask" in world.block()
    assert (await way(world, row)).status_code in (200, 201)
    assert "Brask" not in await seen(world)
    assert (await world.client.get(world.of("Bo", f"/facts/{row['id']}"))).status_code == 404
    told = await world.client.get(world.own(f"receipts/{receipt.headers['x-memg-request-id']}"))
    assert "Brask" not in told.text
    await world.restart()
    assert "Brask" not in await seen(world)


async def test_h1_what_expires_takes_the_same_way(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    async with World.open(tmp_path, clock=clock) as world:
        await world.seed("Bo", "Keeps falcons in Brask", lifetime="temporary")
        assert "Brask" in await seen(world)
        clock.advance(days=31)
        await world.drain()
        assert "Brask" not in await seen(world)
        assert [row["text"] for row in await world.rows("Bo", status="expired")] == ["Keeps falcons in Brask"]


async def test_h1_a_placed_block_goes_with_the_fact_it_quotes(tmp_path: Path) -> None:
    async with World.open(tmp_path, memory__placement="split") as world:
        [fact_id] = await world.seed("Bo", "Keeps falcons in Brask", pinned=True)
        history: list[dict[str, Any]] = []
        await world.say("Bo", history, "Where are my falcons?")
        assert b"Brask" in world.sent
        await world.client.post(world.of("Bo", f"/facts/{fact_id}/deny"))
        await world.say("Bo", history, "And what do they eat?")
        assert b"Brask" not in world.sent


# --- H4 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", ["Bo2", "bo", "B_", "B%", "default"])
async def test_h4_erasing_one_person_leaves_every_other_as_they_were(world: World, other: str) -> None:
    for who in ("Bo", other):
        await learned(world, who)
    query = {"query": "falcons Brask"}
    before = (await world.client.get(world.of(other, "/search"), params=query)).json()
    assert before["items"]
    counts = (await world.client.get(world.of(other))).json()
    await world.client.delete(world.of("Bo"))
    assert (await world.client.get(world.of(other, "/search"), params=query)).json() == before
    assert (await world.client.get(world.of(other))).json() == counts
    assert await world.rows("Bo", status=EVERY) == []


@pytest.mark.parametrize("path", ["entities", "entities/", "entities//facts", "entities?entity="])
async def test_h4_deleting_all_of_nobody_in_particular_is_refused(world: World, path: str) -> None:
    await learned(world)
    assert (await world.client.delete(world.own(path))).status_code in (400, 404, 405)
    assert len(await world.rows("Bo")) == 1


# --- H5 ----------------------------------------------------------------------------------------------------------


async def summarise(world: World, text: str, session_id: str | None) -> str:
    """Leave a summary, as the summariser would."""
    assert world.app is not None
    entity, now, summary_id = Entity("Bo"), datetime.now(UTC), new_id()

    async def put(conn: Any) -> None:
        from memproxy.model import Passage
        from memproxy.recall.terms import index_terms

        await summaries.insert(conn, entity, Summary(summary_id, session_id, text, now, now, now))
        terms = index_terms(text, "assistant", now)
        await passages.add(conn, entity, [Passage("summary", summary_id, 0, 0, len(text), terms, text)])

    await world.app.parts.db.write(put)
    return summary_id


async def summarised(world: World) -> set[str]:
    assert world.app is not None
    rows = await world.app.parts.db.read(lambda conn: summaries.list_summaries(conn, Entity("Bo"), 100))
    return {row.text for row in rows}


async def correct(world: World, row: dict[str, Any]) -> Any:
    return await world.client.patch(world.of("Bo", f"/facts/{row['id']}"), json={"text": "Keeps hawks in Tolm"})


@pytest.mark.parametrize("way", [*WAYS, correct])
async def test_h5_a_summary_that_used_it_goes_in_the_same_operation(world: World, way: Way) -> None:
    row = await learned(world)
    [turn, *_] = await world.turns("Bo")
    await summarise(world, "Spoke of birds of prey in a town, and of a sister", turn["session_id"])
    await summarise(world, "They said that in Brask they keep falcons. They bake.", None)
    await summarise(world, "Spoke of a kayak", None)
    await way(world, row)
    assert await summarised(world) == (set() if way is erase_the_person else {"Spoke of a kayak"})
    assert "birds of prey" not in await seen(world)
    assert "Brask" not in await seen(world)


async def test_h5_a_summary_of_another_conversation_that_says_something_else_stays(world: World) -> None:
    row = await learned(world)
    await summarise(world, "Spoke of Brask and its harbour", None)
    await forget(world, row)
    assert await summarised(world) == {"Spoke of Brask and its harbour"}


@pytest.mark.parametrize("changes", [{"tag": "pets"}, {"pinned": True}, {"status": "historical"}])
async def test_h5_a_change_that_takes_nothing_back_leaves_summaries(world: World, changes: dict[str, Any]) -> None:
    row = await learned(world)
    [turn, *_] = await world.turns("Bo")
    await summarise(world, "Keeps falcons in Brask", turn["session_id"])
    assert (await world.client.patch(world.of("Bo", f"/facts/{row['id']}"), json=changes)).status_code == 200
    assert await summarised(world) == {"Keeps falcons in Brask"}


@pytest.mark.parametrize("way", [forget, erase, deny])
async def test_h5_the_profile_keeps_nothing_of_a_fact_that_is_gone_or_corrected(tmp_path: Path, way: Way) -> None:
    async with World.open(tmp_path, facts__rule_packs=["health"]) as world:
        [fact_id] = await world.seed("Bo", "Is allergic to peanuts")

        async def told() -> str:
            pages = [await world.client.get(world.of("Bo", path)) for path in ("/profile", "/profile/history")]
            assert all(page.status_code == 200 for page in pages)
            return pages[0].text if way is forget else pages[0].text + pages[1].text

        assert "peanuts" in await told()
        corrected = await world.client.post(
            world.of("Bo", f"/facts/{fact_id}/correct"), json={"text": "Is allergic to walnuts"}
        )
        assert corrected.json()["pinned"] is True
        profile = (await world.client.get(world.of("Bo", "/profile"))).text
        assert ("walnuts" in profile, "peanuts" in profile) == (True, False)
        await way(world, {"id": fact_id, "text": "Is allergic to walnuts"})
        assert "nuts" not in await told()


async def test_h5_a_fact_that_was_written_by_hand_takes_summaries_that_repeat_it(world: World) -> None:
    [fact_id] = await world.seed("Bo", "Keeps falcons in Brask")
    await summarise(world, "Keeps falcons in Brask, as they said.", None)
    await erase(world, {"id": fact_id})
    assert await summarised(world) == set()
    assert b"Brask" not in world.files()


# --- H6 ----------------------------------------------------------------------------------------------------------

SAID = "Good news: I keep falcons in Brask. My sister paints boats."


@pytest.mark.parametrize("change", ["erase", "turn", "denied", "learning", "memory", "tag"])
async def test_h6_what_was_under_way_creates_nothing_afterwards(world: World, change: str) -> None:
    release = asyncio.Event()

    async def paused(request: object) -> str:
        await release.wait()
        return facts({"text": "Keeps falcons in Brask", "quote": "I keep falcons in Brask", "tag": "hobby"})

    world.ext.reply_with(paused)
    await world.chat("Bo", [user(SAID)])
    draining = asyncio.create_task(world.drain())
    await world.ext.wait_for(lambda ext: bool(ext.requests))
    [turn, *_] = await world.turns("Bo")
    await {
        "erase": lambda: world.client.delete(world.of("Bo")),
        "turn": lambda: world.client.delete(world.of("Bo", f"/turns/{turn['id']}")),
        "denied": lambda: world.client.post(world.of("Bo", "/denied"), json={"text": "Keeps falcons in Brask"}),
        "learning": lambda: world.client.put(world.of("Bo", "/preferences"), json={"learning": False}),
        "memory": lambda: world.client.put(world.of("Bo", "/preferences"), json={"memory": False}),
        "tag": lambda: world.client.put(world.of("Bo", "/preferences"), json={"excluded_tags": ["hobby"]}),
    }[change]()
    release.set()
    await draining
    await world.drain()
    assert await world.rows("Bo", status=EVERY) == []
    if change == "erase":
        assert await world.turns("Bo") == []
        assert b"Brask" not in world.files()


@pytest.mark.parametrize(
    ("said", "text", "quote"),
    [
        (SAID, "Keeps falcons in Brask", "I keep falcons in Brask"),
        (SAID, "Has falcons at Brask", "I keep falcons in Brask"),
        ("I told you: in Brask I keep falcons!", "Keeps falcons in Brask", "in Brask I keep falcons"),
        ("i KEEP  falcons in brask", "Is a falconer", "i KEEP  falcons in brask"),
        ("Well, I keep falcons in Brask, as ever.", "Is a falconer", "Well, I keep falcons in Brask, as ever"),
    ],
)
async def test_h6_what_was_denied_is_not_learned_again_when_the_conversation_comes_back(
    world: World, said: str, text: str, quote: str
) -> None:
    row = await learned(world)
    await deny(world, row)
    world.ext.reply(facts({"text": text, "quote": quote}, {"text": "Bakes bread", "quote": "I bake bread"}))
    await world.chat("Bo", [user(SAID), {"role": "assistant", "content": "I see."}, user(f"{said} And I bake bread.")])
    await world.drain()
    assert await world.mem("Bo") == ["Bakes bread"]
    assert "falcons" not in str(await world.rows("Bo", status=EVERY))
    assert await world.metric("memproxy_facts_rejected_total", reason="denied") == 1


async def test_h6_the_contrary_of_what_was_denied_can_be_learned(world: World) -> None:
    row = await learned(world)
    await deny(world, row)
    said = "I don't keep falcons in Brask"
    world.ext.reply(facts({"text": "Does not keep falcons in Brask", "quote": said}))
    await world.chat("Bo", [user(f"{said}, whatever you think.")])
    await world.drain()
    assert await world.mem("Bo") == ["Does not keep falcons in Brask"]


# --- H7 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["patch", "correct", "forget and note"])
async def test_h7_an_edited_fact_is_not_found_by_its_old_words(world: World, way: str) -> None:
    world.ext.reply(facts({"text": "Code is FERN-1", "quote": "the code is FERN-1"}))
    await world.chat("Bo", [user("By the way, the code is FERN-1, and I bake bread.")])
    await world.drain()
    [row] = await world.rows("Bo")
    path = world.of("Bo", f"/facts/{row['id']}")
    if way == "patch":
        await world.client.patch(path, json={"text": "Code is MOSS-2"})
    elif way == "correct":
        await world.client.post(f"{path}/correct", json={"text": "Code is MOSS-2"})
    else:
        await world.client.delete(path)
        await world.client.post(world.of("Bo", "/notes"), json={"text": "Code is MOSS-2"})
    for moment in ("at once", "with vectors", "after a restart"):
        if moment == "with vectors":
            await world.drain()
        if moment == "after a restart":
            await world.restart()
        for query in ("FERN-1", "code", "what is the code"):
            assert "FERN" not in (await world.client.get(world.of("Bo", "/search"), params={"query": query})).text
        assert "FERN" not in await world.ask("Bo", f"What is the code? {moment}")
        assert "MOSS-2" in world.block()


@pytest.mark.parametrize("query", ["", "?erase=true", "?erase=true&kind=turn&entity=Ada&index=other"])
async def test_h7_a_delete_that_matches_nothing_says_so(world: World, query: str) -> None:
    row = await learned(world)
    for path in (f"/facts/{'0' * 32}", f"/turns/{row['id']}", f"/facts/{row['turn_id']}", f"/denied/{row['id']}"):
        assert (await world.client.delete(world.of("Bo", path) + query)).status_code == 404
    nobody = await world.client.delete(world.of("Nobody") + query)
    assert not any(nobody.json()["deleted"].values())
    assert await world.mem("Bo") == ["Keeps falcons in Brask"]


# --- H8 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("embedder", [{"embed.provider": "off"}, {"embed.dimensions": 32}])
async def test_h8_deleting_needs_no_embedding_and_removes_what_it_reports(
    world: World, way: Way, embedder: dict[str, object]
) -> None:
    row = await learned(world)
    await world.seed("Bo", "Owns a kayak", "Bakes bread")
    before = (await world.client.get(world.of("Bo"))).json()
    world.flags.update(embedder)  # the model is down, or another one
    await world.restart()
    counts = (await way(world, row)).json()["deleted"]
    assert "Brask" not in await seen(world)
    now = (await world.client.get(world.of("Bo"))).json()
    if way is erase_the_person:
        for name in ("facts", "turns", "passages", "vectors"):
            assert counts[name] >= before[name] > 0
        return
    if way is not remove_its_turn:
        assert counts == {"facts": 1}
    assert before["facts"] - now["facts"] == 1
    assert await world.mem("Bo") == ["Bakes bread", "Owns a kayak"]


async def test_h8_rows_that_come_while_deleting_are_either_gone_or_whole(world: World) -> None:
    await learned(world)
    erasing = asyncio.create_task(erase_the_person(world, {}))
    await asyncio.gather(*(world.chat("Bo", [user(f"I own kayak number {i}")]) for i in range(10)))
    counts = (await erasing).json()["deleted"]
    await world.drain()
    turns = await world.turns("Bo")
    counted = (await world.client.get(world.of("Bo"))).json()
    assert counted["turns"] == len(turns)
    assert counts["turns"] + len(turns) == 22
    assert "falcons" not in str(turns)


# --- L56 ---------------------------------------------------------------------------------------------------------

CANARIES = (b"quartz", b"oddvarsholm", b"xanthipp", b"zephyrine", b"plumbago")


async def live(world: World, who: str) -> None:
    """Leave a trace by everything that leaves one."""
    world.ext.reply(facts({"text": "Has the word QUARTZ", "quote": "my word is QUARTZ"}))
    await world.chat(who, [user("Note that my word is QUARTZ and I live in Oddvarsholm.")])
    await world.drain()
    [row] = await world.rows(who)
    fact = world.of(who, f"/facts/{row['id']}")
    await world.client.post(f"{fact}/correct", json={"text": "Has the word QUARTZITE"})
    await world.client.post(f"{fact}/pin")
    await world.client.post(f"{fact}/confirm")
    await world.client.post(world.of(who, "/notes"), json={"text": "Has a parrot called Xanthippe"})
    await world.client.post(world.of(who, "/denied"), json={"text": "Grows Plumbago"})
    await world.client.put(world.of(who, "/preferences"), json={"excluded_tags": ["plumbago"]})
    past = {"role": "user", "content": "Oddvarsholm again", "time": "2021-01-01T00:00:00Z"}
    await world.client.post(world.of(who, "/turns"), json={"session": "plumbago", "turns": [past]})
    await world.ask(who, "What is my word and my parrot's name?")
    await world.drain()


@pytest.mark.parametrize("variation", ["at once", "while it is asked", "with a reader beside", "no embedder"])
async def test_l56_after_an_erasure_no_byte_of_the_person_is_in_any_file(tmp_path: Path, variation: str) -> None:
    provider = "off" if variation == "no embedder" else "hash"
    async with World.open(tmp_path, embed__provider=provider) as world:
        await live(world, "Zephyrine-Q")
        await world.seed("Bo", "Has a goose called Philomena")
        assert b"quartz" in world.files().lower()
        asking: list[asyncio.Task[Any]] = []
        if variation == "while it is asked":
            asking = [asyncio.create_task(world.ask("Bo", f"What is goose {i} called?")) for i in range(5)]
        if variation == "with a reader beside":
            asking = [asyncio.create_task(world.rows("Bo")) for _ in range(20)]
        deleted = (await world.client.delete(world.of("Zephyrine-Q"))).json()["deleted"]
        await asyncio.gather(*asking)
        assert deleted["turns"] >= 3
        left = world.files().lower()
        assert [canary for canary in CANARIES if canary in left] == []
        assert "Philomena" in await world.ask("Bo", "what is my goose called?")


async def test_l56_removed_turns_leave_no_words_in_rows_that_can_be_read(world: World) -> None:
    await live(world, "Zephyrine-Q")
    for turn in await world.turns("Zephyrine-Q"):
        assert (await world.client.delete(world.of("Zephyrine-Q", f"/turns/{turn['id']}"))).status_code == 200
    assert await world.turns("Zephyrine-Q") == []
    search = await world.client.get(world.of("Zephyrine-Q", "/search"), params={"query": "Oddvarsholm QUARTZ"})
    assert "Oddvarsholm" not in search.text
    assert await world.rows("Zephyrine-Q", query="oddvarsholm", status=EVERY) == []
