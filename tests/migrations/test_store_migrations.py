"""The schema's history: replayed it gives the same schema, and a newer database is refused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memproxy.errors import StoreError
from memproxy.store import meta
from memproxy.store.connection import SqliteConnection
from memproxy.store.driver import choose_driver
from memproxy.store.migrate import Migration, migrate, migrations
from memproxy.store.sqlite import SqliteDatabase


async def connect(path: Path) -> SqliteConnection:
    return await SqliteConnection.connect(path, choose_driver("auto"), busy_timeout=5)


async def schema(conn: SqliteConnection) -> list[tuple[str, str, str | None]]:
    rows = await conn.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
    return [(row["type"], row["name"], row["sql"]) for row in rows]


def test_each_step_has_a_number_of_its_own() -> None:
    assert [step.version for step in migrations()] == sorted({step.version for step in migrations()})


async def test_a_step_that_came_later_than_one_of_a_higher_number_is_made_up_for(tmp_path: Path) -> None:
    conn = await connect(tmp_path / "memory.db")
    first, late, early = (Migration(n, f"step{n}", f"CREATE TABLE t{n} (x)") for n in (1, 2, 3))
    assert await migrate(conn, [first, early]) == [first, early]
    assert await migrate(conn, [first, late, early]) == [late]
    await conn.close()


async def test_a_database_migrated_step_by_step_has_the_schema_of_a_fresh_one(tmp_path: Path) -> None:
    stepwise, fresh = await connect(tmp_path / "stepwise.db"), await connect(tmp_path / "fresh.db")
    for count in range(1, len(migrations()) + 1):
        await migrate(stepwise, migrations()[:count])
    applied = await migrate(fresh)
    assert applied == migrations()
    assert await schema(stepwise) == await schema(fresh)
    assert await migrate(fresh) == []
    assert await meta.version(fresh) == migrations()[-1].version
    await stepwise.close()
    await fresh.close()


async def test_a_failed_step_leaves_the_version_before_it(tmp_path: Path) -> None:
    conn = await connect(tmp_path / "memory.db")
    broken = Migration(2, "broken", "CREATE TABLE half (x);\nCREATE TABLE half (x);")
    with pytest.raises(StoreError):
        await migrate(conn, [migrations()[0], broken])
    assert await meta.version(conn) == 1
    assert "half" not in [name for _, name, _ in await schema(conn)]
    mended = Migration(2, "mended", "CREATE TABLE half (x)")
    assert await migrate(conn, [migrations()[0], mended]) == [mended]
    await conn.close()


async def test_a_newer_database_is_refused_with_what_to_do(tmp_path: Path) -> None:
    conn = await connect(tmp_path / "memory.db")
    future = Migration(9000, "future", "CREATE TABLE later (x)")
    await migrate(conn, [*migrations(), future])
    await conn.close()
    with pytest.raises(StoreError, match="newer memproxy"):
        await SqliteDatabase.open(tmp_path / "memory.db")


async def test_stores_opened_at_the_same_moment_migrate_once(tmp_path: Path) -> None:
    databases = await asyncio.gather(*(SqliteDatabase.open(tmp_path / "memory.db") for _ in range(4)))
    for database in databases:
        assert await database.read(meta.version) == migrations()[-1].version
        await database.close()


@pytest.mark.parametrize("end", ["", ";", "; -- the end; no more", " -- no more;", "; /* ; */ "])
async def test_a_script_may_end_in_any_way(tmp_path: Path, end: str) -> None:
    conn = await connect(tmp_path / "memory.db")
    step = Migration(1, "any", f"CREATE TABLE t (x DEFAULT ';'); -- a; b\nCREATE TABLE u (x){end}")
    assert await migrate(conn, [step]) == [step]
    assert {"t", "u"} <= {name for _, name, _ in await schema(conn)}
    assert not conn.in_transaction
    await conn.close()
