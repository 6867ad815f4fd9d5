"""`wrap`: memory for an `openai` or `anthropic` client, by what the proxy does, in the client's own process.

The client's HTTP transport is replaced by one that hands each request to the proxy application and gives back what
that answers; from there on everything is as behind a server: bodies are spliced, answers relayed as they come and
recorded, and the base URL and the credential are the client's. Nothing listens on a socket.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, TypeVar

from memproxy.errors import SettingsError
from memproxy.library.hosting import Here, Host, Owned, Threaded
from memproxy.library.memory import Memory, load, named
from memproxy.library.transport import async_transport, sync_transport

C = TypeVar("C")


def wrap(
    client: C,
    *,
    entity: str,
    memory: Memory | str | os.PathLike[str] | None = None,
    session: str | None = None,
    config: str | os.PathLike[str] | None = None,
    **settings: object,
) -> C:
    """A copy of the client that remembers what is said through it, and is reminded of what bears on what is said.

    `client` is an `openai` or `anthropic` client, sync or async. `memory` is an open `Memory` or the path of a store,
    which is then opened at the first request and closed with the client; None: the configured one. `session` names the
    conversation; without, it is known by its history. A sync client runs memory in a thread of its own; given a
    `Memory` that is open in an event loop, it works from any other thread than that loop's. A custom `http_client` of
    the client (its proxy, its certificates) is not used. Raises SettingsError.
    """
    http = _http_of(client)
    host = _host(client, memory, config, settings)
    headers = {"x-memg-entity": named(entity).name, **({"x-memg-session": session} if session else {})}
    copy: C = _with_transport(client, http, host, headers)
    return copy


def _host(client: object, memory: Any, config: Any, settings: Mapping[str, object]) -> Host:
    if isinstance(memory, Memory):
        return Here(memory.parts)
    owned = Owned(load(memory, config, settings))
    return owned if _is_async(client) else Threaded(owned)


def _with_transport(client: Any, http: ModuleType, host: Host, headers: Mapping[str, str]) -> Any:
    """The client's own way of making a copy with another HTTP client, which keeps everything else."""
    how = {"follow_redirects": True, "timeout": client.timeout, "trust_env": False}
    if _is_async(client):
        return client.copy(http_client=http.AsyncClient(transport=async_transport(http, host, headers), **how))
    return client.copy(http_client=http.Client(transport=sync_transport(http, host, headers), **how))


def _is_async(client: object) -> bool:
    return inspect.iscoroutinefunction(getattr(client, "close", None))


def _http_of(client: object) -> ModuleType:
    """The HTTP library that a client stands on: httpx, or what takes its place."""
    inner = getattr(client, "_client", None)
    for kind in type(inner).__mro__:
        name = kind.__module__.partition(".")[0]
        if kind.__name__ in ("Client", "AsyncClient") and name in ("httpx", "httpx2") and hasattr(client, "copy"):
            return sys.modules[name]
    raise SettingsError(
        f"wrap: {type(client).__name__} is no openai or anthropic client; point its base URL to a proxy"
    )
