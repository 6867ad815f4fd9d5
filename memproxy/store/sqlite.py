"""A SQLite file as a `Database`: one writer with group commit, a few readers, each reading one snapshot."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from memproxy.errors import StoreError, StoreUnavailable
from memproxy.interfaces import Connection
from memproxy.store import meta
from memproxy.store.connection import SqliteConnection
from memproxy.store.driver import Driver, VectorMode, choose_driver
from memproxy.store.erasure import SCRUB_PENDING
from memproxy.store.index import complete_indexes, optimize_text
from memproxy.store.migrate import migrate
from memproxy.store.readers import Readers
from memproxy.store.vectors import mend_vector_indexes
from memproxy.store.writer import Writer

T = TypeVar("T")
_Identity = tuple[int, int]  # device and inode

_COMMON = ("foreign_keys = ON", "temp_store = MEMORY", "cache_size = -16000")
_WRITER = (
    "page_size = 8192",  # of a new file: a vector of 384 dimensions then needs no overflow page
    "synchronous = FULL",  # a commit is on the disk when it returns
    "secure_delete = ON",  # deleted bytes are overwritten
    "journal_size_limit = 16777216",  # a WAL that once grew is cut back
    "wal_autocheckpoint = 500",  # pages: 4 MB
)
_READER = (
    "query_only = ON",
    "cache_size = -32000",  # kB: what a question to ten thousand vectors reads, which would push all else out of less
)


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What runs the store, for people."""

    path: Path
    driver: str  # "sqlite3" or "pysqlite3"
    sqlite_version: str
    vectors: str  # "vec0" or "exact scan"
    why: str


