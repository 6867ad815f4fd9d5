"""Asking one thing twice, of the upstream itself and through the proxy, and what the proxy made of it."""

from __future__ import annotations

import asyncio

from memproxy.testing import Answer
from tests.conformance.comparison import Listener, Seen, inserted, request_differences
from tests.conformance.vendor import FACT, Ask
from tests.world import World


def on_the_wire(ask: Ask, who: str, *, keep_alive: bool = True) -> bytes:
    """A request as bytes."""
    lines = [b"POST " + ask.target + b" HTTP/1.1", b"host: localhost"]
    lines += [f"{name}: {value}".encode() for name, value in ask.headers]
    lines += [f"x-memg-entity: {who}".encode(), f"content-length: {len(ask.body)}".encode()]
    lines += [b"connection: " + (b"keep-alive" if keep_alive else b"close")]
    return b"\r\n".join(lines) + b"\r\n\r\n" + ask.body


async def both_ways(world: World, ask: Ask, answer: Answer, who: str) -> tuple[Seen, Seen]:
    """The answer without the proxy, and through it."""
    seen = []
    for url in (world.up.url, world.url):
        world.up.reply_answer(answer)
        listener = await Listener.ask(url, on_the_wire(ask, who, keep_alive=url == world.up.url))
        seen.append(await listener.read_all())
    return seen[0], seen[1]


def check_the_request(world: World) -> None:
    """What reached the upstream last is what the client had sent it before, and the block."""
    direct, proxied = world.up.requests[-2:]
    assert request_differences(direct, proxied) == []
    assert FACT.encode() in inserted(direct.body, proxied.body)


async def learned(world: World, who: str) -> list[tuple[str, str, bool]]:
    """Who said what, and whether that was all of it."""
    return [(turn["role"], turn["content"], turn["complete"]) for turn in await world.turns(who)]


async def comes_to_learn(world: World, who: str, expected: list[tuple[str, str, bool]]) -> None:
    """What a client that has left leaves behind is recorded a moment after it."""
    for _ in range(3000):
        if await learned(world, who) == expected:
            return
        await asyncio.sleep(0.01)
    assert await learned(world, who) == expected


async def know(world: World, *people: str) -> None:
    """Let there be something to remember of each."""
    for who in people:
        await world.client.post(world.of(who, "/facts"), json={"text": FACT})
    await world.drain()
