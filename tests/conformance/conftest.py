"""One proxy for all cells: starting one for each would be most of the time that the test takes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.world import World


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """As everywhere, but for a whole module, so that a proxy can live as long."""
    return "asyncio"


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A running proxy between a scripted upstream and a scripted extraction model, for a whole module."""
    async with World.open(tmp_path_factory.mktemp("conformance")) as opened:
        yield opened
