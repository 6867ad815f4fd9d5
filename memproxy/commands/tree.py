"""All commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from memproxy import __version__
from memproxy.commands import changes, entities, running
from memproxy.commands.bench import bench
from memproxy.commands.console import out
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
