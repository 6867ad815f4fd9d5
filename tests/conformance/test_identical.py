"""Every format in every mode, through the proxy with memory on and without it: the same bytes, both ways.

The table in docs/wire.md is what this test found. `CONFORMANCE_WRITE=1 pytest tests/conformance` writes it anew.
"""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path

import pytest

from memproxy.testing import Answer, Request, ScriptedUpstream
from tests.conformance import modes
from tests.conformance.asking import both_ways, check_the_request, comes_to_learn, know, on_the_wire
from tests.conformance.comparison import Listener, Seen, differences
from tests.conformance.vendor import QUESTION, Case, Vendor
from tests.conformance.vendors import VENDORS
from tests.world import World

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[2] / "docs" / "wire.md"
BEGIN, END = "<!-- what tests/conformance found -->\n", "<!-- end -->"

CASES = {(vendor.name, mode): case for vendor in VENDORS for mode, case in vendor.cases().items()}
found: dict[tuple[str, str], bool] = {}


def cells(*of: str) -> pytest.MarkDecorator:
    chosen = [cell for vendor in VENDORS for mode in of if (cell := (vendor.name, mode)) in CASES]
    return pytest.mark.parametrize(("vendor", "mode"), chosen, ids=[" · ".join(cell) for cell in chosen])


def name(vendor: str, mode: str) -> str:
    """Whose memory a cell plays with."""
    return f"{vendor} {mode}"


@pytest.fixture(scope="module")
async def world(world: World) -> World:
    """A world in which everybody has something to be remembered."""
    await know(world, *(name(*cell) for cell in CASES))
    return world


def to_learn(case: Case) -> list[tuple[str, str, bool]]:
    if not case.heard:
        return []
    said = [("assistant", *case.said)] if case.said is not None and case.said[0] else []
    return [("user", QUESTION, True), *said]


@cells(*modes.ANSWERS)
async def test_an_answer_is_the_upstreams_to_the_byte(world: World, vendor: str, mode: str) -> None:
    case, who = CASES[vendor, mode], name(vendor, mode)
    seen = await both_ways(world, case.ask, case.answer, who)
    found[vendor, mode] = not (unlike := differences(*seen))
    assert unlike == []
    assert (seen[1].header(b"x-memg-memory") or b"").startswith(b"injected")
    check_the_request(world)
    await comes_to_learn(world, who, to_learn(case))


@cells(*modes.LEAVING)
async def test_a_client_that_leaves_is_gone_for_the_upstream_within_a_second(
    world: World, vendor: str, mode: str
) -> None:
    case, who = CASES[vendor, mode], name(vendor, mode)
    seen: list[Seen] = []
    noticed: list[bool] = []
    for url in (world.up.url, world.url):
        world.up.reply_with(partial(answering, case))
        requests, abandoned = len(world.up.requests), world.up.abandoned
        listener = await Listener.ask(url, on_the_wire(case.ask, who))
        await world.up.wait_for(partial(received, requests))
        if case.until:
            seen.append(await listener.read_until(case.until))
        listener.leave()
        noticed.append(await gone_within_a_second(world, abandoned))
    unlike = differences(*seen) if seen else []
    found[vendor, mode] = noticed == [True, True] and unlike == []
    assert (noticed, unlike) == ([True, True], [])
    check_the_request(world)
    await comes_to_learn(world, who, to_learn(case))


async def answering(case: Case, request: Request) -> Answer:
    """Nothing at all where a whole answer is awaited; else the beginning of a stream."""
    if not case.until:
        await asyncio.Event().wait()
    return case.answer


def received(before: int, up: ScriptedUpstream) -> bool:
    return len(up.requests) > before


async def gone_within_a_second(world: World, abandoned: int) -> bool:
    try:
        await world.up.wait_for(lambda up: up.abandoned > abandoned, seconds=1)
    except TimeoutError:
        return False
    return True


def test_the_page_shows_what_was_found() -> None:
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    if os.environ.get("CONFORMANCE_WRITE"):
        assert set(found) == set(CASES), "only a whole run is written down"
        PAGE.write_text(before + BEGIN + table() + END + after, "utf-8")
    shown = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert shown == table(), "docs/wire.md is not what was found: CONFORMANCE_WRITE=1 pytest tests/conformance"
    assert "| no" not in shown


def table() -> str:
    """Modes by formats. What this run did not ask stands as it is expected to be."""
    rows = [["", *(vendor.name for vendor in VENDORS)], ["---"] * (len(VENDORS) + 1)]
    rows += [[mode, *(_word(vendor, mode) for vendor in VENDORS)] for mode in modes.MODES]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def _word(vendor: Vendor, mode: str) -> str:
    if (vendor.name, mode) not in CASES:
        return "–"
    return "yes" if found.get((vendor.name, mode), True) else "**no**"
