"""`memproxy demo`: the whole product in one minute, with no key and no network.

The real proxy and a scripted upstream run on free loopback ports; two people talk through real HTTP with streaming.
Every claim on the screen is read off the bodies that the upstream really received; the exit code is 1 unless all hold.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from memproxy.server.serve import serving
from memproxy.settings import Settings
from memproxy.settings_sources import load
from memproxy.testing import ScriptedUpstream
from memproxy.testing.upstream import Request
from memproxy.trust import CLOSE, OPEN

FIRST = (
    "Hi! I'm Ilse. I keep a small bakery in Quillhaven with my brother Jorun.",
    "Our rye needs 18 hours. And I'm allergic to hazelnuts, so none of those.",
)
LATER = "Which new pastry could I bake for my bakery this week? And which nuts can I not have?"

# What a competent extraction model would note down of the lines above.
NOTED = {
    "I keep a small bakery in Quillhaven": "Keeps a small bakery in Quillhaven with her brother Jorun",
    "I'm allergic to hazelnuts": "Is allergic to hazelnuts",
}


def _model(request: Request) -> str:
    """The scripted upstream: extracts when asked to, else just answers."""
    asked = json.loads(request.body)["messages"][-1]["content"]
    if "<conversation>" not in asked:
        return "Nice to hear from you!" if "pastry" not in asked else "How about a cardamom twist?"
    facts = [
        {"text": text, "quote": quote, "speaker": "user", "significance": 6}
        for quote, text in NOTED.items()
        if quote in asked
    ]
    return json.dumps({"facts": facts})


@dataclass
class Story:
    """Talks through the proxy and shows what happens."""

    console: Console
    upstream: ScriptedUpstream
    client: httpx.AsyncClient
    claims: list[tuple[str, bool]] = field(default_factory=list)

    async def say(self, who: str, history: list[dict[str, str]], text: str) -> str:
        """One streamed chat turn; the block that the upstream received for it."""
        history.append({"role": "user", "content": text})
        body = {"model": "demo", "stream": True, "messages": history}
        answer = ""
        async with self.client.stream(
            "POST", "/v1/chat/completions", json=body, headers={"X-MemG-Entity": who, "Authorization": "Bearer demo"}
        ) as response:
            async for line in response.aiter_lines():
                answer += _delta(line)
            memory = response.headers.get("x-memg-memory", "")
        history.append({"role": "assistant", "content": answer})
        self.console.print(f"[bold]{who}[/bold]  {escape(text)}")
        self.console.print(f"[dim]model  {escape(answer)}   ({escape(memory)})[/dim]")
        return _block(self.sent())

    def sent(self) -> list[dict[str, Any]]:
        """The messages of the newest chat that reached the upstream."""
        bodies = [request.json() for request in reversed(self.upstream.requests)]
        messages: list[dict[str, Any]] = next(
            body["messages"] for body in bodies if "<conversation>" not in body["messages"][-1]["content"]
        )
        return messages

    def claim(self, text: str, holds: bool) -> None:
        """State something and whether it holds."""
        self.claims.append((text, holds))
        self.console.print(f"  [{'green' if holds else 'red'}]{'✓' if holds else '✗'}[/] {escape(text)}")

    def show(self, block: str) -> None:
        """The block as the upstream saw it."""
        self.console.print(Panel(escape(block), title="injected into the prompt", border_style="cyan"))


async def run_demo(json_output: bool) -> int:
    """Play the story; 0 if every claim holds."""
    console = Console(emoji=False, quiet=json_output)  # as wide as a page, into a pipe too: a story is for reading
    with tempfile.TemporaryDirectory(prefix="memproxy-demo-") as folder:
        async with ScriptedUpstream(_model) as upstream:
            settings = _settings(Path(folder), upstream.url)
            async with (
                serving(settings) as (_, url),
                httpx.AsyncClient(base_url=url, trust_env=False, timeout=30) as client,
            ):
                story = Story(console, upstream, client)
                await _play(story)
    if json_output:
        sys.stdout.write(json.dumps([{"claim": text, "holds": holds} for text, holds in story.claims], indent=2) + "\n")
    failed = [text for text, holds in story.claims if not holds]
    console.print(
        f"\n[red]{len(failed)} claims do not hold[/red]"
        if failed
        else "\nThat was the real proxy. Now yours: [bold]memproxy serve[/bold], and set OPENAI_BASE_URL in your app."
    )
    return 1 if failed else 0


def _settings(folder: Path, target: str) -> Settings:
    flags = {
        "port": 0,
        "target": target,
        "db": str(folder / "memory.db"),
        "llm.base_url": f"{target}/v1",
        "llm.model": "demo-extractor",
        "llm.api_key": "demo",
    }
    empty = folder / "memg.json"
    empty.write_text("{}")
    return load(str(empty), flags, {}).settings


async def _play(story: Story) -> None:
    console = story.console
    console.rule("a first conversation: Ilse")
    history: list[dict[str, str]] = []
    first = [await story.say("ilse", history, text) for text in FIRST]
    story.claim("nothing is injected while there is nothing to remember", not any(first))
    await story.client.post("/memproxy/v1/flush")
    facts = [fact["text"] for fact in (await story.client.get("/memproxy/v1/entities/ilse/facts")).json()["items"]]
    console.print("[dim]learned in the background:[/dim] " + escape("; ".join(facts)))
    story.claim("both facts were learned, with the words they stand on", sorted(facts) == sorted(NOTED.values()))

    console.rule("days later, a new conversation: Ilse again")
    block = await story.say("ilse", [], LATER)
    story.show(block)
    story.claim("the upstream received what she said about hazelnuts", "hazelnuts" in block)
    story.claim("and about her bakery", "bakery" in block)
    sent = story.sent()
    story.claim("her own message reached the upstream word for word", sent[-1] == {"role": "user", "content": LATER})

    console.rule("the same question from somebody else: Bo")
    block = await story.say("bo", [], LATER)
    said = json.dumps(story.sent())
    story.claim(
        "Bo's request carries nothing of Ilse", not block and not any(w in said for w in ("hazelnut", "Quillhaven"))
    )
    other = (await story.client.get("/memproxy/v1/entities/bo/facts")).json()["items"]
    story.claim("and nothing of hers is stored for Bo", other == [])


def _delta(line: str) -> str:
    if not line.startswith("data: {"):
        return ""
    return "".join(choice["delta"].get("content") or "" for choice in json.loads(line[6:])["choices"])


def _block(messages: list[dict[str, Any]]) -> str:
    return "\n".join(_blocks(messages))


def _blocks(messages: list[dict[str, Any]]) -> Iterator[str]:
    for message in messages:
        content = message["content"]
        if OPEN in content and CLOSE in content:
            yield content[content.index(OPEN) : content.index(CLOSE) + len(CLOSE)]
