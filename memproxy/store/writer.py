"""The one writer: works that wait at the same moment share a transaction and its durable commit.

What nobody waits for may be left until somebody else writes. All of a transaction is one trip to the connection's
thread. Each work runs in its own savepoint there, so that an exception undoes that work and no other. A caller learns
of success only after the commit.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any, TypeVar

from memproxy.errors import StoreError, StoreUnavailable
from memproxy.interfaces import Connection
from memproxy.store.connection import SqliteConnection
from memproxy.store.statements import Statements

T = TypeVar("T")
Work = Callable[[Any], Awaitable[Any]]

_LARGEST_BATCH = 64  # bounds how long the first of a batch waits for its commit


@dataclass(slots=True)
class _Ticket:
    work: Work
    done: asyncio.Future[Any]
    alone: bool = False  # outside any transaction
    result: Any = None
    error: BaseException | None = None  # the work's own

    def settle(self, lost: StoreError | None = None) -> None:
        """Tell the caller what became of the work; `lost` is why the whole transaction came to nothing."""
        error = self.error or (lost and type(lost)(str(lost)))
        if self.done.done():  # the caller has gone
            return
        if error is None:
            self.done.set_result(self.result)
        elif isinstance(error, asyncio.CancelledError):
            self.done.cancel()
        else:
            self.done.set_exception(error)


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

    async def submit(self, work: Callable[[Connection], Awaitable[T]], within: float = 0.0) -> T:
        """Run the work; its result once it is committed. It may wait so many seconds for others to be committed with.

        If the caller is cancelled, a work that has not begun is left out; one that has begun is finished and committed.
        """
        result: T = await self._queue(work, within=within)
        return result

    async def maintain(self, work: Callable[[SqliteConnection], Awaitable[T]]) -> T:
        """Run work that SQLite allows in no transaction (VACUUM), in turn with the others, which wait for it."""
        result: T = await self._queue(work, alone=True)
        return result

    def _queue(self, work: Work, *, alone: bool = False, within: float = 0.0) -> asyncio.Future[Any]:
        if self._closing or self._task.done():
            raise StoreUnavailable("the database is closed")
        loop = asyncio.get_running_loop()
        ticket = _Ticket(work, loop.create_future(), alone)
        self._waiting.append(ticket)
        if within:
            loop.call_later(within, self._wake.set)
        else:
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
                await self._wake.wait()
                self._wake.clear()
                while self._waiting:
                    if self._waiting[0].alone:
                        await self._run_alone(self._waiting.popleft())
                    else:
                        await self._run_batch()
        finally:
            self._closing = True
            for ticket in self._waiting:
                ticket.settle(StoreUnavailable("the database is closed"))
            self._waiting.clear()

    async def _run_alone(self, ticket: _Ticket) -> None:
        try:
            ticket.result = await ticket.work(await self._connection())
        except BaseException as error:  # handed to the caller whose work it was
            if _being_stopped():
                ticket.settle(StoreUnavailable("the database is closing"))
                raise
            ticket.error = error
        ticket.settle()

    async def _run_batch(self) -> None:
        size = sum(1 for _ in takewhile(lambda ticket: not ticket.alone, islice(self._waiting, _LARGEST_BATCH)))
        tickets = [self._waiting.popleft() for _ in range(size)]
        lost: StoreError | None = StoreUnavailable("the database is closing")  # unless something else becomes of it
        try:
            conn = await self._connection()
            try:
                await conn.in_one_go(lambda here: _transaction(here, tickets))
            except asyncio.CancelledError:  # the event loop is being torn down: leave no transaction behind
                conn.abandon()
                raise
            lost = None
        except StoreError as error:
            lost = error
        except Exception as error:  # whatever else it is (no thread, no memory): later works are still to be written
            lost = StoreUnavailable(f"nothing was written: {type(error).__name__}")
        finally:
            for ticket in tickets:
                ticket.settle(lost)


def _being_stopped() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _transaction(here: Statements, tickets: Sequence[_Ticket]) -> None:
    """Run works and commit them, on the connection's thread. Raises StoreError where nothing was written."""
    await here.execute("BEGIN IMMEDIATE")
    try:
        for ticket in tickets:
            if not ticket.done.done():  # else its caller has gone
                await _attempt(here, ticket)
        await here.execute("COMMIT")
    except BaseException as error:  # whatever it is: no transaction may stay open
        await _abandon(here)
        raise StoreUnavailable(f"nothing was written: {error}") from error


async def _attempt(here: Statements, ticket: _Ticket) -> None:
    """Run one work in its savepoint; what it came to is noted."""
    await here.execute("SAVEPOINT work")
    try:
        ticket.result = await here.in_one_go(ticket.work)
    except BaseException as error:  # undone whatever it is, and handed to the caller whose work it was
        if not here.in_transaction:
            raise _TransactionLost(str(error)) from error
        ticket.error = error
        await here.execute("ROLLBACK TO work")
    if not here.in_transaction:
        raise _TransactionLost("the transaction ended early")
    await here.execute("RELEASE work")


async def _abandon(here: Statements) -> None:
    # The disk that failed the commit may fail the rollback too. Then BEGIN fails as well, and every caller hears
    # StoreUnavailable until the connection is replaced.
    with suppress(StoreError):
        await here.roll_back()
