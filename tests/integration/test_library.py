"""Memory inside a program: the store opened in process, and clients that remember without a server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anthropic
import anyio.to_thread
import openai
import pytest

from memproxy import Memory, wrap
from memproxy.errors import Problem, SettingsError
from memproxy.lifecycle.past import PastTurn
from memproxy.testing import Answer, ScriptedUpstream
from memproxy.testing.upstream import Wait
from memproxy.testing.upstream import stream as chunks
from memproxy.trust import OPEN
from tests.integration.test_client_anthropic import answer, words
from tests.world import World, facts, user

pytestmark = pytest.mark.anyio

QUICK: Any = {"embed__provider": "hash", "llm__borrow": False}
PRICE = "The bakery on the corner of Ostgata sells rye for 42 kroner"
QUESTION = "How much is the rye at the bakery?"


@pytest.fixture
async def up() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream() as upstream:
        yield upstream


def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def config(tmp_path: Path) -> str:
    file = tmp_path / "memg.json"
    file.write_text("{}")
    return str(file)


def opened(tmp_path: Path, entity: str = "Bo", **settings: Any) -> Any:
    return Memory.open(db(tmp_path), entity=entity, config=config(tmp_path), **{**QUICK, **settings})


async def test_facts_live_in_a_program_as_they_do_behind_the_api(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        fact = await memory.add("Keeps hens in Brask", tag="pets")
        assert (fact.status, fact.confidence) == ("current", 1.0)
        assert (await memory.add("Keeps hens in Brask")).id == fact.id
        assert (await memory.pin(fact.id)).pinned
        assert not (await memory.unpin(fact.id)).pinned
        assert (await memory.confirm(fact.id)).confidence == 1.0
        corrected = await memory.correct(fact.id, "Keeps geese in Brask")
        assert corrected.source_role == "user_explicit"
        behind = await memory.history(fact.id)
        assert [past.text for past in behind.supersedes] == ["Keeps hens in Brask"]
        await memory.forget(fact.id)
        assert await memory.list() == []
        assert (await memory.restore(fact.id)).text == "Keeps geese in Brask"
        assert [row.text for row in await memory.list(query="geese")] == ["Keeps geese in Brask"]
        await memory.deny("Keeps geese in Brask")
        assert await memory.list(status=["current", "forgotten"]) == []
        assert len(await memory.denied()) == 1
        assert (await memory.note("Plays the harp")).source_role == "user_explicit"
        with pytest.raises(Problem, match="No such fact"):
            await memory.pin("0" * 32)
        with pytest.raises(Problem, match="That does not fit"):
            await memory.add("x", significance=99)


WRONG: Any = {
    "a confidence of five": lambda memory, fact: memory.add("Keeps hens", confidence=5),
    "no text": lambda memory, fact: memory.add(None),
    "a note with a status": lambda memory, fact: memory.note("Keeps hens", status="historical"),
    "a note of the assistant": lambda memory, fact: memory.note("Keeps hens", source_role="assistant"),
    "a correction that forgets": lambda memory, fact: memory.correct(fact, "Keeps hens", status="forgotten"),
    "an empty denial": lambda memory, fact: memory.deny(""),
    "a denial without words": lambda memory, fact: memory.deny("!!!"),
    "a preference that is none": lambda memory, fact: memory.prefer(lerning=False),
    "a preference that is no switch": lambda memory, fact: memory.prefer(memory="no"),
    "tags that are one text": lambda memory, fact: memory.prefer(excluded_tags="medical"),
    "nothing preferred": lambda memory, fact: memory.prefer(),
    "a session with a control character": lambda memory, fact: memory.record("Hi", "Hello", session="a\0"),
    "a session of 300 characters": lambda memory, fact: memory.record("Hi", "Hello", session="a" * 300),
    "a message without content": lambda memory, fact: memory.record([{"role": "user"}], "Hello"),
    "a message of parts": lambda memory, fact: memory.record([{"role": "user", "content": [{}]}], "Hello"),
}


async def test_what_the_api_refuses_the_library_refuses_and_nothing_is_changed(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        fact = await memory.add("Has a red bike")
        for what, wrong in WRONG.items():
            with pytest.raises(Problem) as refused:
                await wrong(memory, fact.id)
            assert refused.value.status == 400, what
        assert [row.text for row in await memory.list()] == ["Has a red bike"]
        assert (await memory.turns(), await memory.denied()) == ([], [])
        assert (await memory.preferences()).excluded_tags == ()
        assert (await memory.prefer(excluded_tags=[" Medical "])).excluded_tags == ("medical",)


async def test_a_time_without_a_zone_is_utc_wherever_a_program_gives_one(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        naive = datetime.fromisoformat("2024-05-01T12:00:00")
        [turn, *_] = await memory.record("I keep hens in Brask", "I see", time=naive)
        assert turn.time == naive.replace(tzinfo=UTC)
        fact = await memory.add("Keeps hens", valid_from=naive)
        found = await memory.timeline(since=naive, until=datetime.fromisoformat("2024-05-02"))
        assert [row.id for row in found] == [fact.id]


async def test_what_is_recorded_is_recalled_for_the_same_entity_only(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        stored = await memory.record(PRICE, "Noted.", session="first")
        assert [turn.role for turn in stored] == ["user", "assistant"]
        history = [{"role": "user", "content": PRICE}, {"role": "assistant", "content": "Noted."}]
        again = await memory.record([*history, {"role": "user", "content": "And cake?"}], "30.", session="first")
        assert [turn.content for turn in again] == ["And cake?", "30."]
        await memory.flush()
        block = await memory.context(QUESTION)
        assert block is not None
        assert "42 kroner" in block.text
        assert "42 kroner" in (await memory.search(QUESTION))[0].text
        assert [session.name for session in await memory.sessions()] == ["first"]
        assert len(await memory.turns()) == 4
        other = memory.of("Ida")
        assert await other.context(QUESTION) is None
        assert [row.name for row in await memory.entities()] == ["Bo"]
        await memory.erase()
        assert await memory.entities() == []


async def test_a_memory_is_taken_away_and_brought_in_by_a_program(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.add("Keeps hens in Brask")
        await memory.prefer(patterns=False)
        file = tmp_path / "bo.jsonl"
        file.write_bytes(b"".join([piece async for piece in await memory.export()]))
        ida = memory.of("Ida")
        assert (await ida.import_(file, dry_run=True)).statements == 1
        report = await ida.import_(file)
        assert (report.new_facts, report.broken) == (1, [])
        assert [fact.text for fact in await ida.list()] == ["Keeps hens in Brask"]
        assert not (await ida.preferences()).patterns
        assert await memory.timeline() != []


async def test_learning_at_once_needs_a_model(tmp_path: Path, up: ScriptedUpstream) -> None:
    said = [PastTurn("user", "I keep hens in Brask", datetime(2024, 3, 1, tzinfo=UTC))]
    async with opened(tmp_path) as memory:
        with pytest.raises(Problem, match="No model learns here"):
            await memory.extract(said, session="s")
    up.reply(facts({"text": "Keeps hens in Brask", "quote": "I keep hens in Brask"}))
    model: Any = {"llm__base_url": f"{up.url}/v1", "llm__api_key": "k", "llm__model": "m", "summaries__enabled": False}
    async with opened(tmp_path, **model) as memory:
        [fact] = await memory.extract(said, session="t")
        assert fact.text == "Keeps hens in Brask"
        assert fact.turn_id is not None


async def test_a_program_and_a_server_work_on_one_store_at_the_same_time(world: World) -> None:
    await world.chat("Bo", [user(PRICE)])
    settings = world.settings()
    async with Memory.open(settings.database, entity="Bo", config=config(world.folder), **QUICK) as memory:
        block = await memory.context(QUESTION)
        assert block is not None
        assert "42 kroner" in block.text
        fact = await memory.note("Is allergic to rye flour")
        assert "allergic" in await world.ask("Bo", "Am I allergic to any flour, rye for example?")
        await memory.forget(fact.id)
        assert "allergic" not in await world.ask("Bo", "So is there any flour, rye for example, I react to?")
        await asyncio.gather(
            *(memory.add(f"Owns boat number {n}") for n in range(9)),
            *(world.client.post(world.of("Bo", "/facts"), json={"text": f"Owns car number {n}"}) for n in range(9)),
        )
        assert len(await memory.list(query="number")) == 18


@pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streamed"])
async def test_an_async_openai_client_remembers_without_a_server(
    tmp_path: Path, up: ScriptedUpstream, streaming: bool
) -> None:
    async with opened(tmp_path) as memory:
        plain = openai.AsyncOpenAI(base_url=f"{up.url}/v1", api_key="client-key", max_retries=0)
        async with plain, wrap(plain, entity="Bo", memory=memory) as client:
            await _ask(client, PRICE, streaming)
            await memory.flush()
            said = await _ask(client, QUESTION, streaming)
            assert said == "This is a scripted answer."
        assert b"42 kroner" in up.requests[-1].body
        assert up.requests[-1].header("authorization") == "Bearer client-key"
        assert up.requests[-1].header("x-memg-entity") is None
        assert len(await memory.turns()) == 4


async def test_answers_stream_through_as_they_come_and_a_reader_may_leave(tmp_path: Path, up: ScriptedUpstream) -> None:
    held = Wait()
    whole = chunks("It is 42 kroner.")
    up.reply_answer(Answer(200, whole.headers, [*whole.pieces[:3], held, *whole.pieces[3:]]))
    up.reply_answer(Answer(200, whole.headers, [*whole.pieces[:3], Wait(), *whole.pieces[3:]]))
    async with opened(tmp_path) as memory:
        client = wrap(openai.AsyncOpenAI(base_url=f"{up.url}/v1", api_key="k"), entity="Bo", memory=memory)
        messages: Any = [{"role": "user", "content": QUESTION}]
        stream = await client.chat.completions.create(model="m", messages=messages, stream=True)
        first = [await anext(stream), await anext(stream)]
        assert first[1].choices[0].delta.content == "It is 42"
        held.set()
        assert len([chunk async for chunk in stream]) > 0
        left: Any = await client.chat.completions.create(model="m", messages=messages, stream=True)
        await anext(left)
        await left.close()
        await client.close()
        assert (await memory.turns())[1].content == "It is 42 kroner."


async def test_a_client_waits_no_longer_than_it_says(tmp_path: Path, up: ScriptedUpstream) -> None:
    up.reply_answer(Answer(200, [("content-type", "application/json")], [Wait()]))
    async with opened(tmp_path) as memory:
        plain = openai.AsyncOpenAI(base_url=f"{up.url}/v1", api_key="k", max_retries=0, timeout=0.2)
        async with plain, wrap(plain, entity="Bo", memory=memory) as client:
            with pytest.raises(openai.APITimeoutError):
                await _ask(client, QUESTION, streaming=False)


async def _ask(client: Any, text: str, streaming: bool) -> str:
    messages: Any = [{"role": "user", "content": text}]
    if not streaming:
        answer = await client.chat.completions.create(model="m", messages=messages)
        return str(answer.choices[0].message.content)
    pieces = await client.chat.completions.create(model="m", messages=messages, stream=True)
    return "".join([chunk.choices[0].delta.content or "" async for chunk in pieces])


async def test_sync_clients_of_both_kinds_remember_in_a_thread_of_their_own(
    tmp_path: Path, up: ScriptedUpstream
) -> None:
    def talk() -> list[str]:
        plain = openai.OpenAI(base_url=f"{up.url}/v1", api_key="client-key", max_retries=0)
        with plain, wrap(plain, entity="Bo", memory=db(tmp_path), config=config(tmp_path), **QUICK) as client:
            said: Any = [{"role": "user", "content": PRICE}]
            client.chat.completions.create(model="m", messages=said)
            asked: Any = [{"role": "user", "content": QUESTION}]
            pieces: Any = client.chat.completions.create(model="m", messages=asked, stream=True)
            return [chunk.choices[0].delta.content or "" for chunk in pieces]

    assert "".join(await anyio.to_thread.run_sync(talk)) == "This is a scripted answer."
    assert b"42 kroner" in up.requests[-1].body


@pytest.mark.parametrize("sync", [False, True], ids=["async", "sync"])
async def test_anthropic_clients_remember_without_a_server(tmp_path: Path, up: ScriptedUpstream, sync: bool) -> None:
    how: Any = {"base_url": up.url, "api_key": "client-key", "max_retries": 0}
    ask: Any = {"model": "m", "max_tokens": 9}
    async with opened(tmp_path) as memory:
        await memory.record(PRICE, "Noted.")
        await memory.flush()
        question: Any = [{"role": "user", "content": QUESTION}]
        if sync:
            client = wrap(anthropic.Anthropic(**how), entity="Bo", memory=memory)
            up.reply_answer(answer(words("It is 42 kroner.")))
            await anyio.to_thread.run_sync(lambda: client.messages.create(messages=question, **ask))
            with pytest.raises(anthropic.APIConnectionError) as refused:
                client.messages.create(messages=question, **ask)
            assert "use it in a thread" in str(refused.value.__cause__)
            await anyio.to_thread.run_sync(client.close)
        else:
            up.reply_answer(answer(words("It is 42 kroner."), streaming=True))
            async with (
                wrap(anthropic.AsyncAnthropic(**how), entity="Bo", memory=memory) as speaking,
                speaking.messages.stream(messages=question, **ask) as stream,
            ):
                assert await stream.get_final_text() == "It is 42 kroner."
    assert b"42 kroner" in up.requests[-1].body
    assert OPEN.encode() in up.requests[-1].body


def test_an_async_client_outlives_the_event_loop_that_it_was_first_used_in(tmp_path: Path) -> None:
    """As in programs that call `asyncio.run` for each thing to do: what the first loop had open ended with it."""

    async def once(client: Any, up: ScriptedUpstream, text: str) -> None:
        completion = client.with_options(base_url=f"{up.url}/v1").chat.completions.create
        await completion(model="m", messages=[user(text)])

    async def first(client: Any) -> None:
        async with ScriptedUpstream() as up:
            await once(client, up, PRICE)
            await asyncio.sleep(0.2)  # what was said is recorded behind the answer

    async def second(client: Any) -> bytes:
        async with ScriptedUpstream() as up:
            await once(client, up, QUESTION)
            await client.close()
            return up.requests[-1].body

    plain = openai.AsyncOpenAI(base_url="http://127.0.0.1:9/v1", api_key="k", max_retries=0)
    client = wrap(plain, entity="Bo", memory=db(tmp_path), config=config(tmp_path), **QUICK)
    asyncio.run(first(client))
    assert OPEN in asyncio.run(second(client)).decode()
    assert b"42 kroner" in asyncio.run(first_again(tmp_path))


async def first_again(tmp_path: Path) -> bytes:
    async with opened(tmp_path) as memory:
        return b"".join([piece async for piece in await memory.export()])


async def test_a_request_that_is_cancelled_leaves_nothing_behind(tmp_path: Path, up: ScriptedUpstream) -> None:
    """Neither before the answer's head nor in the middle of it: the upstream is left, and closing waits for nobody."""
    whole = chunks("It is 42 kroner.")
    up.reply_with(lambda request: Answer(200, whole.headers, [Wait()]))
    up.reply_with(lambda request: Answer(200, whole.headers, [*whole.pieces[:3], Wait(), *whole.pieces[3:]]))
    before = asyncio.all_tasks()
    async with opened(tmp_path) as memory:
        plain = openai.AsyncOpenAI(base_url=f"{up.url}/v1", api_key="k", max_retries=0)
        client = wrap(plain, entity="Bo", memory=memory)
        for asked in (1, 2):
            reading = asyncio.create_task(_ask(client, QUESTION, streaming=True))
            await up.wait_for(lambda up, asked=asked: len(up.requests) == asked)  # type: ignore[misc]
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            await up.wait_for(lambda up, asked=asked: up.abandoned == asked)  # type: ignore[misc]
        async with asyncio.timeout(5):
            await client.close()
    await asyncio.sleep(0)
    assert [task for task in asyncio.all_tasks() - before if "library" in repr(task)] == []


async def test_what_is_no_client_cannot_be_wrapped() -> None:
    with pytest.raises(SettingsError, match="no openai or anthropic client"):
        wrap(object(), entity="Bo")


def test_the_package_stays_light_until_something_of_it_is_asked_for() -> None:
    code = "import memproxy, sys; assert not {'numpy', 'aiosqlite', 'msgspec', 'starlette'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
