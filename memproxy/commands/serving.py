"""`memproxy serve` itself, apart from the command line: what a server holds, it holds for as long as it runs.

The library that reads command lines, with all commands and the checks of their options, is 12 MB and 0.3 s. So a
command line that says plainly what to serve is read here; any other (a question for help, a mistake) is left to it.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from memproxy.commands.loading import load

# Of the options of `memproxy serve`, those that take a value.
OPTIONS: Mapping[str, str] = {
    "--config": "config",
    "--host": "host",
    "--port": "port",
    "--target": "target",
    "--entity": "entity",
    "--db": "db",
    "--llm-provider": "llm.provider",
    "--llm-model": "llm.model",
    "--llm-base-url": "llm.base_url",
    "--embed-provider": "embed.provider",
    "--embed-model": "embed.model",
    "--embed-dir": "embed.dir",
}


def plainly_told(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The settings that the arguments of `memproxy serve` name; None where they are not plain, or another command."""
    if not arguments or arguments[0] != "serve":
        return None
    given: dict[str, Any] = {}
    rest = iter(arguments[1:])
    for argument in rest:
        option, equals, value = argument.partition("=")
        if argument == "--debug":
            given["debug"] = True
            continue
        said = value if equals else next(rest, "-")
        if option not in OPTIONS or said.startswith("-") or (option == "--port" and not said.isdecimal()):
            return None
        given[OPTIONS[option]] = int(said) if option == "--port" else said
    return given


def run(given: Mapping[str, Any]) -> None:
    """Serve until asked to stop. `given` maps names of settings to values, and `config` to a file; None is not given.

    Raises SettingsError, StoreError.
    """
    # Before numpy is loaded: comparing a query with thousands of vectors takes half a millisecond on one core, and ten
    # on two where the second is busy, since its threads wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from memproxy.server.serve import serve

    flags = {name: value for name, value in given.items() if name != "config"}
    settings = load(given.get("config"), flags).settings
    _log(settings.debug)
    anyio.run(serve, settings, _started, backend_options={"use_uvloop": _uvloop()})


def _started(application: Any, listening: int) -> None:
    from memproxy.server.banner import banner

    bold, plain = ("\x1b[1m", "\x1b[0m") if sys.stdout.isatty() and "NO_COLOR" not in os.environ else ("", "")
    for label, text in banner(application, listening, application.parts.named_at_start):
        sys.stdout.write(f"{bold}{label:>16}{plain}  {text}\n")
    sys.stdout.flush()


def _log(debug: bool) -> None:
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for noisy in ("httpx", "httpcore", "aiosqlite", "asyncio", "uvicorn", "mcp", "sse_starlette"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _uvloop() -> bool:
    import importlib.util

    return importlib.util.find_spec("uvloop") is not None
