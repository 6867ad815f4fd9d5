"""The token by which writes of our own web page are known from those of any other."""

from __future__ import annotations

import hashlib
import hmac


def page_token(secret: bytes) -> str:
    """The token of a store's page. It holds for good, so that an open page outlives a restart of the server."""
    return hmac.digest(secret, b"memproxy page", hashlib.sha256).hex()
