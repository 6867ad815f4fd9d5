"""Embedders that other packages bring along: the least that is asked of them, and what is made of it.

A package offers a callable under the entry point group `memproxy.embedders`. It is called with the settings `embed` and
gives an object as `Plugin` has it; dimensions, unit length and the levels of its cosines are found out here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np

from memproxy.calling import plugins
from memproxy.embedders.calibration import calibrate_remote
from memproxy.errors import EmbedderError, MemproxyError
from memproxy.interfaces import Vectors
from memproxy.model import EmbedderInfo
from memproxy.settings import Embed

PROBE_SECONDS = 60.0  # for the first vector and those by which the model is measured; it may have to be loaded first
BATCH = 64


class Plugin(Protocol):
    """What a package's embedder is. It may have `async def close(self) -> None`, too."""

    model: str  # with another name, vectors are made anew

    async def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Iterable[Iterable[float]]:
        """A vector a text, in order, of any length but zero. May raise anything: those texts are found by words."""
        ...


class PluggedEmbedder:
    """Makes an embedder of a plugin."""

    def __init__(self, name: str, plugin: Plugin, dimensions: int) -> None:
        self.info = EmbedderInfo(f"{name}/{plugin.model}@{dimensions}", dimensions, 0.0, 1.0)
        self._plugin = plugin

    async def embed_query(self, text: str) -> Vectors:
        """One unit vector. Raises EmbedderError."""
        return (await _vectors(self._plugin, [text], "query", self.info.dimensions)).reshape(-1)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in order. Raises EmbedderError."""
        rows = [np.zeros((0, self.info.dimensions), np.float32)]
        for start in range(0, len(texts), BATCH):
            rows.append(await self._some(texts[start : start + BATCH], "document"))
        return np.concatenate(rows)

    async def close(self) -> None:
        """Let the plugin close what it opened."""
        if (close := getattr(self._plugin, "close", None)) is not None:
            await close()

    async def _some(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        return await _vectors(self._plugin, texts, kind, self.info.dimensions)


async def open_plugged(settings: Embed, known: EmbedderInfo | None = None) -> PluggedEmbedder:
    """A package's embedder, having made its first vector; measured unless that was done before (`known`).

    Raises EmbedderError, SettingsError.
    """
    name = settings.provider
    factory = plugins.load("memproxy.embedders", name)
    if factory is None:
        raise EmbedderError(f"no embedder is called {name}, and no installed package offers one")
    try:
        plugin: Any = factory(settings)
        async with asyncio.timeout(PROBE_SECONDS):
            first = await _vectors(plugin, ["probe"], "document", settings.dimensions)
            embedder = PluggedEmbedder(name, plugin, first.shape[1])
            if known is None or known.model != embedder.info.model:
                levels = await calibrate_remote(partial(embedder._some, kind="query"), embedder.embed_documents)
                known = EmbedderInfo(embedder.info.model, embedder.info.dimensions, *levels)
    except MemproxyError:
        raise
    except Exception as error:  # another package's code, which may raise anything
        raise EmbedderError(f"{name}: {type(error).__name__}: {error}") from error
    embedder.info = known
    return embedder


async def _vectors(
    plugin: Plugin, texts: Sequence[str], kind: Literal["query", "document"], dimensions: int | None
) -> Vectors:
    """Unit vectors of one call. Raises EmbedderError for whatever is none."""
    try:
        rows = np.array([list(row) for row in await plugin.embed(texts, kind)], dtype=np.float64)
    except Exception as error:  # another package's code, which may raise anything; its words may quote somebody
        raise EmbedderError(f"{plugin.model}: {type(error).__name__}") from error
    if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
        raise EmbedderError(f"{plugin.model} gave no vector a text")
    if dimensions is not None and rows.shape[1] != dimensions:
        raise EmbedderError(f"{plugin.model} has {rows.shape[1]} dimensions, not {dimensions}")
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not norms.all():
        raise EmbedderError(f"{plugin.model} gave a vector of length zero")
    unit: Vectors = (rows / norms).astype(np.float32)
    return unit
