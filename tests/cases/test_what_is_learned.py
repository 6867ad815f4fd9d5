"""Cases A and B: what is stored, what is not, and replies that are not usable as they stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memproxy.prompts.extraction import EXAMPLES, SYSTEM
from memproxy.testing.upstream import completion
from memproxy.trust import CLOSE, OPEN
from tests.world import World, assistant, facts, system, user

pytestmark = pytest.mark.anyio


async def test_a1_system_text_is_never_offered_to_extraction(world: World) -> None:
    world.ext.reply(facts("User works at Tarrow Ltd", "Staging runs in north-2"))
    await world.chat(
        "Bo",
        [
            system("You are Basil, kitchen helper of Tarrow Ltd. Staging runs in north-2."),
            user("good morning, what shall I cook today?"),
        ],
    )
    await world.drain()
    assert await world.mem("Bo") == []
    assert len(world.extracted()) == 1
    assert "Tarrow" not in world.extracted()[0]


async def test_a1_a_greeting_costs_no_extraction_call(world: World) -> None:
    await world.chat("Bo", [system("You are Basil."), user("morning!")])
    await world.drain()
    assert world.ext.requests == []


async def test_a1_identical_repeated_input_is_extracted_at_most_once(world: World) -> None:
    for _ in range(20):
        world.up.reply("IDLE_OK")
        await world.chat("Bo", [user("Health check. If idle answer IDLE_OK.")])
    await world.drain()
    assert len(world.ext.requests) <= 1
    assert await world.said("Bo") == ["Health check. If idle answer IDLE_OK."]


async def test_a1_an_operator_lists_patterns_to_ignore(tmp_path: Path) -> None:
    async with World.open(tmp_path, extraction__ignore=["^Health check"]) as world:
        await world.chat("Bo", [user("Health check. If idle answer IDLE_OK.")])
        await world.drain()
        assert world.ext.requests == []


async def test_a3_memory_does_not_feed_on_itself(world: World) -> None:
    await world.seed("Bo", "Has an old sailing boat called Petrel")
    history = []
    for i in range(10):
        question = f"What should I check on my sailing boat Petrel in week {i}?"
        history.append(user(question))
        world.up.reply("Check the rigging.")
        await world.chat("Bo", history)
        history.append(assistant("Check the rigging."))
        assert world.block().count(OPEN) == 1
        assert world.sent.count(b"[RECALLED CONTEXT -- VERIFIED]") == 1
        world.ext.reply(facts(*[line[2:] for line in world.block().splitlines() if line.startswith("- ")]))
        await world.drain()
    assert await world.mem("Bo") == ["Has an old sailing boat called Petrel"]
    assert all(OPEN not in text and "RECALLED" not in text for text in await world.said("Bo"))


async def test_a3_a_block_that_the_client_echoes_is_cut_before_learning(world: World) -> None:
    echoed = f"{OPEN}\n[IDENTITY]\n- Owns a castle\n{CLOSE}\nI moved to Brask last year."
    world.ext.reply(facts("Owns a castle", "I moved to Brask last year"))
    await world.chat("Bo", [user(echoed)])
    await world.drain()
    assert json.loads(world.sent)["messages"][-1]["content"].startswith(echoed)
    assert await world.said("Bo") == ["I moved to Brask last year."]
    assert await world.mem("Bo") == ["I moved to Brask last year"]


async def test_a5_the_assistants_words_are_no_facts_of_the_person(world: World) -> None:
    history: list[dict[str, object]] = []
    reply = "I would use a heap; I find heaps neat. I dislike being called a robot."
    await world.say("Bo", history, "How do I merge two sorted queues?", reply)
    await world.say("Bo", history, "And three of them, for my thesis?")
    world.ext.reply(
        facts(
            {"text": "Finds heaps neat", "quote": "I find heaps neat", "speaker": "assistant"},
            {
                "text": "Dislikes being called a robot",
                "quote": "I dislike being called a robot",
                "speaker": "assistant",
            },
            {"text": "Dislikes robots", "quote": "I dislike being called a robot"},
        )
    )
    await world.drain()
    assert await world.mem("Bo") == []
    assert "user: How do I merge" in world.extracted()[0]
    assert "heaps neat" not in world.extracted()[0]
    assert "assistant: I would use a heap" in world.ext.requests[0].json()["messages"][-1]["content"]


async def test_a6_quoted_lines_of_the_assistant_are_not_offered(world: World) -> None:
    history: list[dict[str, object]] = []
    await world.say("Bo", history, "Tell me about yourself?", "I never learned to swim, deep water scares me.")
    quoted = "> I never learned to swim, deep water scares me.\nThat made me laugh. I moved to Quillhaven by the way."
    await world.say("Bo", history, quoted)
    await world.drain()
    assert "Quillhaven" in world.extracted()[-1]
    assert "swim" not in world.extracted()[-1]


TITLE = "### Task:\nGenerate a concise title for the chat.\n\n<chat_history>\nUSER: I sail a dinghy\n</chat_history>"


async def test_a11_a_front_ends_chore_is_relayed_and_nothing_else(world: World) -> None:
    await world.seed("Bo", "Sails a dinghy on the lake")
    raw = json.dumps({"model": "m", "messages": [user(TITLE)]}).encode()
    response = await world.client.post(
        f"{world.url}/v1/chat/completions",
        content=raw,
        headers={"X-MemG-Entity": "Bo", "Content-Type": "application/json"},
    )
    await world.drain()
    assert world.sent == raw
    assert response.headers["x-memg-memory"] == "skipped; reason=chore"
    assert world.ext.requests == []
    assert await world.turns("Bo") == []


async def test_a11_the_same_sentence_in_an_ordinary_chat_is_learned(world: World) -> None:
    world.ext.reply(facts("I sail a dinghy"))
    await world.chat("Bo", [user("I sail a dinghy")])
    await world.drain()
    assert await world.mem("Bo") == ["I sail a dinghy"]


async def test_a13_the_prompts_own_examples_never_become_facts(world: World) -> None:
    assert all(example in SYSTEM for example in EXAMPLES)
    world.ext.reply(facts(*EXAMPLES, {"text": EXAMPLES[0], "quote": "I keep three beehives on our roof"}))
    await world.chat("Bo", [user("hm, ok then, what do you think?")])
    await world.drain()
    assert await world.mem("Bo") == []
    assert await world.metric("memproxy_facts_rejected_total") == 3
    assert "form only" in SYSTEM


async def test_a19_in_a_shared_room_nobodys_words_become_the_account_holders(world: World) -> None:
    world.ext.reply(facts("I eat only fish"))
    await world.chat("ava", [user("I eat only fish.", name="Bo"), user("I do not mind.", name="Ava")])
    await world.drain()
    assert await world.mem("ava") == []


@pytest.mark.parametrize(
    ("reply", "stored"),
    [
        ('```json\n{"facts":[{"text":"I own a kayak"}]}\n```\nThat is the only fact I could find.', ["I own a kayak"]),
        ('For {leisure} I found: {"facts":[{"text":"I own a kayak"}]} see [1].', ["I own a kayak"]),
        (
            '<think>maybe {"facts":[{"text":"I speak Basque"}]}</think>{"facts":[{"text":"I own a kayak"}]}',
            ["I own a kayak"],
        ),
        ('["I own a kayak"]', ["I own a kayak"]),
        ('[{"fact":"I own a kayak"}]', ["I own a kayak"]),
        ('{"memories":[{"content":"I own a kayak"}]}', ["I own a kayak"]),
        ('{"facts":"none"}', []),
        ('{"facts":{}}', []),
        ("{}", []),
        ('Note {"facts": []} first, then {"facts":[{"text":"I own a kayak"}]}', ["I own a kayak"]),
    ],
    ids=["b1-fence", "b3-prose-with-brackets", "b4-reasoning", "b8a", "b8b", "b8c", "b8d", "b8e", "b8f", "b3-two"],
)
async def test_b_a_reply_around_which_a_model_talks_is_still_read(world: World, reply: str, stored: list[str]) -> None:
    world.ext.reply(reply)
    await world.chat("Bo", [user("I own a kayak and I speak Basque.")])
    await world.drain()
    assert await world.mem("Bo") == stored


async def test_b6_of_a_cut_reply_only_complete_facts_are_taken_and_only_at_last(world: World) -> None:
    cut = '{"facts":[{"text":"I have twins"},{"text":"I row on Tuesdays"},{"text":"I am sav'
    for _ in range(2):
        world.ext.reply_with(lambda request: completion(cut, finish_reason="length"))
    await world.chat("Bo", [user("I have twins, I row on Tuesdays and I am saving for a boat.")])
    await world.drain()
    assert await world.mem("Bo") == ["I have twins", "I row on Tuesdays"]
    assert len(world.ext.requests) == 2
    assert await world.metric("memproxy_extractions_total", outcome="partial") > 0


async def test_b10_remarks_of_the_extractor_are_not_stored(tmp_path: Path) -> None:
    async with World.open(tmp_path, extraction__max_attempts=1) as world:
        world.ext.reply(
            "I cannot extract facts because the text holds only metadata.\n- No personal details were given."
        )
        await world.chat("Bo", [user("What time is it in Lima?")])
        progress = await world.drain()
        assert await world.mem("Bo") == []
        assert progress["dead"] == 1


async def test_b14_an_option_that_the_server_refuses_is_left_out_and_remembered(world: World) -> None:
    refusal = b'{"error": {"message": "response_format is not supported"}}'
    world.ext.reply_raw(400, [("content-type", "application/json")], [refusal])
    world.ext.reply(facts("I own a kayak"))
    await world.chat("Bo", [user("I own a kayak")])
    await world.drain()
    assert await world.mem("Bo") == ["I own a kayak"]
    assert "response_format" in world.ext.requests[0].json()
    assert "response_format" not in world.ext.requests[1].json()
    await world.chat("Bo", [user("I also speak Basque")])
    await world.drain()
    assert "response_format" not in world.ext.requests[2].json()
