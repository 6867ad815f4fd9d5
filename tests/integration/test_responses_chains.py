"""Conversations that the upstream keeps: chains of answers, conversations by id, and answers fetched later."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from memproxy.testing import Answer, Die
from tests.clients import block, both_ways, one_body, response
from tests.world import World

pytestmark = pytest.mark.anyio

CALL = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "look", "arguments": "{}", "status": "completed"}
NUTS = "Is allergic to hazelnuts"
QUESTION = "Which nuts am I allergic to?"
placements = pytest.mark.parametrize("placement", ["system", "split", "user"])
streamed = pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streamed"])


def output(text: str) -> list[dict[str, Any]]:
    """Input that holds only what a tool said."""
    return [{"type": "function_call_output", "call_id": "c", "output": text}]


def whole(id: str, text: str = "", *, status: str = "completed", calls: bool = False, more: Any = None) -> Answer:
    """An answer in one body, in whatever state it is."""
    body = json.loads(b"".join(piece for piece in response(text, id=id).pieces if isinstance(piece, bytes)))
    items = body["output"] if text else []
    return one_body({**body, "status": status, "output": [*items, CALL] if calls else items, **(more or {})})


class Chat:
    """A client that leaves it to the upstream to keep the conversation. Answers are `resp_1`, `resp_2` …"""

    def __init__(self, world: World, who: str | None = "Bo") -> None:
        self.world = world
        self.who = who
        self.last: str | None = None  # the newest answer's id

    async def say(
        self,
        given: Any,
        reply: str | Answer = "I see.",
        *,
        after: str | None = None,
        headers: Mapping[str, str] | None = None,
        **body: Any,
    ) -> str:
        """One request, from the newest answer or another one; the block that went upstream."""
        id = f"resp_{len(self.world.up.requests) + 1}"
        answer = response(reply, id=id, streaming=body.get("stream", False)) if isinstance(reply, str) else reply
        self.world.up.reply_answer(answer)
        previous = after or (None if "conversation" in body else self.last)
        if previous is not None:
            body["previous_response_id"] = previous
        named = {} if self.who is None else {"X-MemG-Entity": self.who}
        sent = {"model": "m", "input": given, **body}
        url = f"{self.world.url}/v1/responses"
        got = await self.world.client.post(url, json=sent, headers={**named, **(headers or {})})
        assert got.status_code == 200, got.text
        self.last = id if isinstance(reply, str) else json.loads(got.content)["id"]
        return block(self.world.sent)

    async def fetch(self, id: str, answer: Answer, query: str = "", headers: Mapping[str, str] | None = None) -> bytes:
        """An answer fetched later."""
        self.world.up.reply_answer(answer)
        named = {} if self.who is None else {"X-MemG-Entity": self.who}
        url = f"{self.world.url}/v1/responses/{id}{query}"
        return (await self.world.client.get(url, headers={**named, **(headers or {})})).content

    async def sessions(self) -> list[list[str]]:
        """What each conversation holds, in order."""
        found: dict[str, list[str]] = {}
        for turn in await self.world.turns(self.who or "default"):
            found.setdefault(turn["session_id"], []).append(turn["content"])
        return list(found.values())


@pytest.fixture
def chat(world: World) -> Chat:
    return Chat(world)


# --- which conversation --------------------------------------------------------------------------------------


@streamed
async def test_a_chain_of_any_length_is_one_conversation(chat: Chat, streaming: bool) -> None:
    for i in range(12):
        await chat.say(f"I saw heron number {i}", f"Heron {i}, noted.", stream=streaming)
    [stored] = await chat.sessions()
    assert stored == [text for i in range(12) for text in (f"I saw heron number {i}", f"Heron {i}, noted.")]
    await chat.world.drain()
    offered = "\n".join(chat.world.extracted())
    assert [offered.count(f"I saw heron number {i}\n") for i in range(12)] == [1] * 12


async def test_two_chains_that_begin_alike_part_where_they_differ(chat: Chat) -> None:
    other = Chat(chat.world)
    await chat.say("Tell me something new", "Herons nest early.")
    await other.say("Tell me something new", "Otters hold hands.")
    await chat.say("About herons, please")
    await other.say("About otters, please")
    assert await chat.sessions() == [
        ["Tell me something new", "Herons nest early.", "Otters hold hands.", "About herons, please", "I see."],
        ["About otters, please", "I see."],
    ]


async def test_a_request_from_an_older_answer_branches_off(chat: Chat) -> None:
    await chat.say("I own a kayak", "Lovely.")
    first = chat.last
    await chat.say("It is red", "Red is bright.")
    await chat.say("It is blue", "Blue is calm.", after=first)
    await chat.say("And it leaks", "Oh no.")
    assert await chat.sessions() == [
        ["I own a kayak", "Lovely.", "It is red", "Red is bright."],
        ["It is blue", "Blue is calm.", "And it leaks", "Oh no."],
    ]


async def test_the_same_request_again_is_stored_once_and_another_answer_to_it_beside_the_first(chat: Chat) -> None:
    await chat.say("I own a kayak", "Lovely.")
    first = chat.last
    for reply in ("Red is bright.", "Red is bright.", "What a colour!"):
        await chat.say("It is red", reply, after=first)
    await chat.say("And it leaks", "Oh no.")
    assert await chat.sessions() == [
        ["I own a kayak", "Lovely.", "It is red", "Red is bright.", "What a colour!", "And it leaks", "Oh no."]
    ]


async def test_an_answer_is_gone_on_from_by_the_person_it_was_given_to_alone(chat: Chat) -> None:
    await chat.say("I own a kayak", "Lovely.")
    await Chat(chat.world, "Ada").say("It leaks", "Oh no.", after=chat.last)
    assert await chat.sessions() == [["I own a kayak", "Lovely."]]
    assert await Chat(chat.world, "Ada").sessions() == [["It leaks", "Oh no."]]


async def test_a_client_may_begin_with_a_history_and_then_leave_it_to_the_upstream(chat: Chat) -> None:
    await chat.say("I own a kayak", "Lovely.")
    history = [{"role": "user", "content": "I own a kayak"}, {"role": "assistant", "content": "Lovely."}]
    chat.last = None
    await chat.say([*history, {"role": "user", "content": "It is red"}], "Red is bright.")
    await chat.say("It leaks", "Oh no.")
    assert await chat.sessions() == [["I own a kayak", "Lovely.", "It is red", "Red is bright.", "It leaks", "Oh no."]]


@pytest.mark.parametrize("given", ["conv_1", {"id": "conv_1"}], ids=["id", "object"])
async def test_in_a_conversation_with_an_id_yes_said_twice_means_it_twice(chat: Chat, given: Any) -> None:
    for text in ("I own a kayak", "yes", "It is red", "yes", "yes"):  # the last one is a retry
        await chat.say(text, f"About {text}: fine.", conversation=given)
    await chat.say("I bake bread", "Rye?", conversation="conv_2")
    boats = ("I own a kayak", "yes", "It is red", "yes")
    assert await chat.sessions() == [
        [said for text in boats for said in (text, f"About {text}: fine.")],
        ["I bake bread", "Rye?"],
    ]


async def test_an_answer_in_a_conversation_can_be_gone_on_from_by_its_own_id(chat: Chat) -> None:
    await chat.say("I own a kayak", "Lovely.", conversation="conv_1")
    first = chat.last
    await chat.say("It is red", "Red is bright.", after=first)
    await chat.say("It leaks", "Oh no.", conversation="conv_1")
    assert await chat.sessions() == [["I own a kayak", "Lovely.", "It is red", "Red is bright.", "It leaks", "Oh no."]]


async def test_a_chain_that_began_before_memory_did_is_opened_once_and_found_again(chat: Chat) -> None:
    await chat.say("It leaks", "Oh no.", after="resp_unknown")
    await chat.say("I mended it", "Well done.")
    await chat.say("It leaks again", "Again?", after="resp_unknown")
    assert await chat.sessions() == [["It leaks", "Oh no.", "I mended it", "Well done.", "It leaks again", "Again?"]]


async def test_a_name_wins_over_the_chain_and_the_chain_remembers_it(chat: Chat) -> None:
    await chat.say("I own a kayak", "Lovely.")
    await chat.say("I bake bread", "Rye?", headers={"X-MemG-Session": "bread"})
    await chat.say("Wheat", "I see.")
    assert await chat.sessions() == [["I own a kayak", "Lovely."], ["I bake bread", "Rye?", "Wheat", "I see."]]


async def test_a_tool_loop_in_a_chain_is_one_turn(chat: Chat) -> None:
    await chat.say("How tall is the lighthouse of Brask?", whole("resp_a", calls=True))
    await chat.say(output("SECRET-TOOL-OUTPUT"), whole("resp_b", "Let me look closer.", calls=True))
    await chat.say(output("40 m"), "It is 40 m tall.")
    await chat.say("I climbed it in 2011", "Impressive.")
    assert await chat.sessions() == [
        [
            "How tall is the lighthouse of Brask?", "Let me look closer.", "It is 40 m tall.",
            "I climbed it in 2011", "Impressive.",
        ]
    ]  # fmt: skip
    await chat.world.drain()
    assert "SECRET-TOOL-OUTPUT" not in str([request.body for request in chat.world.ext.requests])


# --- what goes in --------------------------------------------------------------------------------------------


async def test_what_the_upstream_keeps_of_a_chain_is_not_recalled_into_it(chat: Chat) -> None:
    await chat.say("My kayak Puffin lies in the harbour of Tolm", "A kayak named Puffin!")
    first = chat.last
    await chat.say("The kayak has a red paddle", "A red paddle suits it.")
    await chat.world.drain()
    for after, held, other in ((chat.last, ("Tolm", "red paddle"), ()), (first, ("Tolm",), ("red paddle",))):
        sent = await chat.say("What do you know of my kayak and its paddle?", after=after)
        assert not any(words in sent for words in held)
        assert all(words in sent for words in other)
        sent = await chat.say("And what else of my kayak and its paddle?")  # one further on, in the branch as well
        assert not any(words in sent for words in held)
    elsewhere = await Chat(chat.world).say("What do you know of my kayak and its paddle?")
    assert "Tolm" in elsewhere
    assert "red paddle" in elsewhere


async def test_what_was_said_in_a_name_before_a_chain_began_is_recalled_into_it(chat: Chat) -> None:
    named = {"X-MemG-Session": "boats"}
    await chat.say("My kayak Puffin lies in the harbour of Tolm", headers=named)
    chat.last = None
    await chat.say("Hello again", headers=named)
    await chat.world.drain()
    assert "Tolm" in await chat.say("In which harbour lies my kayak?", headers=named)


@placements
async def test_in_a_chain_all_goes_into_the_instructions_which_the_upstream_does_not_keep(
    tmp_path: Path, placement: str
) -> None:
    async with World.open(tmp_path, memory__placement=placement) as world:
        await world.seed("Bo", "Is called Bo Tarn", pinned=True)
        await world.seed("Bo", NUTS)
        chat = Chat(world)
        await chat.say("hello", instructions="Be brief.")
        for given in (QUESTION, [{"role": "user", "content": "To which nuts am I allergic?"}]):
            await chat.say(given, instructions="Be brief.")
            sent = world.up.requests[-1].json()
            assert sent["input"] == given
            assert sent["instructions"].startswith("Be brief.\n\n<memproxy-memory>")
            assert "hazelnuts" in sent["instructions"]
            assert "Bo Tarn" in sent["instructions"]


async def test_the_stable_part_is_the_same_in_every_request_of_a_chain(tmp_path: Path) -> None:
    async with World.open(tmp_path, memory__placement="split") as world:
        await world.seed("Bo", "Is called Bo Tarn", pinned=True)
        chat = Chat(world)
        stable = await chat.say("hello")
        assert "Bo Tarn" in stable
        for n in range(4):
            await world.seed("Bo", f"Is a carpenter of guild {n}", pinned=True)
            assert await chat.say("hello" if n % 2 else output("x"), whole(f"resp_x{n}", calls=True)) == stable


async def test_the_same_request_again_goes_up_with_the_same_bytes(tmp_path: Path) -> None:
    async with World.open(tmp_path, memory__placement="split") as world:
        await world.seed("Bo", NUTS)
        chat = Chat(world)
        await chat.say("hello", conversation="conv_1")
        first = await chat.say(QUESTION, after="resp_1")
        assert "hazelnuts" in first
        await world.seed("Bo", "Is allergic to walnuts, a nut too")
        assert await chat.say(QUESTION, after="resp_1") == first


@placements
@pytest.mark.parametrize("mode", ["full", "read"])
@pytest.mark.parametrize("by", ["answer", "conversation"])
async def test_all_steps_of_a_tool_loop_carry_the_same_bytes(
    tmp_path: Path, placement: str, mode: str, by: str
) -> None:
    async with World.open(tmp_path, memory__placement=placement) as world:
        await world.seed("Bo", NUTS)
        chat = Chat(world)
        way: dict[str, Any] = {"conversation": "conv_1"} if by == "conversation" else {}
        await chat.say("hello", **way)
        headers = {"X-MemG-Memory": mode}
        first = await chat.say(QUESTION, whole("resp_a", calls=True), headers=headers, **way)
        assert "hazelnuts" in first
        for step in range(4):
            await world.seed("Bo", f"Nuts of kind {step} are fine for the allergic")
            given = output(f"page {step}")
            assert await chat.say(given, whole(f"resp_{step}", calls=True), headers=headers, **way) == first
            assert world.up.requests[-1].json()["input"] == given


async def test_the_clients_instructions_take_their_share_of_the_models_window(tmp_path: Path) -> None:
    async with World.open(tmp_path, memory__context_window=3000) as world:
        await world.seed("Bo", NUTS)
        chat = Chat(world)
        assert "hazelnuts" in await chat.say(QUESTION, instructions="Be brief.")
        assert await chat.say(QUESTION, instructions="Be brief. " * 1200) == ""


# --- answers fetched later -----------------------------------------------------------------------------------


def client(url: str, who: str = "Bo") -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url=f"{url}/v1", api_key="client-key", default_headers={"X-MemG-Entity": who}, max_retries=0
    )


async def test_an_answer_made_in_the_background_is_stored_once_when_it_is_there(world: World) -> None:
    chat = Chat(world)
    async with client(world.url) as speaking:
        world.up.reply_answer(whole("resp_a", status="queued"))
        begun = await speaking.responses.create(model="m", input="Write about my kayak Puffin", background=True)
        assert await chat.sessions() == [["Write about my kayak Puffin"]]
        for status in ("queued", "in_progress", *["completed"] * 8):
            world.up.reply_answer(whole("resp_a", "Puffin is red." if status == "completed" else "", status=status))
            answer = await speaking.responses.retrieve(begun.id)
            said = [["Write about my kayak Puffin", *([answer.output_text] if status == "completed" else [])]]
            assert await chat.sessions() == said
        world.up.reply_answer(whole("resp_b", "Yes."))
        await speaking.responses.create(model="m", input="Is it really red all over?", previous_response_id=begun.id)
    assert await chat.sessions() == [
        ["Write about my kayak Puffin", "Puffin is red.", "Is it really red all over?", "Yes."]
    ]
    assert [turn["complete"] for turn in await world.turns("Bo")] == [True] * 4
    await world.drain()
    assert "Write about my kayak Puffin" in "\n".join(world.extracted())
    await chat.say("I like what was written of red things", after="resp_b")
    assert "Puffin is red." in await world.ask("Bo", "Is Puffin red or green?")


async def test_a_step_of_a_tool_loop_may_be_made_in_the_background(chat: Chat) -> None:
    await chat.say("How tall is the lighthouse?", whole("resp_a", "Let me look.", calls=True))
    await chat.say(output("40 m"), whole("resp_b", status="queued"))
    for _ in range(2):
        await chat.fetch("resp_b", whole("resp_b", "It is 40 m tall."))
    await chat.say("I climbed it", "Impressive.")
    assert await chat.sessions() == [
        ["How tall is the lighthouse?", "Let me look.", "It is 40 m tall.", "I climbed it", "Impressive."]
    ]


@pytest.mark.parametrize("query", ["?stream=true", "?stream=true&starting_after=4"])
async def test_a_fetched_stream_is_read_from_its_beginning_or_a_later_event(chat: Chat, query: str) -> None:
    await chat.say("Write about my kayak", whole("resp_a", status="in_progress"))
    answer = response("Puffin is red.", id="resp_a", streaming=True)
    later = Answer(200, answer.headers, answer.pieces[5 if "after" in query else 0 :])
    assert await chat.fetch("resp_a", later, query) == b"".join(p for p in later.pieces if isinstance(p, bytes))
    assert await chat.sessions() == [["Write about my kayak", "Puffin is red."]]


async def test_a_fetched_whole_takes_the_place_of_an_answer_that_broke_off(chat: Chat) -> None:
    answer = response("Puffin is a red kayak with a long story.", id="resp_a", streaming=True)
    broken = Answer(200, answer.headers, [*answer.pieces[:9], Die()])
    with pytest.raises(httpx.RemoteProtocolError):
        await chat.say("Write about my kayak", broken, background=True, stream=True)
    async with asyncio.timeout(10):
        while not await chat.world.turns("Bo"):  # noqa: ASYNC110 - recorded after the client was cut off
            await asyncio.sleep(0.02)
    turns = await chat.world.turns("Bo")
    assert [(turn["content"], turn["complete"]) for turn in turns[1:]] == [("Puffin is a red", False)]
    await chat.fetch("resp_a", Answer(200, answer.headers, answer.pieces[9:12]), "?stream=true&starting_after=8")
    assert [turn["content"] for turn in await chat.world.turns("Bo")][1:] == ["Puffin is a red"]
    for _ in range(2):
        await chat.fetch("resp_a", whole("resp_a", "Puffin is a red kayak with a long story."))
        turns = await chat.world.turns("Bo")
        assert [(turn["content"], turn["complete"]) for turn in turns[1:]] == [
            ("Puffin is a red kayak with a long story.", True)
        ]
    await chat.world.drain()
    assert "a long story" in await chat.world.ask("Bo", "Which story has the red kayak Puffin?")


async def test_a_piece_of_an_answer_never_takes_the_place_of_the_whole(chat: Chat) -> None:
    await chat.say("Write about my kayak", whole("resp_a", status="queued"))
    answer = response("Puffin is a red kayak.", id="resp_a", streaming=True)
    kinds = ("response.output_text.delta", "response.completed")
    bare = [p for p in answer.pieces if isinstance(p, bytes) and any(b"event: " + k.encode() in p for k in kinds)]
    end = b'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_a"}}\n\n'
    fragment = Answer(200, answer.headers, [*bare[3:-1], end])
    for fetched in (fragment, whole("resp_a", "Puffin is a red kayak."), fragment):
        await chat.fetch("resp_a", fetched, "?stream=true&starting_after=6")
    assert await chat.sessions() == [["Write about my kayak", "Puffin is a red kayak."]]


@pytest.mark.parametrize(
    ("who", "headers", "id"),
    [
        ("Ada", {}, "resp_a"),
        (None, {}, "resp_a"),
        ("Bo", {"X-MemG-Memory": "off"}, "resp_a"),
        ("Bo", {"X-MemG-Memory": "read"}, "resp_a"),
        ("Bo", {"Origin": "https://elsewhere.example"}, "resp_a"),
        ("Bo", {}, "resp_unknown"),
    ],
)
async def test_what_is_not_this_persons_to_remember_is_relayed_and_left_alone(
    chat: Chat, who: str | None, headers: dict[str, str], id: str
) -> None:
    await chat.say("Write about my kayak", whole("resp_a", status="queued"))
    await chat.world.drain()
    before = chat.world.stored()
    answer = whole(id, "Puffin is red.")
    assert await Chat(chat.world, who).fetch(id, answer, headers=headers) == answer.pieces[0]
    assert await chat.sessions() == [["Write about my kayak"]]
    assert await chat.world.turns("Ada") == []
    assert chat.world.stored() == before


@pytest.mark.parametrize(
    "answer",
    [
        whole("resp_a", "Half", status="failed", more={"error": {"code": "server_error", "message": "x"}}),
        whole("resp_a", status="cancelled"),
        Answer(404, [("content-type", "application/json")], [b'{"error": {"message": "no such response"}}']),
    ],
    ids=["failed", "cancelled", "gone"],
)
async def test_an_answer_that_came_to_nothing_leaves_nothing(chat: Chat, answer: Answer) -> None:
    await chat.say("Write about my kayak", whole("resp_a", status="queued"))
    assert await chat.fetch("resp_a", answer) == answer.pieces[0]
    assert await chat.sessions() == [["Write about my kayak"]]


async def test_an_answer_cut_at_its_limit_is_stored_as_one(chat: Chat) -> None:
    await chat.say("Write about my kayak", whole("resp_a", status="queued"))
    limit = {"incomplete_details": {"reason": "max_output_tokens"}}
    await chat.fetch("resp_a", whole("resp_a", "Puffin is", status="incomplete", more=limit))
    assert [(turn["content"], turn["complete"]) for turn in await chat.world.turns("Bo")][1:] == [("Puffin is", False)]


@pytest.mark.parametrize("removed", [0, 1], ids=["question", "answer"])
async def test_fetching_again_does_not_bring_back_what_was_removed(chat: Chat, removed: int) -> None:
    await chat.say("Write about my kayak", whole("resp_a", status="queued"))
    if removed:
        await chat.fetch("resp_a", whole("resp_a", "Puffin is red."))
    turns = await chat.world.turns("Bo")
    await chat.world.client.delete(chat.world.of("Bo", f"/turns/{turns[removed]['id']}"))
    await chat.fetch("resp_a", whole("resp_a", "Puffin is red."))
    assert await chat.sessions() == ([["Write about my kayak"]] if removed else [])


@streamed
async def test_a_client_sees_what_it_fetches_as_without_a_proxy(world: World, streaming: bool) -> None:
    await Chat(world).say("Write about my kayak", whole("resp_a", status="queued"))

    async def view(url: str) -> Any:
        async with client(url) as speaking:
            if not streaming:
                return (await speaking.responses.retrieve("resp_a")).model_dump()
            events = await speaking.responses.retrieve("resp_a", stream=True, starting_after=2)
            return [event.model_dump() async for event in events]

    direct, proxied = await both_ways(world, response("Puffin, naïvely ✅.", id="resp_a", streaming=streaming), view)
    assert direct == proxied
    assert await world.said("Bo") == ["Write about my kayak"]
    assert [turn["content"] for turn in await world.turns("Bo")][1:] == ["Puffin, naïvely ✅."]
