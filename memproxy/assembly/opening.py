"""The embedders of a memory, and what the store remembers of each: how it was opened, and what was measured of it.

A model behind an API is measured once, so a provider that is away while memory starts is one that is away for a moment:
vectors are made up for on its return. And a model that is replaced can be opened again until its vectors are.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from dataclasses import asdict
from typing import Any

import msgspec

from memproxy.embedders import is_here, is_remote, open_embedder, open_unseen
from memproxy.embedders.live import Embedders
from memproxy.errors import EmbedderDown, EmbedderError, SettingsError
from memproxy.interfaces import Connection, Database, Embedder
from memproxy.lifecycle.reembedding import Progress
from memproxy.model import EmbedderInfo
from memproxy.settings import Embed, Settings
from memproxy.store import meta, reembedding

log = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0  # seconds between two tries of a provider that is away; twice as long each time
BUNDLED = "bge-small-en-v1.5"


class Opening:
    """Opens the embedders of a memory: at the start, and later, where a provider was away then."""

    def __init__(self, settings: Settings, db: Database) -> None:
        self._settings = settings
        self._embed = settings.embed
        self._db = db
        self.again = False  # whether it is worth trying once more
        self.embedders = Embedders()

    async def open(self) -> Embedders:
        """All there are now. Raises StoreError, SettingsError."""
        if not self._settings.memory.enabled:
            self.embedders.problem = "not loaded while memory is off"
        elif self._embed.provider == "off":
            self.embedders.problem = "switched off by embed.provider"
        else:
            await self._try()
            await self._open_earlier()
        return self.embedders

    async def arrive(self) -> None:
        """Wait until the configured embedder is there; forever, where trying again does not help."""
        pause = FIRST_PAUSE
        while self.embedders.current is None:
            if not self.again:
                await asyncio.Event().wait()
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            await self._try()

    async def _try(self) -> None:
        found = self.embedders
        try:
            current = await _remembering(self._embed, self._db)
        except EmbedderError as error:
            found.problem, found.failing = str(error), True
            self.again = isinstance(error, EmbedderDown) and error.passing
            return
        found.current, found.problem, found.failing = current, None, False
        found.earlier.pop(current.info.model, None)
        found.missing.pop(current.info.model, None)

    async def _open_earlier(self) -> None:
        """Those that made vectors which are still in use."""
        found = self.embedders
        current = found.current.info.model if found.current is not None else None
        for model in await self._db.read(reembedding.names):
            if model != current:
                try:
                    found.earlier[model] = await _earlier(model, self._embed, self._db)
                except (EmbedderError, SettingsError) as error:
                    found.missing[model] = str(error)


async def _remembering(embed: Embed, db: Database) -> Embedder:
    """The configured embedder, and a note of it for the next start, and for whatever takes its place."""
    key = f"embedder:{_mark(embed)}"
    known = _read(await db.read(lambda conn: meta.get(conn, key)))
    embedder = await open_embedder(embed, known)
    info = msgspec.json.encode(embedder.info).decode()
    notes = {f"model:{embedder.info.model}": json.dumps({"embed": _noted(embed), "info": asdict(embedder.info)})}
    if embed.provider != "local":
        notes[key] = info

    async def old(conn: Connection) -> dict[str, str | None]:
        return {name: await meta.get(conn, name) for name in notes}

    async def remember(conn: Connection) -> None:
        for name, value in notes.items():
            await meta.put(conn, name, value)

    if await db.read(old) != notes:
        await db.write(remember)
    return embedder


async def _earlier(model: str, embed: Embed, db: Database) -> Embedder:
    """The embedder of a model that was in use before. Raises EmbedderError, SettingsError.

    What was set is what may be spoken to: where all is to stay on this machine now, no other is asked for old vectors.
    """
    noted = await db.read(lambda conn: meta.get(conn, f"model:{model}"))
    if noted is None and model != BUNDLED:
        raise EmbedderError("nothing is known of it")
    try:
        said = json.loads(noted) if noted is not None else {"embed": {}, "info": None}
        was = msgspec.convert(said["embed"], Embed, dec_hook=_secret)
        info = msgspec.convert(said["info"], EmbedderInfo | None)
    except (ValueError, LookupError, TypeError):
        raise EmbedderError("what is known of it cannot be read") from None
    if not is_here(was) and is_here(embed):
        raise EmbedderError("it is on another machine, and embed.* names none any more")
    embedder = await open_unseen(was, info) if info is not None and is_remote(was) else await open_embedder(was)
    if embedder.info.model == model and (info is None or embedder.info.dimensions == info.dimensions):
        return embedder
    await embedder.close()
    raise EmbedderError("another model is in its place now")


def told(found: Embedders, progress: Progress, mode: str) -> str:
    """What a change of the model means: for how much, what is being done about it, and what holds until then."""
    assert found.current is not None
    done = f" ({100 * progress.done // progress.total} % are there)" if progress.total and progress.done else ""
    how = "being made anew in the background" if mode == "background" else "made anew by: memproxy reembed"
    until = "the old model finds them" if not found.missing else "they are found by their words"
    why = "".join(f"; {model}: {reason}" for model, reason in found.missing.items())
    return (
        f"{progress.total:,} passages have vectors of {', '.join(found.replaced)}, and embed.* says "
        f"{found.current.info.model} now; they are {how}{done}, until then {until}{why}"
    )


def _noted(embed: Embed) -> dict[str, Any]:
    """What it takes to open an embedder again; of a key, where it is to be found, never the key."""
    key = embed.api_key
    said = {name: getattr(embed, name) for name in embed.__struct_fields__ if name not in ("api_key", "reembed")}
    return {
        **{k: v for k, v in said.items() if v is not None},
        **({"api_key": key.pointer} if key and key.pointer else {}),
    }


def _secret(kind: type, value: Any) -> Any:
    return kind(value)


def _read(value: str | None) -> EmbedderInfo | None:
    try:
        return None if value is None else msgspec.json.decode(value, type=EmbedderInfo)
    except msgspec.DecodeError:
        return None  # measured anew, then


def _mark(embed: Embed) -> str:
    """What tells a model from another: everything that its vectors depend on."""
    said = (embed.provider, embed.base_url, embed.model, embed.dimensions, embed.query_prefix, embed.document_prefix)
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]
