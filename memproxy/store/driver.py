"""Which SQLite module runs the database, and what its errors mean.

Many Pythons are built without extension loading. Then pysqlite3, if it is installed, brings its own SQLite; else there
is no vector extension and vectors are compared exactly in numpy, with the same results.
"""

from __future__ import annotations

import importlib
import importlib.util
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from memproxy.errors import StoreError, StoreUnavailable
from memproxy.folding import fold

VectorMode = Literal["auto", "vec0", "scan"]

_OLDEST = (3, 37, 0)  # STRICT tables

# Primary result codes that describe a condition which may pass (https://sqlite.org/rescode.html):
# PERM BUSY LOCKED NOMEM READONLY INTERRUPT IOERR FULL CANTOPEN PROTOCOL
_PASSING = {3, 5, 6, 7, 8, 9, 10, 13, 14, 15}


@dataclass(frozen=True, slots=True)
class Driver:
    """A DB-API module with what it can do."""

    module: Any  # sqlite3 or pysqlite3.dbapi2: the same interface, different classes
    extension: str | None  # path of the vector extension, where it is to be loaded
    why: str  # for people: why this one

    @property
    def name(self) -> str:
        """The module's package name."""
        return str(self.module.__name__).partition(".")[0]

    def connect(self, path: Path, *, busy_timeout: float) -> Any:
        """A connection in autocommit mode (transactions are begun by hand) whose rows are mappings. Blocks."""
        connection = self.module.connect(str(path), timeout=busy_timeout, isolation_level=None)
        try:
            if self.extension is not None:
                _load_extension(connection, self.extension)
            connection.row_factory = self.module.Row
            connection.create_function("fold", 1, fold, deterministic=True)
        except BaseException:  # whatever went wrong: no open file may be left behind
            connection.close()
            raise
        return connection


def choose_driver(vectors: VectorMode) -> Driver:
    """The best module there is. Raises StoreError where vec0 is demanded and cannot be had, or SQLite is too old."""
    if vectors == "scan":
        return _checked(Driver(sqlite3, None, "exact scan was asked for"))
    reasons: list[str] = []
    for module in _modules():
        extension = _usable_extension(module, reasons)
        if extension is not None:
            return _checked(Driver(module, extension, f"{module.__name__.partition('.')[0]} can load sqlite-vec"))
    why = "; ".join(reasons)
    if vectors == "vec0":
        raise StoreError(f"sqlite-vec cannot be loaded ({why}); install pysqlite3, or let vectors be 'auto'")
    return _checked(Driver(sqlite3, None, why))


def possible_drivers() -> list[Driver]:
    """Every way a store can run here: each module that can load the extension, and the exact scan."""
    extensions = [(module, _usable_extension(module, [])) for module in _modules()]
    accelerated = [Driver(module, path, "it can load sqlite-vec") for module, path in extensions if path is not None]
    return [*accelerated, choose_driver("scan")]


def _modules() -> Iterator[Any]:
    yield sqlite3
    if importlib.util.find_spec("pysqlite3") is not None:
        yield importlib.import_module("pysqlite3.dbapi2")


def _usable_extension(module: Any, reasons: list[str]) -> str | None:
    name = module.__name__.partition(".")[0]
    if not hasattr(module.Connection, "enable_load_extension"):
        reasons.append(f"{name} is built without extension loading")
        return None
    package = importlib.util.find_spec("sqlite_vec")
    if package is None or package.origin is None:
        reasons.append("sqlite-vec is not installed")
        return None
    path = str(Path(package.origin).with_name("vec0"))  # its `loadable_path()`; to import it would load numpy
    probe = module.connect(":memory:")
    try:
        _load_extension(probe, path)
        probe.execute("SELECT vec_version()").fetchone()
    except module.Error as error:  # a library for another machine, for example
        reasons.append(f"{name} cannot load sqlite-vec: {error}")
        return None
    finally:
        probe.close()
    return path


def _load_extension(connection: Any, path: str) -> None:
    connection.enable_load_extension(True)
    try:
        connection.load_extension(path)
    finally:
        connection.enable_load_extension(False)


def _checked(driver: Driver) -> Driver:
    if driver.module.sqlite_version_info < _OLDEST:
        raise StoreError(f"SQLite {driver.module.sqlite_version} is too old: 3.37 or later is needed")
    return driver


@contextmanager
def translated(module: Any) -> Iterator[None]:
    """The one place where a driver's exceptions become ours. Messages name tables and conditions, never content."""
    try:
        yield
    except module.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & 0xFF in _PASSING:
            raise StoreUnavailable(str(error)) from error
        raise StoreError(str(error)) from error
    except ValueError as error:
        if str(error) in {"Connection closed", "no active connection"}:  # aiosqlite's own
            raise StoreUnavailable("the database is closed") from error
        raise
