"""After another embedding model was set: nothing is lost, the old vectors serve until the new ones are complete."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from memproxy import doctor
from memproxy.assembly import opening
from memproxy.assembly.parts import Parts, open_parts
from memproxy.cli import main
from memproxy.commands import reembed
from memproxy.embedders import remote as remote_calls
from memproxy.lifecycle import reembedding as brought
from memproxy.model import Entity
from memproxy.settings_sources import load
from memproxy.store import reembedding
from memproxy.store import vectors as vectors_rows
from memproxy.testing import ScriptedUpstream
from memproxy.testing.upstream import Answer, Request
from tests.contracts.chat_vendors import json_answer
from tests.contracts.embedding_vendors import OPENAI, numbers
from tests.world import World

OLD, NEW = "hash-256", "hash-64"
PEOPLE = (Entity("ilse"), Entity("bo"))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Ilse and Bo, each with a kayak, in vectors of the old model."""
    async with World.open(tmp_path, recall__resident=0) as made:
        for who, name in (("ilse", "Petrel"), ("bo", "Auk")):
            await made.say(who, [], f"I own a kayak called {name}")
        await made.drain()
        yield made


def parts(world: World) -> Parts:
    assert world.app is not None
    return world.app.parts


async def models(world: World) -> dict[str, int]:
    return await parts(world).db.read(reembedding.models)


async def model_of(world: World, who: Entity) -> str | None:
    return await parts(world).db.read(lambda conn: vectors_rows.model_of(conn, who))


async def cosines(world: World, who: str = "ilse") -> list[float | None]:
    """What meaning says of each passage that is proposed for a question."""
    recaller, now = parts(world).recaller, parts(world).clock.now()
    async with recaller.asked("What is my kayak called?", now=now, floor=False) as question:
        found = await recaller.find(Entity(who), question, floor=False)
    return [scored.candidate.cosine for scored in found.scored]


async def ready(world: World) -> dict[str, Any]:
    said: dict[str, Any] = (await world.client.get(f"{world.url}/memproxy/ready")).json()
    return said


