"""A question that only makes sense after what was said is put to memory together with that; no other is."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from memproxy.lifecycle.followups import follows_up, resolved
from memproxy.model import Message
from tests.world import Message as Sent
from tests.world import World, assistant, user

JORUN = "My sister Jorun restores harpsichords in Bergen."
PIET = "My brother Piet breeds alpacas near Utrecht."
WHY = "I moved out of the lighthouse because the foghorn kept me awake."
OTHERS = (
    "I keep tomatoes on the balcony.", "The dentist moved my appointment to Thursday.", "We painted the hallway green.",
    "My bicycle needs a new chain.", "I am learning to juggle five balls.",
)  # fmt: skip


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with World.open(tmp_path_factory.mktemp("world"), recall__threshold=0.35) as world:
        for text in (JORUN, PIET, WHY, *OTHERS):
            await world.say("Ada", [], text)
        await world.heard("Ada", 8)
        await world.drain()
        yield world


async def block(world: World, *messages: Sent) -> str:
    response = await world.chat("Ada", messages, {"X-MemG-Memory": "read"})
    assert response.status_code == 200, response.text
    return world.block()


HARPSICHORDS = (user("Who restores harpsichords?"), assistant("Your sister does."))


@pytest.mark.parametrize(
    ("before", "question", "wanted"),
    [
        (HARPSICHORDS, "where?", JORUN),
        (HARPSICHORDS, "What about her?", JORUN),
        ((user("Which of my brothers breeds alpacas?"), assistant("One does.")), "and the other one?", PIET),
        ((user("Did I move out of the lighthouse?"), assistant("Yes, you did.")), "why?", WHY),
        ((user("Did I move out of the lighthouse?"), assistant("Yes.")), "Warum?", WHY),
        ((user("Who is Piet?"), assistant("Your brother Piet.")), "What does he breed?", PIET),
        ((*HARPSICHORDS, user("why?"), assistant("No idea.")), "and since when?", JORUN),
    ],
)
async def test_a_question_that_follows_up_is_asked_with_what_it_follows(
    world: World, before: tuple[Sent, ...], question: str, wanted: str
) -> None:
    assert wanted not in await block(world, user(question))
    assert wanted in await block(world, *before, user(question))


@pytest.mark.parametrize(
    "question",
    ["How do I centre a div in CSS?", "What is the capital of France?", "Is it worth learning Rust?", "thanks!"],
)
async def test_a_topic_drifted_through_earlier_colours_no_question_that_stands_by_itself(
    world: World, question: str
) -> None:
    alone = await block(world, user(question))
    drifted = await block(
        world, *HARPSICHORDS, user("And my brother's alpacas?"), assistant("Near Utrecht."), user(question)
    )
    assert JORUN not in drifted
    assert PIET not in drifted
    assert drifted == alone


@pytest.mark.parametrize(
    "text",
    [
        *("why?", "and the other one?", "What about her?", "Where does she live?", "And my brother?", "the second one"),
        *("How long is it?", "und der andere?", "Und meine Mutter?", "¿Y ella?", "et l'autre ?", "e lei?", "en zij?"),
        *("她呢？", "彼女は？", "그녀는요?", "почему?", "а она?", "为什么？"),
    ],
)
def test_what_follows_up_is_told_by_its_form_in_many_languages(text: str) -> None:
    assert follows_up(text)


@pytest.mark.parametrize(
    "text",
    [
        *("thanks", "ok, go on", "continue", "fix it", "And where does my sister live?", "what time is it?", "你好"),
        *("Is it raining?", "What did I tell my boss about it?", "Does it hurt to eat eggs daily?", "Who is Jorun?"),
        *("Explain that.", "Was kostet ein Bahnticket nach Wien?", "So what is a monad?", "x" * 5000, "", "???", "👍"),
    ],
)
def test_what_stands_by_itself_does_not(text: str) -> None:
    assert not follows_up(text)
    assert resolved(text, [Message("user", "Where is Bergen?"), Message("assistant", "In Norway.")]) == text


def test_a_chain_of_follow_ups_leads_back_to_the_question_that_names_something() -> None:
    said = [
        Message("user", "Tell me about otters."), Message("assistant", "They swim."),
        Message("user", "Where does my sister Jorun live?"), Message("assistant", "In Bergen, near Fløyen."),
        Message("user", "thanks"), Message("assistant", "You're welcome."),
        Message("user", "and my brother?"), Message("assistant", "He lives near Utrecht."),
    ]  # fmt: skip
    assert resolved("why?", said).splitlines() == [
        "Where does my sister Jorun live?",
        "and my brother?",
        "Utrecht",
        "why?",
    ]
