"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.world import World

# In CI the examples of a property are the same in every run, so that a change fails for what it changed; elsewhere they
# are new each time.
settings.register_profile("memproxy", max_examples=50, deadline=None, derandomize="CI" in os.environ)
settings.load_profile("memproxy")


def pytest_xdist_auto_num_workers() -> int:
    """Two processes a core: tests wait for disks, sockets and pauses more than half of their time."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture
def anyio_backend() -> str:
    """asyncio only: that is what the server runs on."""
    return "asyncio"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A running proxy between a scripted upstream and a scripted extraction model."""
    async with World.open(tmp_path) as opened:
        yield opened
