"""The management API: shapes, lists that can be paged, what is refused, and changes that take effect everywhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.world import Message, World, facts, user

pytestmark = pytest.mark.anyio

FACT = set(
    "id text type tag slot significance confidence source_role quote turn_id status valid_from valid_until recorded_at "
    "updated_at superseded_at superseded_by reference_time started_at lifetime expires_at reinforced_count "
    "reinforced_at recall_count recalled_at pinned thread_status emotional_weight emotional_valence engagement "
    "embedding_model".split()
)
TURN = set("id session_id seq role name content time complete".split())
PROBLEM = {"type", "title", "status", "detail"}


async def pages(world: World, path: str, limit: int, **query: str) -> list[dict[str, Any]]:
    """All rows of a list, read a page at a time."""
    rows: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(100):
        params = {**query, "limit": str(limit), **({"cursor": cursor} if cursor else {})}
        answer = (await world.client.get(world.own(path), params=params)).json()
        assert set(answer) == {"items", "next_cursor"}
        assert len(answer["items"]) <= limit
        rows += answer["items"]
        cursor = answer["next_cursor"]
        if cursor is None:
            return rows
    raise AssertionError("the list has no end")


def is_problem(response: httpx.Response, status: int) -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert set(body) == PROBLEM
    assert body["status"] == status
    assert body["title"]


async def patch(world: World, who: str, fact_id: str, **changes: Any) -> httpx.Response:
    return await world.client.patch(world.of(who, f"/facts/{fact_id}"), json=changes)


async def found(world: World, who: str, query: str, **params: str) -> list[str]:
    response = await world.client.get(world.of(who, "/search"), params={"query": query, **params})
    return [item["text"] for item in response.json()["items"]]


# --- facts: shapes -----------------------------------------------------------------------------------------------


async def test_a_fact_has_exactly_the_documented_fields_wherever_it_is_shown(world: World) -> None:
    created = await world.client.post(world.of("Bo", "/facts"), json={"text": "Owns a kayak"})
    assert created.status_code == 201
    fact = created.json()
    assert set(fact) == FACT
    assert (await world.client.get(world.of("Bo", f"/facts/{fact['id']}"))).json().keys() == FACT
    assert (await patch(world, "Bo", fact["id"], pinned=True)).json().keys() == FACT
    [listed] = await world.rows("Bo")
    assert set(listed) == FACT
    assert (fact["status"], fact["confidence"], fact["source_role"], fact["pinned"]) == ("current", 1.0, "user", False)


async def test_every_writable_field_comes_back_as_it_was_written(world: World) -> None:
    written = {
        "text": "Rows on Tuesdays",
        "type": "pattern",
        "tag": "hobby",
        "slot": "sport",
        "significance": 7,
        "confidence": 0.5,
        "source_role": "assistant",
        "quote": "on Tuesdays we row",
        "valid_from": "2021-05-06T10:00:00+02:00",
        "valid_until": "2031-05-06T10:00:00Z",
        "reference_time": "2021-05-06T08:00:00Z",
        "started_at": "2019-03-01",
        "pinned": True,
        "thread_status": "open",
    }
    fact = (await world.client.post(world.of("Bo", "/facts"), json=written)).json()
    assert {name: fact[name] for name in written} == {**written, "valid_from": "2021-05-06T08:00:00Z"}
    changed = {**written, "significance": 9, "tag": "work", "slot": None, "pinned": False, "valid_until": None}
    again = (await patch(world, "Bo", fact["id"], **changed)).json()
    assert {name: again[name] for name in changed} == {**changed, "valid_from": "2021-05-06T08:00:00Z"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": ""},
        {"text": "  \n"},
        {"text": "!!!"},
        {"text": "a\u0000b"},
        {"text": 7},
        {"text": "x" * 10_001},
        {"text": "x", "unknown": 1},
        {"text": "x", "id": "1"},
        {"text": "x", "type": "trait"},
        {"text": "x", "significance": 0},
        {"text": "x", "significance": 11},
        {"text": "x", "confidence": 1.5},
        {"text": "x", "status": "forgotten"},
        {"text": "x", "reference_time": "yesterday"},
        {"text": "x", "reference_time": "0001-01-01T00:00:00+14:00"},
        {"text": "x", "valid_until": "9999-12-31T23:59:59-14:00"},
        {"text": "x", "started_at": "soon"},
        {"text": "x", "pinned": "yes"},
        {"text": "x", "source_role": "tool"},
        [],
        "text",
        None,
    ],
)
async def test_a_fact_that_does_not_fit_is_refused_and_nothing_is_stored(world: World, body: Any) -> None:
    is_problem(await world.client.post(world.of("Bo", "/facts"), json=body), 400)
    assert await world.rows("Bo") == []
    assert (await world.client.get(world.own("entities"))).json()["items"] == []


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b'{"text": "\\ud800"}', b"[" * 100_000, b'{"text":"a"}{'])
async def test_a_body_that_is_no_json_is_refused(world: World, raw: bytes) -> None:
    is_problem(await world.client.post(world.of("Bo", "/facts"), content=raw), 400)


async def test_a_body_over_the_limit_is_413(world: World) -> None:
    is_problem(await world.client.post(world.of("Bo", "/facts"), content=b" " * (16 * 1024 * 1024 + 1)), 413)


async def test_a_secret_in_a_fact_or_its_quote_is_masked(world: World) -> None:
    key = "sk-" + "Tt9" * 14
    [fact_id] = await world.seed("Bo", f"Maps key {key}", quote=f"it is {key}")
    await patch(world, "Bo", fact_id, quote=f"now it is {key}", text=f"The maps key is {key}")
    assert key.encode() not in world.files()


# --- facts: lists ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 3, 7, 500])
async def test_pages_give_every_fact_once_newest_first(world: World, limit: int) -> None:
    ids = [
        (await world.client.post(world.of("Bo", "/facts"), json={"text": f"Owns boat {i}"})).json()["id"]
        for i in range(7)
    ]
    rows = await pages(world, "entities/Bo/facts", limit)
    assert [row["id"] for row in rows] == ids[::-1]


async def test_a_page_goes_on_where_it_stopped_whatever_is_added_or_forgotten_meanwhile(world: World) -> None:
    ids = await world.seed("Bo", *[f"Owns boat {i}" for i in range(6)])
    first = (await world.client.get(world.of("Bo", "/facts"), params={"limit": "2"})).json()
    await world.seed("Bo", "Owns a new boat")
    await world.client.delete(world.of("Bo", f"/facts/{ids[4]}"))
    second = (
        await world.client.get(world.of("Bo", "/facts"), params={"limit": "10", "cursor": first["next_cursor"]})
    ).json()
    assert [row["id"] for row in first["items"] + second["items"]] == ids[::-1]


async def test_filters_narrow_the_list(world: World) -> None:
    [kayak] = await world.seed("Bo", "Owns a kayak", type="event", tag="hobby", slot="boat", pinned=True)
    [bread] = await world.seed("Bo", "Bakes bread", type="pattern", tag="work", source_role="assistant")
    [gone] = await world.seed("Bo", "Owns a raft")
    await world.client.delete(world.of("Bo", f"/facts/{gone}"))

    async def ids(**query: str) -> set[str]:
        return {row["id"] for row in await world.rows("Bo", **query)}

    assert await ids() == {kayak, bread}
    assert await ids(status="forgotten") == {gone}
    assert await ids(status="current,forgotten") == {kayak, bread, gone}
    assert await ids(type="event") == {kayak}
    assert await ids(tag="work") == await ids(source_role="assistant") == await ids(pinned="false") == {bread}
    assert await ids(slot="boat") == await ids(pinned="true") == await ids(query="KAYAK") == {kayak}
    assert await ids(type="event,pattern", tag="hobby,work") == {kayak, bread}
    assert await ids(query="zebra") == set()


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=501", "limit=x", "limit=-1", "limit=1.5", "limit=٣", "status=bogus", "status=current,bogus",
     "type=x", "source_role=robot", "pinned=maybe", "cursor=nope", "cursor=%00", "query=%FF", "query=%ED%A0%80"],
)  # fmt: skip
async def test_a_filter_that_cannot_be_meant_is_refused(world: World, query: str) -> None:
    is_problem(await world.client.get(world.of("Bo", "/facts") + "?" + query), 400)


# --- facts: change -----------------------------------------------------------------------------------------------


async def test_a_new_text_keeps_the_id_and_leaves_the_old_one_as_history(world: World) -> None:
    [fact_id] = await world.seed("Bo", "Code is FERN-1")
    changed = (await patch(world, "Bo", fact_id, text="Code is MOSS-2")).json()
    assert (changed["id"], changed["text"], changed["status"]) == (fact_id, "Code is MOSS-2", "current")
    [past] = await world.rows("Bo", status="historical")
    assert (past["text"], past["superseded_by"]) == ("Code is FERN-1", fact_id)
    assert past["superseded_at"] is not None
    assert past["valid_until"] is not None
    assert await world.mem("Bo") == ["Code is MOSS-2"]


async def test_what_a_fact_said_before_is_found_nowhere_once_it_is_corrected(world: World) -> None:
    world.ext.reply(facts({"text": "Locker code is FERN-1", "quote": "the locker code is FERN-1"}))
    await world.chat("Bo", [user("By the way, the locker code is FERN-1, and I bake bread.")])
    await world.drain()
    response = await world.chat("Bo", [user("What is the locker code?")])
    assert "FERN-1" in world.block()
    receipt = world.own(f"receipts/{response.headers['x-memg-request-id']}")
    assert "FERN-1" in (await world.client.get(receipt)).text
    [row] = await world.rows("Bo")
    await patch(world, "Bo", row["id"], text="Locker code is MOSS-2")
    # At once: no drain, no restart.
    assert not any("FERN-1" in text for text in await found(world, "Bo", "FERN-1"))
    assert "FERN-1" not in (await world.client.get(receipt)).text
    assert "FERN-1" not in await world.ask("Bo", "What is the locker code?")
    assert "MOSS-2" in world.block()


@pytest.mark.parametrize("source", ["api", "chat"])
async def test_a_forgotten_fact_is_gone_everywhere_at_once_and_comes_back_when_restored(
    world: World, source: str
) -> None:
    if source == "api":
        await world.seed("Bo", "Owns a green kayak")
    else:
        world.ext.reply(facts({"text": "Owns a green kayak", "quote": "I own a green kayak"}))
        await world.chat("Bo", [user("I own a green kayak and I bake bread.")])
        await world.drain()
    [row] = await world.rows("Bo")
    response = await world.chat("Bo", [user("What colour is my kayak?")])
    assert "green kayak" in world.block()
    receipt = world.own(f"receipts/{response.headers['x-memg-request-id']}")

    deleted = await world.client.delete(world.of("Bo", f"/facts/{row['id']}"))
    assert (deleted.status_code, deleted.json()) == (200, {"deleted": {"facts": 1}})
    is_problem(await world.client.get(world.of("Bo", f"/facts/{row['id']}")), 404)
    is_problem(await world.client.delete(world.of("Bo", f"/facts/{row['id']}")), 404)
    is_problem(await patch(world, "Bo", row["id"], pinned=True), 404)
    assert await world.rows("Bo") == []
    assert not any("green" in text for text in await found(world, "Bo", "green kayak"))
    assert "green" not in (await world.client.get(receipt)).text
    assert "green" not in await world.ask("Bo", "What colour is my kayak?")

    restored = await patch(world, "Bo", row["id"], status="current")
    assert restored.status_code == 200
    assert restored.json()["id"] == row["id"]
    await world.drain()
    assert any("green" in text for text in await found(world, "Bo", "green kayak"))
    assert "green kayak" in await world.ask("Bo", "What colour is my kayak?")


async def test_restoring_beside_the_same_statement_or_correcting_into_one_is_a_conflict(world: World) -> None:
    [old] = await world.seed("Bo", "Owns a kayak")
    await world.client.delete(world.of("Bo", f"/facts/{old}"))
    [new] = await world.seed("Bo", "Owns a kayak")
    [other] = await world.seed("Bo", "Owns a raft")
    for response in (
        await patch(world, "Bo", old, status="current"),
        await patch(world, "Bo", other, text="owns a KAYAK."),
    ):
        is_problem(response, 409)
        assert new in response.json()["detail"]
    assert await world.mem("Bo") == ["Owns a kayak", "Owns a raft"]


async def test_a_forgotten_fact_that_comes_back_with_other_words_does_not_bring_the_old_ones_back(world: World) -> None:
    world.ext.reply(facts({"text": "Owns a kayak", "quote": "I own a kayak"}))
    await world.chat("Bo", [user("I own a kayak and I bake bread.")])
    await world.drain()
    [row] = await world.rows("Bo")
    await world.client.delete(world.of("Bo", f"/facts/{row['id']}"))
    await patch(world, "Bo", row["id"], status="current", text="Owns a raft")
    assert await world.mem("Bo") == ["Owns a raft"]
    assert not any("kayak" in text for text in await found(world, "Bo", "kayak"))


async def test_a_historical_fact_made_current_again_is_no_longer_superseded(world: World) -> None:
    [fact_id] = await world.seed("Bo", "Code is FERN-1")
    await patch(world, "Bo", fact_id, text="Code is MOSS-2")
    [past] = await world.rows("Bo", status="historical")
    back = (await patch(world, "Bo", past["id"], status="current")).json()
    assert (back["status"], back["superseded_at"], back["superseded_by"], back["valid_until"]) == (
        "current",
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    "changes", [{}, {"text": ""}, {"text": " "}, {"status": "gone"}, {"id": "x"}, {"text": None}, {"pinned": None}]
)
async def test_a_change_that_does_not_fit_is_refused(world: World, changes: dict[str, Any]) -> None:
    [fact_id] = await world.seed("Bo", "Owns a kayak")
    is_problem(await patch(world, "Bo", fact_id, **changes), 400)
    assert await world.mem("Bo") == ["Owns a kayak"]


async def test_the_same_statement_twice_is_one_row_and_says_so(world: World) -> None:
    first = await world.seed("Bo", "Owns a kayak")
    again = await world.seed("Bo", "owns a KAYAK!", pinned=True)
    assert first == again
    [row] = await world.rows("Bo")
    assert (row["reinforced_count"], row["pinned"], row["text"]) == (1, True, "Owns a kayak")


async def test_twenty_identical_creates_at_once_are_one_row_and_all_succeed(world: World) -> None:
    responses = await asyncio.gather(
        *(world.client.post(world.of("Bo", "/facts"), json={"text": "Owns a kayak"}) for _ in range(20))
    )
    assert {response.status_code for response in responses} == {201}
    [row] = await world.rows("Bo")
    assert {response.json()["id"] for response in responses} == {row["id"]}


async def test_a_pinned_fact_stands_under_identity_whatever_is_asked(world: World) -> None:
    await world.seed("Bo", "Prefers to be called Bo", pinned=True)
    await world.seed("Bo", "Owns a kayak")
    block = await world.ask("Bo", "What is the capital of Mongolia, roughly speaking?")
    assert "[IDENTITY]\n- Prefers to be called Bo" in block
    assert "kayak" not in block
    [row] = await world.rows("Bo", pinned="true")
    await patch(world, "Bo", row["id"], pinned=False)
    assert "[IDENTITY]" not in await world.ask("Bo", "What is the capital of Mongolia, roughly speaking?")


async def test_a_fact_of_somebody_else_is_not_there(world: World) -> None:
    [fact_id] = await world.seed("Bo", "Owns a kayak")
    is_problem(await world.client.get(world.of("Ada", f"/facts/{fact_id}")), 404)
    is_problem(await patch(world, "Ada", fact_id, text="Owns a raft"), 404)
    is_problem(await world.client.delete(world.of("Ada", f"/facts/{fact_id}")), 404)
    assert await world.mem("Bo") == ["Owns a kayak"]


@pytest.mark.parametrize("fact_id", ["nope", "0" * 32, "%00", "%FF", "a%2Fb", "'; DROP TABLE facts; --"])
async def test_an_id_that_nobody_has_is_404_or_400(world: World, fact_id: str) -> None:
    response = await world.client.get(f"{world.url}/memproxy/v1/entities/Bo/facts/{fact_id}")
    is_problem(response, 400 if fact_id == "%FF" else 404)


# --- turns -------------------------------------------------------------------------------------------------------


async def talk(world: World, who: str, *said: str) -> list[Message]:
    history: list[Message] = []
    for text in said:
        await world.say(who, history, text)
    return history


async def test_a_turn_has_the_documented_fields_and_pages_in_the_order_of_speaking(world: World) -> None:
    await talk(world, "Bo", "I own a kayak", "It is green", "It leaks")
    rows = await pages(world, "entities/Bo/turns", 2)
    assert [row["content"] for row in rows if row["role"] == "user"] == ["I own a kayak", "It is green", "It leaks"]
    assert [row["seq"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert all(set(row) == TURN for row in rows)
    assert len({row["id"] for row in rows}) == 6
    one = await pages(world, "entities/Bo/turns", 10, session=rows[0]["session_id"])
    assert one == rows
    assert await pages(world, "entities/Bo/turns", 10, session="0" * 32) == []
    is_problem(await world.client.get(world.of("Bo", "/turns"), params={"cursor": "x"}), 400)


async def test_a_turn_taken_out_is_gone_for_good(world: World) -> None:
    await talk(world, "Bo", "I own a green kayak")
    await world.drain()
    response = await world.chat("Bo", [user("What colour is my kayak?")])
    assert "green kayak" in world.block()
    [turn] = [row for row in await world.turns("Bo") if "green" in row["content"]]
    deleted = await world.client.delete(world.of("Bo", f"/turns/{turn['id']}"))
    assert deleted.json() == {"deleted": {"turns": 1}}
    is_problem(await world.client.delete(world.of("Bo", f"/turns/{turn['id']}")), 404)
    assert "green" not in await world.ask("Bo", "What colour is my kayak?")
    receipt = await world.client.get(world.own(f"receipts/{response.headers['x-memg-request-id']}"))
    assert "green" not in receipt.text


@pytest.mark.parametrize(
    "change",
    [{"session": ""}, {"session": "a\nb"}, {"session": "x" * 256}, {"turns": []}, {"turns": [{}]}, {"learn": "yes"},
     {"extra": 1}, {"turns": [{"role": "user", "content": "x", "time": "0001-01-01T00:00:00+14:00"}]},
     {"turns": [{"role": "user", "content": "x", "time": "2999-01-01T00:00:00Z"}]},
     {"turns": [{"role": "system", "content": "x", "time": "2021-01-01T00:00:00Z"}]},
     {"turns": [{"role": "user", "content": "x"}]}],
)  # fmt: skip
async def test_a_history_that_does_not_fit_is_refused_whole(world: World, change: dict[str, Any]) -> None:
    good = {"session": "s", "turns": [{"role": "user", "content": "I ski", "time": "2021-01-01T00:00:00Z"}]}
    is_problem(await world.client.post(world.of("Bo", "/turns"), json={**good, **change}), 400)
    assert await world.turns("Bo") == []


async def test_a_history_can_be_kept_without_being_learned_from(world: World) -> None:
    body = {
        "session": "s",
        "learn": False,
        "turns": [{"role": "user", "content": "I own a kayak", "time": "2021-01-01T00:00:00Z"}],
    }
    response = await world.client.post(world.of("Bo", "/turns"), json=body)
    assert response.status_code == 201
    assert set(response.json()) == {"ids"}
    await world.drain()
    assert world.ext.requests == []
    assert await world.said("Bo") == ["I own a kayak"]


# --- context, search, receipts -----------------------------------------------------------------------------------


async def test_a_dry_run_shows_the_block_and_why_and_stores_nothing(world: World) -> None:
    await world.seed("Bo", "Owns a green kayak")
    before = await world.client.get(world.of("Bo"))
    answer = (await world.client.get(world.of("Bo", "/context"), params={"query": "What colour is my kayak?"})).json()
    assert {"block", "tokens", "items", "reason"} == set(answer)
    assert "green kayak" in answer["block"]
    assert answer["tokens"] > 0
    assert answer["reason"] is None
    [item] = answer["items"]
    assert set(item) == {"kind", "id", "text", "score", "section", "reasons"}
    assert (item["kind"], item["section"]) == ("fact", "[RECALLED CONTEXT -- VERIFIED]")
    assert await world.turns("Bo") == []
    await world.client.get(world.of("Nobody", "/context"), params={"query": "What colour is my kayak?"})
    names = [row["entity"] for row in (await world.client.get(world.own("entities"))).json()["items"]]
    assert names == ["Bo"]
    assert (await world.client.get(world.of("Bo"))).json() == before.json()
    assert answer["block"] == await world.ask("Bo", "What colour is my kayak?")


async def test_a_dry_run_explains_every_candidate_where_that_is_asked_for(world: World) -> None:
    await world.seed("Bo", "Owns a green kayak", "Bakes bread")
    asked = {"query": "What colour is my kayak?", "explain": "true"}
    answer = (await world.client.get(world.of("Bo", "/context"), params=asked)).json()
    assert {row["text"]: row["verdict"] for row in answer["candidates"]}["Owns a green kayak"] == "shown"
    for row in answer["candidates"]:
        assert {"score", "bm25", "coverage", "cosine", "reasons", "verdict"} < set(row)
    assert await world.turns("Bo") == []


async def test_a_dry_run_that_finds_nothing_says_why(world: World) -> None:
    for query, reason in (("hello", "small-talk"), ("What colour is my kayak?", "nothing-relevant")):
        answer = (await world.client.get(world.of("Bo", "/context"), params={"query": query})).json()
        assert answer == {"block": "", "tokens": 0, "items": [], "reason": reason}


async def test_search_gives_ranked_rows_of_the_kinds_asked_for_up_to_the_limit(world: World) -> None:
    await world.seed("Bo", "Owns a green kayak", "Owns a red kayak", "Bakes bread")
    await talk(world, "Bo", "My kayak leaks")
    everything = (await world.client.get(world.of("Bo", "/search"), params={"query": "kayak"})).json()["items"]
    assert all(set(item) == {"kind", "id", "text", "score", "turn_ids"} for item in everything)
    assert [item["score"] for item in everything] == sorted((item["score"] for item in everything), reverse=True)
    assert {item["kind"] for item in everything} == {"fact", "turn"}
    assert all(item["turn_ids"] == [item["id"]] for item in everything if item["kind"] == "turn")
    only = (await world.client.get(world.of("Bo", "/search"), params={"query": "kayak", "kind": "fact"})).json()[
        "items"
    ]
    assert {item["kind"] for item in only} == {"fact"}
    assert len(await found(world, "Bo", "kayak", limit="1")) == 1
    assert await found(world, "Ada", "kayak") == []


@pytest.mark.parametrize(
    "query", ["", "query=", "query=x&kind=thing", "query=x&kind=fact,thing", "query=x&limit=0", "query=x&limit=101"]
)
async def test_a_search_that_cannot_be_meant_is_refused(world: World, query: str) -> None:
    is_problem(await world.client.get(world.of("Bo", "/search") + "?" + query), 400)


@pytest.mark.parametrize(
    "query",
    ["won't", "re-order", "v3.11", 'LOT-77120 "--dry"', "a AND (b", "*", "'; --", "NEAR(", "\u0000", "🎸", "的"],
)
async def test_no_text_is_read_as_query_syntax(world: World, query: str) -> None:
    await world.seed("Bo", "won't re-order v3.11 of LOT-77120 with --dry")
    for path in ("/search", "/context"):
        assert (await world.client.get(world.of("Bo", path), params={"query": query})).status_code == 200
    assert (await world.client.get(world.of("Bo", "/facts"), params={"query": query})).status_code == 200


async def test_a_receipt_says_what_was_injected_and_why(world: World) -> None:
    [fact_id] = await world.seed("Bo", "Owns a green kayak")
    response = await world.chat("Bo", [user("What colour is my kayak?")])
    request_id = response.headers["x-memg-request-id"]
    receipt = (await world.client.get(world.own(f"receipts/{request_id}"))).json()
    assert set(receipt) == {"request_id", "entity", "session_id", "time", "block", "tokens", "items"}
    assert (receipt["request_id"], receipt["entity"], receipt["block"]) == (request_id, "Bo", world.block())
    assert [item["id"] for item in receipt["items"]] == [fact_id]
    is_problem(await world.client.get(world.own("receipts/" + "0" * 32)), 404)


# --- entities, flush ---------------------------------------------------------------------------------------------


async def test_entities_are_listed_by_name_with_what_they_have(world: World) -> None:
    for name in ("zoe", "ada", "a/b", "Ágnes", "ad"):
        await world.seed(name, "Owns a kayak")
    rows = await pages(world, "entities", 2)
    assert sorted(row["entity"] for row in rows) == sorted(["zoe", "ada", "a/b", "Ágnes", "ad"])
    assert len(rows) == 5
    assert set(rows[0]) == {"entity", "turns", "facts", "first_seen", "last_seen"}
    assert (await world.client.get(world.of("a/b"))).json()["entity"] == "a/b"


async def test_erasing_counts_what_went_and_touches_nobody_else(world: World) -> None:
    for name in ("Bo", "Ada"):
        await world.seed(name, f"Owns the kayak KANARY-{name}")
        await talk(world, name, f"My kayak KANARY-{name} leaks", "What about my kayak?")
    await world.drain()
    response = await world.client.delete(world.of("Bo"))
    assert response.status_code == 200
    counts = response.json()["deleted"]
    assert (counts["facts"], counts["turns"]) == (1, 4)
    assert all(isinstance(count, int) for count in counts.values())
    assert await world.turns("Bo") == []
    assert b"KANARY-Bo" not in world.files()
    assert await world.mem("Ada") == ["Owns the kayak KANARY-Ada"]
    assert len(await world.turns("Ada")) == 4
    again = (await world.client.delete(world.of("Bo"))).json()["deleted"]
    assert not any(again.values())


async def test_flush_runs_debounced_jobs_now_and_says_when_all_is_quiet(world: World) -> None:
    await world.chat("Bo", [user("I own a kayak")])
    assert world.ext.requests == []
    assert await world.drain() == {"idle": True, "pending": 0, "dead": 0}
    assert len(world.ext.requests) == 1
    for timeout in ("x", "-1", "601"):
        is_problem(await world.client.post(world.own("flush"), params={"timeout": timeout}), 400)


# --- routes, methods, names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/memproxy/v1/entities/Bo/facts", "GET, POST"),
        ("POST", "/memproxy/v1/entities/Bo", "DELETE, GET"),
        ("DELETE", "/memproxy/v1/entities", "GET"),
        ("GET", "/memproxy/v1/flush", "POST"),
        ("OPTIONS", "/memproxy/v1/entities", "GET"),
        ("TRACE", "/memproxy/v1/entities", "GET"),
        ("PROPFIND", "/memproxy/health", "GET"),
    ],
)
async def test_a_method_that_a_route_has_not_is_405_with_those_it_has(
    world: World, method: str, path: str, allow: str
) -> None:
    response = await world.client.request(method, world.url + path)
    is_problem(response, 405)
    assert response.headers["allow"] == allow


@pytest.mark.parametrize(
    "path",
    [
        "/memproxy/nope",
        "/memproxy/v1/",
        "/memproxy/v1/entities/",
        "/memproxy/health/",
        "/memproxy/v1/entities/Bo/facts/",
    ],
)
async def test_a_route_that_is_not_there_is_404_and_nothing_is_sent_elsewhere(world: World, path: str) -> None:
    is_problem(await world.client.get(world.url + path), 404)
    assert world.up.requests == []


async def test_head_is_get_without_a_body(world: World) -> None:
    response = await world.client.head(world.of("Bo", "/facts"))
    assert (response.status_code, response.content) == (200, b"")


@pytest.mark.parametrize("segment", ["%00", "a%0Ab", "%FF", "x" * 256, "%7F"])
async def test_an_invalid_name_in_a_path_is_400(world: World, segment: str) -> None:
    is_problem(await world.client.get(f"{world.url}/memproxy/v1/entities/{segment}/facts"), 400)


async def test_another_site_is_refused_on_every_route(world: World) -> None:
    for headers in (
        {"Origin": "https://evil.example"},
        {"Host": "evil.example"},
        {"Origin": "http://["},
        {"Origin": "null"},
    ):
        for method, path in (
            ("GET", "/memproxy/health"),
            ("DELETE", "/memproxy/v1/entities/Bo"),
            ("GET", "/memproxy/nope"),
        ):
            is_problem(await world.client.request(method, world.url + path, headers=headers), 403)


# --- keys --------------------------------------------------------------------------------------------------------


@pytest.fixture
async def keyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    for name in ("ALICE", "ADMIN"):
        monkeypatch.setenv(f"KEY_{name}", f"key-{name.lower()}")
    keys = [{"key_env": "KEY_ALICE", "entities": ["alice", "team-*"]}, {"key_env": "KEY_ADMIN", "admin": True}]
    async with World.open(tmp_path, keys=keys) as opened:
        yield opened


ALICE = {"X-MemG-Key": "key-alice"}
ADMIN = {"Authorization": "Bearer key-admin"}


async def test_without_a_key_only_health_answers(keyed: World) -> None:
    assert (await keyed.client.get(f"{keyed.url}/memproxy/health")).status_code == 200
    for path in (
        "/memproxy/ready",
        "/memproxy/metrics",
        "/memproxy/v1/entities",
        "/memproxy/v1/entities/alice/facts",
        "/memproxy/nope",
    ):
        for headers in ({}, {"X-MemG-Key": "wrong"}, {"Authorization": "Bearer wrong"}):
            response = await keyed.client.get(keyed.url + path, headers=headers)
            is_problem(response, 401)
            assert response.headers["www-authenticate"] == "Bearer"


async def test_a_key_reaches_its_own_entities_alone(keyed: World) -> None:
    async def status(method: str, path: str, headers: Mapping[str, str], **more: Any) -> int:
        return (await keyed.client.request(method, keyed.own(path), headers=headers, **more)).status_code

    fact = {"json": {"text": "Owns a kayak"}}
    assert await status("POST", "entities/alice/facts", ALICE, **fact) == 201
    assert await status("POST", "entities/team-1/facts", ALICE, **fact) == 201
    assert await status("POST", "entities/bob/facts", ALICE, **fact) == 403
    assert await status("POST", "entities/bob/facts", ADMIN, **fact) == 201
    for method, path in (
        ("GET", "/facts"),
        ("GET", "/turns"),
        ("GET", "/context?query=x"),
        ("GET", "/search?query=x"),
        ("DELETE", ""),
        ("GET", ""),
    ):
        assert await status(method, f"entities/bob{path}", ALICE) == 403
    for method, path in (("POST", "flush"), ("GET", "jobs"), ("POST", "jobs/x/retry")):
        assert await status(method, path, ALICE) == 403
    assert await status("POST", "flush", ADMIN) == 200
    assert await status("POST", "jobs/x/retry", ADMIN) == 404


async def test_a_list_of_entities_shows_a_key_its_own_and_names_no_other(keyed: World) -> None:
    for name in ("aaa", "alice", "bob", "team-1", "team-2", "zoe"):
        await keyed.client.post(keyed.of(name, "/facts"), json={"text": "Owns a kayak"}, headers=ADMIN)
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(10):
        query = {"limit": "1", **({"cursor": cursor} if cursor else {})}
        answer = (await keyed.client.get(keyed.own("entities"), params=query, headers=ALICE)).json()
        seen += [row["entity"] for row in answer["items"]]
        cursor = answer["next_cursor"]
        assert cursor not in ("aaa", "bob", "zoe")
        if cursor is None:
            break
    assert seen == ["alice", "team-1", "team-2"]


async def test_a_receipt_outside_the_keys_scope_is_not_there(keyed: World) -> None:
    for name in ("alice", "bob"):
        await keyed.client.post(keyed.of(name, "/facts"), json={"text": f"Owns a green kayak, {name}"}, headers=ADMIN)
    response = await keyed.chat("bob", [user("What colour is my kayak?")], headers={"X-MemG-Key": "key-admin"})
    assert response.headers["x-memg-memory"].startswith("injected")
    receipt = keyed.own(f"receipts/{response.headers['x-memg-request-id']}")
    is_problem(await keyed.client.get(receipt, headers=ALICE), 404)
    assert (await keyed.client.get(receipt, headers=ADMIN)).json()["entity"] == "bob"
