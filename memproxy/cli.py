"""The command line. Exit codes: 0 done, 1 failed, 2 wrong usage or settings."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from memproxy import __version__
from memproxy.commands import changes, entities, running
from memproxy.commands.bench import bench
from memproxy.commands.console import out, tell
from memproxy.commands.disputes import collisions, contradictions
from memproxy.commands.explain import explain
from memproxy.commands.exporting import export
from memproxy.commands.importing import bring
from memproxy.commands.jobs import jobs
from memproxy.commands.mcp import mcp
from memproxy.commands.models import models
from memproxy.commands.profile import profile
from memproxy.commands.reembed import reembed
from memproxy.commands.turns import turns
from memproxy.commands.wishes import denied, preferences
from memproxy.errors import MemproxyError, Problem, SettingsError

app = typer.Typer(
    name="memproxy",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Long-term memory for any app that talks to a language model.",
)
app.add_typer(running.app)
for name, group in (
    ("facts", changes.facts),
    ("turns", turns),
    ("contradictions", contradictions),
    ("collisions", collisions),
    ("profile", profile),
    ("preferences", preferences),
    ("denied", denied),
    ("jobs", jobs),
    ("models", models),
    ("bench", bench),
):
    app.add_typer(group, name=name)
app.add_typer(entities.app)
app.command()(reembed)
app.command()(explain)
app.command("import")(bring)
app.command()(export)
app.command()(mcp)


def main() -> None:
    """Entry point: errors become one line that names the fix, and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter is no reason to fail
    try:
        app(standalone_mode=True)
    except SettingsError as error:
        tell("error", str(error))
        sys.exit(2)
    except Problem as problem:
        tell("error", f"{problem.title}. {problem.detail}".strip())
        sys.exit(1)
    except MemproxyError as error:
        tell("error", str(error))
        sys.exit(1)
    except BrokenPipeError:
        _close_quietly()
        sys.exit(1)
    except OSError as error:
        _close_quietly()
        tell("error", f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _close_quietly() -> None:
    """Whoever read our output has had enough (`| head`): what is left goes nowhere, and nothing is said about it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"memproxy {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Long-term memory for any app that talks to a language model."""


if __name__ == "__main__":
    main()
