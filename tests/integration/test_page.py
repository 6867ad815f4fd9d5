"""The page in a real browser: what people see, and what they do with it, by roles and by keyboard.

Needs Chromium (Debian's, or what MEMPROXY_CHROMIUM names).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect
from rich.console import Console

from memproxy.bench.page import Plan, measure
from tests.world import World, facts, user

CHROMIUM = os.environ.get("MEMPROXY_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
NEEDED = "MEMPROXY_TESTS_NEED_CHROMIUM" in os.environ
PICTURES = os.environ.get("MEMPROXY_PICTURES")  # a folder that pictures of the walk are put into
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
VIEWS = ("memory", "disputes", "profile", "timeline", "conversations", "why", "live", "data")
WHO = "alice"

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and not NEEDED, reason="no Chromium here (MEMPROXY_CHROMIUM names one)"
)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        await opened.close()


@contextlib.asynccontextmanager
async def opened(browser: Browser, **more: Any) -> AsyncIterator[Page]:
    """A page that nothing may go wrong on: no error, no refused script, no dialog that nobody asked for."""
    context = await browser.new_context(locale="en-GB", timezone_id="UTC", **more)
    page = await context.new_page()
    page.set_default_timeout(20_000)
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda message: trouble.append(message.text) if "Content Security" in message.text else None)
    page.on("dialog", lambda dialog: trouble.append(f"dialog: {dialog.message}"))
    yield page
    assert trouble == []
    await context.close()


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    async with opened(browser) as one:
        yield one


def at(world: World, view: str, who: str = WHO, *more: str) -> str:
    return f"{world.url}/memproxy/#/" + "/".join([view, who, *more])


async def picture(page: Page, name: str) -> None:
    if PICTURES:
        await page.wait_for_timeout(300)
        await page.screenshot(path=Path(PICTURES) / f"{name}.png")


async def note(world: World, text: str, **more: Any) -> str:
    answer = await world.client.post(world.of(WHO, "/notes"), json={"text": text, **more})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def learn(world: World, text: str, reply: str) -> None:
    """Something said through the proxy, and learned from."""
    world.ext.reply(reply)
    await world.say(WHO, [], text)
    await world.drain()


def card(page: Page, text: str) -> Any:
    return page.get_by_role("article", name=text, exact=True)


async def test_a_newcomer_finds_what_was_learned_sees_why_corrects_it_and_the_next_answer_knows(
    world: World, page: Page
) -> None:
    await learn(
        world,
        "I am allergic to walnuts, and I live in Lisbon.",
        facts(
            {"text": "Is allergic to walnuts", "quote": "allergic to walnuts", "tag": "medical", "confidence": 0.9},
            {
                "text": "Lives in Lisbon",
                "quote": "I live in Lisbon",
                "tag": "location",
                "slot": "home_city",
                "confidence": 0.9,
            },
        ),
    )
    await world.say(WHO, [], "Where do I live?")
    assert "Lisbon" in world.block()

    await page.goto(f"{world.url}/memproxy/")
    await expect(page.get_by_role("heading", name="Memory", level=1)).to_be_visible()
    home = card(page, "Lives in Lisbon")
    await expect(home).to_be_visible()
    await expect(page.get_by_role("region", name="medical")).to_contain_text("Is allergic to walnuts")
    await picture(page, "memory")
    await home.get_by_text("Where this comes from").click()
    await expect(home.get_by_role("blockquote")).to_have_text("I live in Lisbon")
    await picture(page, "source")

    await page.get_by_role("link", name="Conversations").click()
    await page.get_by_role("link", name="Where do I live?").click()
    await page.get_by_text("Injected here:").click()
    block = page.get_by_role("region", name="The block")
    await expect(block).to_contain_text("Lisbon")
    await expect(page.get_by_role("row", name="I live in Lisbon").first).to_be_visible()
    await picture(page, "conversation")

    await page.get_by_role("link", name="Memory", exact=True).click()
    await home.get_by_role("button", name="Correct").click()
    await home.get_by_role("textbox").fill("Lives in Porto")
    await picture(page, "correct")
    await home.get_by_role("button", name="Save").click()
    await expect(card(page, "Lives in Porto")).to_be_visible()
    await expect(home).to_have_count(0)

    await world.say(WHO, [], "Where do I live?")
    assert "Lives in Porto" in world.block()
    assert "Lisbon" not in world.block()


async def test_a_question_can_be_asked_without_asking_the_model(world: World, page: Page) -> None:
    await note(world, "Is allergic to walnuts", tag="health")
    await page.goto(at(world, "why"))
    await page.get_by_role("searchbox", name="Question or request id").fill("What am I allergic to?")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("region", name="The block")).to_contain_text("Is allergic to walnuts")
    await expect(page.get_by_role("table", name="What it is made of")).to_contain_text("lexical")
    await picture(page, "why")
    assert world.up.requests == []


async def test_an_answers_request_id_tells_what_was_injected(world: World, page: Page) -> None:
    await note(world, "Is allergic to walnuts")
    world.up.reply("No walnuts then.")
    answer = await world.chat(WHO, [user("What am I allergic to?")])
    await world.drain()
    await page.goto(at(world, "why", WHO, answer.headers["x-memg-request-id"]))
    await expect(page.get_by_role("region", name="The block")).to_contain_text("Is allergic to walnuts")
    await page.goto(at(world, "why", WHO, "0" * 32))
    await expect(page.get_by_role("alert")).to_contain_text("No such receipt")


async def test_forgetting_can_be_undone(world: World, page: Page) -> None:
    await note(world, "Plays the cello")
    await page.goto(at(world, "memory"))
    await card(page, "Plays the cello").get_by_role("button", name="Forget").click()
    await expect(card(page, "Plays the cello")).to_have_count(0)
    assert (await world.client.get(world.of(WHO, "/facts"))).json()["items"] == []
    await page.get_by_role("status").get_by_role("button", name="Undo").click()
    await expect(card(page, "Plays the cello")).to_be_visible()


async def test_denying_is_asked_first_and_cannot_be_undone(world: World, page: Page) -> None:
    await note(world, "Plays the cello")
    await page.goto(at(world, "memory"))
    deny = card(page, "Plays the cello").get_by_role("button", name="Deny")
    await deny.click()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    await expect(card(page, "Plays the cello")).to_be_visible()
    await deny.click()
    await page.get_by_role("dialog").get_by_role("button", name="Deny").click()
    await expect(card(page, "Plays the cello")).to_have_count(0)
    assert len((await world.client.get(world.of(WHO, "/denied"))).json()["items"]) == 1


async def test_what_is_done_with_the_keyboard_leaves_the_keyboard_there_and_the_trust_right(
    world: World, page: Page
) -> None:
    await world.seed(WHO, "Owns a kayak", confidence=0.5, source_role="assistant")
    await page.goto(at(world, "memory"))
    kayak = card(page, "Owns a kayak")
    await expect(kayak.get_by_text("uncertain")).to_be_visible()
    await kayak.get_by_role("button", name="Confirm").press("Enter")
    await expect(kayak.get_by_text("uncertain")).to_have_count(0)
    await expect(kayak.get_by_role("button", name="Confirm")).to_be_focused()


async def test_a_fact_is_pinned_confirmed_and_resolved_where_it_stands(world: World, page: Page) -> None:
    await world.client.post(world.of(WHO, "/facts"), json={"text": "Waits for the visa", "thread_status": "open"})
    await page.goto(at(world, "memory"))
    threads = page.get_by_role("region", name="Open threads")
    await threads.get_by_role("button", name="Pin").click()
    await expect(threads.get_by_role("button", name="Unpin")).to_be_visible()
    await threads.get_by_role("button", name="Confirm").click()
    await threads.get_by_role("button", name="Resolve").click()
    await expect(threads.get_by_role("button", name="Resolve")).to_have_count(0)
    [row] = (await world.client.get(world.of(WHO, "/facts"))).json()["items"]
    assert (row["pinned"], row["thread_status"], row["confidence"]) == (True, "resolved", 1.0)


async def test_the_search_answers_while_one_types_and_only_the_keyboard_is_needed(world: World, page: Page) -> None:
    for text in ("Plays the cello", "Is allergic to walnuts", "Lives in Lisbon"):
        await note(world, text)
    await page.goto(at(world, "memory"))
    await expect(page.get_by_role("article")).to_have_count(3)
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
    await page.keyboard.type("cel")
    await expect(page.get_by_role("article")).to_have_count(1)
    await expect(page.get_by_role("status").filter(has_text="with “cel”")).to_contain_text("1 fact with “cel”")
    correct = card(page, "Plays the cello").get_by_role("button", name="Correct")
    for _ in range(4):  # the filter, where it comes from, then what can be done
        await page.keyboard.press("Tab")
        if await correct.evaluate("element => element === document.activeElement"):
            break
    await page.keyboard.press("Enter")
    await page.keyboard.type("Plays the double bass")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.get_by_role("searchbox", name="Search").fill("bass")
    await expect(card(page, "Plays the double bass")).to_be_visible()


async def test_what_is_typed_faster_than_it_is_found_ends_in_the_last_search(world: World, page: Page) -> None:
    for text in ("Keeps a canoe", "Keeps a canary"):
        await note(world, text)
    await page.goto(at(world, "memory"))
    await page.get_by_role("searchbox", name="Search").press_sequentially("canoe", delay=70)
    await expect(page.get_by_role("article")).to_have_count(1)
    await expect(card(page, "Keeps a canoe")).to_be_visible()


HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}}\"'><svg onload=alert(3)>"


async def test_stored_text_is_shown_as_text_wherever_it_comes_from(world: World, page: Page) -> None:
    who = "<b onclick=alert(4)>eve</b>"
    of = world.of(who)
    assert (await world.client.post(f"{of}/notes", json={"text": HOSTILE, "tag": HOSTILE[:60]})).status_code == 201
    await world.client.patch(f"{of}/profile", json={"add": {"languages": [HOSTILE]}})
    turn = {"role": "user", "name": "<i>eve</i>", "content": HOSTILE, "time": "2026-01-01T00:00:00Z"}
    answer = await world.client.post(f"{of}/turns", json={"session": HOSTILE[:100], "turns": [turn]})
    assert answer.status_code == 201, answer.text
    for view in VIEWS:
        await page.goto(at(world, view, quote(who, safe="")))
        await expect(page.locator(f".view.{view}")).to_be_visible()
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert await page.locator("main img, main script, main svg[onload], b").count() == 0
        if view == "conversations":
            await page.locator(".conversations a").click()
            await expect(page.get_by_role("article")).to_contain_text(HOSTILE)
        if view in ("memory", "profile"):
            await expect(page.get_by_role("main")).to_contain_text(HOSTILE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_view_fits_a_phone(world: World, browser: Browser, scheme: Any) -> None:
    await note(world, "Plays the cello on Sundays", tag="hobby")
    await note(world, "Is allergic to walnuts", tag="medical")
    await note(world, "Keeps " + "very" * 60 + " long words", tag="words")
    await world.say(WHO, [], "https://example.org/" + "a" * 300)
    async with opened(browser, viewport={"width": 360, "height": 740}, color_scheme=scheme) as page:
        for view in VIEWS:
            await page.goto(at(world, view))
            await expect(page.locator(f".view.{view}")).to_be_visible()
            wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, view
            if view == "memory" and scheme == "dark":
                await picture(page, f"phone-{scheme}")


async def test_every_view_has_one_heading_landmarks_and_names_for_all_that_can_be_used(
    world: World, page: Page
) -> None:
    await note(world, "Plays the cello", tag="music")
    await world.say(WHO, [], "I play the cello.")
    for view in VIEWS:
        await page.goto(at(world, view))
        await expect(page.locator(f".view.{view}")).to_be_visible()
        await expect(page.get_by_role("heading", level=1)).to_have_count(1)
        await expect(page.get_by_role("navigation", name="Views").get_by_role("link")).to_have_count(len(VIEWS))
        current = page.get_by_role("navigation").locator("[aria-current=page]")
        await expect(current).to_have_attribute("href", f"#/{view}/{WHO}")
        nameless = await page.evaluate(
            """() => [...document.querySelectorAll("button, a, input, select, textarea, summary")].filter((one) =>
                 !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length)).length"""
        )
        assert nameless == 0, view
        assert view.rstrip("s") in (await page.title()).lower() or view == "why"


async def test_a_contradiction_is_decided_with_both_sides_in_view(world: World, page: Page) -> None:
    await note(world, "Is allergic to walnuts", slot="allergy")
    await learn(
        world,
        "I'm not allergic to walnuts.",
        facts(
            {
                "text": "Is not allergic to walnuts",
                "quote": "not allergic to walnuts",
                "slot": "allergy",
                "confidence": 0.9,
            }
        ),
    )
    counts = (await world.client.get(world.of(WHO, "/contradictions/counts"))).json()
    assert counts["open"] == 1, counts
    await page.goto(at(world, "memory"))
    await page.get_by_role("link", name="1 contradiction to decide").click()
    dispute = page.get_by_role("article")
    await expect(dispute.get_by_role("region", name="What is stored")).to_contain_text("Is allergic to walnuts")
    await expect(dispute.get_by_role("region", name="What was said")).to_contain_text("Is not allergic to walnuts")
    await picture(page, "disputes")
    await dispute.get_by_role("button", name="Take what was said").click()
    await expect(page.get_by_role("main")).to_contain_text("Nothing is in dispute.")
    [row] = (await world.client.get(world.of(WHO, "/facts"))).json()["items"]
    assert row["text"] == "Is not allergic to walnuts"


async def test_the_profile_takes_entries_and_lets_them_go(world: World, page: Page) -> None:
    await page.goto(at(world, "profile"))
    await page.get_by_role("textbox", name="Field").fill("languages")
    await page.get_by_role("textbox", name="Entry").fill("Portuguese")
    await page.get_by_role("button", name="Add").click()
    field = page.get_by_role("region", name="languages")
    await expect(field).to_contain_text("Portuguese")
    await field.get_by_role("button", name="Take out Portuguese").click()
    await expect(page.get_by_role("main").get_by_text("Portuguese")).to_have_count(0)


async def test_requests_are_seen_as_they_pass(world: World, page: Page) -> None:
    await note(world, "Is allergic to walnuts")
    await page.goto(at(world, "live"))
    await expect(page.get_by_role("status").filter(has_text="Listening.")).to_be_visible()
    await world.say(WHO, [], "What am I allergic to?")
    row = page.get_by_role("table", name="Requests").get_by_role("row").nth(1)
    await expect(row).to_contain_text("chat_completions")
    await picture(page, "live")
    await row.get_by_role("link", name="injected").click()
    await expect(page.get_by_role("region", name="The block")).to_contain_text("Is allergic to walnuts")


async def test_requests_are_seen_while_the_condition_of_the_memory_is_still_being_looked_at(
    world: World, page: Page
) -> None:
    await note(world, "Owns a kayak")
    await page.route("**/hygiene", lambda route: None)  # never answered
    await page.goto(at(world, "live"))
    await expect(page.get_by_text("Listening.")).to_be_visible()


async def test_what_is_said_twice_is_found_and_can_be_tidied(world: World, page: Page) -> None:
    for text in ("Plays the cello every Sunday morning at home", "Every Sunday morning plays the cello at home"):
        assert (await world.client.post(world.of(WHO, "/facts"), json={"text": text})).status_code == 201
    await page.goto(at(world, "live"))
    await page.get_by_text("1 group of facts that say nearly the same").click()
    await expect(page.get_by_role("article")).to_have_count(2)
    await page.get_by_role("article").first.get_by_role("button", name="Forget").click()
    await expect(page.get_by_role("article")).to_have_count(1)


async def test_erasing_wants_the_name_typed_and_leaves_nothing(world: World, page: Page) -> None:
    await note(world, "Plays the cello")
    await page.goto(at(world, "data"))
    await page.get_by_role("button", name="Erase everything").click()
    dialog = page.get_by_role("dialog")
    erase = dialog.get_by_role("button", name="Erase")
    await expect(erase).to_be_disabled()
    await dialog.get_by_role("textbox").fill("Alice")
    await expect(erase).to_be_disabled()
    await page.keyboard.press("Escape")
    assert len((await world.client.get(world.of(WHO, "/facts"))).json()["items"]) == 1
    await page.get_by_role("button", name="Erase everything").click()
    await dialog.get_by_role("textbox").fill(WHO)
    await erase.click()
    await expect(page.get_by_role("heading", name="Nothing is remembered yet")).to_be_visible()
    assert (await world.client.get(world.of(WHO, "/facts"))).json()["items"] == []


async def test_a_memory_is_taken_away_and_brought_in_after_a_look_at_it(
    world: World, page: Page, tmp_path: Path
) -> None:
    await note(world, "Plays the cello")
    await page.goto(at(world, "data"))
    async with page.expect_download() as taken:
        await page.get_by_role("link", name="Export as JSONL").click()
    file = tmp_path / "alice.jsonl"
    await (await taken.value).save_as(file)
    file.write_text(file.read_text() + "no JSON\n")

    await page.goto(at(world, "data", "bob"))
    await expect(page.get_by_role("main")).to_contain_text("are stored of bob.")
    bring = page.get_by_role("region", name="Bring a memory")
    await bring.get_by_label("File").set_input_files(file)
    await expect(bring).to_contain_text("1 fact")
    await bring.get_by_text("Could not be read: 1").click()
    await expect(bring).to_contain_text("line ")
    assert (await world.client.get(world.of("bob", "/facts"))).json()["items"] == []
    await bring.get_by_role("button", name="Bring it in").click()
    await expect(bring).to_contain_text("New of it: 0 turns, 1 fact.")
    await page.get_by_role("link", name="Memory", exact=True).click()
    await expect(card(page, "Plays the cello")).to_be_visible()


NAMES = (
    "a b",
    "a/b",
    "..x",
    "%2F",
    "#/x?y&z",
    "a\\b",
    "constructor",
    "__proto__",
    "\U0001f600",
    "x" * 255,
    "שלום",
    "a;b'\"`",
)


async def test_whatever_somebody_is_called_the_page_finds_them(world: World, page: Page) -> None:
    for name in NAMES:
        await world.client.post(world.of(name, "/notes"), json={"text": f"Likes {name[:9]}"})
    for name in NAMES:
        await page.goto(at(world, "memory", quote(name, safe="")))
        await expect(card(page, f"Likes {name[:9]}")).to_be_visible()


@pytest.mark.parametrize("name", [".", ".."])
async def test_a_name_that_no_browser_can_ask_for_is_said_to_be_one(world: World, page: Page, name: str) -> None:
    """And nobody else is shown, or changed, in its place."""
    await note(world, "Owns a kayak")
    for view in ("memory", "data", "conversations"):
        await page.goto(at(world, view, name))
        await expect(page.get_by_role("alert")).to_contain_text("A browser cannot ask for")


@pytest.mark.parametrize("address", ["constructor/alice", "toString", "", "//", "memory//", "nowhere/alice/%E0"])
async def test_no_address_is_the_end_of_the_page(world: World, page: Page, address: str) -> None:
    await note(world, "Owns a kayak")
    await page.goto(f"{world.url}/memproxy/#/{address}")
    await expect(card(page, "Owns a kayak")).to_be_visible()


async def test_an_address_that_was_typed_by_hand_shows_nobody_else(world: World, page: Page) -> None:
    """What is no percent-encoding is taken as it stands: the memory before it does not stay in view under that name."""
    await note(world, "Owns a kayak")
    await page.goto(at(world, "memory"))
    await expect(card(page, "Owns a kayak")).to_be_visible()
    await page.goto(at(world, "memory", "50%"))
    await expect(page.get_by_label("Whose memory")).to_have_value("50%")
    await expect(card(page, "Owns a kayak")).to_have_count(0)
    await page.go_back()
    await expect(card(page, "Owns a kayak")).to_be_visible()


async def test_what_another_page_did_meanwhile_is_told_and_not_undone(world: World, page: Page) -> None:
    """Two pages open: neither loses what the other changed, nor fails in silence on what the other took away."""
    fact = await note(world, "Owns a kayak")
    await page.goto(at(world, "memory"))
    await expect(card(page, "Owns a kayak")).to_be_visible()
    await world.client.delete(world.of(WHO, f"/facts/{fact}"))
    await page.get_by_text("Where this comes from").click()
    await expect(page.get_by_role("status").filter(has_text="No such fact")).to_be_visible()
    await page.goto(at(world, "data"))
    await expect(page.get_by_label("Learn habits")).to_be_checked()
    await world.client.put(world.of(WHO, "/preferences"), json={"learning": False})
    await page.get_by_label("Learn habits").uncheck()
    await expect(page.get_by_label("Learn facts from what is said")).not_to_be_checked()
    wanted = (await world.client.get(world.of(WHO, "/preferences"))).json()
    assert (wanted["learning"], wanted["patterns"]) == (False, False)


async def test_a_wish_that_could_not_be_kept_is_not_shown_as_kept(world: World, page: Page) -> None:
    await note(world, "Owns a kayak")
    await page.goto(at(world, "data"))
    box = page.get_by_label("Learn habits")
    await expect(box).to_be_checked()
    await page.route("**/preferences", lambda route: route.abort())
    await box.click()
    await expect(page.get_by_role("status").filter(has_text="The server does not answer")).to_be_visible()
    await expect(box).to_be_checked()


async def test_more_of_one_search_never_comes_into_another(world: World, page: Page) -> None:
    await world.seed(WHO, *(f"Item {number} of the long list" for number in range(60)))
    await note(world, "Owns a kayak")
    await page.goto(at(world, "memory"))

    async def late(route: Any) -> None:
        await page.get_by_role("searchbox").fill("kayak")
        await expect(page.get_by_role("article")).to_have_count(1)
        await route.fallback()

    await page.route("**/facts?*cursor=*", late)
    await page.get_by_role("button", name="Show more").click()
    await page.wait_for_timeout(300)
    await expect(page.get_by_role("article")).to_have_count(1)


async def test_a_page_to_which_the_browser_gives_no_storage_works(world: World, page: Page) -> None:
    await note(world, "Owns a kayak")
    await page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('denied', 'SecurityError'); }})"
    )
    await page.goto(at(world, "memory"))
    await expect(card(page, "Owns a kayak")).to_be_visible()


async def test_a_file_that_is_nothing_of_the_kind_is_not_offered(world: World, page: Page, tmp_path: Path) -> None:
    (tmp_path / "photo.json").write_bytes(b"\x89PNG")
    await note(world, "Plays the cello")
    await page.goto(at(world, "data"))
    bring = page.get_by_role("region", name="Bring a memory")
    await bring.get_by_label("File").set_input_files(tmp_path / "photo.json")
    await expect(bring).to_contain_text("Nothing in it was recognised")
    await expect(bring.get_by_role("button", name="Bring it in")).to_have_count(0)


async def test_an_empty_memory_says_how_to_begin(world: World, page: Page) -> None:
    await page.goto(f"{world.url}/memproxy/")
    await expect(page.get_by_role("main")).to_contain_text(f"OPENAI_BASE_URL={world.url}/v1")


async def test_with_a_key_the_page_shows_what_the_key_may_see(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGE_KEY", "secret")
    monkeypatch.setenv("ADMIN_KEY", "admin")
    keys = [{"key_env": "PAGE_KEY", "entities": [WHO]}, {"key_env": "ADMIN_KEY", "entities": ["*"], "admin": True}]
    async with World.open(tmp_path, keys=keys) as world:
        for who in (WHO, "bob"):
            await world.client.post(
                world.of(who, "/notes"), json={"text": f"Is {who}"}, headers={"X-MemG-Key": "admin"}
            )
        key = {"username": "me", "password": "secret"}
        async with opened(browser, http_credentials=key) as page:
            await page.goto(f"{world.url}/memproxy/")
            await expect(card(page, "Is alice")).to_be_visible()
            listed = page.get_by_role("combobox", name="Whose memory").locator("option")
            assert await listed.all_text_contents() == [WHO, "Another name …"]
            await card(page, "Is alice").get_by_role("button", name="Pin").click()
            await expect(card(page, "Is alice").get_by_role("button", name="Unpin")).to_be_visible()


async def test_the_server_going_away_is_said_and_not_the_end(world: World, browser: Browser) -> None:
    await note(world, "Plays the cello")
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(at(world, "memory"))
    await expect(card(page, "Plays the cello")).to_be_visible()
    await page.route(re.compile("/memproxy/v1/"), lambda route: route.abort())
    await card(page, "Plays the cello").get_by_role("button", name="Pin").click()
    await expect(page.locator(".toast.problem")).to_be_visible()
    await page.unroute_all()
    await card(page, "Plays the cello").get_by_role("button", name="Pin").click()
    await expect(card(page, "Plays the cello").get_by_role("button", name="Unpin")).to_be_visible()
    await context.close()


async def test_paint_search_and_weight_are_measured_beside_the_servers_part(browser: Browser) -> None:
    out = Console(file=io.StringIO(), width=200)
    assert await measure(Plan(facts=500, rounds=1, chromium=CHROMIUM), out, json_output=False) in (0, 1)
    told = out.file.getvalue()  # type: ignore[attr-defined]
    for figure in ("first paint", "from the key to what was found", "the server's part", "weight of the page"):
        assert figure in told
