"""Found by attack: replies that find a fault in us, and what must go on all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world import World, facts, user

pytestmark = pytest.mark.anyio

JSON = ("content-type", "application/json")


async def _goes_on_after(world: World) -> None:
    """Learning works, whatever came before."""
    world.ext.reply(facts({"text": "Loves the cat Minka", "quote": "love my cat Minka"}))
    await world.chat("Ada", [user("I love my cat Minka")])
    assert (await world.drain(10))["idle"]
    assert await world.mem("Ada") == ["Loves the cat Minka"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"choices":[{"message":{"content":"{\\"facts\\":[]}"}}],"usage":{"prompt_tokens":' + b"9" * 30 + b"}}",
        b'{"choices":[{"message":{"content":"{\\"facts\\":[]}"}}],"usage":{"completion_tokens":-5}}',
        b"[" * 100_000,
        b'{"choices":[["message"]]}',
    ],
    ids=["more tokens than an integer holds", "fewer tokens than none", "bottomless", "another shape"],
)
async def test_an_answer_of_an_impossible_shape_does_not_end_learning(tmp_path: Path, body: bytes) -> None:
    async with World.open(tmp_path, extraction__max_attempts=2) as world:
        for _ in range(2):
            world.ext.reply_raw(200, [JSON], [body])
        await world.chat("Bo", [user("I own a kayak, and it leaks")])
        assert (await world.drain(10))["idle"]
        world.ext._script.clear()
        await _goes_on_after(world)


@pytest.mark.parametrize("told", ["inf", "nan", "-5", "1e400", "Mon, 99 Foo 99999 00:00:00 GMT", "99999999999999"])
async def test_a_retry_after_that_is_no_time_does_not_end_learning(tmp_path: Path, told: str) -> None:
    async with World.open(tmp_path, extraction__max_attempts=1) as world:
        world.ext.reply_raw(429, [JSON, ("retry-after", told)], [b"{}"])
        await world.chat("Bo", [user("I own a kayak, and it leaks")])
        assert (await world.drain(10))["dead"] == 1
        await _goes_on_after(world)


async def test_a_fault_in_learning_buries_the_job_and_learning_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from memproxy.lifecycle import worker

    async def broken(*args: object) -> None:
        raise ValueError("I own a kayak")

    async with World.open(tmp_path, extraction__max_attempts=2) as world:
        with monkeypatch.context() as patched:
            patched.setattr(worker, "extract", broken)
            await world.chat("Bo", [user("I own a kayak, and it leaks")])
            assert await world.drain(10) == {"idle": True, "pending": 0, "dead": 1}
        assert "ValueError" in caplog.text
        assert "kayak" not in caplog.text
        await _goes_on_after(world)


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "24:00", "2021-W01"])
async def test_a_time_at_the_edge_of_the_calendar_breaks_no_chat(tmp_path: Path, time: str) -> None:
    async with World.open(tmp_path, client_time=True) as world:
        response = await world.chat("Bo", [user("I own a kayak")], headers={"X-MemG-Time": time})
        assert response.status_code == 200
        assert await world.said("Bo") == ["I own a kayak"]


@pytest.mark.parametrize("broken", ["decode", "inject"])
async def test_a_fault_in_reading_or_editing_a_request_sends_it_as_it_came(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    from memproxy.wire.chat_completions import ChatCompletions

    def fault(*args: object) -> None:
        raise ValueError("I own a kayak")

    await world.seed("Bo", "Owns a red kayak")
    monkeypatch.setattr(ChatCompletions, broken, fault)
    response = await world.chat("Bo", [user("Which kayak do I own?")])
    assert response.status_code == 200
    assert response.headers["x-memg-memory"] == "skipped; reason=error"
    assert world.messages == [user("Which kayak do I own?")]
    assert "ValueError" in caplog.text
    assert "kayak" not in caplog.text


async def test_an_extraction_server_that_drips_or_floods_does_not_hold_up_learning(tmp_path: Path) -> None:
    async with World.open(tmp_path, llm__timeout=0.5, extraction__max_attempts=1) as world:
        world.ext.reply_raw(200, [JSON], [piece for _ in range(600) for piece in (b" ", 0.1)])
        await world.chat("Bo", [user("I own a kayak, and it leaks")])
        await world.drain(10)
        world.ext.reply_raw(200, [JSON], [b" " * (1 << 20)] * 64)
        await world.chat("Cy", [user("I own a raft, and it leaks")])
        await world.drain(10)
        jobs = (await world.client.get(world.own("jobs"), params={"state": "dead"})).json()["items"]
        assert {job["entity"]: job["error"] for job in jobs} == {"Bo": "timeout", "Cy": "too-large"}
        await _goes_on_after(world)