class SqliteDatabase:
    """Implements `interfaces.Database`. Make one with `open`, end it with `close`."""

    def __init__(self, path: Path, driver: Driver, *, readers: int, busy_timeout: float) -> None:
        self._path = path
        self._driver = driver
        self._reader_count = readers
        self._busy_timeout = busy_timeout
        self._identity: _Identity | None = None  # which file is open at the path
        self._log_identity: _Identity | None = None  # … and which write-ahead log
        self._connection: SqliteConnection | None = None
        self._readers: Readers | None = None
        self._opening = asyncio.Lock()
        self._reopening: asyncio.Task[None] | None = None
        self._closed = False
        self._writer = Writer(self._writing_connection)

    @classmethod
    async def open(
        cls,
        path: str | os.PathLike[str],
        *,
        vectors: VectorMode = "auto",
        readers: int = 3,
        busy_timeout: float = 5.0,
        driver: Driver | None = None,
    ) -> SqliteDatabase:
        """Open the file, creating it (and its folder) for its owner only; migrate it; complete its indexes.

        `vectors` says how nearest vectors are found: by the vec0 extension, by an exact scan, or whichever is there.
        `driver` names the SQLite module and extension instead of looking for the best.
        `busy_timeout` is how many seconds another process may hold the file before StoreUnavailable is raised.
        Raises StoreError where the file cannot be used: too new, corrupt, no permission.
        """
        chosen = await asyncio.to_thread(choose_driver, vectors) if driver is None else driver
        file = await asyncio.to_thread(_create_for_owner, path)
        database = cls(file, chosen, readers=readers, busy_timeout=busy_timeout)
        try:
            await database._open_connections()
            if await database.read(lambda conn: meta.get(conn, SCRUB_PENDING)):
                await database.scrub()
        except BaseException:  # cancellation too: no open file and no thread may be left behind
            await database.close()
            raise
        return database

    async def close(self) -> None:
        """Finish the works that wait, then close all connections. A second call does nothing."""
        await self._writer.close()
        self._closed = True
        async with self._opening:
            await self._close_connections()

    def describe(self) -> StoreInfo:
        """Driver, version, and how vectors are searched, with the reason."""
        vectors = "vec0" if self._driver.extension else "exact scan"
        version = str(self._driver.module.sqlite_version)
        return StoreInfo(self._path, self._driver.name, version, vectors, self._driver.why)

    async def read(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run work on a reader, in one snapshot. Work awaits nothing but its connection, as in `write`.

        Raises StoreUnavailable.
        """
        return await (await self._reading()).read(work)

    async def snapshot(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """The same for work that awaits other things too: each question is a trip by itself, or `in_one_go`."""
        return await (await self._reading()).snapshot(work)

    async def write(self, work: Callable[[Connection], Awaitable[T]], *, within: float = 0.0) -> T:
        """Run work on the writer; returns once it is committed (durable). An exception in work undoes only that work.

        It is begun `within` so many seconds: what nobody waits for can be left until somebody else's work is committed.
        Work awaits nothing but its connection, and runs on that connection's thread: what it touches besides is its
        own. Raises StoreUnavailable, and StoreError for work that awaits something else.
        """
        return await self._writer.submit(work, within)

    async def scrub(self) -> bool:
        """Leave no trace of erased rows in the files; whether that was possible now.

        `secure_delete` overwrites a deleted cell where it stands, but not the copies that page splits left behind
        earlier. So the file is written anew (VACUUM: all writes wait, memory or disk for a second copy is needed), the
        text index is merged first, and the write-ahead log is emptied at the end, which waits for readers. What could
        not be done now is done when the database is opened next.
        """
        try:
            await self.write(optimize_text)
            await self._writer.maintain(_vacuum)
            await self.write(mend_vector_indexes)
            done = await self._writer.maintain(_empty_log)
            if done:
                await self.write(lambda conn: meta.delete(conn, SCRUB_PENDING))
        except StoreUnavailable:
            return False
        return done

    # --- the file ---

    async def _writing_connection(self) -> SqliteConnection:
        await self._follow_file()
        if self._connection is None:
            raise StoreUnavailable("the database is closed")
        return self._connection

    async def _reading(self) -> Readers:
        await self._follow_file()
        if self._readers is None:
            raise StoreUnavailable("the database is closed")
        return self._readers

    async def _follow_file(self) -> None:
        """Notice that the file was moved away or put back; SQLite would go on writing to the one nobody can find.

        A missing file is not made anew: an unmounted disk would leave an empty memory in place of the real one.
        """
        identity = _identity(self._path)
        if identity is None:
            raise StoreUnavailable(f"the database file is gone: {self._path}")
        if identity == self._identity or self._closed:
            return
        if self._reopening is None or self._reopening.done():
            self._reopening = asyncio.create_task(self._reopen(), name="memproxy-store-reopening")
        await asyncio.shield(self._reopening)  # a caller with a deadline leaves it to whoever comes next

    async def _reopen(self) -> None:
        """Open what is at the path now. Where that fails (half copied, locked), the next caller tries again."""
        async with self._opening:
            if not self._closed:
                await self._close_connections()
                await self._open_connections()

    async def _open_connections(self) -> None:
        """All of them, or none."""
        identity = _identity(self._path)
        writer = await self._connect((*_COMMON, *_WRITER))
        reading: list[SqliteConnection] = []
        try:
            await _use_wal(writer)
            await migrate(writer)
            await _in_transaction(writer, complete_indexes)
            for _ in range(self._reader_count):
                reading.append(await self._connect((*_COMMON, *_READER)))
        except BaseException:  # cancellation too: no open file and no thread may be left behind
            for connection in (*reading, writer):
                await connection.close()
            raise
        self._connection, self._readers = writer, Readers(reading)
        self._identity, self._log_identity = identity, _identity(self._log)

    async def _close_connections(self) -> None:
        readers, self._readers = self._readers, None
        connection, self._connection = self._connection, None
        identity, self._identity = self._identity, None
        if readers is not None:
            await readers.close()
        if connection is not None:
            await connection.close()
        replaced = _identity(self._path) not in (None, identity)
        if replaced and identity is not None and _identity(self._log) == self._log_identity:
            # SQLite leaves the log of a database that is gone, and its index; the one now in its place would take them
            # for its own. Another process that has not noticed yet holds them: it keeps what it has open.
            for left in (self._log, self._path.with_name(f"{self._path.name}-shm")):
                await asyncio.to_thread(left.unlink, missing_ok=True)

    @property
    def _log(self) -> Path:
        return self._path.with_name(f"{self._path.name}-wal")

    async def _connect(self, pragmas: tuple[str, ...]) -> SqliteConnection:
        return await SqliteConnection.connect(
            self._path, self._driver, busy_timeout=self._busy_timeout, pragmas=pragmas
        )


def _create_for_owner(name: str | os.PathLike[str]) -> Path:
    """Make the folder 0700 and the file 0600 where they are missing; SQLite gives -wal and -shm the file's mode."""
    path = Path(name).expanduser().absolute()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(f"cannot create {path}: {error.strerror}") from error
    return path


def _identity(path: Path) -> _Identity | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


async def _use_wal(conn: SqliteConnection) -> None:
    """Switch to write-ahead logging. The switch does not wait for other processes by itself."""
    for attempt in range(50):
        try:
            rows = await conn.execute("PRAGMA journal_mode = WAL")
        except StoreUnavailable:
            if attempt == 49:
                raise
        else:
            if rows[0]["journal_mode"] == "wal":
                return
        await asyncio.sleep(0.1)
    raise StoreError("this file system has no write-ahead logging (shared memory) for SQLite")


async def _vacuum(conn: SqliteConnection) -> None:
    await conn.execute("VACUUM")


async def _empty_log(conn: SqliteConnection) -> bool:
    for _ in range(10):  # each waits for readers, busy_timeout long
        rows = await conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if not rows[0]["busy"]:
            return True
        await asyncio.sleep(0.05)
    return False


async def _in_transaction(conn: SqliteConnection, work: Callable[[Connection], Awaitable[object]]) -> None:
    await conn.execute("BEGIN IMMEDIATE")
    try:
        await work(conn)
        await conn.execute("COMMIT")
    except BaseException:  # cancellation too: no transaction may stay open
        await conn.roll_back()
        raise
