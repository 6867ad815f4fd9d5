"""`memproxy bench page`: how soon the page shows something, and how soon a search answers, in a real browser.

Beside them stand the page's weight, and the time that the server alone takes for the same search.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table

from memproxy.assembly.parts import open_parts
from memproxy.bench.facts import START, statements
from memproxy.extraction.reconcile import as_fact
from memproxy.interfaces import Connection
from memproxy.lifecycle.indexing import fact_passages
from memproxy.model import Entity
from memproxy.server.serve import serving
from memproxy.settings import Settings
from memproxy.settings_sources import load
from memproxy.store import entities
from memproxy.store import facts as fact_rows
from memproxy.store import passages as passage_rows
from memproxy.web import assets

if TYPE_CHECKING:
    from playwright.async_api import Page

MOST_PAINT = 300.0  # milliseconds
MOST_SEARCH = 100.0
MOST_WEIGHT = 150_000.0  # bytes
WHO = Entity("person-0")
WORDS = ("kayak", "Oslo", "greenhouse", "beehive near", "Narvik", "piano", "month for a room", "Quillhaven")
BATCH = 500
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

# From the key being pressed until what was found stands there and has been painted.
_SEARCH = """
words => new Promise(done => {
  const input = document.querySelector('input[type="search"]'), found = document.querySelector(".groups");
  const begin = performance.now();
  new MutationObserver((_, watch) => {
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
  }).observe(found, { childList: true });
  input.value = words;
  input.dispatchEvent(new Event("input"));
})
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much, and with what."""

    facts: int = 10_000
    rounds: int = 10
    chromium: str | None = None  # the browser's program; None: the one that is found


async def measure(plan: Plan, out: Console, json_output: bool) -> int:
    """Run it and print the figures; 1 where one is missed, 2 where there is no browser to measure in."""
    chromium = plan.chromium or shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        out.print("Needs Chromium (--chromium names one) and the package playwright: pip install playwright")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        settings = _settings(Path(folder))
        await _fill(settings, plan.facts, out)
        async with serving(settings) as (_, url), async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            figures = await _figures(plan, url, await browser.new_page(), out)
            await browser.close()
    if json_output:
        out.print_json(data=figures)
    else:
        _show(figures, plan, out)
    return 0 if all(figure["holds"] for figure in figures) else 1


async def _fill(settings: Settings, count: int, out: Console) -> None:
    said = statements(1)
    async with open_parts(settings) as parts:
        for _ in track(range(0, count, BATCH), "facts", console=out):
            facts = [as_fact(next(said), START) for _ in range(BATCH)]

            async def put(conn: Connection, facts: list[Any] = facts) -> None:
                await entities.ensure(conn, WHO, START)
                for fact in facts:
                    if (await fact_rows.insert(conn, WHO, fact)).id == fact.id:
                        await passage_rows.add(conn, WHO, fact_passages(fact))

            await parts.db.write(put)


async def _figures(plan: Plan, url: str, page: Page, out: Console) -> list[dict[str, Any]]:
    paints, complete, searches = [], [], []
    address = f"{url}/memproxy/#/memory/{WHO.name}"
    for _ in track(range(plan.rounds), "opening", console=out):
        await page.goto("about:blank")
        begin = time.perf_counter()
        await page.goto(address)
        await page.locator("article").first.wait_for()
        complete.append((time.perf_counter() - begin) * 1000)
        paints.append(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    for number in track(range(plan.rounds), "searching", console=out):
        searches.append(await page.evaluate(_SEARCH, WORDS[number % len(WORDS)]))
    served = await _served(plan, url)
    return [
        _figure("first paint, ms", statistics.median(paints), MOST_PAINT),
        _figure("open with facts shown, ms", statistics.median(complete), None),
        _figure("a search, from the key to what was found, ms", statistics.median(searches), MOST_SEARCH),
        _figure("… the slowest, ms", max(searches), None),
        _figure("the server's part of it, ms", served, None),
        _figure("weight of the page, bytes", float(sum(len(asset.body) for asset in assets().values())), MOST_WEIGHT),
    ]


async def _served(plan: Plan, url: str) -> float:
    times = []
    async with httpx.AsyncClient(trust_env=False) as client:
        for number in range(plan.rounds):
            query = {"group": "tag", "query": WORDS[number % len(WORDS)], "status": "current", "limit": "200"}
            begin = time.perf_counter()
            answer = await client.get(f"{url}/memproxy/v1/entities/{WHO.name}/facts", params=query)
            answer.raise_for_status()
            times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


def _figure(name: str, value: float, most: float | None) -> dict[str, Any]:
    return {"figure": name, "value": round(value, 1), "most": most, "holds": most is None or value <= most}


def _show(figures: list[dict[str, Any]], plan: Plan, out: Console) -> None:
    table = Table("figure", "measured", "at most", "holds", title=f"{plan.facts:,} facts, medians of {plan.rounds}")
    for figure in figures:
        most = "" if figure["most"] is None else f"{figure['most']:g}"
        table.add_row(figure["figure"], f"{figure['value']:g}", most, "yes" if figure["holds"] else "NO")
    out.print(table)


def _settings(folder: Path) -> Settings:
    config = folder / "memg.json"
    config.write_text("{}")
    flags = {"port": 0, "db": str(folder / "memory.db"), "embed.provider": "hash", "llm.borrow": False}
    return load(str(config), flags, {}).settings
