"""The conversation put back into requests that bring only their newest message, and into no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.lifecycle.mentions import names
from memproxy.lifecycle.recovering import brings_only_the_newest
from memproxy.model import Addition
from memproxy.testing import FrozenClock
from memproxy.wire.chat_completions import ChatCompletions
from memproxy.wire.gemini import Gemini
from memproxy.wire.messages import Messages
from tests.memories import START
from tests.world import Message, World, assistant, system, tool, user

pytestmark = pytest.mark.anyio

RECOVER = {"X-MemG-History": "recover", "X-MemG-Session": "boat"}


async def say(world: World, text: str, reply: str, headers: dict[str, str] | None = None) -> list[Message]:
    """One message alone; the messages that went upstream, without instructions."""
    world.up.reply(reply)
    await world.chat("Bo", [system("Be brief."), user(text)], headers or RECOVER)
    return [message for message in world.messages if message["role"] != "system"]


async def test_px7_what_was_said_before_goes_in_front_of_the_newest_message(world: World) -> None:
    await say(world, "I built a raft", "What of?")
    await say(world, "Of oak", "Oak is heavy.")
    assert await say(world, "yes", "Good.") == [
        user("I built a raft"),
        assistant("What of?"),
        user("Of oak"),
        assistant("Oak is heavy."),
        user("yes"),
    ]
    assert world.messages[0]["content"].startswith("Be brief.")
    assert [m["content"] for m in await say(world, "Thanks", "Yes.")][-3:] == ["yes", "Good.", "Thanks"]
    assert await world.said("Bo") == ["I built a raft", "Of oak", "yes", "Thanks"]


async def test_a_small_word_gets_its_history_and_the_answer_says_so(world: World) -> None:
    await say(world, "I built a raft", "What of?")
    response = await world.chat("Bo", [user("ok")], RECOVER)
    assert response.headers["x-memg-memory"] == "skipped; reason=small-talk; recovered=2"


async def test_a_request_sent_again_gets_what_stood_before_it_the_first_time(world: World) -> None:
    await say(world, "I built a raft", "What of?")
    first = await say(world, "Of oak", "Oak is heavy.")
    assert await say(world, "Of oak", "Oak is heavy.") == first


async def test_no_other_conversation_and_no_other_person_is_put_back(world: World) -> None:
    await say(world, "I built a raft", "What of?")
    assert await say(world, "hello there", "Hi.", {**RECOVER, "X-MemG-Session": "other"}) == [user("hello there")]
    await world.chat("Ada", [user("hello there")], RECOVER)
    assert world.messages[-1:] == [user("hello there")]
    assert not any("raft" in str(m["content"]) for m in world.messages)


@pytest.mark.parametrize("headers", [{"X-MemG-Session": "boat"}, {"X-MemG-History": "recover"}])
async def test_only_where_it_is_asked_for_and_the_conversation_is_named(world: World, headers: dict[str, str]) -> None:
    await say(world, "I built a raft", "What of?", headers)
    assert await say(world, "Of oak it is made", "Good.", headers) == [user("Of oak it is made")]


async def test_the_setting_says_it_for_entities_and_the_header_against_it(tmp_path: Path) -> None:
    async with World.open(tmp_path, working_memory__recover=["B*"]) as world:
        named = {"X-MemG-Session": "boat"}
        await say(world, "I built a raft", "What of?", named)
        assert len(await say(world, "Of oak", "Good.", named)) == 3
        assert len(await say(world, "And ash", "Good.", {**named, "X-MemG-History": "off"})) == 1


_CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {}}]}


@pytest.mark.parametrize(
    "messages",
    [
        [user("I built a raft"), assistant("What of?"), user("Of oak")],
        [user("Look it up"), _CALL, tool("c1", "found")],
        [assistant("Hello!"), user("Of oak")],
    ],
)
async def test_c5_a_request_with_a_history_of_its_own_is_left_alone(world: World, messages: list[Message]) -> None:
    await say(world, "Something else altogether", "I see.")
    await world.chat("Bo", messages, RECOVER)
    assert [m for m in world.messages if m["role"] != "system"] == messages


async def test_what_was_forgotten_is_not_put_back(world: World) -> None:
    await say(world, "I keep falcons in Brask. The raft is done.", "Good.")
    await world.client.post(world.of("Bo", "/denied"), json={"text": "keeps falcons in Brask"})
    said = await say(world, "And now?", "Now sail.")
    assert said[0] == user("The raft is done.")


async def test_no_more_is_put_back_than_may_be_and_whole_exchanges_only(tmp_path: Path) -> None:
    async with World.open(tmp_path, working_memory__turns=5, working_memory__tokens=60) as world:
        for i in range(6):
            await say(world, f"Plank {i}", f"Nailed {i}.")
        assert [m["content"] for m in await say(world, "Next", "Yes.")] == [
            "Plank 4",
            "Nailed 4.",
            "Plank 5",
            "Nailed 5.",
            "Next",
        ]
        await say(world, "A long plank " * 40, "Oh.")
        assert len(await say(world, "Next one", "Yes.")) == 1


async def test_a_session_long_after_is_still_that_session(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    async with World.open(tmp_path, clock=clock) as world:
        await say(world, "I built a raft", "What of?")
        clock.advance(days=3)
        assert len(await say(world, "I built a raft", "Again?")) == 3


earlier = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=20)), min_size=1, max_size=4)


@given(earlier, st.text(min_size=1, max_size=20), st.booleans())
def test_messages_go_in_by_insertion_alone(said: list[tuple[Any, str]], newest: str, spaced: bool) -> None:
    for form, body in (
        (ChatCompletions(), {"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": newest}]}),
        (Messages(), {"messages": [{"role": "user", "content": newest}], "system": "x"}),
        (Gemini(), {"contents": [{"role": "user", "parts": [{"text": newest}]}]}),
    ):
        sent = json.dumps(body, indent=2 if spaced else None).encode()
        request = form.decode(sent)
        assert brings_only_the_newest(request)
        place = len(request.messages) - 1
        got = form.inject(sent, [Addition(text, place, role) for role, text in said])
        back = form.decode(got)
        told = [(m.role, m.text) for m in back.messages if m.role != "system"]
        assert "".join(text for _, text in told) == "".join(text for _, text in said) + newest
        position = got.index(sent[sent.index(b'"role": "user"') :][:14]) if not said else 0
        assert position == 0
        kept = iter(got)
        assert all(byte in kept for byte in sent)


async def test_se6_a_vague_question_is_asked_again_with_the_names_of_its_conversation(world: World) -> None:
    named = {"X-MemG-Session": "trip"}
    await world.seed("Bo", "The ferry to Quillhaven leaves at nine")
    await say(world, "I am off with Jorun to the island of Quillhaven", "Nice.", named)
    await say(world, "And how long is it?", "An hour.", named)
    assert "Quillhaven" in world.block()
    await say(world, "And how long is it?", "What is?", {"X-MemG-Session": "another"})
    assert world.block() == ""


def test_names_are_capitals_inside_sentences_and_what_has_digits_or_dots() -> None:
    texts = [
        "Then we met Jorun. Afterwards we read docs/tide.md on v1.2 in Quillhaven",
        "Mail bo@tarrow.example, 42 now",
    ]
    assert names(texts) == ["Jorun", "docs/tide.md", "v1.2", "Quillhaven", "bo@tarrow.example"]
    assert names([" ".join(f"x Name{i}" for i in range(30))]) == [f"Name{i}" for i in range(15, 30)]


async def test_what_a_person_goes_on_about_engages_them(world: World) -> None:
    [fact] = await world.seed("Bo", "Has a sister Jorun who trains falcons")
    history: list[Message] = []
    await world.say("Bo", history, "What does my sister Jorun do?")
    assert "falcons" in world.block()
    await world.say("Bo", history, "Yes, Jorun, my sister, has a way with falcons, she trains them all day")
    [row] = await world.rows("Bo")
    assert (row["id"], row["engagement"]) == (fact, 0.3)
