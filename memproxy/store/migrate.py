"""Brings a database to the schema of this program: numbered SQL files, each applied once.

A migration and the record of it commit together. A database that is newer than the program is refused.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from importlib.resources import files

from memproxy.errors import StoreError
from memproxy.store.connection import SqliteConnection

_FILE_NAME = re.compile(r"(\d{4})_(\w+)\.sql")
_HISTORY = """CREATE TABLE IF NOT EXISTS schema_migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema's history."""

    version: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """All steps this program knows, in order: 1, 2, 3 …"""
    found = []
    for file in files("memproxy.store").joinpath("migrations").iterdir():
        if match := _FILE_NAME.fullmatch(file.name):
            found.append(Migration(int(match[1]), match[2], file.read_text(encoding="utf-8")))
    return sorted(found, key=lambda step: step.version)


async def migrate(conn: SqliteConnection, steps: list[Migration] | None = None) -> list[Migration]:
    """Apply the steps that are missing (all known ones by default), each in its own transaction; those applied now.

    Raises StoreError where the database is newer than the program. Several processes may do this at once.
    """
    known = migrations() if steps is None else steps
    applied = []
    for step in await _missing(conn, known):
        if await _apply(conn, step):
            applied.append(step)
    return applied


async def _missing(conn: SqliteConnection, known: list[Migration]) -> list[Migration]:
    recorded = await conn.execute("SELECT name FROM sqlite_schema WHERE name = 'schema_migrations'")
    applied = await _applied(conn) if recorded else set()
    newest = known[-1].version if known else 0
    if (version := max(applied, default=0)) > newest:
        raise StoreError(
            f"the database has schema version {version}, this program knows up to {newest}: use a newer memproxy"
        )
    return [step for step in known if step.version not in applied]


async def _applied(conn: SqliteConnection) -> set[int]:
    return {row["version"] for row in await conn.execute("SELECT version FROM schema_migrations")}


async def _apply(conn: SqliteConnection, step: Migration) -> bool:
    try:
        await conn.script(_script(step))
    except BaseException as error:  # cancellation too: half a migration must not stay open
        await conn.roll_back()
        if isinstance(error, StoreError) and step.version in await _applied(conn):
            return False  # another process was faster
        raise
    return True


def _script(step: Migration) -> str:
    """A step with the record of it as one transaction. Where another process made that record, nothing follows."""
    end = "" if sqlite3.complete_statement(step.sql) else "\n;"
    return f"""BEGIN IMMEDIATE;
{_HISTORY};
INSERT INTO schema_migrations (version, name) VALUES ({step.version:d}, '{step.name}');
{step.sql}{end}
COMMIT;"""
