"""The command line. Exit codes: 0 done, 1 failed, 2 wrong usage or settings."""

from __future__ import annotations

import io
import os
import sys

from memproxy.commands import serving
from memproxy.errors import MemproxyError, Problem, SettingsError


def main() -> None:
    """Entry point: errors become one line that names the fix, and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter is no reason to fail
    try:
        _run(sys.argv[1:])
    except SettingsError as error:
        _tell(str(error))
        sys.exit(2)
    except Problem as problem:
        _tell(f"{problem.title}. {problem.detail}".strip())
        sys.exit(1)
    except MemproxyError as error:
        _tell(str(error))
        sys.exit(1)
    except BrokenPipeError:
        _close_quietly()
        sys.exit(1)
    except OSError as error:
        _close_quietly()
        _tell(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _run(arguments: list[str]) -> None:
    """The server by itself where that is all that is asked for: the other commands are no load for it to carry."""
    given = serving.plainly_told(arguments)
    if given is not None:
        serving.run(given)
        return
    from memproxy.commands.tree import app

    app(standalone_mode=True)


def _tell(text: str) -> None:
    from memproxy.commands.console import tell

    tell("error", text)


def _close_quietly() -> None:
    """Whoever read our output has had enough (`| head`): what is left goes nowhere, and nothing is said about it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
