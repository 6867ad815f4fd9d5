"""memproxy: a streaming reverse proxy that gives any app that talks to a language model a long-term memory.

As a library: `from memproxy import Memory, wrap`. Both are loaded when they are first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memproxy.library import Memory, wrap

__version__ = "0.1.0"
__all__ = ["Memory", "__version__", "wrap"]


def __getattr__(name: str) -> Any:
    if name not in ("Memory", "wrap"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memproxy import library

    return getattr(library, name)
