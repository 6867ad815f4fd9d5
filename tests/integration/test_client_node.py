"""Clients on Node, and an upstream there that nobody here wrote: through the proxy they see what they see without it.

`npm ci --ignore-scripts` in tests/node installs them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memproxy.embedders import open_embedder
from memproxy.settings import Embed
from tests.conformance import modes
from tests.conformance.comparison import Listener, Seen, differences, inserted
from tests.conformance.vendor import FACT, QUESTION, Case
from tests.conformance.vendors import VENDORS
from tests.world import World

HERE = Path(__file__).parents[1] / "node"
NODE = shutil.which("node")
MISSING = "Node is not installed" if NODE is None else "run `npm ci --ignore-scripts` in tests/node"
READY = NODE is not None and (HERE / "node_modules").is_dir()

pytestmark = pytest.mark.anyio
on_node = pytest.mark.skipif(not READY, reason=MISSING)


def test_where_node_is_expected_nothing_here_is_skipped() -> None:
    assert READY or not os.environ.get("MEMPROXY_TESTS_NEED_NODE"), MISSING


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """For the whole module, so that a proxy can live as long."""
    return "asyncio"


# --- clients -------------------------------------------------------------------------------------------------

CASES: dict[tuple[str, str], Case] = {
    (vendor.name, mode): case for vendor in VENDORS for mode, case in vendor.cases().items()
}
ALL = modes.ANSWERS
SOME = (modes.STREAM, modes.SPLIT, modes.TOOLS, modes.LONG, modes.DEATH, modes.ERROR, modes.ENDLESS)
FAILING = (modes.LIMITED, modes.REFUSED, modes.HTML, modes.DEATH)


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with World.open(tmp_path_factory.mktemp("node")) as opened:
        yield opened


async def run(script: str, url: str, steps: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a client saw, by mode."""
    process = await asyncio.create_subprocess_exec(
        str(NODE), script, url, json.dumps(steps), cwd=HERE, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        printed, _ = await process.communicate()
    assert process.returncode == 0
    seen: dict[str, Any] = json.loads(printed)
    return seen


@on_node
@pytest.mark.parametrize(
    ("script", "api", "vendor", "asked"),
    [
        ("openai.mjs", "chat", "chat completions", ALL),
        ("openai.mjs", "responses", "Responses", ALL),
        ("openai-helpers.mjs", "chat", "chat completions", SOME),
        ("openai-helpers.mjs", "responses", "Responses", SOME),
        ("anthropic.mjs", "messages", "messages", ALL),
        ("ai.mjs", "chat", "chat completions", ALL),
        ("ai.mjs", "messages", "messages", ALL),
    ],
)
async def test_a_clients_view_is_the_same_as_without_a_proxy(
    world: World, script: str, api: str, vendor: str, asked: Sequence[str]
) -> None:
    steps = [
        {"mode": mode, "api": api, "entity": f"{script} {api} {mode}", "streaming": CASES[vendor, mode].ask.streams}
        for mode in asked
    ]
    for step in steps:
        await world.client.post(world.of(str(step["entity"]), "/facts"), json={"text": FACT})
    before = len(world.up.requests)
    views = []
    for url in (world.up.url, world.url):
        for mode in asked:
            world.up.reply_answer(CASES[vendor, mode].answer)
        views.append(await run(script, url, steps))
    direct, proxied = views
    assert proxied == direct
    for mode in asked:
        assert ("failure" in json.dumps(direct[mode])) or mode not in FAILING
        assert "Petrel" in json.dumps(direct[mode]) or mode in (*FAILING, modes.LONG, modes.TOOLS)
    sent = world.up.requests[before:]
    assert len(sent) == 2 * len(asked)
    for alone, through in zip(sent[: len(asked)], sent[len(asked) :], strict=True):
        assert FACT.encode() in inserted(alone.body, through.body)


# --- an upstream ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
async def llmock() -> AsyncIterator[str]:
    """The address of a server that plays many vendors'."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        "node_modules/.bin/llmock",
        "-p",
        str(port),
        "-h",
        "127.0.0.1",
        "-f",
        "llmock.json",
        "--log-level",
        "silent",
    ]
    process = await asyncio.create_subprocess_exec(*command, cwd=HERE)
    try:
        await answers(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


async def answers(port: int) -> None:
    """Wait until somebody listens there."""
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(ConnectionError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.05)


@pytest.fixture(scope="module")
async def before_llmock(llmock: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with World.open(tmp_path_factory.mktemp("llmock"), target=llmock) as opened:
        yield opened


def chat(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], **more}


def contents(text: str) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": text}]}]}


GEMINI = "/v1beta/models/gemini-2.5-flash"
REQUESTS: dict[str, tuple[str, Any]] = {
    "chat": ("/v1/chat/completions", chat),
    "chat stream": (
        "/v1/chat/completions",
        lambda text: chat(text, stream=True, stream_options={"include_usage": True}),
    ),
    "messages": ("/v1/messages", lambda text: chat(text, max_tokens=99)),
    "messages stream": ("/v1/messages", lambda text: chat(text, max_tokens=99, stream=True)),
    "responses": ("/v1/responses", lambda text: {"model": "gpt-4o", "input": text}),
    "responses stream": ("/v1/responses", lambda text: {"model": "gpt-4o", "input": text, "stream": True}),
    "gemini": (f"{GEMINI}:generateContent", contents),
    "gemini stream": (f"{GEMINI}:streamGenerateContent?alt=sse", contents),
    "ollama": ("/api/chat", lambda text: chat(text, stream=False)),
    "ollama stream": ("/api/chat", chat),
}
# Made up anew for every answer: ids, and the time.
VOLATILE = re.compile(
    rb'"(?:(?:[a-z]+[-_])[\w-]{12,}|\d{4}-\d\d-\d\dT[\d:.]+Z)"|(?<="created":)\d+|(?<="created_at":)\d+'
)


def settled(seen: Seen) -> Seen:
    """An answer without what the upstream makes up anew."""
    headers = [(name, b"now" if name.lower() == b"date" else value) for name, value in seen.headers]
    return replace(seen, headers=headers, body=VOLATILE.sub(b'"#"', seen.body))


@on_node
@pytest.mark.parametrize(
    "topic", [QUESTION, "What is the tide for my kayak Petrel?", "Will you refuse my kayak called Petrel?"]
)
@pytest.mark.parametrize("kind", list(REQUESTS))
async def test_an_upstream_that_nobody_here_wrote_is_passed_on_as_it_is(
    before_llmock: World, llmock: str, kind: str, topic: str
) -> None:
    world, who = before_llmock, f"{kind} {topic}"
    await world.client.post(world.of(who, "/facts"), json={"text": FACT})
    target, body = REQUESTS[kind]
    sent = json.dumps(body(topic)).encode()
    seen = []
    for url in (llmock, world.url):
        lines = [f"POST {target} HTTP/1.1", "host: localhost", "x-request-id: r-1", f"x-memg-entity: {who}"]
        lines += ["content-type: application/json", f"content-length: {len(sent)}"]
        listener = await Listener.ask(url, "\r\n".join(lines).encode() + b"\r\n\r\n" + sent)
        seen.append(settled(await listener.read_all()))
    direct, proxied = seen
    assert differences(direct, proxied) == []
    assert (proxied.header(b"x-memg-memory") or b"").startswith(b"injected")
    turns = [(turn["role"], turn["content"]) for turn in await world.turns(who)]
    said = [("user", topic), ("assistant", "Your kayak is called Petrel – Grüße 🎉.")]
    assert turns == ([] if "refuse" in topic else said[:1] if "tide" in topic else said)


@on_node
@pytest.mark.parametrize(
    ("provider", "path"), [("openai", "/v1"), ("anthropic", ""), ("gemini", ""), ("ollama", ""), ("custom", "/v1")]
)
async def test_facts_are_learned_with_models_that_nobody_here_wrote(
    llmock: str, tmp_path: Path, provider: str, path: str
) -> None:
    async with World.open(
        tmp_path, llm__provider=provider, llm__base_url=llmock + path, llm__api_key="any", llm__model="some-model"
    ) as world:
        await world.chat("Bo", [{"role": "user", "content": "I own a raft"}])
        await world.heard("Bo")
        await world.drain()
        assert await world.mem("Bo") == ["Owns a raft"]
        told = 0 if provider == "ollama" else 20  # it plays an Ollama that does not count
        assert await world.metric("memproxy_extraction_tokens_total", direction="input") == told


@on_node
async def test_vectors_come_from_a_server_that_nobody_here_wrote(llmock: str) -> None:
    embedder = await open_embedder(Embed(provider="custom", base_url=f"{llmock}/v1", model="text-embedding-3-small"))
    try:
        vectors = await embedder.embed_documents(["I own a raft", "I own a kayak", "I own a raft"])
        assert vectors.shape == (3, embedder.info.dimensions)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
        assert np.array_equal(vectors[0], vectors[2])
        assert not np.array_equal(vectors[0], vectors[1])
    finally:
        await embedder.close()