async def until(world: World, holds: Callable[[dict[str, int]], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds(await models(world)):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def brought_over(world: World, model: str) -> None:
    """Wait until everybody is searched by a model, and the old one has been let go of."""
    await until(world, lambda found: set(found) == {model})
    async with asyncio.timeout(20):
        while parts(world).embedders.replaced:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def swap(world: World, **flags: object) -> None:
    """Stop, set something else, start."""
    world.flags.update({name.replace("__", "."): value for name, value in flags.items()})
    await world.restart()


async def test_l29_and_k1_the_old_vectors_serve_until_the_new_ones_are_made(world: World) -> None:
    before = await models(world)
    await swap(world, embed__dimensions=64, embed__reembed="manual")
    said = await ready(world)
    assert said["memory"] == "ok"
    assert said["reembedding"]["of"] == [OLD]
    assert said["reembedding"]["total"] == before[OLD]
    assert "memproxy reembed" in said["reembedding"]["told"]
    assert await models(world) == before
    assert None not in await cosines(world)
    assert "Petrel" in await world.ask("ilse", "What is my kayak called?")
    # What is said meanwhile joins the old ones, and is there for the new ones too.
    await world.say("ilse", [], "The kayak has a leak")
    await world.drain()
    assert set(await models(world)) == {OLD}
    assert None not in await cosines(world)
    await swap(world, embed__reembed="background")
    await brought_over(world, NEW)
    assert (await models(world))[NEW] > before[OLD]
    assert (await ready(world))["reembedding"] is None
    assert None not in await cosines(world)
    assert "leak" in await world.ask("ilse", "What about my kayak?")
    assert await world.metric("memproxy_recall_lexical_only_total") == 0
    assert await parts(world).db.read(lambda conn: reembedding.staged(conn, NEW)) == 0


async def test_one_person_is_brought_over_while_another_still_waits(world: World) -> None:
    await swap(world, embed__dimensions=64, embed__reembed="manual")
    reembedder = parts(world).reembedder
    while await reembedder.step(Entity("ilse")):
        pass
    assert [await model_of(world, who) for who in PEOPLE] == [NEW, OLD]
    assert None not in await cosines(world, "ilse") + await cosines(world, "bo")
    await swap(world, embed__dimensions=256)  # taken back: whoever waited is as before, the other one is brought back
    assert (await ready(world))["reembedding"]["of"] == [NEW]
    await swap(world, embed__reembed="background")
    await brought_over(world, OLD)
    assert None not in await cosines(world, "ilse")


async def test_a_copy_in_memory_is_of_the_model_that_serves(world: World) -> None:
    await swap(world, embed__dimensions=64, embed__reembed="manual", recall__resident=1000)
    recaller, now = parts(world).recaller, parts(world).clock.now()

    async def by_meaning() -> list[bool]:
        async with recaller.asked("What is my kayak called?", now=now, floor=False, entity=PEOPLE[0]) as question:
            found = await recaller.find(PEOPLE[0], question, floor=False)
        await recaller.settled()
        return [any("dense" in scored.reasons for scored in found.scored)]

    assert await by_meaning() + await by_meaning() == [True, True]
    while await parts(world).reembedder.step():
        pass
    assert await by_meaning() + await by_meaning() == [True, True]
    assert await world.metric("memproxy_recalls_total", source="memory") == 2


async def test_what_is_said_while_vectors_are_made_is_among_them(world: World) -> None:
    await swap(world, embed__dimensions=64, embed__reembed="manual")
    reembedder, db = parts(world).reembedder, parts(world).db
    await reembedder.step(Entity("ilse"))
    assert await db.read(lambda conn: reembedding.staged(conn, NEW)) > 0
    await world.say("ilse", [], "My sister has a canoe")  # between the last batch and the exchange
    await world.drain()
    while await reembedder.step(Entity("ilse")):
        pass
    assert await model_of(world, PEOPLE[0]) == NEW
    assert await db.read(lambda conn: reembedding.left(conn, Entity("ilse"), NEW)) == 0
    assert None not in await cosines(world)


async def test_h_an_erasure_while_vectors_are_made_leaves_none(world: World) -> None:
    await swap(world, embed__dimensions=64, embed__reembed="manual")
    reembedder, db = parts(world).reembedder, parts(world).db
    await reembedder.step(Entity("ilse"))
    assert await db.read(lambda conn: reembedding.staged(conn, NEW)) > 0
    assert (await world.client.delete(world.of("ilse", ""))).status_code == 200
    assert await db.read(lambda conn: reembedding.staged(conn, NEW)) == 0
    while await reembedder.step():
        pass
    assert set(await models(world)) == {NEW}


# --- providers that are away -----------------------------------------------------------------------------------------


def serve(request: Request) -> Answer:
    return json_answer(OPENAI.answer([numbers(text) for text in request.json()["input"]]))


def remote(up: ScriptedUpstream) -> dict[str, Any]:
    return {"embed__provider": "custom", "embed__base_url": f"{up.url}/v1", "embed__model": "m"}


async def test_k3_without_the_old_model_words_serve_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLD_KEY", "secret-of-old")
    async with ScriptedUpstream(serve) as old, World.open(tmp_path, **remote(old), embed__api_key="env:OLD_KEY") as it:
        await it.say("ilse", [], "I own a kayak called Petrel")
        await it.drain()
        monkeypatch.delenv("OLD_KEY")
        asked = len(old.requests)
        local = {"embed__provider": "hash", "embed__base_url": None, "embed__model": None, "embed__api_key": None}
        await swap(it, **local, embed__reembed="manual")
        said = await ready(it)
        assert said["memory"] == "degraded"
        assert any("words" in reason and "OLD_KEY" in reason for reason in said["reasons"])
        assert "Petrel" in await it.ask("ilse", "What is my kayak called?")
        assert await it.metric("memproxy_recall_lexical_only_total", reason="reembedding") > 0
        assert len(old.requests) == asked
        assert b"secret-of-old" not in (tmp_path / "store" / "memory.db").read_bytes()
        await swap(it, embed__reembed="background")
        await brought_over(it, OLD)
        assert (await ready(it))["memory"] == "ok"
        assert None not in await cosines(it)


INFO = {"model": "openai/x@8", "dimensions": 8, "floor": 0.1, "duplicate": 0.9}


async def test_a_model_elsewhere_is_not_asked_any_more_where_all_is_to_stay_here(world: World) -> None:
    note = {"embed": {"provider": "openai", "api_key": "env:PATH"}, "info": INFO}
    await parts(world).db.write(lambda conn: conn.run("meta_put", key="model:openai/x@8", value=json.dumps(note)))
    whose = {"tenant": PEOPLE[0].tenant, "entity": "ilse"}
    await parts(world).db.write(lambda conn: conn.run("reembedding_note", **whose, model="openai/x@8"))
    await swap(world, embed__reembed="manual")
    assert "on another machine" in str((await ready(world))["reembedding"])


async def test_a_provider_that_was_away_at_the_very_first_start_is_there_once_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "FIRST_PAUSE", 0.05)
    async with ScriptedUpstream(lambda request: json_answer({}, 503)) as up, World.open(tmp_path, **remote(up)) as it:
        await it.say("ilse", [], "I own a kayak called Petrel")
        await it.drain()
        assert (await ready(it))["memory"] == "degraded"
        assert "Petrel" in await it.ask("ilse", "What is my kayak called?")
        assert await it.metric("memproxy_recall_lexical_only_total", reason="failed") > 0
        up.default = serve
        await until(it, lambda found: sum(found.values()) > 0)
        await it.drain()
        assert (await ready(it))["memory"] == "ok"
        assert None not in await cosines(it)


async def test_a_key_that_is_refused_at_the_first_start_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "FIRST_PAUSE", 0.0)
    async with ScriptedUpstream(lambda request: json_answer({}, 401)) as up, World.open(tmp_path, **remote(up)) as it:
        await it.say("ilse", [], "I own a kayak called Petrel")
        await it.drain()
        assert len(up.requests) == 1
        assert "the key is refused" in str((await ready(it))["reasons"])


