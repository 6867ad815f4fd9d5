"""What all tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.world import World


@pytest.fixture
def anyio_backend() -> str:
    """asyncio only: that is what the server runs on."""
    return "asyncio"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A running proxy between a scripted upstream and a scripted extraction model."""
    async with World.open(tmp_path) as opened:
        yield opened
