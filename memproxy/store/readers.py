"""A few reading connections, each lent to one caller at a time, for one snapshot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from memproxy.errors import StoreError
from memproxy.interfaces import Connection
from memproxy.store.connection import SqliteConnection
from memproxy.store.statements import Statements

T = TypeVar("T")


class Readers:
    """The pool. A caller that leaves early (a deadline) does not wait for the query it abandons.

    The transaction of a snapshot is ended whatever happens: an open one would hold the WAL. The next begins at once; it
    sees nothing (and holds nothing) until it is read in.
    """

    def __init__(self, connections: Sequence[SqliteConnection]) -> None:
        self._connections = tuple(connections)
        self._idle: asyncio.LifoQueue[SqliteConnection] = asyncio.LifoQueue()
        for connection in connections:
            self._idle.put_nowait(connection)
        self._ending: set[asyncio.Task[None]] = set()

    async def read(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run work that awaits nothing but its connection, in one trip and one snapshot."""

        async def transaction(here: Statements) -> T:
            await _begin(here)
            try:
                return await here.in_one_go(work)
            finally:
                await _renew(here)

        conn = await self._idle.get()
        there = True
        try:
            return await conn.in_one_go(transaction)
        except asyncio.CancelledError:
            there = False
            raise
        finally:
            if there:
                self._idle.put_nowait(conn)
            else:
                self._end_later(conn, abandoned=True)

    async def snapshot(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run work that may await anything, in one snapshot. Nobody waits for its end."""
        conn = await self._idle.get()
        abandoned = True
        try:
            if not conn.in_transaction:
                await conn.in_one_go(_begin)
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
        if abandoned:  # whatever still runs is of no use to anybody
            conn.abandon()
        task = asyncio.create_task(self._end(conn), name="memproxy-store-reader")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, conn: SqliteConnection) -> None:
        try:
            await conn.in_one_go(_renew)
        finally:
            self._idle.put_nowait(conn)


async def _begin(here: Statements) -> None:
    if not here.in_transaction:
        await here.execute("BEGIN")


async def _renew(here: Statements) -> None:
    with suppress(StoreError):  # the connection is broken; its next user is told so
        await here.roll_back()
        await here.execute("BEGIN")
