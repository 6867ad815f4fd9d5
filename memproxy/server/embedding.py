"""The embedder of a memory, and what the store remembers of it: a model behind an API is measured once.

So a provider that is away while memory starts is one that is away for a moment: vectors are made up for on its return.
"""

from __future__ import annotations

import hashlib
import json

import msgspec

from memproxy.embedders import is_remote, open_embedder
from memproxy.errors import EmbedderError
from memproxy.interfaces import Connection, Database, Embedder
from memproxy.model import EmbedderInfo
from memproxy.settings import Embed, Settings
from memproxy.store import meta


async def embedder_of(settings: Settings, db: Database) -> tuple[Embedder | None, str | None]:
    """The configured embedder; or None, and why there is none. Raises StoreError, SettingsError."""
    if not settings.memory.enabled:
        return None, "not loaded while memory is off"
    if settings.embed.provider == "off":
        return None, "switched off by embed.provider"
    try:
        if not is_remote(settings.embed):
            return await open_embedder(settings.embed), None
        return await _remembering(settings.embed, db), None
    except EmbedderError as error:
        return None, str(error)


async def _remembering(embed: Embed, db: Database) -> Embedder:
    key = f"embedder:{_mark(embed)}"
    known = _read(await db.read(lambda conn: meta.get(conn, key)))
    embedder = await open_embedder(embed, known)
    if embedder.info != known:
        written = msgspec.json.encode(embedder.info).decode()

        async def remember(conn: Connection) -> None:
            await meta.put(conn, key, written)

        await db.write(remember)
    return embedder


def _read(value: str | None) -> EmbedderInfo | None:
    try:
        return None if value is None else msgspec.json.decode(value, type=EmbedderInfo)
    except msgspec.DecodeError:
        return None  # measured anew, then


def _mark(embed: Embed) -> str:
    """What tells a model from another: everything that its vectors depend on."""
    said = (embed.provider, embed.base_url, embed.model, embed.dimensions, embed.query_prefix, embed.document_prefix)
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]
