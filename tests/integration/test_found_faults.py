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
