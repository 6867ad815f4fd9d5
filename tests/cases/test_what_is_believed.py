"""Cases D, G, H, J and M, and lines of the ledger: what is one fact, what takes whose place, and when it was."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memproxy.embedders.live import Embedders
from memproxy.errors import EmbedderError
from memproxy.interfaces import Connection
from memproxy.lifecycle.curation import Curator
from memproxy.lifecycle.indexing import reindex_fact
from memproxy.lifecycle.learning import Grounds, learn
from memproxy.model import EmbedderInfo, Entity, FactDraft
from memproxy.store import entities
from memproxy.store import facts as fact_rows
from memproxy.store.sqlite import SqliteDatabase
from memproxy.testing import FrozenClock
from memproxy.testing.upstream import Answer, Request
from tests.lives import EVERY, Life, slot
from tests.world import World, facts, together, user


@pytest.fixture
async def life(tmp_path: Path) -> AsyncIterator[Life]:
    async with Life.begin(tmp_path) as life:
        yield life


# --- D: one fact, or two -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "again",
    [
        {"type": "pattern"},
        {"tag": "hobby"},
        {"slot": "hobby"},
        {"type": "event", "tag": "personal", "slot": "animal", "significance": 9},
    ],
)
async def test_l2_and_l57_the_same_in_another_category_is_one_row_and_its_tag_stays(life: Life, again: Any) -> None:
    await life.say("I keep bees", {"text": "Keeps bees", "type": "identity", "tag": "work", "slot": "pet"})
    await life.say("I keep bees", {"text": "keeps  BEES!", **again})
    [row] = await life.rows(EVERY)
    assert (row["text"], row["tag"], row["reinforced_count"]) == ("Keeps bees", "work", 1)


@pytest.mark.parametrize("cosine", ["hash", "local"])
async def test_l4_nearness_is_no_sameness(tmp_path: Path, cosine: str) -> None:
    async with Life.begin(tmp_path, embed__provider=cosine) as life:
        for text in ("I like quiet", "I am afraid of quiet", "I liked quiet as a child"):
            await life.say(text)
        assert len(await life.now()) == 3


@pytest.mark.parametrize("provider", ["hash", "local"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Weighed 71 kg on 3 May", "Weighed 70 kg on 10 May"),
        ("Blood pressure was 130/80 on Monday", "Blood pressure was 135/85 on Monday"),
        ("Ran 10 km in 52 minutes", "Ran 10 km in 49 minutes"),
    ],
)
async def test_d8_dated_readings_stand_side_by_side(tmp_path: Path, provider: str, one: str, other: str) -> None:
    async with Life.begin(tmp_path, embed__provider=provider) as life:
        for text in (one, other, one):
            await life.say(f"I {text[0].lower()}{text[1:]}", slot("reading", text))
        assert await life.now() == [one, other]


@pytest.mark.parametrize("same", [False, True])
async def test_d5_two_servers_on_one_database_make_one_row_of_each_fact(tmp_path: Path, same: bool) -> None:
    async with World.open(tmp_path) as one, World.open(tmp_path) as other:
        for world in (one, other):
            world.ext.default = _says_back
        worlds = [one, other] * 5
        said = ["I keep bees" if same else f"I keep {n} bees" for n in range(10)]
        answers = await together(
            *(
                w.chat("Bo", [user(text)], headers={"X-MemG-Session": str(n)})
                for n, (w, text) in enumerate(zip(worlds, said, strict=True))
            )
        )
        assert {answer.status_code for answer in answers} == {200}
        await together(one.drain(), other.drain())
        rows = await one.rows("Bo", status=EVERY)
        assert sorted(row["text"] for row in rows) == sorted(set(said))
        assert [row["id"] for row in rows] == [row["id"] for row in await other.rows("Bo", status=EVERY)]


@pytest.mark.parametrize("same", [False, True])
async def test_d5_ids_given_by_two_servers_at_once_are_of_rows_that_are_there(tmp_path: Path, same: bool) -> None:
    async with World.open(tmp_path) as one, World.open(tmp_path) as other:
        texts = ["Keeps bees" if same else f"Lives in Place{n}" for n in range(10)]
        answers = await together(
            *(
                w.client.post(w.of("Bo", "/facts"), json={"text": text, "slot": "location"})
                for w, text in zip([one, other] * 5, texts, strict=True)
            )
        )
        assert {answer.status_code for answer in answers} <= {200, 201}
        rows = {row["id"]: row for row in await one.rows("Bo", status=EVERY)}
        assert {answer.json()["id"] for answer in answers} == set(rows)
        assert [row["status"] for row in rows.values()].count("current") == 1


def _says_back(request: Request) -> str:
    said = request.json()["messages"][-1]["content"]
    lines = [line.partition("] user: ")[2] for line in said.splitlines()]
    return facts(*({"text": line, "quote": line, "slot": "pet"} for line in lines if line))


# --- G: change ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I love herring", "I hate herring"),
        ("I hate herring", "I love herring"),
        ("Ich esse Hering", "Ich esse keinen Hering"),
        ("J'aime le hareng", "Je n'aime pas le hareng"),
    ],
)
async def test_g1_a_change_of_mind_leaves_one_fact_and_its_history(life: Life, before: str, after: str) -> None:
    await life.say(before)
    await life.say(after)
    assert (await life.now(), await life.past()) == ([after], [before])
    [old] = await life.rows("historical")
    assert old["superseded_by"] == await life.id(after)


@pytest.mark.parametrize(
    "texts",
    [
        ["Uses the green build queue", "Do not forget to warm the green build queue"],
        ["Does not use tabs and uses spaces"],
        ["Does not use tabs and uses spaces", "Uses the green build queue"],
        ["Is not only a baker, also a singer", "Is a baker"],
    ],
)
async def test_g4_a_not_that_denies_nothing_takes_nothing_back(life: Life, texts: list[str]) -> None:
    await life.world.seed("Bo", *texts)
    assert sorted(await life.now()) == sorted(texts)


@pytest.mark.parametrize(
    ("attribute", "was", "left", "note"),
    [
        ("team", "Is on the platform team", "I left the platform team last week", "Left the platform team"),
        ("employer", "Works at Tarrow", "I quit at Tarrow yesterday", "Quit at Tarrow"),
        ("location", "Lives in Tolm", "I no longer live in Tolm", "No longer lives in Tolm"),
        ("location", "Wohnt in Bonn", "Ich wohne nicht mehr in Bonn", "Wohnt nicht mehr in Bonn"),
    ],
)
async def test_g5_what_is_no_longer_so_is_not_told_as_so(
    life: Life, attribute: str, was: str, left: str, note: str
) -> None:
    await life.world.seed("Bo", was, slot=attribute)
    await life.say(left, slot(attribute, note), days=10)
    assert (await life.now(), await life.past()) == ([note], [was])
    [row] = await life.rows()
    assert row["reference_time"] is not None
    block = await life.world.ask("Bo", f"Tell me what you know: {was}?")
    assert not any(line.endswith(was) for line in block.splitlines())


@pytest.mark.parametrize("late", ["2026-03-01T09:00:00Z", "2026-06-09T23:59:00Z", "2019-06-01T09:00:00Z"])
async def test_g7_what_was_said_earlier_and_comes_later_overrules_nothing(life: Life, late: str) -> None:
    await life.say("I live in Brask", slot("city", "Lives in Brask"), days=100)  # on 10 June
    await life.tell_late("I live in Tolm", slot("city", "Lives in Tolm"), at=late)
    assert (await life.now(), await life.past()) == (["Lives in Brask"], ["Lives in Tolm"])
    assert await life.held("2026-06-11") == ["Lives in Brask"]


async def test_l45_what_took_the_place_of_a_fact_is_there_or_named_no_more(life: Life) -> None:
    for city in ("Austin", "Seattle", "Boston"):
        await life.say(f"I live in {city}", slot("location", f"Lives in {city}"))
    await life.do("POST", f"/facts/{await life.id('Lives in Seattle')}/erase")
    await life.do("DELETE", f"/facts/{await life.id('Lives in Boston')}")
    rows = await life.rows(EVERY)
    ids = {row["id"] for row in rows}
    assert all(row["superseded_by"] in ids | {None} for row in rows)


async def test_l55_what_takes_a_place_has_its_own_dates(life: Life) -> None:
    await life.say("I live in Austin", slot("location", "Lives in Austin"))
    await life.say("I live in Boston", slot("location", "Lives in Boston"), days=50)
    old, new = await life.rows("current,historical")
    assert (old["valid_from"], old["valid_until"]) == ("2026-03-03T12:00:00Z", "2026-04-22T12:00:00Z")
    assert (new["valid_from"], new["recorded_at"], new["updated_at"]) == ("2026-04-22T12:00:00Z",) * 3


async def test_l39_a_conversation_that_is_sent_whole_each_time_counts_a_fact_once(life: Life) -> None:
    life.world.ext.default = _says_back
    history: list[dict[str, Any]] = []
    for n in range(5):
        await life.world.say("Bo", history, "I keep bees" if n % 2 == 0 else f"and {n} more of them")
        await life.world.drain()
    rows = await life.rows()
    assert [row["reinforced_count"] for row in rows if row["text"] == "I keep bees"] <= [1]
    assert len([request for request in life.world.extracted() if "I keep bees" in request]) <= 3
    await life.world.chat("Bo", [*history, user("I keep bees")])
    await life.world.drain()
    assert [row["reinforced_count"] for row in await life.rows() if row["text"] == "I keep bees"] <= [1]


# --- J: what must not get out ------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 500])
async def test_j10_what_a_server_quotes_of_a_memory_gets_into_no_log_and_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    async with World.open(tmp_path) as world:
        world.ext.default = lambda request: Answer(status, (), [request.body, b" extraction-key"])
        with caplog.at_level(logging.DEBUG, logger="memproxy"):
            answer = await world.chat("Bo", [user("I keep falcons")])
            await world.client.post(world.own("flush"), params={"timeout": 1})
            jobs = await world.client.get(world.own("jobs"))
        assert world.ext.requests
        for told in (caplog.text, jobs.text, str(answer.headers), (await world.client.get(world.own("health"))).text):
            assert "falcons" not in told
            assert "extraction-key" not in told


@pytest.mark.parametrize("placement", ["system", "split", "user"])
@pytest.mark.parametrize("pinned", [False, True])
async def test_j5_a_secret_from_before_there_was_a_filter_is_masked_on_the_way_out(
    tmp_path: Path, placement: str, pinned: bool
) -> None:
    key = "sk-" + "Tt9" * 14
    async with Life.begin(tmp_path, memory__placement=placement) as life:
        [fact_id] = await life.world.seed("Bo", "Has a key for the harbour gate", pinned=pinned)
        db = await SqliteDatabase.open(tmp_path / "store" / "memory.db", readers=1)

        async def write(conn: Connection) -> None:
            told = {"text": f"Has the key {key} for the harbour gate"}
            fact = await fact_rows.update(conn, Entity("Bo"), fact_id, told, "", life.clock.now())
            assert fact is not None
            await reindex_fact(conn, Entity("Bo"), fact)

        try:
            await db.write(write)
        finally:
            await db.close()
        await life.world.chat("Bo", [user("Which key do I have for the harbour gate?")])
        assert "harbour gate" in life.world.sent.decode()
        assert "Has the key" in life.world.sent.decode()
        assert key not in life.world.sent.decode()


class Failing:
    """An embedder whose model is gone."""

    info = EmbedderInfo("gone", 8, 0.2, 0.9)

    async def embed_query(self, text: str) -> Any:
        raise EmbedderError("gone")

    async def embed_documents(self, texts: Sequence[str]) -> Any:
        raise EmbedderError("gone")

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("count", [1, 3])
async def test_l51_where_nothing_can_be_embedded_every_fact_is_kept_all_the_same(tmp_path: Path, count: int) -> None:
    db = await SqliteDatabase.open(tmp_path / "memory.db", readers=1)
    try:
        curator = Curator(
            db, Embedders(Failing()), b"secret", FrozenClock(datetime(2026, 3, 2, tzinfo=UTC)), learning=False
        )
        for n in range(count):
            await curator.add(Entity("Bo"), FactDraft(f"Keeps {n} falcons"))
        kept = await db.read(lambda conn: fact_rows.list_facts(conn, Entity("Bo")))
        assert sorted(fact.text for fact in kept) == [f"Keeps {n} falcons" for n in range(count)]
        assert {fact.embedding_model for fact in kept} == {None}
    finally:
        await db.close()


# --- M: time -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-02-27T10:00:00", "2026-02-27T10:00:00Z"),
        ("2026-02-27T10:00:00+05:30", "2026-02-27T04:30:00Z"),
        ("2026-02-27", "2026-02-27T00:00:00Z"),
        ("2026-02-30", None),
        ("next to never", None),
    ],
)
async def test_m3_one_kind_of_time_inside_and_a_bad_one_costs_the_date_only(
    life: Life, given: str, kept: str | None
) -> None:
    await life.say("I had my tonsils out", {"text": "Had tonsils out", "type": "event", "reference_time": given})
    await life.say("I keep bees", "Keeps bees")
    first, second = await life.rows()
    assert first["reference_time"] == (kept or "2026-03-03T12:00:00Z")
    assert second["text"] == "Keeps bees"


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles", "UTC"])
async def test_l17_a_day_is_that_day_wherever_the_server_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        async with Life.begin(tmp_path) as life:
            await life.say("My daughter was born on 2020-05-17", {"text": "Daughter was born", "type": "event",
                                                                  "reference_time": "2020-05-17"})  # fmt: skip
            await life.say("I live in Tolm", slot("location", "Lives in Tolm"))
            assert await life.held("2026-03-05") == ["Daughter was born", "Lives in Tolm"]
            assert "2020-05-17" in await life.world.ask("Bo", "When was my daughter born?")
    finally:
        monkeypatch.undo()
        time.tzset()


# --- a large memory ----------------------------------------------------------------------------------------------


async def test_l28_an_old_allergy_is_found_among_five_thousand_facts(tmp_path: Path) -> None:
    async with Life.begin(tmp_path) as life:
        await life.say("I am allergic to penicillin", {"text": "Is allergic to penicillin", "tag": "medical",
                                                       "significance": 10})  # fmt: skip
        await _seed_thousands(tmp_path / "store" / "memory.db", life.clock)
        life.clock.advance(days=900)
        assert "penicillin" in await life.world.ask("Bo", "Which antibiotics am I allergic to?")


async def _seed_thousands(path: Path, clock: FrozenClock) -> None:
    db = await SqliteDatabase.open(path, readers=1)

    async def write(conn: Connection) -> None:
        bo, now = Entity("Bo"), datetime(2026, 3, 20, tzinfo=UTC)
        await entities.ensure(conn, bo, now)
        for first in range(0, 5000, 5):  # drafts of one reply are compared with one another
            drafts = [FactDraft(f"Saw film number {n} and which ones") for n in range(first, first + 5)]
            await learn(conn, bo, drafts, None, Grounds(), None, now, nearby=[{} for _ in drafts])

    try:
        await db.write(write)
    finally:
        await db.close()
    await asyncio.sleep(0)
    assert clock.now()
