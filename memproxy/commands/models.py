"""`memproxy models`: which models can be used, and whether those in use answer."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import anyio
import typer

from memproxy.commands.console import print_rows
from memproxy.commands.opening import ConfigOption, JsonOption, load

models = typer.Typer(help="Models for extraction and embeddings.", invoke_without_command=True)

OnlyOption = Annotated[bool, typer.Option("--configured", help="Only what is configured.")]


@models.callback()
def models_list(
    context: typer.Context, configured: OnlyOption = False, config: ConfigOption = None, json_output: JsonOption = False
) -> None:
    """What can be used, what is, where its key is, and whether it can be reached (asked of configured ones only)."""
    if context.invoked_subcommand is not None:
        return
    from memproxy.survey import options

    found = [asdict(option) for option in anyio.run(options, load(config).settings)]
    if configured:
        found = [option for option in found if option["configured"]]
    if not json_output:
        words = {True: "yes", False: "no"}
        found = [{name: words.get(value, value) for name, value in row.items()} for row in found]
    print_rows(found, json_output, ("kind", "provider", "model", "configured", "reachable", "key"))


@models.command("test")
def models_test(config: ConfigOption = None, json_output: JsonOption = False) -> None:
    """One real call of each configured kind: does it answer, how fast, how many dimensions, at what cost."""
    from memproxy.survey import Trial, trials

    settings = load(config).settings

    async def run() -> list[Trial]:
        return [trial async for trial in trials(settings)]

    found = anyio.run(run)
    columns = ("kind", "model", "state", "milliseconds", "dimensions", "json", "cost", "detail")
    print_rows([asdict(trial) for trial in found], json_output, columns)
    raise typer.Exit(1 if any(trial.state == "failure" for trial in found) else 0)
