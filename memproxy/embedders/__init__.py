"""Texts to vectors: providers as rows, loaded when chosen."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from urllib.parse import urlsplit

from memproxy.embedders.catalog import EMBEDDERS
from memproxy.errors import EmbedderError
from memproxy.interfaces import Embedder
from memproxy.model import EmbedderInfo
from memproxy.settings import Embed, is_loopback

# Provider → where its factory stands; a factory takes the `embed` settings and may raise EmbedderError.
PROVIDERS = {
    "local": "memproxy.embedders.local:open_local",
    "hash": "memproxy.embedders.hashing:open_hash",
}


def is_remote(settings: Embed) -> bool:
    """Whether the configured embedder is behind an API."""
    return settings.provider in EMBEDDERS


def is_here(settings: Embed) -> bool:
    """Whether no other machine is spoken to. Of another package's embedder nobody knows."""
    if not is_remote(settings):
        return settings.provider in PROVIDERS
    address = settings.base_url or EMBEDDERS[settings.provider].access.address or ""
    return is_loopback(urlsplit(address).hostname or "")


def trouble(embedder: Embedder | None) -> str | None:
    """Why an embedder's newest call failed, where it tells and where it did."""
    failing: str | None = getattr(embedder, "failing", None)
    return failing


async def open_embedder(settings: Embed, known: EmbedderInfo | None = None) -> Embedder:
    """The configured embedder, having made its first vector.

    `known` is what an earlier start found out: it is not measured again, and a remote one that does not answer for now
    is there all the same. Raises EmbedderError that says what is missing or wrong, SettingsError where a setting is
    missing.
    """
    if is_remote(settings):
        from memproxy.embedders.remote import open_remote

        return await open_remote(settings, known)
    if settings.provider not in PROVIDERS:
        from memproxy.embedders.plugged import open_plugged

        return await open_plugged(settings, known)
    embedder = make_embedder(settings)
    try:
        await embedder.embed_query("warm")
    except BaseException:  # cancellation too: no thread may be left behind
        await embedder.close()
        raise
    return embedder


async def open_unseen(settings: Embed, known: EmbedderInfo) -> Embedder:
    """A remote embedder of which everything is known; nothing is asked of it yet.

    Raises SettingsError where a setting or key is missing.
    """
    from memproxy.embedders.remote import open_remote

    return await open_remote(settings, known, probe=False)


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
