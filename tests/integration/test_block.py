"""The block through the proxy: what is said unasked and when, the person's words beside facts, forms of one's own."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

from memproxy.context.formatters import layout_named
from memproxy.errors import SettingsError
from memproxy.testing import FrozenClock
from tests.unit.lifecycle.test_lifecycle_suggesting import NOW
from tests.world import Message, World, facts, user

pytestmark = pytest.mark.anyio

SISTER = "My sister Jorun lives in Quillhaven and trains falcons"
ASKED = "Where does my sister Jorun live?"


async def learn(world: World, said: str, **fact: object) -> None:
    """Let the model note one fact of something said."""
    world.ext.reply(facts(fact))
    await world.chat("Bo", [user(said)])
    await world.drain()


async def test_ot1_open_threads_stand_at_the_beginning_of_a_conversation_only(world: World) -> None:
    await world.seed("Bo", SISTER)
    await learn(
        world,
        "I wait for the surveyor's report",
        text="Waits for the surveyor's report",
        quote="I wait for the surveyor's report",
        thread_status="open",
        type="event",
    )
    history: list[Message] = []
    assert "[OPEN THREADS]\n- Waits for the surveyor's report (open since" in await world.say("Bo", history, ASKED)
    assert "[OPEN THREADS]" not in await world.say("Bo", history, f"Tell me again: {ASKED}")
    assert await world.ask("Bo", "hello") == ""


async def test_the_persons_words_are_not_shown_beside_a_fact_once_they_are_taken_back(world: World) -> None:
    said = "Jorun and I hauled our falcons over to Quillhaven in a cart"
    await learn(world, said, text="Moved to Quillhaven with Jorun", quote=said)
    for turn in await world.turns("Bo"):
        assert turn["content"]
    await world.client.post(world.of("Bo", "/denied"), json={"text": "hauled our falcons over to Quillhaven in a cart"})
    assert "cart" not in await world.ask("Bo", "When did I move to Quillhaven with Jorun?")


async def test_feelings_and_suggestions_are_shown_only_where_they_are_switched_on(tmp_path: Path) -> None:
    clock = FrozenClock(NOW - timedelta(days=2))
    async with World.open(tmp_path, clock=clock, memory__emotional=True, memory__proactive=True) as world:
        await world.seed("Bo", SISTER)
        said = "I am so sad that my cat Fern died"
        await learn(world, said, text="Cat Fern died", quote="my cat Fern died", emotional_valence="grief",
                    emotional_weight=0.9, type="event")  # fmt: skip
        clock.advance(days=2)
        block = await world.ask("Bo", ASKED)
        assert "[EMOTIONAL STATE]" in block
        assert "[PROACTIVE CONTEXT]\n- Said with feeling not long ago: Cat Fern died" in await world.ask("Bo", "hello")
    async with World.open(tmp_path, clock=clock) as world:
        block = await world.ask("Bo", ASKED)
        assert "[EMOTIONAL STATE]" not in block
        assert await world.ask("Bo", "hello") == ""


async def test_cx12_a_formatter_of_a_package_writes_the_block_and_a_bad_one_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site"
    (package / "brief-1.0.dist-info").mkdir(parents=True)
    (package / "brief-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: brief\nVersion: 1.0\n")
    (package / "brief-1.0.dist-info" / "entry_points.txt").write_text(
        "[memproxy.formatters]\nbrief = brief_forms:brief\nbad = brief_forms:bad\nnone = brief_forms:missing\n"
    )
    (package / "brief_forms.py").write_text(
        "def brief(lines, framing):\n    return ' / '.join(line.text for line in lines)\n\n"
        "def bad(lines, framing):\n    raise RuntimeError('no')\n"
    )
    monkeypatch.syspath_prepend(str(package))
    async with World.open(tmp_path, memory__format="brief") as world:
        await world.seed("Bo", SISTER)
        assert await world.ask("Bo", ASKED) == f"<memproxy-memory>\n{SISTER}\n</memproxy-memory>"
    async with World.open(tmp_path, memory__format="bad") as world:
        assert f"- {SISTER}" in await world.ask("Bo", ASKED)
        assert await world.metric("memproxy_formatter_failures_total") == 1
    for name in ("none", "nobody"):
        with pytest.raises(SettingsError, match=r"memory\.format"):
            layout_named(name)
    sys.modules.pop("brief_forms", None)
