"""The page as bytes over HTTP: who gets it, what it may load, and whose writes are taken for its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memproxy.web import assets
from tests.world import World

WEIGHT = 150_000  # bytes that the whole page may have


async def page(world: World) -> str:
    got = await world.client.get(f"{world.url}/memproxy/")
    assert got.status_code == 200
    return got.text


async def token(world: World) -> str:
    found = re.search(r'name="memproxy-token" content="([0-9a-f]{64})"', await page(world))
    assert found is not None
    return found.group(1)


async def test_the_page_and_all_that_it_names_is_there(world: World) -> None:
    named = {"main.js", *re.findall(r'"web/([a-z.]+)"', await page(world))}
    for name in list(named):
        named |= set(re.findall(r'from "\./([a-z]+\.js)"', assets()[name].body.decode()))
    for name in named | set(assets()):
        got = await world.client.get(f"{world.url}/memproxy/web/{name}")
        assert (got.status_code, got.headers["content-type"]) == (200, assets()[name].media_type)
    assert (await world.client.get(f"{world.url}/memproxy/web/__init__.py")).status_code == 404
    assert (await world.client.get(f"{world.url}/memproxy/web/..%2F__init__.py")).status_code == 404


async def test_without_its_last_slash_the_page_is_found_too(world: World) -> None:
    got = await world.client.get(f"{world.url}/memproxy")
    assert (got.status_code, got.headers["location"]) == (308, "/memproxy/")


def test_the_whole_page_is_light() -> None:
    assert sum(len(asset.body) for asset in assets().values()) < WEIGHT


def test_nothing_in_the_page_parses_markup_or_names_another_host() -> None:
    for name, asset in assets().items():
        code = asset.body.decode().replace("http://www.w3.org/2000/svg", "")
        assert (
            re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|style=| on\w+=\"", code) is None
        ), name
        assert re.search(r"https?://(?!\$\{)", code) is None, name


async def test_the_page_lets_nothing_run_but_its_own_files(world: World) -> None:
    for path in ("/memproxy/", "/memproxy/web/main.js"):
        headers = (await world.client.get(world.url + path)).headers
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert headers["x-content-type-options"] == "nosniff"


async def test_a_file_that_has_not_changed_is_not_sent_again(world: World) -> None:
    first = await world.client.get(f"{world.url}/memproxy/web/style.css")
    again = await world.client.get(
        f"{world.url}/memproxy/web/style.css", headers={"If-None-Match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


async def test_a_browsers_write_is_taken_from_the_page_only(world: World) -> None:
    """A page of the same origin that was not handed out by us has no token; another origin does not come so far."""
    proof, path, body = await token(world), world.of("Ada", "/notes"), {"text": "Likes tea"}
    for headers, status in [
        ({}, 201),
        ({"Origin": world.url}, 403),
        ({"Origin": world.url, "X-MemG-Page": "0" * 64}, 403),
        ({"Origin": world.url, "X-MemG-Page": "é"}, 403),
        ({"Origin": world.url, "X-MemG-Page": proof}, 201),
        ({"Origin": "https://evil.example", "X-MemG-Page": proof}, 403),
    ]:
        sent = {name.encode(): value.encode() for name, value in headers.items()}
        assert (await world.client.post(path, json=body, headers=sent)).status_code == status, headers
    assert (await world.client.get(path.replace("/notes", "/facts"), headers={"Origin": world.url})).status_code == 200
    erased = await world.client.delete(world.of("Ada", ""), headers={"Origin": world.url})
    assert erased.status_code == 403


async def test_a_page_that_is_open_outlives_a_restart(world: World) -> None:
    proof = await token(world)
    await world.restart()
    assert await token(world) == proof


@pytest.fixture
async def keyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PAGE_KEY", "kéy:1")
    return "kéy:1"


async def test_with_keys_the_browser_asks_for_one(tmp_path: Path, keyed: str) -> None:
    async with World.open(tmp_path, keys=[{"key_env": "PAGE_KEY", "entities": ["Ada"]}]) as world:
        asked = await world.client.get(f"{world.url}/memproxy/", headers={"Accept": "text/html"})
        assert (asked.status_code, asked.headers["www-authenticate"].split()[0]) == (401, "Basic")
        program = await world.client.get(world.of("Ada", "/facts"))
        assert (program.status_code, program.headers["www-authenticate"]) == (401, "Bearer")

        given = await world.client.get(f"{world.url}/memproxy/", auth=("anybody", keyed))
        assert given.status_code == 200
        assert (await world.client.get(f"{world.url}/memproxy/", auth=("anybody", "wrong"))).status_code == 401
        broken = await world.client.get(f"{world.url}/memproxy/", headers={"Authorization": "Basic %%%"})
        assert broken.status_code == 401
        assert (await world.client.get(world.of("Bo", "/facts"), auth=("", keyed))).status_code == 403


async def test_a_key_that_the_browser_adds_by_itself_does_not_stand_for_the_token(tmp_path: Path, keyed: str) -> None:
    async with World.open(tmp_path, keys=[{"key_env": "PAGE_KEY", "entities": ["Ada"]}]) as world:
        path, body, origin = world.of("Ada", "/notes"), {"text": "Likes tea"}, {"Origin": world.url}
        assert (await world.client.post(path, json=body, headers=origin, auth=("", keyed))).status_code == 403
        mine = {b"Origin": world.url.encode(), b"X-MemG-Key": keyed.encode()}
        assert (await world.client.post(path, json=body, headers=mine)).status_code == 201
