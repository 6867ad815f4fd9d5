"""The store in every flavour that this machine can run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memproxy.store.driver import Driver, possible_drivers
from memproxy.store.sqlite import SqliteDatabase


def _label(driver: Driver) -> str:
    return f"{driver.name}-{'vec0' if driver.extension else 'scan'}"


@pytest.fixture(params=possible_drivers(), ids=_label)
def driver(request: pytest.FixtureRequest) -> Driver:
    """A SQLite module, with or without the vector extension."""
    chosen: Driver = request.param
    return chosen


@pytest.fixture
async def db(driver: Driver, tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    """An empty store."""
    database = await SqliteDatabase.open(tmp_path / "memory.db", driver=driver)
    yield database
    await database.close()
