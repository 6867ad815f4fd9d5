"""Whose certificates are trusted on the way out, for every call that memproxy makes or passes on."""

from __future__ import annotations

import os
import ssl
from functools import lru_cache


def trusted() -> ssl.SSLContext:
    """The system's certificates, and certifi's where the system has none (a Python from python.org on macOS).

    SSL_CERT_FILE and SSL_CERT_DIR name others. Reading them takes tens of milliseconds: once for what they name.
    """
    return _read(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=4)
def _read(file: str | None, folder: str | None) -> ssl.SSLContext:
    """A context for what these variables name; OpenSSL reads them itself, they are only the key here."""
    context = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    if paths.cafile is None and paths.capath is None:
        import certifi

        context.load_verify_locations(certifi.where())
    return context
