"""Found by attack: what one key could learn or do in the name of somebody it may not name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.world import World

pytestmark = pytest.mark.anyio

KEYS = [
    {"key_env": "ALICES_KEY", "entities": ["alice"]},
    {"key_env": "ADMIN_KEY", "entities": ["*"], "admin": True},
]


@pytest.fixture
async def keyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """A proxy that asks for keys."""
    monkeypatch.setenv("ALICES_KEY", "alices-key")
    monkeypatch.setenv("ADMIN_KEY", "admin-key")
    async with World.open(tmp_path, keys=KEYS) as world:
        yield world


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/v1/models", "bob"),
        ("/memproxy/as/bob/v1/models", None),
        ("/v1/embeddings", "bob"),
    ],
)
async def test_naming_somebody_elses_entity_is_403_on_every_route(
    keyed: World, method: str, path: str, named: str | None
) -> None:
    headers = {"X-MemG-Key": "alices-key", **({"X-MemG-Entity": named} if named else {})}
    response = await keyed.client.request(method, keyed.url + path, headers=headers)
    assert response.status_code == 403
    assert keyed.up.requests == []


async def test_ones_own_entity_passes(keyed: World) -> None:
    for path in ("/v1/models", "/memproxy/as/alice/v1/models"):
        headers = {"X-MemG-Key": "alices-key", "X-MemG-Entity": "alice"}
        assert (await keyed.client.get(keyed.url + path, headers=headers)).status_code == 200
    assert (await keyed.client.get(keyed.url + "/v1/models", headers={"X-MemG-Key": "alices-key"})).status_code == 200