async def test_a_provider_that_fails_while_vectors_are_made_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brought, "PAUSE_AFTER_FAILURE", 0.05)
    async with World.open(tmp_path) as it, ScriptedUpstream(serve) as up:
        await it.say("ilse", [], "I own a kayak called Petrel")
        await it.drain()
        failed = asyncio.Event()

        def down(request: Request) -> Answer:
            if "kayak" in request.body.decode():
                failed.set()
                return json_answer({}, 402)
            return serve(request)

        up.default = down
        await swap(it, **remote(up), embed__dimensions=None)
        await failed.wait()
        assert set(await models(it)) == {OLD}
        assert "Petrel" in await it.ask("ilse", "What is my kayak called?")
        up.default = serve
        await until(it, lambda found: OLD not in found)
        assert None not in await cosines(it)


# --- the command -----------------------------------------------------------------------------------------------------


async def command(folder: Path, *args: str, **environ: str) -> int:
    """`memproxy reembed` as its entry point runs it, on the world's store."""

    def call() -> int:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MEMG_DB", str(folder / "store" / "memory.db"))
            patch.setenv("MEMG_EMBED_PROVIDER", "hash")
            for name, value in environ.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["memproxy", "reembed", *args])
            try:
                main()
            except SystemExit as left:
                return int(left.code or 0)
        return 0

    return await anyio.to_thread.run_sync(call)


