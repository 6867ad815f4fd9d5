"""Memory as tools: the MCP server, asked by the SDK's own client over both transports."""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from memproxy.server.agents.tools import TOOLS
from tests.integration.test_api import is_problem
from tests.world import World, user

pytestmark = pytest.mark.anyio

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@asynccontextmanager
async def agent(
    world: World, who: str | None = "Bo", path: str = "/memproxy/mcp", **more: str
) -> AsyncIterator[Client]:
    """The SDK's client, as an app that has put the address into its settings."""
    headers = {**({"X-MemG-Entity": who} if who else {}), **more}
    async with (
        httpx2.AsyncClient(headers=headers, verify=False, trust_env=False) as http,
        Client(streamable_http_client(world.url + path, http_client=http), cache=None) as client,
    ):
        yield client


async def told(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


async def failed(client: Client, name: str, **arguments: Any) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


async def test_a_life_by_tools(world: World) -> None:
    await world.chat("Bo", [user("I keep falcons in Brask")], {"X-MemG-Session": "birds"})
    await world.heard("Bo")
    async with agent(world) as client:
        added = await told(client, "add", text="Lives in Tolm", slot="location", reference_time="2020-05-01T00:00:00Z")
        fact = added["id"]
        assert (await told(client, "add", text="lives in tolm"))["id"] == fact
        assert [row["text"] for row in (await told(client, "list"))["items"]] == ["Lives in Tolm"]
        assert "falcons" in (await told(client, "search", query="falcons"))["items"][0]["text"]
        assert (await told(client, "pin", fact=fact))["pinned"] is True
        assert (await told(client, "pin", fact=fact, pinned=False))["pinned"] is False
        right = await told(client, "correct", fact=fact, text="Lives in Brask")
        assert (right["text"], right["source_role"]) == ("Lives in Brask", "user_explicit")
        await world.drain()
        assert "Lives in Brask" in (await told(client, "context", query="Do I live in Brask?"))["block"]
        happened = [(row["kind"], row["text"]) for row in (await told(client, "timeline"))["items"]]
        assert happened == [("change", "Lives in Tolm"), ("fact", "Lives in Brask")]
        assert (await told(client, "sessions"))["items"][0]["name"] == "birds"
        assert await told(client, "forget", fact=fact) == {"deleted": {"facts": 1}}
        assert (await told(client, "list"))["items"] == []
    assert await world.rows("Bo", status="forgotten") != []


async def test_every_tool_says_what_it_takes_gives_and_does(world: World) -> None:
    async with agent(world) as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
    for tool in listed:
        assert tool.description
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"  # type: ignore[index]
        assert all(shape["description"] for shape in tool.input_schema["properties"].values())
    hints = {tool.name: tool.annotations for tool in listed}
    assert {name for name, hint in hints.items() if hint and hint.read_only_hint} == {
        *("search", "list", "context", "timeline", "sessions")
    }
    assert {name for name, hint in hints.items() if hint and hint.destructive_hint} == {"correct", "forget"}


async def test_what_cannot_be_done_says_what_would_work(world: World) -> None:
    async with agent(world) as client:
        assert "No such fact" in await failed(client, "forget", fact="0" * 32)
        assert "text is missing" in await failed(client, "add")
        assert "There are text, tag" in await failed(client, "add", text="Likes tea", colour="red")
        assert "limit is a whole number from 1 to 500" in await failed(client, "list", limit=0)
        assert "A fact needs words" in await failed(client, "add", text="!!!")
        assert "There are add, search" in await failed(client, "remember")
        await world.client.put(world.of("Bo", "/preferences"), json={"memory": False})
        assert "switched off" in await failed(client, "add", text="Likes tea")


async def test_a_memory_is_that_of_whom_header_path_or_key_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BO", "ADMIN"):
        monkeypatch.setenv(f"KEY_{name}", f"key-{name.lower()}")
    keys = [{"key_env": "KEY_BO", "entities": ["Bo"]}, {"key_env": "KEY_ADMIN", "admin": True}]
    async with World.open(tmp_path, keys=keys) as world:
        for who in ("Bo", "Ada"):
            async with agent(world, who, **{"X-MemG-Key": "key-admin"}) as client:
                await told(client, "add", text=f"Is {who}")
        async with agent(world, None, Authorization="Bearer key-bo") as client:
            [mine] = (await told(client, "list"))["items"]
            assert mine["text"] == "Is Bo"
        async with agent(world, None, "/memproxy/as/Ada/memproxy/mcp", **{"X-MemG-Key": "key-admin"}) as client:
            [theirs] = (await told(client, "list"))["items"]
            assert theirs["text"] == "Is Ada"
        async with agent(world, "Bo", **{"X-MemG-Key": "key-admin"}) as client:
            assert "No such fact" in await failed(client, "forget", fact=theirs["id"])
        for headers, status in (
            ({}, 401),
            ({"X-MemG-Key": "wrong"}, 401),
            ({"X-MemG-Key": "key-bo", "X-MemG-Entity": "Ada"}, 403),
            ({"X-MemG-Key": "key-admin"}, 400),
            ({"X-MemG-Key": "key-admin", "Origin": "https://elsewhere.example"}, 403),
        ):
            is_problem(await world.client.post(f"{world.url}/memproxy/mcp", json=HELLO, headers=headers), status)


async def test_a_stranger_s_page_and_a_listener_are_refused(world: World) -> None:
    address = f"{world.url}/memproxy/mcp"
    is_problem(await world.client.post(address, json=HELLO, headers={"Host": "evil.example"}), 403)
    is_problem(await world.client.get(address, headers={"X-MemG-Entity": "Bo"}), 405)


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"text": "zebra',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": "zebra"}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "zebra", "arguments": {"zebra": 1}}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"text": [1]}}}',
        b'{"jsonrpc": "2.0", "id": {"zebra": 1}, "method": "zebra", "params": {"zebra": "zebra"}}',
        b'["zebra"]',
        b"",
    ],
)  # fmt: skip
async def test_no_log_line_holds_what_was_sent(world: World, caplog: pytest.LogCaptureFixture, body: bytes) -> None:
    headers = {
        "X-MemG-Entity": "Bo",
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
    }
    with caplog.at_level("WARNING"):  # below that the SDK is quiet whatever `--debug` says
        for version in ({}, {"mcp-protocol-version": "2025-06-18"}, {"mcp-protocol-version": "zebra"}):
            answer = await world.client.post(f"{world.url}/memproxy/mcp", content=body, headers={**headers, **version})
            assert answer.status_code < 500
    assert [record.getMessage() for record in caplog.records if "zebra" in _told(record)] == []
    assert await world.mem("Bo") == []


def _told(record: logging.LogRecord) -> str:
    return logging.Formatter().format(record)


async def test_without_the_sdk_it_says_what_to_install(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    refused = await world.client.post(f"{world.url}/memproxy/mcp", json=HELLO, headers={"X-MemG-Entity": "Bo"})
    is_problem(refused, 501)
    assert "memproxy[mcp]" in refused.json()["detail"]


async def test_tools_over_standard_input_work_on_the_same_store(world: World) -> None:
    await world.seed("Bo", "Lives in Tolm")
    config = world.folder / "stdio.json"
    config.write_text('{"embed": {"provider": "hash"}}')
    database = world.folder / "store" / "memory.db"
    command = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "memproxy", "mcp", "--entity", "Bo", "--config", str(config), "--db", str(database)],
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    async with Client(command) as client:
        assert [row["text"] for row in (await told(client, "list"))["items"]] == ["Lives in Tolm"]
        await told(client, "add", text="Keeps falcons in Brask")
        assert "No such fact" in await failed(client, "pin", fact="nope")
    assert await world.mem("Bo") == ["Keeps falcons in Brask", "Lives in Tolm"]
    assert "falcons" in await world.ask("Bo", "Where are my falcons?")
