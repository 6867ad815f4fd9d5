"""`memproxy serve` as a process: what it says, how it stops, and what survives a plug pulled at any moment."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.abc
import httpx
import pytest

from memproxy.testing import ScriptedUpstream
from tests.world import Message, assistant, user

pytestmark = pytest.mark.anyio


class Child:
    """A proxy in a process of its own."""

    def __init__(self, process: anyio.abc.Process, url: str, lines: list[str]) -> None:
        self.process = process
        self.url = url
        self.banner = "\n".join(lines)


@contextlib.asynccontextmanager
async def serving(home: Path, *arguments: str, **environ: str) -> AsyncIterator[Child]:
    """Start `memproxy serve` and wait for its banner."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MEMG_")}
    process = await anyio.open_process(
        [sys.executable, "-m", "memproxy", "serve", "--port", "0", *arguments],
        cwd=home,
        env={**clean, "HOME": str(home), "COLUMNS": "300", "MEMG_EMBED_PROVIDER": "hash", **environ},
        stderr=None,
        stdin=subprocess.DEVNULL,
    )
    async with process:
        try:
            assert process.stdout is not None
            text = ""
            with anyio.fail_after(60):
                while "extraction" not in text or not text.endswith("\n"):
                    text += (await process.stdout.receive()).decode()
            address = text.split("listening on ")[1].split()[0]
            yield Child(process, address, text.splitlines())
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


async def chat(url: str, messages: list[Message], who: str | None = "Bo") -> bytes:
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        headers = {"X-MemG-Entity": who} if who else {}
        body = {"model": "m", "messages": messages, "stream": True}
        async with client.stream("POST", f"{url}/v1/chat/completions", json=body, headers=headers) as response:
            return b"".join([chunk async for chunk in response.aiter_raw()])


async def test_the_banner_says_what_a_person_needs_to_know(tmp_path: Path) -> None:
    async with serving(tmp_path, "--target", "http://127.0.0.1:9/openai") as child:
        for part in (
            child.url,
            f"OPENAI_BASE_URL={child.url}/v1",
            "http://127.0.0.1:9/openai",
            "'default', until a request names one",
            "X-MemG-Entity",
            str(tmp_path / ".memg" / "memory.db"),
            "the caller's own credential",
            "at most 200 calls a day",
        ):
            assert part in child.banner, child.banner
        store = tmp_path / ".memg" / "memory.db"
        assert stat.S_IMODE(store.stat().st_mode) == 0o600
        assert stat.S_IMODE(store.parent.stat().st_mode) == 0o700


async def test_ctrl_c_drains_and_exits_cleanly_and_a_second_start_goes_on(tmp_path: Path) -> None:
    async with ScriptedUpstream() as upstream:
        async with serving(tmp_path, "--target", upstream.url) as child:
            upstream.reply("Lovely.")
            await chat(child.url, [user("I own a kayak called Petrel")])
            child.process.send_signal(signal.SIGINT)
            with anyio.fail_after(20):
                assert await child.process.wait() == 0
        async with serving(tmp_path, "--target", upstream.url) as child:
            assert "requests that name nobody go without memory" in child.banner
            await chat(child.url, [user("What is my kayak called, Petrel or Puffin?")])
            assert b"I own a kayak called Petrel" in upstream.requests[-1].body


async def test_ctrl_c_lets_a_stream_under_way_finish(tmp_path: Path) -> None:
    from memproxy.testing.upstream import Answer

    slow = Answer(
        200,
        [("content-type", "text/event-stream")],
        [b'data: {"choices":[{"delta":{"content":"slow"}}]}\n\n', 1.5, b"data: [DONE]\n\n"],
    )
    async with ScriptedUpstream() as upstream, serving(tmp_path, "--target", upstream.url) as child:
        upstream.reply_with(lambda request: slow)
        answering = asyncio.create_task(chat(child.url, [user("I own a kayak")]))
        while not upstream.requests:  # noqa: ASYNC110 - the request is what is waited for
            await asyncio.sleep(0.01)
        child.process.send_signal(signal.SIGINT)
        assert (await answering).endswith(b"data: [DONE]\n\n")
        with anyio.fail_after(20):
            assert await child.process.wait() == 0
        assert contents(tmp_path) == Counter({"I own a kayak": 1, "slow": 1})