async def test_the_command_brings_one_person_or_everybody_over_beside_a_running_server(
    world: World, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    new = {"MEMG_EMBED_DIMENSIONS": "64"}
    assert await command(tmp_path) == 0
    assert capfd.readouterr().out == "nothing to do\n"
    assert await command(tmp_path, "--entity", "ilse", "--json", **new) == 0
    assert json.loads(capfd.readouterr().out) == {"made": 2}
    assert [await model_of(world, who) for who in PEOPLE] == [NEW, OLD]
    assert "Petrel" in await world.ask("ilse", "What is my kayak called?")  # of a server that knows the old model only
    assert await world.metric("memproxy_recall_lexical_only_total", reason="reembedding") == 1
    assert await command(tmp_path, **new) == 0
    assert "new vectors" in capfd.readouterr().out
    assert [await model_of(world, who) for who in PEOPLE] == [NEW, NEW]


async def test_the_command_says_what_keeps_it_from_working(
    world: World, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembed, "PAUSE", 0.0)
    assert await command(tmp_path, MEMG_EMBED_PROVIDER="off") == 2
    assert "switched off by embed.provider" in capfd.readouterr().err
    assert await command(tmp_path, "--entity", "ilze", MEMG_EMBED_DIMENSIONS="64") == 1
    assert "ilze" in capfd.readouterr().err
    async with ScriptedUpstream() as up:
        up.default = lambda request: json_answer({}, 503) if b"kayak" in request.body else serve(request)
        theirs = {"MEMG_EMBED_PROVIDER": "custom", "MEMG_EMBED_MODEL": "m", "MEMG_EMBED_BASE_URL": f"{up.url}/v1"}
        monkeypatch.setattr(remote_calls, "TRIES", 1)
        assert await command(tmp_path, **theirs) == 1
    said = " ".join(capfd.readouterr().err.split())
    assert "status-503" in said
    assert "goes on there" in said


async def test_doctor_says_what_was_made_by_another_model(world: World, tmp_path: Path) -> None:
    loaded = load(None, {"db": str(tmp_path / "store" / "memory.db"), "embed.provider": "hash"}, {})
    [said] = [finding async for finding in doctor._embedder(loaded.settings) if finding.check == "vectors"]
    assert (said.state, said.detail) == ("ok", "4, all of hash-256")
    loaded = load(
        None, {"db": str(tmp_path / "store" / "memory.db"), "embed.provider": "hash", "embed.dimensions": 8}, {}
    )
    [said] = [finding async for finding in doctor._embedder(loaded.settings) if finding.check == "vectors"]
    assert said.state == "warning"
    assert "4 of hash-256" in said.detail
    assert "reembed" in said.fix


# --- kill -9 ---------------------------------------------------------------------------------------------------------


async def test_k1_nothing_is_lost_where_it_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brought, "BATCH", 2)
    async with World.open(tmp_path) as it, ScriptedUpstream(serve) as up:
        await it.client.put(it.of("ilse", "/preferences"), json={"learning": False})
        for n in range(7):
            await it.say("ilse", [], f"Entry {n}: otter, kayak and harbour")
        await it.drain()
        before = await models(it)
        await it.stop()
        settings = {"db": str(tmp_path / "store" / "memory.db"), "embed": {"provider": "custom", "model": "m"}}
        settings["embed"]["base_url"] = f"{up.url}/v1"  # type: ignore[index]
        (tmp_path / "new.json").write_text(json.dumps(settings))
        batches = asyncio.Queue[Request]()

        async def once(request: Request) -> Answer:
            if b"Entry" in request.body:
                batches.put_nowait(request)
                if batches.qsize() == 3:
                    await asyncio.sleep(60)
            return serve(request)

        up.default = once
        code = "import memproxy.lifecycle.reembedding as r; r.BATCH = 2; from memproxy.cli import main; main()"
        command = [sys.executable, "-c", code, "reembed", "--config", str(tmp_path / "new.json")]
        child = await asyncio.create_subprocess_exec(*command, cwd=tmp_path, stderr=asyncio.subprocess.PIPE)
        async with asyncio.timeout(60):
            await up.wait_for(lambda server: batches.qsize() == 3)
        child.kill()
        assert await child.wait() == -9
        up.default = serve
        up.requests.clear()
        it.flags["embed.reembed"] = "manual"
        await it.start()  # with the settings as they were: everything is as it was
        assert await models(it) == before
        assert None not in await cosines(it)
        assert await parts(it).db.read(lambda conn: reembedding.staged(conn, "custom/m@48")) == 4
        await it.stop()
        async with open_parts(it.settings_with(**remote(up))) as made:
            progress = await made.reembedder.count()
            assert (progress.total, progress.done) == (before[OLD], 4)
            while await made.reembedder.step():
                pass
            assert await made.db.read(reembedding.models) == {"custom/m@48": before[OLD]}
        texts = [text for request in up.requests for text in request.json()["input"] if "Entry" in text]
        assert [text[6:13] for text in texts] == [f"Entry {n}" for n in range(2, 7)]
        await it.start()
