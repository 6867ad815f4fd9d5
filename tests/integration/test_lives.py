"""Life histories, told to a real proxy as people tell them: late, twice, in passing, and never in order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.lives import Life, slot
from tests.world import facts, together, user


@pytest.fixture
async def life(tmp_path: Path) -> AsyncIterator[Life]:
    async with Life.begin(tmp_path) as life:
        yield life


# --- moving ------------------------------------------------------------------------------------------------------


async def test_every_move_is_dated_and_going_back_is_one_more(life: Life) -> None:
    for city in ("Austin", "Seattle", "Austin", "Boston"):
        await life.say(f"I live in {city} now", slot("location", f"Lives in {city}"), days=30)
    assert await life.now() == ["Lives in Boston"]
    assert await life.past() == ["Lives in Austin", "Lives in Seattle", "Lives in Austin"]
    assert [await life.held(day) for day in ("2026-04-10", "2026-05-10", "2026-06-10", "2026-07-10")] == [
        ["Lives in Austin"],
        ["Lives in Seattle"],
        ["Lives in Austin"],
        ["Lives in Boston"],
    ]


@pytest.mark.parametrize(
    ("attribute", "now", "otherwise"),
    [
        ("location", "I live in Brask", "I used to live in Tolm"),
        ("location", "I live in Brask", "I might move to Lund"),
        ("location", "I live in Brask", "I am not moving to Olm"),
        ("location", "I live in Brask", "My sister lives in Lund"),
        ("location", "I live in Brask", "My sister Jorun lives in Lund"),
        ("employer", "I work at Brask", "I worked at Quill from 2010 to 2015"),
        ("employer", "I work at Brask", "My previous employer was Tarrow"),
        ("employer", "I work at Brask", "I would like to work at Zed"),
        ("employer", "I work at Brask", "I also freelance for Olm"),
        ("spouse", "I am married to Eve", "My ex-wife is called Ada"),
        ("spouse", "I am married to Eve", "My first wife was Iris"),
        ("email", "My email is a@b.example", "My work email is c@d.example"),
        ("location", "Ich wohne in Bonn", "Früher wohnte ich in Köln"),
        ("location", "J'habite à Paris", "Avant, j'habitais à Lyon, autrefois"),
        ("location", "Vivo en Sevilla", "Antes vivía en Cádiz"),
        ("location", "我住在青岛", "我以前住在大连"),
    ],
)
async def test_what_was_may_be_or_is_besides_takes_nothing_away_from_what_is(
    life: Life, attribute: str, now: str, otherwise: str
) -> None:
    await life.say(now, slot(attribute, now))
    text = "Jorun lives in Lund" if "Jorun" in otherwise else otherwise
    await life.say(otherwise, slot(attribute, text))
    assert await life.now() == [now, text]


async def test_a_plan_comes_true_or_to_nothing_and_until_then_changes_nothing(life: Life) -> None:
    await life.say("I live in Tolm", slot("location", "Lives in Tolm"))
    plan = slot("location", "Will move to Brask", reference_time="2026-06-01")
    await life.say("I will move to Brask on 1 June", plan)
    assert await life.now() == ["Lives in Tolm", "Will move to Brask"]
    await life.say("I am not moving to Brask after all", slot("location", "Is not moving to Brask"))
    assert await life.now() == ["Lives in Tolm", "Is not moving to Brask"]
    await life.say("I live in Brask, it worked out!", slot("location", "Lives in Brask"), days=100)
    assert await life.now() == ["Lives in Brask"]


# --- people ------------------------------------------------------------------------------------------------------


async def test_a_wedding_is_news_although_it_was_before_what_was_said_last(life: Life) -> None:
    """The statement counts that was made last, not the event that lies later."""
    await life.say("I am engaged to Ada", slot("spouse", "Is engaged to Ada"))
    await life.say(
        "I married Ada last Saturday", slot("spouse", "Is married to Ada", reference_time="last Saturday"), days=1
    )
    assert await life.now() == ["Is married to Ada"]
    await life.say("Ada and I got divorced", slot("spouse", "Is divorced from Ada"), days=300)
    assert await life.now() == ["Is divorced from Ada"]
    await life.say("I married Ada again!", slot("spouse", "Is married to Ada"), days=300)
    assert await life.now() == ["Is married to Ada"]
    assert await life.past() == ["Is engaged to Ada", "Is married to Ada", "Is divorced from Ada"]


async def test_g2_of_rapid_corrections_the_last_holds(life: Life) -> None:
    for name in ("Max", "Maxi", "M"):
        await life.say(f"Call me {name}", slot("name", f"Is called {name}"), days=1 / 1440)
    assert await life.now() == ["Is called M"]


@pytest.mark.parametrize(
    ("attribute", "said", "learned", "question"),
    [
        ("name", ["Call me Max", "no, Maxi", "final: just M"],
         ["Is called Max", "Is called Maxi", "Is called M"], "What am I called?"),
        ("preferred name", ["Nenn mich Max", "nein, Maxi", "doch lieber Mats"],
         ["Heißt Max", "Heißt Maxi", "Heißt Mats"], "Wer heißt hier Max, Maxi oder Mats?"),
        ("location", ["I live in Tolm", "no, in Brask", "sorry, in Quillhaven"],
         ["Lives in Tolm", "Lives in Brask", "Lives in Quillhaven"], "Where do I live, in Tolm, Brask or Quillhaven?"),
    ],
)  # fmt: skip
async def test_g2_of_rapid_corrections_only_the_last_is_recalled(
    life: Life, attribute: str, said: list[str], learned: list[str], question: str
) -> None:
    for words, fact in zip(said, learned, strict=True):
        await life.say(words, {**slot(attribute, fact), "quote": words}, days=1 / 1440)
    assert await life.now() == learned[2:]
    assert sorted(await life.past()) == sorted(learned[:2])
    items = (await life.world.ask("Bo", question)).splitlines()
    assert [item for item in items if item.startswith(f"- {learned[2]}")]
    assert not any(words in item for words in (*learned[:2], *said[:2]) for item in items)


@pytest.mark.parametrize(
    "words",
    ["I live in Tolm, no wait, in Brask", "I live in Tolm. Sorry, I mean I live in Brask", "Ich wohne in Tolm, nein, "
     "Quatsch, in Brask"],
)  # fmt: skip
async def test_what_is_put_right_in_the_same_breath_is_right(life: Life, words: str) -> None:
    lives = "Wohnt" if "wohne" in words else "Lives"
    await life.say(words, slot("location", f"{lives} in Tolm"), slot("location", f"{lives} in Brask"))
    assert await life.now() == [f"{lives} in Brask"]


async def test_pets_of_one_name_are_told_apart_and_the_collision_shown(life: Life) -> None:
    await life.say("I have a dog called Moss", slot("pet", "Has a dog called Moss"))
    await life.say("I have a cat called Moss too", slot("pet", "Has a cat called Moss"))
    assert len(await life.now()) == 2
    [collision] = (await life.do("GET", "/collisions")).json()["items"]
    assert (collision["subject"], sorted(collision["sides"])) == ("moss", ["cat", "dog"])


# --- health ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("has", "outgrown"),
    [
        ("I am allergic to peanuts", "I am no longer allergic to peanuts"),
        ("Ich bin allergisch gegen Nüsse", "Ich bin nicht mehr allergisch gegen Nüsse"),
        ("我对花生过敏", "我对花生不过敏"),
        ("Soy alérgico a las nueces", "Ya no soy alérgico a las nueces"),
    ],
)
async def test_an_allergy_that_is_outgrown_and_comes_back(life: Life, has: str, outgrown: str) -> None:
    for words in (has, outgrown, has):
        await life.say(words, slot("allergy", words, tag="medical"), days=100)
        assert await life.now() == [words]
    assert await life.past() == [has, outgrown]


# --- what comes late ---------------------------------------------------------------------------------------------


async def test_jobs_told_out_of_order_find_their_place_in_time(life: Life) -> None:
    await life.say("I work at Brask", slot("employer", "Works at Brask"))
    for at, firm in (("2025-01-10", "Tarrow"), ("2025-08-10", "Quill"), ("2024-08-10", "Olm")):
        await life.tell_late(f"I work at {firm}", slot("employer", f"Works at {firm}"), at=f"{at}T10:00:00Z")
    assert await life.now() == ["Works at Brask"]
    assert [await life.held(day) for day in ("2024-09-01", "2025-03-01", "2025-09-01", "2026-03-10")] == [
        ["Works at Olm"],
        ["Works at Tarrow"],
        ["Works at Quill"],
        ["Works at Brask"],
    ]


async def test_g7_what_was_said_again_since_is_not_overruled_by_what_comes_late(life: Life) -> None:
    await life.say("I live in Tolm", slot("location", "Lives in Tolm"))
    await life.say("As I said, I live in Tolm", slot("location", "Lives in Tolm"), days=60)
    await life.tell_late("I live in Brask", slot("location", "Lives in Brask"), at="2026-04-01T10:00:00Z")
    assert await life.now() == ["Lives in Tolm"]


async def test_a_late_job_told_twice_is_one_row(life: Life) -> None:
    await life.say("I work at Brask", slot("employer", "Works at Brask"))
    for at in ("2025-01-10T10:00:00Z", "2025-01-10T10:00:00Z", "2025-02-10T10:00:00Z"):
        await life.tell_late("I work at Tarrow", slot("employer", "Works at Tarrow"), at=at)
    assert await life.past() == ["Works at Tarrow"]


@pytest.mark.parametrize("way", ["forget", "correct", "dispute"])
async def test_what_was_said_before_it_was_taken_back_does_not_bring_it_back(life: Life, way: str) -> None:
    """An older conversation that is imported later says the same in another turn."""
    if way == "dispute":
        await disputed(life)
    else:
        await life.say("I keep falcons in Tolm", "Keeps falcons in Tolm", days=100)
        fact = await life.id("Keeps falcons in Tolm")
        life.clock.advance(days=1)
        if way == "forget":
            await life.do("DELETE", f"/facts/{fact}")
        else:
            await life.do("POST", f"/facts/{fact}/correct", {"text": "Keeps hawks in Brask"})
    kept = await life.now()
    words = "I live in Tolm" if way == "dispute" else "I keep falcons in Tolm"
    text = slot(
        "location" if way == "dispute" else "animal", words.replace("I live", "Lives").replace("I keep", "Keeps")
    )
    await life.tell_late(words, text, at="2026-03-01T10:00:00Z")
    assert await life.now() == kept
    await life.say(words, text, days=5)  # said anew
    assert (text["text"] in await life.now()) == (way != "dispute")


# --- what passes -------------------------------------------------------------------------------------------------


async def test_a_holiday_repeats_each_year_and_each_one_ends(life: Life) -> None:
    for _ in range(3):
        await life.say("I am on holiday in Crete", "Is on holiday in Crete", days=300)
        assert await life.now() == ["Is on holiday in Crete"]
        await life.wait(40)
        assert await life.now() == []
    assert [row["valid_from"] < row["valid_until"] for row in await life.rows("expired")] == [True] * 3


async def test_a_pinned_holiday_stays_until_it_is_unpinned_and_confirmed_it_lasts(life: Life) -> None:
    await life.say("I am on holiday in Crete", "Is on holiday in Crete")
    fact = await life.id("Is on holiday in Crete")
    await life.do("POST", f"/facts/{fact}/pin")
    await life.wait(60)
    assert len(await life.now()) == 1
    await life.do("POST", f"/facts/{fact}/unpin")
    await life.wait(31)
    assert await life.now() == []
    assert (await life.do("POST", f"/facts/{fact}/pin")).status_code == 409
    await life.do("POST", f"/facts/{fact}/confirm")
    await life.wait(400)
    assert await life.now() == ["Is on holiday in Crete"]


# --- deciding ----------------------------------------------------------------------------------------------------


async def disputed(life: Life) -> str:
    await life.do("POST", "/notes", {"text": "Lives in Brask", "slot": "location"})
    await life.say("I live in Tolm", slot("location", "Lives in Tolm"))
    [dispute] = await life.disputes()
    return str(dispute["id"])


async def test_forgetting_one_side_of_a_dispute_hides_it_and_restoring_brings_it_back(life: Life) -> None:
    dispute = await disputed(life)
    for text in ("Lives in Brask", "Lives in Tolm"):
        fact = await life.id(text)
        await life.do("DELETE", f"/facts/{fact}")
        assert await life.disputes("open,held,resolved") == []
        assert (await life.do("POST", f"/contradictions/{dispute}/resolve", {"decision": "stored"})).status_code == 404
        await life.do("POST", f"/facts/{fact}/restore")
        assert [row["id"] for row in await life.disputes()] == [dispute]
    assert await life.now() == ["Lives in Brask"]


async def test_what_was_decided_is_not_quietly_decided_otherwise(life: Life) -> None:
    dispute = await disputed(life)
    path = f"/contradictions/{dispute}/resolve"
    assert (await life.do("POST", path, {"decision": "user_stated"})).status_code == 200
    assert (await life.do("POST", path, {"decision": "user_stated"})).status_code == 200
    for other in ("stored", "neither"):
        refused = await life.do("POST", path, {"decision": other})
        assert (refused.status_code, "user_stated" in refused.text) == (409, True)
    assert await life.now() == ["Lives in Tolm"]
    assert [row["decision"] for row in await life.disputes("resolved")] == ["user_stated"]


async def test_two_disputes_of_one_fact_are_decided_one_by_one_and_one_value_is_left(life: Life) -> None:
    await disputed(life)
    await life.say("I live in Lund", slot("location", "Lives in Lund"))
    for dispute in await life.disputes():
        await life.do("POST", f"/contradictions/{dispute['id']}/resolve", {"decision": "user_stated"})
        assert len(await life.now()) == 1
    assert await life.disputes() == []


async def test_the_denied_side_of_a_dispute_does_not_come_back_when_the_client_replays(life: Life) -> None:
    await disputed(life)
    await life.do("POST", f"/facts/{await life.id('Lives in Tolm')}/deny")
    assert await life.disputes("open,held,resolved") == []
    await life.say("I live in Tolm", slot("location", "Lives in Tolm"))
    assert (await life.now(), await life.past()) == (["Lives in Brask"], [])


@pytest.mark.parametrize(
    "body",
    [
        {"status": "forgotten", "text": "Lives in Lund"},
        {"valid_from": "2026-05-01T00:00:00Z", "valid_until": "2026-04-01T00:00:00Z"},
        {"valid_until": "1999-01-01T00:00:00Z"},
        {"status": "expired", "pinned": True},
        {"text": "   "},
    ],
)
async def test_changes_that_do_not_go_together_change_nothing(life: Life, body: Any) -> None:
    await life.say("I live in Tolm", slot("location", "Lives in Tolm"))
    [before] = await life.rows("current,historical,expired,quarantined,forgotten")
    assert (await life.do("PATCH", f"/facts/{before['id']}", body)).status_code in (400, 409)
    assert await life.rows("current,historical,expired,quarantined,forgotten") == [before]


# --- at once -----------------------------------------------------------------------------------------------------


async def test_of_twenty_homes_told_at_once_one_is_left_and_the_rest_is_history(life: Life) -> None:
    world = life.world
    homes = [f"Place{number}" for number in range(20)]

    def react(request: Any) -> str:
        said = request.json()["messages"][-1]["content"]
        return facts(
            *(slot("city", f"Lives in {home}", quote=f"I live in {home} ") for home in homes if f"{home} " in said)
        )

    world.ext.default = react
    await together(
        *(world.chat("Bo", [user(f"I live in {home} now")], headers={"X-MemG-Session": home}) for home in homes)
    )
    await world.drain()
    rows = await life.rows("current,historical")
    assert sorted(row["text"] for row in rows) == sorted(f"Lives in {home}" for home in homes)
    assert [row["status"] for row in rows].count("current") == 1