def contents(home: Path) -> Counter[str]:
    """How often each text is stored."""
    with contextlib.closing(sqlite3.connect(home / ".memg" / "memory.db")) as db:
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)
        return Counter(row[0] for row in db.execute("select content from turns"))


async def test_after_kill_9_no_fully_received_turn_is_missing_and_none_is_double(tmp_path: Path) -> None:
    chance = random.Random(5)
    history: list[Message] = []
    received: list[str] = []
    async with ScriptedUpstream() as upstream:
        for _ in range(4):
            async with serving(tmp_path, "--target", upstream.url) as child:

                async def pull_the_plug(running: Child, seconds: float) -> None:
                    await asyncio.sleep(seconds)
                    running.process.kill()

                killing = asyncio.create_task(pull_the_plug(child, chance.uniform(0.05, 0.8)))
                while True:
                    number = len(received)
                    text, reply = f"I saw heron number {number}", f"Heron {number}, noted."
                    upstream.default = lambda request, reply=reply: reply  # type: ignore[misc]
                    try:
                        answer = await chat(child.url, [*history, user(text)])
                    except httpx.HTTPError:
                        break
                    assert answer.endswith(b"data: [DONE]\n\n")
                    received.append(text)
                    history += [user(text), assistant(reply)]
                await killing
                await child.process.wait()
        upstream.default = lambda request: "Heron, noted."  # not what the last round may have stored unreceived
        async with serving(tmp_path, "--target", upstream.url) as child:
            await chat(child.url, [*history, user("That was the last heron")])
            child.process.send_signal(signal.SIGINT)
            await child.process.wait()
    stored = contents(tmp_path)
    assert received
    assert [text for text in received if stored[text] != 1] == []
    assert [text for text, count in stored.items() if count > 1 and text != "Heron, noted."] == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "0.0.0.0"], "so callers need keys"),
        (["--config", "missing.json"], "there is no file missing.json"),
        (["--target", "api.openai.com"], "no base URL"),
        (["--embed-provider", "magic"], "embed.provider (from --embed-provider)"),
    ],
)
async def test_a_wrong_start_says_in_one_line_what_would_work(tmp_path: Path, arguments: list[str], told: str) -> None:
    result = await anyio.run_process(
        [sys.executable, "-m", "memproxy", "serve", *arguments],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "COLUMNS": "300"},
        check=False,
    )
    assert result.returncode == 2
    assert told in result.stderr.decode()
    assert "Traceback" not in result.stderr.decode()


async def test_a_settings_file_with_an_unknown_key_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "memg.json").write_text(json.dumps({"memory": {"token_buget": 5}}))
    result = await anyio.run_process(
        [sys.executable, "-m", "memproxy", "serve"], cwd=tmp_path, env={**os.environ, "COLUMNS": "300"}, check=False
    )
    assert result.returncode == 2
    assert "did you mean memory.token_budget?" in result.stderr.decode()


async def test_a_port_in_use_is_told_with_its_fix(tmp_path: Path) -> None:
    async with serving(tmp_path) as child:
        port = child.url.rsplit(":", 1)[1]
        result = await anyio.run_process(
            [sys.executable, "-m", "memproxy", "serve", "--port", port],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path), "MEMG_EMBED_PROVIDER": "hash", "COLUMNS": "300"},
            check=False,
        )
        assert result.returncode == 2
        assert "choose another with --port" in result.stderr.decode()


async def test_importing_memproxy_loads_no_model_and_no_database_driver() -> None:
    heavy = ("onnxruntime", "tokenizers", "numpy", "aiosqlite", "sqlite3", "pysqlite3")
    code = f"import memproxy, memproxy.commands.tree, sys; print([m for m in {heavy} if m in sys.modules])"
    result = await anyio.run_process([sys.executable, "-c", code])
    assert result.stdout.decode().strip() == "[]"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what a process has loaded")
async def test_with_memory_off_no_model_is_loaded(tmp_path: Path) -> None:
    environ = {"MEMG_MEMORY_ENABLED": "false", "MEMG_EMBED_PROVIDER": "local"}
    async with serving(tmp_path, "--target", "http://127.0.0.1:9", **environ) as child:
        loaded = await anyio.Path(f"/proc/{child.process.pid}/maps").read_text()
    assert "uvloop" in loaded
    assert "onnxruntime" not in loaded
    assert "tokenizers" not in loaded
