"""Entities and conversations: what is the same conversation, what is news in it, and what is stored once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from memproxy.testing import FrozenClock
from tests.world import Message, World, assistant, system, tool, user

pytestmark = pytest.mark.anyio


async def sessions(world: World, who: str) -> list[list[str]]:
    """The contents of each conversation of an entity, in order."""
    found: dict[str, list[str]] = {}
    for turn in await world.turns(who):
        found.setdefault(turn["session_id"], []).append(turn["content"])
    return list(found.values())


async def test_a_replayed_conversation_stores_each_turn_once_and_offers_it_once(world: World) -> None:
    history: list[Message] = []
    for i in range(8):
        await world.say("Bo", history, f"I saw heron number {i}", f"Heron {i}, noted.")
    await world.drain()
    [stored] = await sessions(world, "Bo")
    assert stored == [message["content"] for message in history]
    offered = "\n".join(world.extracted())
    assert [offered.count(f"I saw heron number {i}\n") for i in range(8)] == [1] * 8


async def test_each_turn_is_offered_once_even_when_extraction_runs_after_every_turn(world: World) -> None:
    history: list[Message] = []
    for i in range(4):
        await world.say("Bo", history, f"I saw heron number {i}", f"Heron {i}, noted.")
        await world.drain()
    offered = "\n".join(world.extracted())
    assert [offered.count(f"I saw heron number {i}\n") for i in range(4)] == [1] * 4


async def test_two_parallel_chats_of_one_person_stay_two(world: World) -> None:
    first: list[Message] = []
    second: list[Message] = []
    await world.say("Bo", first, "Let us talk about boats", "Boats it is.")
    await world.say("Bo", second, "Let us talk about bread", "Bread it is.")
    await world.say("Bo", first, "Mine is green", "Green boats are fine.")
    await world.say("Bo", second, "Mine is burnt", "Burnt bread is sad.")
    assert await sessions(world, "Bo") == [
        ["Let us talk about boats", "Boats it is.", "Mine is green", "Green boats are fine."],
        ["Let us talk about bread", "Bread it is.", "Mine is burnt", "Burnt bread is sad."],
    ]


async def test_parallel_chats_that_begin_alike_part_where_they_differ(world: World) -> None:
    first: list[Message] = []
    second: list[Message] = []
    await world.say("Bo", first, "Tell me something new", "Herons nest early.")
    await world.say("Bo", second, "Tell me something new", "Otters hold hands.")
    await world.say("Bo", first, "About herons, please")
    await world.say("Bo", second, "About otters, please")
    found = await sessions(world, "Bo")
    assert len(found) == 2
    assert "About herons, please" in found[0]
    assert "About otters, please" in found[1]
    assert (await world.said("Bo")).count("Tell me something new") == 1


async def test_a_retry_is_the_same_conversation_and_no_second_turn(world: World) -> None:
    for _ in range(3):
        world.up.reply("Noted.")
        await world.chat("Bo", [user("I own a kayak")])
    assert await sessions(world, "Bo") == [["I own a kayak", "Noted."]]


async def test_a_regenerated_answer_is_kept_beside_the_first_and_teaches_nothing_twice(world: World) -> None:
    history: list[Message] = []
    await world.say("Bo", history, "I own a kayak", "Lovely.")
    await world.say("Bo", history[:2], "It is red", "Red is bright.")
    asked = [*history[:2], user("It is red")]
    world.up.reply("What a colour!")
    await world.chat("Bo", asked)
    await world.say("Bo", [*asked, assistant("What a colour!")], "And it leaks", "Oh no.")
    await world.drain()
    assert await sessions(world, "Bo") == [
        ["I own a kayak", "Lovely.", "It is red", "Red is bright.", "What a colour!", "And it leaks", "Oh no."]
    ]
    assert "\n".join(world.extracted()).count("It is red") == 1


async def test_an_edited_message_begins_a_conversation_of_its_own(world: World) -> None:
    history: list[Message] = []
    await world.say("Bo", history, "I own a kayak", "Lovely.")
    await world.say("Bo", history, "It is red", "Red is bright.")
    await world.say("Bo", history, "It leaks", "Oh no.")
    await world.say("Bo", history[:2], "It is blue", "Blue is calm.")
    assert await sessions(world, "Bo") == [
        ["I own a kayak", "Lovely.", "It is red", "Red is bright.", "It leaks", "Oh no."],
        ["It is blue", "Blue is calm."],
    ]


async def test_a_first_contact_with_a_long_history_stores_only_what_is_new(world: World) -> None:
    history = [user("I own a kayak"), assistant("Lovely."), user("It is red"), assistant("Red is bright.")]
    await world.say("Bo", history, "It leaks", "Oh no.")
    await world.say("Bo", history, "I mended it", "Well done.")
    assert await sessions(world, "Bo") == [["It leaks", "Oh no.", "I mended it", "Well done."]]
    await world.drain()
    assert "kayak" not in "\n".join(world.extracted())


async def test_turns_said_while_memory_was_off_stay_unknown_and_the_conversation_goes_on(world: World) -> None:
    history: list[Message] = []
    await world.say("Bo", history, "I own a kayak", "Lovely.")
    await world.say("Bo", history, "My secret is a red door", "Noted.", headers={"X-MemG-Memory": "off"})
    await world.say("Bo", history, "It leaks", "Oh no.")
    await world.drain()
    assert await sessions(world, "Bo") == [["I own a kayak", "Lovely.", "It leaks", "Oh no."]]
    assert "red door" not in str([request.body for request in world.ext.requests])


async def test_a_client_that_drops_its_oldest_messages_stays_in_its_conversation(world: World) -> None:
    history: list[Message] = []
    for i in range(6):
        await world.say(
            "Bo", history, f"Today I counted {i} herons by the old harbour", f"That makes {i} by the harbour."
        )
        del history[:-2]
    assert len(await sessions(world, "Bo")) == 1
    assert len(await world.said("Bo")) == 6


async def test_white_space_that_a_client_changes_makes_no_new_conversation(world: World) -> None:
    history: list[Message] = []
    await world.say("Bo", history, "I own a kayak", "Lovely.\n\nReally.  ")
    history[-1]["content"] = "Lovely. Really."
    await world.say("Bo", history, "It leaks")
    assert len(await sessions(world, "Bo")) == 1


async def test_a_named_conversation_is_taken_by_its_name(world: World) -> None:
    for text in ("I own a kayak", "It is red", "yes", "It leaks", "yes"):
        world.up.reply(f"About {text}: fine.")
        await world.chat("Bo", [user(text)], headers={"X-MemG-Session": "boats"})
    await world.chat("Bo", [user("I bake bread")], headers={"X-MemG-Session": "bread"})
    found = await sessions(world, "Bo")
    assert len(found) == 2
    assert [text for text in found[0] if "fine" not in text] == ["I own a kayak", "It is red", "yes", "It leaks", "yes"]


async def test_a_named_conversation_belongs_to_its_entity(world: World) -> None:
    for who in ("ada", "bea"):
        await world.chat(who, [user(f"I am {who} and own a kayak")], headers={"X-MemG-Session": "boats"})
    assert await world.said("ada") == ["I am ada and own a kayak"]
    assert await world.said("bea") == ["I am bea and own a kayak"]


async def test_a_tool_loop_is_one_turn(world: World) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asked: list[Message] = [system("Use tools."), user("How tall is the lighthouse of Brask?")]
    called = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = json.dumps({"choices": [{"index": 0, "message": called, "finish_reason": "tool_calls"}]}).encode()
    world.up.reply_raw(200, [("content-type", "application/json")], [body])
    await world.chat("Bo", asked)
    assert await world.said("Bo") == ["How tall is the lighthouse of Brask?"]
    loop = [*asked, called, tool("c", "40 m; SECRET-TOOL-OUTPUT")]
    world.up.reply("It is 40 m tall.")
    await world.chat("Bo", loop)
    await world.say("Bo", [*loop, assistant("It is 40 m tall.")], "I climbed it in 2011", "Impressive.")
    await world.drain()
    assert await sessions(world, "Bo") == [
        ["How tall is the lighthouse of Brask?", "It is 40 m tall.", "I climbed it in 2011", "Impressive."]
    ]
    assert "SECRET-TOOL-OUTPUT" not in str([request.body for request in world.ext.requests])


async def test_an_answer_without_a_question_is_kept_as_the_assistants(world: World) -> None:
    world.up.reply("Welcome aboard! What is your boat called?")
    await world.chat("Bo", [system("Greet the user first.")])
    history = [assistant("Welcome aboard! What is your boat called?")]
    await world.say("Bo", history, "She is called Petrel", "A fine name.")
    assert await sessions(world, "Bo") == [
        ["Welcome aboard! What is your boat called?", "She is called Petrel", "A fine name."]
    ]


async def test_an_answer_that_breaks_off_is_marked_and_the_users_words_are_kept(world: World) -> None:
    from memproxy.testing.upstream import Die

    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"Half an ans"}}]}\n\n'
    world.up.reply_raw(200, [("content-type", "text/event-stream")], [chunk, Die()])
    with pytest.raises(Exception):  # noqa: B017 - whatever a client calls a truncated answer
        await world.chat("Bo", [user("I own a kayak")], stream=True)
    for _ in range(100):
        if await world.turns("Bo"):
            break
        await asyncio.sleep(0.02)
    turns = await world.turns("Bo")
    assert [(turn["content"], turn["complete"]) for turn in turns] == [("I own a kayak", True), ("Half an ans", False)]


async def test_an_error_in_the_stream_records_nothing(world: World) -> None:
    chunks = [b'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n', b"data: [DONE]\n\n"]
    world.up.reply_raw(200, [("content-type", "text/event-stream")], chunks)
    await world.chat("Bo", [user("I own a kayak")], stream=True)
    assert await world.turns("Bo") == []


async def test_the_entity_in_the_path_is_decoded_once(world: World) -> None:
    for segment, name in (("a%2Fb", "a/b"), ("%C3%81gnes", "Ágnes"), ("a%252Fb", "a%2Fb"), ("A%CC%81gnes", "Ágnes")):
        url = f"{world.url}/memproxy/as/{segment}/v1/chat/completions?trace=1"
        response = await world.client.post(url, json={"model": "m", "messages": [user(f"I came by {segment}")]})
        assert response.status_code == 200
        assert world.up.requests[-1].target == b"/v1/chat/completions?trace=1"
        assert f"I came by {segment}" in await world.said(name)


async def test_a_body_field_or_another_header_names_the_entity_where_configured(tmp_path: Path) -> None:
    sources = ["header:X-OpenWebUI-User-Id", "body:user"]
    async with World.open(tmp_path, entity_sources=sources) as world:
        await world.chat(None, [user("I own a kayak")], user="ada")
        await world.chat(None, [user("I own a canoe")], user="ada", headers={"X-OpenWebUI-User-Id": "bea"})
        await world.chat("cid", [user("I own a raft")], user="ada", headers={"X-OpenWebUI-User-Id": "bea"})
        assert await world.said("ada") == ["I own a kayak"]
        assert await world.said("bea") == ["I own a canoe"]
        assert await world.said("cid") == ["I own a raft"]


async def test_imported_history_is_stored_once_with_its_own_dates(world: World) -> None:
    body = {
        "session": "old",
        "turns": [
            {"role": "user", "name": "Ilse", "content": "I moved to Tolm", "time": "2021-05-06T10:00:00+02:00"},
            {"role": "assistant", "content": "Welcome to Tolm.", "time": "2021-05-06T10:00:01+02:00"},
        ],
    }
    first = (await world.client.post(world.of("Bo", "/turns"), json=body)).json()["ids"]
    again = (await world.client.post(world.of("Bo", "/turns"), json=body)).json()["ids"]
    assert first == again
    turns = await world.turns("Bo")
    assert [(t["content"], t["name"], t["time"]) for t in turns] == [
        ("I moved to Tolm", "Ilse", "2021-05-06T08:00:00Z"),
        ("Welcome to Tolm.", None, "2021-05-06T08:00:01Z"),
    ]
    await world.drain()
    assert "I moved to Tolm" in world.extracted()[0]
    assert "2021-05-06" in world.ext.requests[0].json()["messages"][-1]["content"]
    block = await world.ask("Bo", "when did I move to Tolm?")
    assert "Tolm" in block
    assert "2021" in block


async def test_a_turn_from_the_future_or_with_a_bad_role_is_refused_whole(world: World) -> None:
    good = {"role": "user", "content": "I moved to Tolm", "time": "2021-05-06T10:00:00Z"}
    for bad in (
        {**good, "time": "2999-01-01T00:00:00Z"},
        {**good, "role": "robot"},
        {**good, "time": "yesterday"},
        {**good, "content": ""},
    ):
        response = await world.client.post(world.of("Bo", "/turns"), json={"session": "old", "turns": [good, bad]})
        assert response.status_code == 400
        assert response.headers["content-type"] == "application/problem+json"
        assert "turns" in response.json()["detail"] or "turns" in response.json()["title"]
    assert await world.turns("Bo") == []


async def test_the_same_first_message_long_after_begins_a_new_conversation(tmp_path: Path) -> None:
    clock = FrozenClock()
    async with World.open(tmp_path, clock=clock) as world:
        for minutes, expected in ((0, 1), (29, 1), (60, 2)):
            clock.advance(minutes=minutes)
            await world.chat("Bo", [user("Any herons today?")])
            assert len(await sessions(world, "Bo")) == expected


async def test_receipts_are_kept_for_their_days_and_no_longer(tmp_path: Path) -> None:
    clock = FrozenClock()
    async with World.open(tmp_path, clock=clock, receipts__days=7, prune_interval=1) as world:
        await world.seed("Bo", "Saw a heron by the old harbour")
        response = await world.chat("Bo", [user("Where did I saw the heron?")])
        receipt = world.own(f"receipts/{response.headers['x-memg-request-id']}")
        found = (await world.client.get(receipt)).json()
        assert found["block"] == world.block()
        assert [item["kind"] for item in found["items"]] == ["fact"]
        assert (await world.rows("Bo"))[0]["recall_count"] == 1
        clock.advance(days=8)
        async with asyncio.timeout(10):
            while (await world.client.get(receipt)).status_code != 404:  # noqa: ASYNC110 - pruned in the background
                await asyncio.sleep(0.1)


async def test_an_assistant_that_the_client_names_has_that_name_in_memory(world: World) -> None:
    history: list[Message] = []
    await world.say("Bo", history, "Where did you grow up?", "I grew up in Tolm, by the harbour.")
    history[-1]["name"] = "Melanie"
    await world.say("Bo", history, "And after that?", "Then I moved to Brask.")
    turns = await world.turns("Bo")
    assert [turn["name"] for turn in turns if turn["role"] == "assistant"] == ["Melanie", "Melanie"]
    await world.drain()
    assert "Melanie: I grew up in Tolm" in await world.ask("Bo", "Where did Melanie grow up, by which harbour?")


async def test_an_opening_said_again_later_with_the_same_answer_is_a_whole_conversation(tmp_path: Path) -> None:
    clock = FrozenClock()
    async with World.open(tmp_path, clock=clock) as world:
        for text in ("I own a kayak", "I bake bread"):
            history: list[Message] = []
            await world.say("Bo", history, "Good to see you again", "Hello!")
            await world.say("Bo", history, text, "I see.")
            clock.advance(hours=3)
        assert await sessions(world, "Bo") == [
            ["Good to see you again", "Hello!", "I own a kayak", "I see."],
            ["Good to see you again", "Hello!", "I bake bread", "I see."],
        ]
