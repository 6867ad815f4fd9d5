"""A connection that runs named queries, on a thread of its own; transactions are begun and ended by its owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import aiosqlite.core

from memproxy.errors import StoreError
from memproxy.interfaces import Row
from memproxy.store.driver import Driver, translated
from memproxy.store.queries import Query, load
from memproxy.store.rows import column


class SqliteConnection:
    """One SQLite connection on a thread of its own. Implements `interfaces.Connection`."""

    def __init__(self, raw: aiosqlite.core.Connection, driver: Driver) -> None:
        self._raw = raw
        self._driver = driver
        self._queries = load("sqlite")

    @classmethod
    async def connect(
        cls, path: Path, driver: Driver, *, busy_timeout: float, pragmas: Sequence[str] = ()
    ) -> SqliteConnection:
        """Open the file and set up the connection. Raises StoreError or StoreUnavailable."""
        raw = aiosqlite.core.Connection(lambda: driver.connect(path, busy_timeout=busy_timeout), 64)
        with translated(driver.module):
            await raw
        connection = cls(raw, driver)
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
            await self._raw.close()

    # --- named queries (interfaces.Connection) ---

    async def all(self, query: str, **params: Any) -> list[Row]:
        """Every row of a query."""
        return await self.execute(self._sql(query, params), _columns(params))

    async def one(self, query: str, **params: Any) -> Row | None:
        """The first row, or None."""
        rows = await self.all(query, **params)
        return rows[0] if rows else None

    async def run(self, query: str, **params: Any) -> int:
        """Execute a statement; the number of rows it changed."""
        sql = self._sql(query, params)
        with translated(self._driver.module):
            async with self._raw.execute(sql, _columns(params)) as cursor:
                return max(cursor.rowcount, 0)

    async def many(self, query: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute a statement once for each row of parameters. Nothing happens for no rows."""
        if not rows:
            return
        sql = self._sql(query, rows[0])
        with translated(self._driver.module):
            async with self._raw.executemany(sql, [_columns(row) for row in rows]):
                pass

    def _sql(self, name: str, params: Mapping[str, Any]) -> str:
        found: Query | None = self._queries.get(name)
        if found is None:
            raise StoreError(f"no query is called {name}")
        return found.text(params)

    # --- for the owner of the connection: transactions, pragmas, schema ---

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open; SQLite ends one by itself when its disk fails."""
        return self._raw.in_transaction

    async def execute(self, sql: str, params: Any = ()) -> list[Row]:
        """Run one statement of SQL text: transactions, pragmas."""
        with translated(self._driver.module):
            rows: Any = await self._raw.execute_fetchall(sql, params)  # dicts: see Driver.connect
            return list(rows)

    async def script(self, sql: str) -> None:
        """Run statements that end their own transaction: migrations."""
        with translated(self._driver.module):
            await self._raw.executescript(sql)

    async def roll_back(self) -> None:
        """Undo the open transaction, if there is one."""
        if self.in_transaction:
            await self.execute("ROLLBACK")

    async def interrupt(self) -> None:
        """Make the statement that is running now, if any, fail."""
        await self._raw.interrupt()


def _columns(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: column(value) for name, value in params.items()}
