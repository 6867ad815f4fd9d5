"""The page people look at: plain files without a build step, handed out as they lie here."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from importlib.resources import files

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """One file of the page."""

    body: bytes
    media_type: str
    etag: str  # a quoted hash of the body: what has not changed is not sent again


@functools.cache
def assets() -> dict[str, Asset]:
    """All files of the page by name, read once."""
    found = {}
    for entry in files(__name__).iterdir():
        media_type = TYPES.get(entry.name[entry.name.rfind(".") :])
        if media_type is not None:
            body = entry.read_bytes()
            found[entry.name] = Asset(body, media_type, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
    return found
