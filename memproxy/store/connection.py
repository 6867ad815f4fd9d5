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


class _Thread(aiosqlite.core.Connection):
    """aiosqlite's connection, with statements of which no cursor is left to be closed: that would be a second hop."""

    async def changed(self, sql: str, params: Mapping[str, Any]) -> int:
        """Execute a statement; the number of rows it changed."""
        return int(await self._execute(self._changed, sql, params))  # type: ignore[no-untyped-call]

    async def changed_by_each(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute a statement once for each row of parameters."""
        await self._execute(self._each, sql, rows)  # type: ignore[no-untyped-call]

    def _changed(self, sql: str, params: Mapping[str, Any]) -> int:
        cursor = self._conn.execute(sql, params)
        found = cursor.rowcount
        cursor.close()
        return found

    def _each(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self._conn.executemany(sql, rows).close()


class SqliteConnection:
    """One SQLite connection on a thread of its own. Implements `interfaces.Connection`."""

    def __init__(self, raw: _Thread, driver: Driver) -> None:
        self._raw = raw
        self._driver = driver
        self._queries = load("sqlite")

    @classmethod
    async def connect(
        cls, path: Path, driver: Driver, *, busy_timeout: float, pragmas: Sequence[str] = ()
    ) -> SqliteConnection:
        """Open the file and set up the connection. Raises StoreError or StoreUnavailable."""
        raw = _Thread(lambda: driver.connect(path, busy_timeout=busy_timeout), 64)
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
            return max(await self._raw.changed(sql, _columns(params)), 0)

    async def many(self, query: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute a statement once for each row of parameters. Nothing happens for no rows."""
        if not rows:
            return
        sql = self._sql(query, rows[0])
        with translated(self._driver.module):
            await self._raw.changed_by_each(sql, [_columns(row) for row in rows])

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
