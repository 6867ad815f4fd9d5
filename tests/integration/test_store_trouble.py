"""The store in trouble: locked, full, gone, read-only, killed, shared. It says so, loses nothing, and recovers."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from memproxy.errors import StoreError, StoreUnavailable
from memproxy.interfaces import Connection
from memproxy.store import meta
from memproxy.store.connection import SqliteConnection
from memproxy.store.sqlite import SqliteDatabase
from memproxy.store.writer import Writer

RECORD_TURNS = """
    import asyncio, sys
    from datetime import UTC, datetime
    from memproxy.model import Entity, Passage
    from memproxy.store import entities, passages, sessions, turns
    from memproxy.store.sqlite import SqliteDatabase

    async def main(path, name, limit):
        db = await SqliteDatabase.open(path)
        entity = Entity(name)

        async def record(conn, n):
            now = datetime.now(UTC)
            await entities.ensure(conn, entity, now)
            session = await sessions.open_session(conn, entity, "only", now)
            text = f"turn {n}"
            turn = await turns.append(
                conn, entity, session.id, role="user", content=text, time=now, learn="pending", text_key=text
            )
            await passages.add(conn, entity, [Passage("turn", turn.id, 0, 0, len(text), text, text)])
            return turn.id

        for n in range(limit):
            print(await db.write(lambda conn: record(conn, n)), flush=True)
        await db.close()

    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""

HOLD_LOCK = """
    import sqlite3, sys, time
    connection = sqlite3.connect(sys.argv[1], isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
    connection.execute("COMMIT")
"""

WRITE_WHEN_TOLD = """
    import asyncio, sys
    from memproxy.store import meta
    from memproxy.store.sqlite import SqliteDatabase

    async def main(path):
        db = await SqliteDatabase.open(path)
        for key in ("first", "second"):
            await db.write(lambda conn: meta.put(conn, key, "x"))
            print("stored", key, flush=True)
            sys.stdin.read()
        await db.close()

    asyncio.run(main(sys.argv[1]))
"""


def start(script: str, *args: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, args)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def put(db: SqliteDatabase, key: str) -> None:
    await db.write(lambda conn: meta.put(conn, key, "x" * 500))


async def stored(db: SqliteDatabase, key: str) -> bool:
    return await db.read(lambda conn: meta.get(conn, key)) is not None


def check_elsewhere(path: Path, sql: str) -> list[tuple[object, ...]]:
    """Ask in another process: a second SQLite library in this one would drop the first one's file locks."""
    script = (
        "import json, sqlite3, sys; print(json.dumps(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall()))"
    )
    done = subprocess.run([sys.executable, "-c", script, path, sql], capture_output=True, text=True, check=True)
    rows: list[tuple[object, ...]] = [tuple(row) for row in json.loads(done.stdout)]
    return rows


async def test_fifty_parallel_writes_are_all_stored(tmp_path: Path) -> None:
    db = await SqliteDatabase.open(tmp_path / "memory.db")
    await asyncio.gather(*(put(db, f"k{n}") for n in range(50)), *(stored(db, "k1") for _ in range(50)))
    assert all([await stored(db, f"k{n}") for n in range(50)])
    await db.close()


async def test_another_process_that_holds_the_lock_only_delays(tmp_path: Path) -> None:
    db = await SqliteDatabase.open(tmp_path / "memory.db")
    with start(HOLD_LOCK, tmp_path / "memory.db", 1.0) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        await asyncio.gather(*(put(db, f"k{n}") for n in range(5)))
    assert all([await stored(db, f"k{n}") for n in range(5)])
    await db.close()


async def test_a_lock_held_too_long_is_reported_and_later_writes_succeed(tmp_path: Path) -> None:
    db = await SqliteDatabase.open(tmp_path / "memory.db", busy_timeout=0.1)
    with start(HOLD_LOCK, tmp_path / "memory.db", 1.0) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        results = await asyncio.gather(*(put(db, f"k{n}") for n in range(3)), return_exceptions=True)
        assert [type(result) for result in results] == [StoreUnavailable] * 3
        assert not await stored(db, "k0")  # reading goes on
        holder.wait()
    await put(db, "k0")
    assert await stored(db, "k0")
    await db.close()


