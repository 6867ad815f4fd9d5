"""Texts to vectors: providers as rows, loaded when chosen."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from memproxy.embedders.catalog import EMBEDDERS
from memproxy.errors import EmbedderError
from memproxy.interfaces import Embedder
from memproxy.settings import Embed

# Provider → where its factory stands; a factory takes the `embed` settings and may raise EmbedderError.
PROVIDERS = {
    "local": "memproxy.embedders.local:open_local",
    "hash": "memproxy.embedders.hashing:open_hash",
}


async def open_embedder(settings: Embed) -> Embedder:
    """The configured embedder, having made its first vector.

    Raises EmbedderError that says what is missing or wrong, SettingsError where a remote one lacks a setting.
    """
    if settings.provider in EMBEDDERS:
        from memproxy.embedders.remote import open_remote

        return await open_remote(settings)
    embedder = make_embedder(settings)
    try:
        await embedder.embed_query("warm")
    except BaseException:
        await embedder.close()
        raise
    return embedder


def make_embedder(settings: Embed) -> Embedder:
    """The configured embedder of this machine. Raises EmbedderError that says what is missing or wrong."""
    try:
        module, _, name = PROVIDERS[settings.provider].partition(":")
    except KeyError:
        raise EmbedderError(f"no embedder is called {settings.provider}; known: {', '.join(PROVIDERS)}") from None
    factory: Callable[[Embed], Embedder] = getattr(importlib.import_module(module), name)
    embedder = factory(settings)
    if settings.dimensions is not None and embedder.info.dimensions != settings.dimensions:
        raise EmbedderError(
            f"{embedder.info.model} has {embedder.info.dimensions} dimensions, not {settings.dimensions}"
        )
    return embedder
