"""A connection whose statements run on a thread of its own: every call is a trip there and back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite.core

from memproxy.interfaces import Row
from memproxy.store.driver import Driver, translated
from memproxy.store.statements import Statements, at_once

T = TypeVar("T")


class _Thread(aiosqlite.core.Connection):
    """aiosqlite's thread, with one open file."""

    def statements(self, driver: Driver) -> Statements:
        """What runs there."""
        return Statements(self._conn, driver)

    async def trip(self, work: Callable[[], T]) -> T:
        """Call a function on the thread; what it returned, or raised."""
        result: T = await self._execute(work)  # type: ignore[no-untyped-call]
        return result


class SqliteConnection:
    """One SQLite connection on a thread of its own. Implements `interfaces.Connection`.

    A trip wakes two threads, which cost more than most queries. So whatever asks more than one question asks them
    `in_one_go`; that work must not touch what belongs to the event loop: it gives back what it found.
    """

    def __init__(self, thread: _Thread, driver: Driver) -> None:
        self._thread = thread
        self._driver = driver
        self._statements = thread.statements(driver)

    @classmethod
    async def connect(
        cls, path: Path, driver: Driver, *, busy_timeout: float, pragmas: Sequence[str] = ()
    ) -> SqliteConnection:
        """Open the file and set up the connection. Raises StoreError or StoreUnavailable."""
        thread = _Thread(lambda: driver.connect(path, busy_timeout=busy_timeout), 64)
        with translated(driver.module):
            await thread
        connection = cls(thread, driver)
        try:
            for pragma in pragmas:
                await connection.execute(f"PRAGMA {pragma}")
        except BaseException:  # cancellation too: no open file and no thread may be left behind
            await connection.close()
            raise
        return connection

    async def close(self) -> None:
        """Close the file and end the thread. A second call does nothing."""
        with translated(self._driver.module):
            await self._thread.close()

    async def in_one_go(self, work: Callable[[Statements], Awaitable[T]]) -> T:
        """Run work in one trip. It may await nothing but the connection it is given: raises StoreError where it does.

        If the caller is cancelled, the work goes on, and what comes after it waits; see `abandon`.
        """
        with translated(self._driver.module):
            return await self._thread.trip(lambda: at_once(work(self._statements)))

    def abandon(self) -> None:
        """Make what is running now, if anything, fail at its next statement; all fail from now on until `roll_back`."""
        self._statements.abandon()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._statements.in_transaction

    # --- one statement a trip ---

    async def all(self, query: str, **params: Any) -> list[Row]:
        """Every row of a query."""
        return await self.in_one_go(lambda here: here.all(query, **params))

    async def one(self, query: str, **params: Any) -> Row | None:
        """The first row, or None."""
        return await self.in_one_go(lambda here: here.one(query, **params))

    async def run(self, query: str, **params: Any) -> int:
        """Execute a statement; the number of rows it changed."""
        return await self.in_one_go(lambda here: here.run(query, **params))

    async def many(self, query: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute a statement once for each row of parameters. Nothing happens for no rows."""
        await self.in_one_go(lambda here: here.many(query, rows))

    async def execute(self, sql: str, params: Any = ()) -> list[Row]:
        """Run one statement of SQL text: pragmas, schema."""
        return await self.in_one_go(lambda here: here.execute(sql, params))

    async def script(self, sql: str) -> None:
        """Run statements that end their own transaction: migrations."""
        await self.in_one_go(lambda here: here.script(sql))

    async def roll_back(self) -> None:
        """Undo the open transaction, if there is one."""
        await self.in_one_go(Statements.roll_back)