async def test_a_full_disk_fails_what_it_must_and_nothing_else(tmp_path: Path) -> None:
    db = await SqliteDatabase.open(tmp_path / "memory.db")
    await put(db, "before")
    await _limit_pages(db, 10)
    large = "y" * 100_000

    async def fills(conn: Connection) -> None:
        await meta.put(conn, "small", "s")
        await meta.put(conn, "large", large)

    with pytest.raises(StoreUnavailable):
        await db.write(fills)
    assert await stored(db, "before")
    assert not await stored(db, "small")
    await _limit_pages(db, 1_000_000)  # space came back
    await db.write(fills)
    assert await stored(db, "large")
    assert await db.read(meta.integrity) == []
    await db.close()


async def test_the_writer_survives_whatever_keeps_a_connection_from_it(tmp_path: Path) -> None:
    db = await SqliteDatabase.open(tmp_path / "memory.db")
    trouble: list[Exception] = [OSError("no room"), RuntimeError("can't start new thread"), MemoryError()]

    async def connection() -> SqliteConnection:
        if trouble:
            raise trouble.pop()
        return await db._writing_connection()

    writer = Writer(connection)
    for _ in range(len(trouble)):
        with pytest.raises(StoreUnavailable, match="nothing was written"):
            await writer.submit(lambda conn: meta.put(conn, "lost", "1"))
    await writer.submit(lambda conn: meta.put(conn, "key", "1"))
    await writer.close()
    assert await stored(db, "key")
    assert not await stored(db, "lost")
    await db.close()


async def _limit_pages(db: SqliteDatabase, pages: int) -> None:
    async def limit(conn: Connection) -> None:
        await conn.execute(f"PRAGMA max_page_count = {pages}")  # type: ignore[attr-defined]

    await db.write(limit)


async def test_a_file_that_is_moved_away_is_noticed_and_found_again(tmp_path: Path) -> None:
    path, away = tmp_path / "memory.db", tmp_path / "away.db"
    db = await SqliteDatabase.open(path)
    await put(db, "before")
    path.rename(away)
    with pytest.raises(StoreUnavailable, match="gone"):
        await put(db, "lost")
    with pytest.raises(StoreUnavailable, match="gone"):
        await stored(db, "before")
    assert not path.exists()  # no empty memory takes the place of the real one
    away.rename(path)
    await put(db, "after")
    assert await stored(db, "before")
    assert await stored(db, "after")
    await db.close()


async def _another(folder: Path) -> None:
    """A store to put in the place of the one in use."""
    other = await SqliteDatabase.open(folder / "other.db")
    await put(other, "from the other")
    await other.close()


