"""Texts to vectors: providers as rows, loaded when chosen."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from memproxy.errors import EmbedderError
from memproxy.interfaces import Embedder
from memproxy.settings import Embed

# Provider → where its factory stands; a factory takes the `embed` settings and may raise EmbedderError.
PROVIDERS = {
    "local": "memproxy.embedders.local:open_local",
    "hash": "memproxy.embedders.hashing:open_hash",
}


def make_embedder(settings: Embed) -> Embedder:
    """The configured embedder. Raises EmbedderError that says what is missing or wrong."""
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
