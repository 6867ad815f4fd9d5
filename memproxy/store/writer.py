"""The one writer: works that wait at the same moment share a transaction and its durable commit.

Each work runs in its own savepoint, so that an exception undoes that work and no other. A caller learns of success only
after the commit.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any, TypeVar

from memproxy.errors import StoreError, StoreUnavailable
from memproxy.interfaces import Connection
from memproxy.store.connection import SqliteConnection

T = TypeVar("T")
Work = Callable[[Any], Awaitable[Any]]

_LARGEST_BATCH = 64  # bounds how long the first of a batch waits for its commit


@dataclass(slots=True)
class _Ticket:
    work: Work
    done: asyncio.Future[Any]
    alone: bool = False  # outside any transaction
    result: Any = None

    def fail(self, error: BaseException) -> None:
        if isinstance(error, asyncio.CancelledError):
            self.done.cancel()
        elif not self.done.done():
            self.done.set_exception(error)

    def succeed(self) -> None:
        if not self.done.done():
            self.done.set_result(self.result)


class _TransactionLost(Exception):
    """SQLite gave up the whole transaction (full disk, I/O error), not one work."""


class Writer:
    """Runs works one after another on a connection that it asks for at the start of every batch."""

    def __init__(self, connection: Callable[[], Awaitable[SqliteConnection]]) -> None:
        self._connection = connection
        self._waiting: deque[_Ticket] = deque()
        self._wake = asyncio.Event()
        self._closing = False
        self._task = asyncio.create_task(self._serve(), name="memproxy-store-writer")

    async def submit(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run the work; its result once it is committed.

        If the caller is cancelled, a work that has not begun is left out; one that has begun is finished and committed.
        """
        result: T = await self._queue(work, alone=False)
        return result

    async def maintain(self, work: Callable[[SqliteConnection], Awaitable[T]]) -> T:
        """Run work that SQLite allows in no transaction (VACUUM), in turn with the others, which wait for it."""
        result: T = await self._queue(work, alone=True)
        return result

    def _queue(self, work: Callable[[Any], Awaitable[Any]], *, alone: bool) -> asyncio.Future[Any]:
        if self._closing or self._task.done():
            raise StoreUnavailable("the database is closed")
        ticket = _Ticket(work, asyncio.get_running_loop().create_future(), alone)
        self._waiting.append(ticket)
        self._wake.set()
        return ticket.done

    async def close(self) -> None:
        """Finish what waits, then stop."""
        self._closing = True
        self._wake.set()
        await asyncio.wait([self._task])

    async def _serve(self) -> None:
        try:
            while self._waiting or not self._closing:
                if self._waiting and self._waiting[0].alone:
                    await self._run_alone(self._waiting.popleft())
                elif self._waiting:
                    await self._run_batch()
                else:
                    await self._wake.wait()
                    self._wake.clear()
        finally:
            self._closing = True
            self._refuse(len(self._waiting), StoreUnavailable("the database is closed"))

    async def _run_alone(self, ticket: _Ticket) -> None:
        try:
            ticket.result = await ticket.work(await self._connection())
        except BaseException as error:  # handed to the caller whose work it was
            if _being_stopped():
                ticket.fail(StoreUnavailable("the database is closing"))
                raise
            ticket.fail(error)
        else:
            ticket.succeed()

    async def _run_batch(self) -> None:
        size = sum(1 for _ in takewhile(lambda ticket: not ticket.alone, islice(self._waiting, _LARGEST_BATCH)))
        try:
            conn = await self._connection()
            await conn.execute("BEGIN IMMEDIATE")
        except StoreError as error:
            self._refuse(size, error)
            return
        begun: list[_Ticket] = []
        try:
            for _ in range(size):
                ticket = self._waiting.popleft()
                if not ticket.done.done():  # else its caller has gone
                    begun.append(ticket)
                    if not await self._attempt(conn, ticket):
                        begun.pop()
            await conn.execute("COMMIT")
        except (StoreError, _TransactionLost) as error:
            await _abandon(conn)
            _fail(begun, f"nothing was written: {error}")
        except BaseException:  # the event loop is being torn down: leave no transaction and no caller behind
            _fail(begun, "the database is closing")
            await _abandon(conn)
            raise
        else:
            for ticket in begun:
                ticket.succeed()

    async def _attempt(self, conn: SqliteConnection, ticket: _Ticket) -> bool:
        """Run one work in its savepoint; whether it has something to commit."""
        await conn.execute("SAVEPOINT work")
        try:
            ticket.result = await ticket.work(conn)
        except BaseException as error:  # undone whatever it is, and handed to the caller whose work it was
            if _being_stopped():
                raise
            if not conn.in_transaction:
                raise _TransactionLost(str(error)) from error
            await conn.execute("ROLLBACK TO work")
            await conn.execute("RELEASE work")
            ticket.fail(error)
            return False
        if not conn.in_transaction:
            raise _TransactionLost("the transaction ended early")
        await conn.execute("RELEASE work")
        return True

    def _refuse(self, count: int, error: StoreError) -> None:
        for _ in range(count):
            self._waiting.popleft().fail(type(error)(str(error)))


def _fail(tickets: list[_Ticket], message: str) -> None:
    for ticket in tickets:
        ticket.fail(StoreUnavailable(message))


def _being_stopped() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _abandon(conn: SqliteConnection) -> None:
    try:
        await conn.roll_back()
    except StoreError:
        # The disk that failed the commit may fail the rollback too. Then BEGIN fails as well, and every caller hears
        # StoreUnavailable until the connection is replaced.
        return
