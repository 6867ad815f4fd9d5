"""What happens in somebody's life, told to a real proxy day by day, and what is known of it then."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memproxy.testing import FrozenClock
from tests.world import World, facts, user

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
EVERY = "current,historical,expired,quarantined,forgotten"

Note = str | Mapping[str, Any]  # a fact as the extraction model proposes it: its text, or its fields


class Life:
    """One person's memory, and the days that pass."""

    def __init__(self, world: World, clock: FrozenClock, who: str = "Bo") -> None:
        self.world = world
        self.clock = clock
        self.who = who

    @classmethod
    @contextlib.asynccontextmanager
    async def begin(cls, folder: Path, **flags: Any) -> AsyncIterator[Life]:
        """Start a proxy whose clock stands still until something is said."""
        clock = FrozenClock(START)
        async with World.open(folder, clock=clock, **flags) as world:
            yield cls(world, clock)

    async def say(self, words: str, *notes: Note, days: float = 1, headers: Mapping[str, str] | None = None) -> None:
        """Some days later the person says something, and the model notes it down (the very words, if nothing else)."""
        self.clock.advance(days=days)
        self.world.ext.reply(facts(*(_noted(note, words) for note in notes or (words,))))
        assert (await self.world.chat(self.who, [user(words)], headers=headers)).status_code == 200
        await self.world.drain()

    async def tell_late(self, words: str, *notes: Note, at: str) -> None:
        """Something that was said at another time is imported only now."""
        self.world.ext.reply(facts(*(_noted(note, words) for note in notes or (words,))))
        body = {"session": f"import {at}", "turns": [{"role": "user", "content": words, "time": at}]}
        response = await self.world.client.post(self.world.of(self.who, "/turns"), json=body)
        assert response.status_code in (200, 201), response.text
        await self.world.drain()

    async def wait(self, days: float) -> None:
        """Days pass."""
        self.clock.advance(days=days)
        await self.world.drain()

    async def rows(self, status: str = "current") -> list[dict[str, Any]]:
        """The facts of these statuses, in the order they were made."""
        return sorted(await self.world.rows(self.who, status=status), key=lambda row: str(row["id"]))

    async def now(self) -> list[str]:
        """What is current."""
        return [row["text"] for row in await self.rows()]

    async def past(self) -> list[str]:
        """What is history."""
        return [row["text"] for row in await self.rows("historical")]

    async def held(self, day: str) -> list[str]:
        """What is believed today to have been so on another day."""
        found = await self.world.rows(self.who, as_of_valid=day)
        return sorted(row["text"] for row in found)

    async def id(self, text: str) -> str:
        """The id of the newest fact that says this."""
        return [str(row["id"]) for row in await self.rows(EVERY) if row["text"] == text][-1]

    async def do(self, method: str, path: str, body: Any = None) -> Any:
        """A call of the management API, for this person."""
        return await self.world.client.request(method, self.world.of(self.who, path), json=body)

    async def disputes(self, status: str = "open") -> list[dict[str, Any]]:
        """What is in dispute."""
        items: list[dict[str, Any]] = (await self.do("GET", f"/contradictions?status={status}")).json()["items"]
        return items


def slot(name: str, text: str, **more: Any) -> dict[str, Any]:
    """A note that fills an attribute."""
    return {"text": text, "slot": name, **more}


def _noted(note: Note, words: str) -> dict[str, Any]:
    return {"quote": words, **({"text": note} if isinstance(note, str) else note)}
