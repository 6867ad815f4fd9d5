"""The world that case tests play in: the real proxy on a real socket, a scripted upstream, a scripted extraction model.

`chat` is what an app does, `ask` a fresh one-turn chat, `block` what the proxy added to the last upstream request.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from memproxy.server.app import App
from memproxy.server.serve import serving
from memproxy.settings import Settings
from memproxy.settings_sources import load
from memproxy.testing import FrozenClock, ScriptedUpstream
from memproxy.trust import CLOSE, OPEN

Message = dict[str, Any]


def system(text: Any) -> Message:
    return {"role": "system", "content": text}


def user(text: Any, **more: Any) -> Message:
    return {"role": "user", "content": text, **more}


def assistant(text: Any, **more: Any) -> Message:
    return {"role": "assistant", "content": text, **more}


def tool(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def facts(*entries: str | Mapping[str, Any]) -> str:
    """A valid reply of the extraction model."""
    return json.dumps({"facts": [{"text": entry} if isinstance(entry, str) else dict(entry) for entry in entries]})


@dataclass
class World:
    """One proxy with everything around it; `restart` stops and starts it on the same store."""

    folder: Path
    up: ScriptedUpstream
    ext: ScriptedUpstream
    flags: dict[str, object] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    clock: FrozenClock | None = None
    app: App | None = None
    url: str = ""
    _stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    _client: httpx.AsyncClient | None = None

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, folder: Path, environ: Mapping[str, str] | None = None, clock: FrozenClock | None = None, **flags: object
    ) -> AsyncIterator[World]:
        """Start everything; flags are settings by dotted name, dots written as two underscores."""
        async with ScriptedUpstream() as up, ScriptedUpstream(lambda request: facts()) as ext:
            named = {name.replace("__", "."): value for name, value in flags.items()}
            world = cls(folder, up, ext, named, dict(environ or {}), clock)
            await world.start()
            try:
                yield world
            finally:
                await world.stop()

    def settings(self) -> Settings:
        config = self.folder / "memg.json"
        config.write_text("{}")
        flags: dict[str, object] = {
            "port": 0,
            "db": str(self.folder / "store" / "memory.db"),
            "target": self.up.url,
            "llm.base_url": f"{self.ext.url}/v1",
            "llm.model": "extractor",
            "llm.api_key": "extraction-key",
            "embed.provider": "hash",
            "facts.gate": "rules",  # scripts answer extraction requests; who scripts the merge gate switches it on
            "summaries.enabled": False,  # the same holds for whoever scripts summaries
            "extraction.quiet_seconds": 600,
            "extraction.turns": 100,
            "memory.deadline_ms": 5000,
            **self.flags,
        }
        return load(str(config), {k: v for k, v in flags.items() if v is not None}, self.environ).settings

    def settings_with(self, **flags: object) -> Settings:
        """The settings, with others from now on."""
        self.flags.update({name.replace("__", "."): value for name, value in flags.items()})
        return self.settings()

    async def start(self) -> None:
        self._stack = contextlib.AsyncExitStack()
        self.app, self.url = await self._stack.enter_async_context(serving(self.settings(), self.clock))
        # No certificates: everything here is plain HTTP, and reading them takes longer than starting the proxy.
        client = httpx.AsyncClient(trust_env=False, timeout=600, verify=False)
        self._client = await self._stack.enter_async_context(client)

    async def stop(self) -> None:
        await self._stack.aclose()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    @property
    def client(self) -> httpx.AsyncClient:
        assert self._client is not None
        return self._client

    # --- what an app does ---

    async def chat(
        self,
        who: str | None,
        messages: Sequence[Message],
        headers: Mapping[str, str] | None = None,
        **body: Any,
    ) -> httpx.Response:
        named = {"X-MemG-Entity": who} if who is not None else {}
        return await self.client.post(
            f"{self.url}/v1/chat/completions",
            json={"model": "m", "messages": list(messages), **body},
            headers={"Authorization": "Bearer client-key", **named, **(headers or {})},
        )

    async def say(self, who: str, history: list[Message], text: str, reply: str = "I see.", **more: Any) -> str:
        """One turn of a conversation that the client replays; the block that went upstream."""
        history.append(user(text))
        self.up.reply(reply)
        response = await self.chat(who, history, **more)
        assert response.status_code == 200, response.text
        history.append(assistant(reply))
        return self.block()

    async def ask(self, who: str, question: str, **more: Any) -> str:
        """The block of a fresh one-turn chat."""
        response = await self.chat(who, [user(question)], **more)
        assert response.status_code == 200, response.text
        return self.block()

    # --- what went upstream ---

    @property
    def sent(self) -> bytes:
        """The newest body that the upstream received."""
        return self.up.requests[-1].body

    @property
    def messages(self) -> list[Message]:
        messages: list[Message] = json.loads(self.sent)["messages"]
        return messages

    def block(self) -> str:
        """The text that the proxy added to the newest upstream request."""
        blocks = []
        for message in self.messages:
            content = message.get("content")
            parts = [content] if isinstance(content, str) else [p.get("text") or "" for p in content or []]
            for text in parts:
                if OPEN in text and CLOSE in text:
                    blocks.append(text[text.index(OPEN) : text.index(CLOSE) + len(CLOSE)])
        assert len(blocks) <= 1, "more than one block"
        return blocks[0] if blocks else ""

    # --- what is stored ---

    def own(self, path: str) -> str:
        return f"{self.url}/memproxy/v1/{path}"

    def of(self, who: str, path: str = "") -> str:
        return self.own(f"entities/{quote(who, safe='').replace('.', '%2E')}{path}")

    async def seed(self, who: str, *texts: str, **fields: Any) -> list[str]:
        """Memories put in through the API; their ids."""
        ids = []
        for text in texts:
            response = await self.client.post(self.of(who, "/facts"), json={"text": text, **fields})
            assert response.status_code == 201, response.text
            ids.append(response.json()["id"])
        await self.drain()
        return ids

    async def rows(self, who: str, **query: str) -> list[dict[str, Any]]:
        response = await self.client.get(self.of(who, "/facts"), params=query)
        assert response.status_code == 200, response.text
        items: list[dict[str, Any]] = response.json()["items"]
        return items

    async def mem(self, who: str) -> list[str]:
        return sorted(row["text"] for row in await self.rows(who))

    async def turns(self, who: str) -> list[dict[str, Any]]:
        response = await self.client.get(self.of(who, "/turns"), params={"limit": 500})
        items: list[dict[str, Any]] = response.json()["items"]
        return items

    async def heard(self, who: str, count: int = 1) -> list[str]:
        """What a person said, once so much of it is stored: on a busy machine an answer's end may come before it."""
        for _ in range(3000):
            if len(said := await self.said(who)) >= count:
                return said
            await asyncio.sleep(0.02)
        raise AssertionError(f"{len(said)} of {count} turns are stored")

    async def said(self, who: str) -> list[str]:
        return [turn["content"] for turn in await self.turns(who) if turn["role"] == "user"]

    async def drain(self, timeout: int = 300) -> dict[str, Any]:
        """Wait until background work is idle; on a machine that is busy with other tests that may take long."""
        progress: dict[str, Any] = (await self.client.post(self.own("flush"), params={"timeout": timeout})).json()
        return progress

    async def metric(self, name: str, **labels: str) -> float:
        """The value of a counter."""
        text = (await self.client.get(f"{self.url}/memproxy/metrics")).text
        wanted = {f'{key}="{value}"' for key, value in labels.items()}
        return sum(
            float(line.rsplit(" ", 1)[1])
            for line in text.splitlines()
            if line.split("{")[0].split(" ")[0] == name and all(part in line for part in wanted)
        )

    def extracted(self) -> list[str]:
        """The `<conversation>` part of each extraction request."""
        return [_part(request.body, "conversation") for request in self.ext.requests]

    def stored(self) -> str:
        """A digest of all that is stored. What readers note beside the journal (`-shm`) is no part of that."""
        kept = (path for path in sorted((self.folder / "store").glob("*")) if not path.name.endswith("-shm"))
        return hashlib.sha256(b"".join(path.read_bytes() for path in kept)).hexdigest()

    def files(self) -> bytes:
        """All bytes of the database and its journals."""
        return b"".join(path.read_bytes() for path in sorted((self.folder / "store").glob("*")))


def _part(body: bytes, tag: str) -> str:
    text: str = json.loads(body)["messages"][-1]["content"]
    return text[text.index(f"<{tag}>") + len(tag) + 2 : text.rindex(f"</{tag}>")]


async def together(*works: Any) -> list[Any]:
    return list(await asyncio.gather(*works))
