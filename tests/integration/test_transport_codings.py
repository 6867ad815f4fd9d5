"""Compressed requests: understood like any other, forwarded uncompressed with a block and untouched without one."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import brotli
import httpx
import pytest
import zstandard

from tests.world import World, user

pytestmark = pytest.mark.anyio

Coder = Callable[[bytes], bytes]


def raw_deflate(data: bytes) -> bytes:
    coder = zlib.compressobj(wbits=-15)
    return coder.compress(data) + coder.flush()


def members(data: bytes) -> bytes:
    """gzip in several members, empty ones among them."""
    return gzip.compress(data[:10]) + gzip.compress(b"") * 3 + gzip.compress(data[10:])


CODERS: dict[str, Coder] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor(level=3).compress,
    "identity": lambda data: data,
}

# The headers that are sent, and what was done to the body, first things first.
CODED: dict[str, tuple[Sequence[str], Sequence[Coder]]] = {
    **{name: ([name], [coder]) for name, coder in CODERS.items()},
    "raw deflate": (["deflate"], [raw_deflate]),
    "gzip in members": (["GZip"], [members]),
    "two on top of each other": (["gzip, zstd"], [CODERS["gzip"], CODERS["zstd"]]),
    "two in two headers": (["br", "deflate"], [CODERS["br"], CODERS["deflate"]]),
    "four": (["gzip,br,  zstd,deflate"], [CODERS[name] for name in ("gzip", "br", "zstd", "deflate")]),
    "none and one": (["identity, br"], [CODERS["br"]]),
}

QUESTION = "What is my kayak called, Petrel or Puffin?"


def chat_body(text: str, **more: object) -> bytes:
    return json.dumps({"model": "m", "n": 1, "temperature": 1.0, "messages": [user(text)], **more}).encode()


def coded(name: str, body: bytes) -> tuple[bytes, list[tuple[str, str]]]:
    headers, coders = CODED[name]
    for coder in coders:
        body = coder(body)
    return body, [("Content-Encoding", value) for value in headers]


async def post(world: World, body: bytes, headers: Sequence[tuple[str, str]], who: str = "Bo") -> httpx.Response:
    return await world.client.post(
        f"{world.url}/v1/chat/completions",
        content=body,
        headers=[("X-MemG-Entity", who), ("Content-Type", "application/json"), *headers],
    )


def codings(world: World) -> list[bytes]:
    return [value for name, value in world.up.requests[-1].headers if name == b"content-encoding"]


@pytest.mark.parametrize("name", list(CODED))
async def test_a_compressed_request_is_understood_and_goes_on_uncompressed_with_its_block(
    world: World, name: str
) -> None:
    await world.seed("Bo", "Has a kayak called Petrel")
    plain = chat_body(QUESTION)
    body, headers = coded(name, plain)
    response = await post(world, body, headers)
    assert response.headers["x-memg-memory"].startswith("injected")
    request = world.up.requests[-1]
    assert "Petrel" in world.block()
    assert codings(world) == []
    assert [value for key, value in request.headers if key == b"content-length"] == [b"%d" % len(request.body)]
    # Every byte of the client's own is there, in its order.
    rest = iter(request.body)
    assert all(byte in rest for byte in plain)
    assert await world.said("Bo") == [QUESTION]


@pytest.mark.parametrize("name", list(CODED))
async def test_with_nothing_to_inject_the_compressed_bytes_go_on_as_they_came_and_are_learned_from(
    world: World, name: str
) -> None:
    body, headers = coded(name, chat_body("I own a kayak called Petrel"))
    response = await post(world, body, headers)
    assert response.headers["x-memg-memory"] == "skipped; reason=nothing-relevant"
    assert world.sent == body
    assert codings(world) == [value.encode() for _, value in headers]
    assert await world.said("Bo") == ["I own a kayak called Petrel"]


def bomb(coder: Coder, times: int) -> bytes:
    body = b" " * (80 << 20)
    for _ in range(times):
        body = coder(body)
    return body


LOST: dict[str, Callable[[], tuple[bytes, str]]] = {
    "unknown": lambda: (chat_body(QUESTION), "snappy"),
    "not what it says": lambda: (chat_body(QUESTION), "gzip"),
    "broken": lambda: (gzip.compress(chat_body(QUESTION))[:-30], "gzip"),
    "garbage behind it": lambda: (gzip.compress(chat_body(QUESTION)) + b"garbage", "gzip"),
    "one too few": lambda: (gzip.compress(gzip.compress(chat_body(QUESTION))), "gzip"),
    "five": lambda: (chat_body(QUESTION), "gzip,gzip,gzip,gzip,gzip"),
    "gzip bomb": lambda: (bomb(lambda data: gzip.compress(data, 9), 1), "gzip"),
    "zstd bomb": lambda: (bomb(CODERS["zstd"], 1), "zstd"),
    "br bomb": lambda: (bomb(lambda data: brotli.compress(data, quality=4), 1), "br"),
    "bomb in a bomb": lambda: (bomb(lambda data: gzip.compress(data, 6), 3), "gzip,gzip,gzip"),
    # Expands to nothing at all, in a million steps.
    "empty members in a bomb": lambda: (gzip.compress(gzip.compress(b"", mtime=0) * 1_000_000), "gzip,gzip"),
    "not UTF-8": lambda: (b"\xff\xfe", "\xff"),
}


@pytest.mark.parametrize("kind", list(LOST))
async def test_what_cannot_be_decoded_goes_on_as_it_came_and_leaves_no_trace(world: World, kind: str) -> None:
    await world.seed("Bo", "Has a kayak called Petrel")
    body, coding = LOST[kind]()
    world.up.reply_raw(400, [("content-type", "application/json")], [b'{"error": {"message": "no"}}'])
    response = await world.client.post(
        f"{world.url}/v1/chat/completions",
        content=body,
        headers=[(b"X-MemG-Entity", b"Bo"), (b"Content-Encoding", coding.encode("latin-1"))],
    )
    assert (response.status_code, response.content) == (400, b'{"error": {"message": "no"}}')
    assert response.headers["x-memg-memory"] == "skipped; reason=body"
    assert world.sent == body
    assert len(codings(world)) == 1
    assert await world.turns("Bo") == []


async def test_a_large_request_is_decoded_without_holding_up_the_others(world: World) -> None:
    await world.seed("Bo", "Has a kayak called Petrel")
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" * 300_000}}
    plain = json.dumps({"messages": [user([{"type": "text", "text": QUESTION}, picture])]}).encode()
    body, headers = coded("zstd", plain)
    assert (await post(world, body, headers)).headers["x-memg-memory"].startswith("injected")
    assert len(world.sent) > len(plain)


@pytest.mark.parametrize("mode", ["off", "of"])
async def test_where_memory_is_off_a_compressed_request_is_not_even_opened(world: World, mode: str) -> None:
    body, headers = coded("gzip", chat_body(QUESTION))
    response = await post(world, body, [*headers, ("X-MemG-Memory", mode)])
    assert response.headers["x-memg-memory"] == "skipped; reason=off"
    assert (world.sent, codings(world)) == (body, [b"gzip"])


async def test_routes_that_memory_has_no_part_in_pass_compressed_bodies_through(tmp_path: Path) -> None:
    async with World.open(tmp_path) as world:
        body, headers = coded("zstd", b'{"input": "x"}')
        await world.client.post(f"{world.url}/v1/embeddings", content=body, headers=headers)
        assert (world.sent, codings(world)) == (body, [b"zstd"])
