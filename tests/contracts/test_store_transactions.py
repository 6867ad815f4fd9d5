"""What every Database promises about transactions."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import stat
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import anyio
import pytest

from memproxy.errors import StoreError, StoreUnavailable
from memproxy.interfaces import Connection
from memproxy.store import meta
from memproxy.store.driver import Driver, choose_driver, possible_drivers
from memproxy.store.queries import load, parse
from memproxy.store.rows import column, to_text, to_time
from memproxy.store.sqlite import SqliteDatabase


def test_the_accelerated_half_runs_wherever_pysqlite3_is_installed() -> None:
    if importlib.util.find_spec("pysqlite3") is not None:
        assert any(driver.extension for driver in possible_drivers())


async def test_what_was_written_is_read_back_in_another_transaction(db: SqliteDatabase) -> None:
    await db.write(lambda conn: meta.put(conn, "colour", "green"))
    assert await db.read(lambda conn: meta.get(conn, "colour")) == "green"


async def test_an_exception_undoes_its_own_work_and_no_other(db: SqliteDatabase) -> None:
    async def fails(conn: Connection) -> None:
        await meta.put(conn, "half", "done")
        raise LookupError("mine")

    results = await asyncio.gather(
        db.write(lambda conn: meta.put(conn, "before", "1")),
        db.write(fails),
        db.write(lambda conn: meta.put(conn, "after", "1")),
        return_exceptions=True,
    )
    assert isinstance(results[1], LookupError)
    kept = [await db.read(lambda conn, k=key: meta.get(conn, k)) for key in ("before", "half", "after")]  # type: ignore[misc]
    assert kept == ["1", None, "1"]


async def test_works_that_wait_together_share_one_commit(db: SqliteDatabase) -> None:
    waiting = [asyncio.create_task(db.write(lambda conn: meta.put(conn, "n", "1"))) for _ in range(50)]
    done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    assert len(done) == 50


async def test_what_may_wait_is_committed_with_what_comes_next_and_before_it(db: SqliteDatabase) -> None:
    waiting = asyncio.create_task(db.write(lambda conn: meta.put(conn, "n", "1"), within=600))
    await asyncio.sleep(0)
    assert await db.read(lambda conn: meta.get(conn, "n")) is None
    assert await db.write(lambda conn: meta.get(conn, "n")) == "1"
    assert waiting.done()
    await db.write(lambda conn: meta.put(conn, "n", "2"), within=0.001)  # nothing comes next: it does not wait for ever
    assert await db.read(lambda conn: meta.get(conn, "n")) == "2"


async def test_a_reader_sees_one_snapshot(db: SqliteDatabase) -> None:
    await db.write(lambda conn: meta.put(conn, "n", "1"))

    async def reads_twice(conn: Connection) -> tuple[str | None, str | None]:
        first = await meta.get(conn, "n")
        await db.write(lambda writer: meta.put(writer, "n", "2"))
        return first, await meta.get(conn, "n")

    assert await db.snapshot(reads_twice) == ("1", "1")
    assert await db.read(lambda conn: meta.get(conn, "n")) == "2"


async def test_a_reader_cannot_write(db: SqliteDatabase) -> None:
    with pytest.raises(StoreError):
        await db.read(lambda conn: meta.put(conn, "n", "1"))
    assert await db.read(lambda conn: meta.get(conn, "n")) is None


async def test_a_cancelled_caller_leaves_whole_work_behind_or_none(db: SqliteDatabase) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    async def slow(conn: Connection) -> None:
        await meta.put(conn, "first", "1")
        begun.set()
        goes_on.wait(10)
        await meta.put(conn, "second", "1")

    async def never(conn: Connection) -> None:
        await meta.put(conn, "never", "1")

    running = asyncio.create_task(db.write(slow))
    await asyncio.to_thread(begun.wait, 10)
    queued = asyncio.create_task(db.write(never))
    await asyncio.sleep(0)
    for task in (running, queued):
        task.cancel()
    await asyncio.gather(running, queued, return_exceptions=True)
    goes_on.set()
    await db.write(lambda conn: meta.put(conn, "last", "1"))
    keys = ("first", "second", "never", "last")
    kept = [await db.read(lambda conn, k=key: meta.get(conn, k)) for key in keys]  # type: ignore[misc]
    assert kept == ["1", "1", None, "1"]


async def test_work_that_awaits_something_else_is_refused_and_undone(db: SqliteDatabase) -> None:
    async def waits(conn: Connection) -> None:
        await meta.get(conn, "half")
        await asyncio.sleep(0)

    async def writes(conn: Connection) -> None:
        await meta.put(conn, "half", "done")
        await waits(conn)

    results = await asyncio.gather(
        db.write(writes), db.write(lambda conn: meta.put(conn, "n", "1")), db.read(waits), return_exceptions=True
    )
    assert [type(result) for result in results] == [StoreError, type(None), StoreError]
    with pytest.raises(StoreError, match="await nothing but its connection"):
        await db.snapshot(lambda conn: conn.in_one_go(waits))
    assert await db.read(lambda conn: meta.get(conn, "half")) is None
    assert await db.snapshot(lambda conn: conn.in_one_go(lambda here: meta.get(here, "n"))) == "1"


async def test_the_event_loop_goes_on_while_work_runs(db: SqliteDatabase) -> None:
    goes_on = threading.Event()

    async def waits(conn: Connection) -> bool:
        return goes_on.wait(10)

    working = [asyncio.create_task(db.write(waits)), asyncio.create_task(db.read(waits))]
    await asyncio.wait(working, timeout=0.01)
    goes_on.set()
    assert await asyncio.gather(*working) == [True, True]


async def test_a_reader_that_leaves_in_the_middle_of_its_work_asks_nothing_more(db: SqliteDatabase) -> None:
    begun, goes_on, asked = threading.Event(), threading.Event(), list[str]()

    async def slow(conn: Connection) -> None:
        await meta.get(conn, "n")
        begun.set()
        goes_on.wait(10)
        await meta.get(conn, "n")
        asked.append("again")

    leaving = asyncio.create_task(db.read(slow))
    await asyncio.to_thread(begun.wait, 10)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    goes_on.set()
    assert await asyncio.gather(*(db.read(lambda conn: meta.get(conn, "n")) for _ in range(6))) == [None] * 6
    assert not asked


async def test_a_reader_past_its_deadline_gives_its_connection_back(db: SqliteDatabase) -> None:
    async def stuck(conn: Connection) -> None:
        await meta.get(conn, "n")
        await asyncio.sleep(60)

    for _ in range(12):  # more often than there are readers
        with anyio.move_on_after(0.01) as scope:
            await db.snapshot(stuck)
        assert scope.cancelled_caught
    assert await db.read(lambda conn: meta.get(conn, "n")) is None
    await db.write(lambda conn: meta.put(conn, "n", "1"))


async def test_a_reader_that_leaves_at_any_moment_leaves_no_transaction(db: SqliteDatabase) -> None:
    async def read(conn: Connection) -> str | None:
        return await meta.get(conn, "n")

    for moment in range(60):
        leaving = [asyncio.create_task(db.read(read)) for _ in range(3)]
        for _ in range(moment % 6):
            await asyncio.sleep(0)
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)
        assert await asyncio.gather(*(db.read(read) for _ in range(6))) == [None] * 6


async def test_a_failing_reader_gives_its_connection_back(db: SqliteDatabase) -> None:
    async def fails(conn: Connection) -> None:
        await meta.get(conn, "n")
        raise LookupError

    for _ in range(8):
        with pytest.raises(LookupError):
            await db.read(fails)
    assert await db.read(lambda conn: meta.get(conn, "n")) is None


async def test_cancellation_inside_a_work_reaches_only_its_caller(db: SqliteDatabase) -> None:
    async def cancels(conn: Connection) -> None:
        await meta.put(conn, "half", "1")
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await db.write(cancels)
    await db.write(lambda conn: meta.put(conn, "n", "1"))
    assert await db.read(lambda conn: meta.get(conn, "half")) is None


async def test_a_wrong_query_is_a_store_error_and_the_store_goes_on(db: SqliteDatabase) -> None:
    with pytest.raises(StoreError, match="no query is called"):
        await db.read(lambda conn: conn.all("no_such_query"))
    with pytest.raises(StoreError):
        await db.write(lambda conn: conn.run("meta_put", key="k"))
    await db.write(lambda conn: meta.put(conn, "n", "1"))


async def test_a_closed_store_says_so(driver: Driver, tmp_path: Path) -> None:
    threads = threading.active_count()
    database = await SqliteDatabase.open(tmp_path / "memory.db", driver=driver)
    waiting = [asyncio.create_task(database.write(lambda conn: meta.put(conn, "n", "1"))) for _ in range(5)]
    waiting.append(asyncio.create_task(database.write(lambda conn: meta.put(conn, "m", "1"), within=600)))
    await asyncio.sleep(0)
    await database.close()
    await database.close()
    await asyncio.gather(*waiting)  # what waited was written
    with pytest.raises(StoreUnavailable):
        await database.read(lambda conn: meta.get(conn, "n"))
    with pytest.raises(StoreUnavailable):
        await database.write(lambda conn: meta.put(conn, "n", "2"))
    del database
    gc.collect()
    await asyncio.sleep(0.05)
    assert threading.active_count() <= threads + 1  # asyncio's own pool may have grown by one


async def test_the_files_are_their_owners_alone(driver: Driver, tmp_path: Path) -> None:
    database = await SqliteDatabase.open(tmp_path / "new" / "deep" / "memory.db", driver=driver)
    await database.write(lambda conn: meta.put(conn, "n", "1"))
    folder = tmp_path / "new" / "deep"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert modes == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
    await database.close()


async def test_describe_names_driver_and_vector_search(db: SqliteDatabase, driver: Driver) -> None:
    info = db.describe()
    assert info.driver == driver.name
    assert info.vectors == ("vec0" if driver.extension else "exact scan")
    assert info.why
    assert await db.read(meta.integrity) == []
    assert await db.read(meta.version) >= 1


def test_asking_for_a_scan_gives_a_scan_and_says_why() -> None:
    assert choose_driver("scan").extension is None
    assert choose_driver("auto").why


async def test_the_secret_is_made_once(db: SqliteDatabase) -> None:
    first = await db.write(meta.secret)
    assert len(first) == 32
    assert await db.write(meta.secret) == first


def test_every_query_has_a_name_and_a_description() -> None:
    queries = load("sqlite")
    assert len(queries) > 100
    assert all(query.description and query.sql for query in queries.values())
    with pytest.raises(StoreError, match="two queries"):
        parse("-- name: a\n-- One.\nSELECT 1;\n\n-- name: a\n-- Two.\nSELECT 2;\n")
    with pytest.raises(StoreError, match="not a table name"):
        queries["vec0_drop"].text({"table": "x; DROP TABLE turns"})


def test_times_are_fixed_width_text_in_utc() -> None:
    moment = datetime(2026, 11, 30, 8, 55, 52, tzinfo=timezone(timedelta(hours=2)))
    assert to_text(moment) == "2026-11-30T06:55:52.000000Z"
    assert to_time(to_text(moment)) == moment
    assert to_text(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00.000000Z"
    with pytest.raises(ValueError, match="zone"):
        to_text(datetime(2026, 1, 1))  # noqa: DTZ001


def test_what_text_columns_cannot_hold_is_replaced_one_for_one() -> None:
    assert column("a\0b\ud83dc") == "a\ufffdb\ufffdc"
    assert column("日本語 🙂") == "日本語 🙂"