async def test_a_file_that_was_replaced_is_opened_anew(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await _another(tmp_path)
    db = await SqliteDatabase.open(path)
    await put(db, "from the first")
    path.unlink()
    (tmp_path / "other.db").rename(path)
    assert await stored(db, "from the other")
    await put(db, "new")
    assert not await stored(db, "from the first")
    assert await db.read(meta.integrity) == []
    await db.close()


async def test_a_file_replaced_under_two_processes_is_opened_by_each_in_its_own_time(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await _another(tmp_path)
    db = await SqliteDatabase.open(path)
    await put(db, "from the first")
    with start(WRITE_WHEN_TOLD, path) as second:
        assert second.stdin is not None
        assert second.stdout is not None
        assert second.stdout.readline() == "stored first\n"
        (tmp_path / "other.db").rename(path)
        assert await stored(db, "from the other")  # the second process still has the former file's log open
        await put(db, "new")
        second.stdin.close()
        assert second.stdout.read() == "stored second\n"
    assert await stored(db, "second")
    assert await stored(db, "new")
    assert not await stored(db, "first")
    assert await db.read(meta.integrity) == []
    await db.close()


async def test_a_file_that_could_not_be_opened_anew_is_opened_once_it_can_be(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await _another(tmp_path)
    db = await SqliteDatabase.open(path)
    path.unlink()
    path.write_bytes(b"not all of it is here yet" * 100)
    for _ in range(2):
        with pytest.raises(StoreError, match="not a database"):
            await stored(db, "from the other")
        with pytest.raises(StoreError, match="not a database"):
            await put(db, "lost")
    (tmp_path / "other.db").rename(path)
    assert await stored(db, "from the other")
    await put(db, "new")
    assert await stored(db, "new")
    await db.close()


async def test_whoever_gives_up_while_a_file_is_opened_anew_leaves_it_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    db = await SqliteDatabase.open(path)
    await put(db, "before")
    await db.scrub()  # all of it is in the file itself
    for steps in (1, 2, 5, 10, 20, 40):
        (tmp_path / "copy.db").write_bytes(path.read_bytes())
        (tmp_path / "copy.db").rename(path)
        early = [asyncio.create_task(stored(db, "before")), asyncio.create_task(put(db, "early"))]
        for _ in range(steps):
            await asyncio.sleep(0)
        for task in early:
            task.cancel()
        await asyncio.gather(*early, return_exceptions=True)
        assert await stored(db, "before")
        await put(db, "after")
    await db.close()


async def test_what_is_no_database_is_refused_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"this is a letter, not a database" * 100)
    with pytest.raises(StoreError, match="not a database"):
        await SqliteDatabase.open(tmp_path / "memory.db")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot create"):
        await SqliteDatabase.open(tmp_path / "file" / "memory.db")


async def test_a_reader_left_open_does_not_make_the_log_grow_for_ever(tmp_path: Path) -> None:
    db = await SqliteDatabase.open(tmp_path / "memory.db")
    log = tmp_path / "memory.db-wal"

    async def holds(conn: Connection) -> None:
        await meta.get(conn, "k")
        for n in range(100):
            await db.write(lambda writer, n=n: meta.put(writer, f"k{n % 3}", f"{n:03d}" * 70_000))  # type: ignore[misc]

    await db.snapshot(holds)
    assert log.stat().st_size > 16_777_216
    for n in range(100):  # nobody waits for the reader's end: on a busy machine some writes come before it
        await put(db, f"later{n}")
        if log.stat().st_size <= 16_777_216:
            break
    assert log.stat().st_size <= 16_777_216
    await db.close()


async def test_two_processes_record_into_one_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with start(RECORD_TURNS, path, "Ada", 60) as one, start(RECORD_TURNS, path, "Ada", 60) as two:
        outputs = [process.communicate(timeout=60)[0].split() for process in (one, two)]
        assert (one.returncode, two.returncode) == (0, 0)
    printed = outputs[0] + outputs[1]
    assert len(set(printed)) == 120
    assert check_elsewhere(path, "SELECT count(*), count(DISTINCT seq), max(seq) FROM turns") == [(120, 120, 120)]


async def test_killed_at_any_moment_no_committed_turn_is_missing_or_double(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    printed: list[str] = []
    chance = random.Random(7)
    for _ in range(5):
        with start(RECORD_TURNS, path, "Ada", 100_000) as child:
            assert child.stdout is not None
            printed.append(child.stdout.readline().strip())
            await asyncio.sleep(chance.uniform(0.0, 0.2))
            os.kill(child.pid, signal.SIGKILL)
            # A line may be cut short by the kill; then nobody was told.
            printed += [line.strip() for line in child.stdout if line.endswith("\n")]
    db = await SqliteDatabase.open(path)
    assert await db.read(meta.integrity) == []
    await db.close()
    ids = [row[0] for row in check_elsewhere(path, "SELECT id FROM turns")]
    assert len(printed) > 10
    assert set(printed) <= set(ids)
    assert len(ids) == len(set(ids))
    assert check_elsewhere(path, "SELECT count(*) FROM turns") == check_elsewhere(path, "SELECT count(*) FROM passages")


async def test_a_read_only_file_is_still_read_and_says_that_it_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    db = await SqliteDatabase.open(path)
    await put(db, "before")
    await db.close()
    path.chmod(0o400)
    if os.access(path, os.W_OK):
        pytest.skip("this user may write anywhere")
    db = await SqliteDatabase.open(path)
    assert await stored(db, "before")
    with pytest.raises(StoreUnavailable, match="readonly"):
        await put(db, "after")
    await db.close()


def test_the_standard_library_knows_the_file_format(tmp_path: Path) -> None:
    """Whatever module wrote the file, the stdlib's SQLite can read it: nothing newer than it is used."""

    async def write() -> None:
        db = await SqliteDatabase.open(tmp_path / "memory.db")
        await put(db, "k")
        await db.close()

    asyncio.run(write())
    connection = sqlite3.connect(tmp_path / "memory.db")
    assert connection.execute("SELECT count(*) FROM passage_index WHERE passage_index MATCH 'x'").fetchall() == [(0,)]
    connection.close()
