"""A few reading connections, each lent to one caller at a time, for one snapshot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from memproxy.errors import StoreError
from memproxy.interfaces import Connection
from memproxy.store.connection import SqliteConnection

T = TypeVar("T")


class Readers:
    """The pool. A caller that leaves early (a deadline) does not wait for the query it abandons."""

    def __init__(self, connections: Sequence[SqliteConnection]) -> None:
        self._connections = tuple(connections)
        self._idle: asyncio.LifoQueue[SqliteConnection] = asyncio.LifoQueue()
        for connection in connections:
            self._idle.put_nowait(connection)
        self._ending: set[asyncio.Task[None]] = set()

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run the work in one read transaction, which is ended whatever happens: an open one would hold the WAL.

        Nobody waits for the end, nor for the beginning of the next: the connection is lent again after it, with a
        transaction that sees nothing (and holds nothing) until it is read in.
        """
        conn = await self._idle.get()
        abandoned = True
        try:
            if not conn.in_transaction:
                await conn.execute("BEGIN")
            result = await work(conn)
            abandoned = False
            return result
        finally:
            self._end_later(conn, abandoned)

    async def close(self) -> None:
        """Wait for the callers that are still reading, then close every connection."""
        for _ in self._connections:
            await self._idle.get()
        for connection in self._connections:
            await connection.close()

    def _end_later(self, conn: SqliteConnection, abandoned: bool) -> None:
        task = asyncio.create_task(self._end(conn, abandoned), name="memproxy-store-reader")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, conn: SqliteConnection, abandoned: bool) -> None:
        try:
            if abandoned:  # whatever still runs is of no use to anybody
                await conn.interrupt()
                await conn.execute("SELECT 1")  # after what is still queued: BEGIN may be, and nobody would see it yet
            await conn.roll_back()
            await conn.execute("BEGIN")
        except StoreError:
            pass  # the connection is broken; its next user is told so
        finally:
            self._idle.put_nowait(conn)
