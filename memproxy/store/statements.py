"""A connection as its own thread sees it: a statement runs where it is called, and nothing is waited for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from memproxy.errors import StoreError, StoreUnavailable
from memproxy.interfaces import Connection, Row
from memproxy.store.driver import Driver, translated
from memproxy.store.queries import Query, load
from memproxy.store.rows import column

T = TypeVar("T")


class Statements:
    """Runs named queries, and SQL for the owner of the connection. Implements `interfaces.Connection`."""

    def __init__(self, raw: Any, driver: Driver) -> None:
        self._raw = raw
        self._driver = driver
        self._queries = load("sqlite")
        self._abandoned = False

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
        with self._running():
            changed: int = self._raw.execute(sql, _columns(params)).rowcount
            return max(changed, 0)

    async def many(self, query: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute a statement once for each row of parameters. Nothing happens for no rows."""
        if not rows:
            return
        sql = self._sql(query, rows[0])
        with self._running():
            self._raw.executemany(sql, [_columns(row) for row in rows])

    async def in_one_go(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run work that awaits nothing but this connection. Raises StoreError where it does."""
        return at_once(work(self))

    def _sql(self, name: str, params: Mapping[str, Any]) -> str:
        found: Query | None = self._queries.get(name)
        if found is None:
            raise StoreError(f"no query is called {name}")
        return found.text(params)

    # --- for the owner of the connection: transactions, pragmas, schema ---

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open; SQLite ends one by itself when its disk fails."""
        return bool(self._raw.in_transaction)

    async def execute(self, sql: str, params: Any = ()) -> list[Row]:
        """Run one statement of SQL text: transactions, pragmas."""
        with self._running():
            rows: list[Row] = self._raw.execute(sql, params).fetchall()  # mappings: see Driver.connect
            return rows

    async def script(self, sql: str) -> None:
        """Run statements that end their own transaction: migrations."""
        with self._running():
            self._raw.executescript(sql)

    async def roll_back(self) -> None:
        """Undo the open transaction, if there is one. Whatever is run next is wanted again."""
        self._abandoned = False
        if self.in_transaction:
            await self.execute("ROLLBACK")

    def abandon(self) -> None:
        """Make the statement that is running now, if any, fail, and every other until `roll_back`. From any thread."""
        self._abandoned = True
        self._raw.interrupt()

    @contextmanager
    def _running(self) -> Iterator[None]:
        if self._abandoned:
            raise StoreUnavailable("nobody waits for this any more")
        with translated(self._driver.module):
            yield


def at_once(work: Awaitable[T]) -> T:
    """The result of what waits for nothing, without an event loop. Raises StoreError where it does wait."""
    steps = work.__await__()
    try:
        next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    steps.close()
    raise StoreError("work in one go may await nothing but its connection")


def _columns(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: column(value) for name, value in params.items()}
