"""Whose memories there are, and removing one."""

from __future__ import annotations

from typing import Annotated

import typer

from memproxy.commands.console import out, print_json, print_rows
from memproxy.commands.opening import ConfigOption, DbOption, EntityOption, JsonOption, on_store

app = typer.Typer()


@app.command("entities")
def entities_list(config: ConfigOption = None, db: DbOption = None, json_output: JsonOption = False) -> None:
    """Whose memories are stored."""
    from memproxy.model import DEFAULT_TENANT
    from memproxy.server import views
    from memproxy.store import entities as rows

    found = on_store(
        config,
        db,
        lambda parts, e: parts.db.read(lambda c: rows.list_entities(c, DEFAULT_TENANT, 10_000, None)),
        "default",
    )
    shown = [
        {"entity": r.name, "turns": r.turns, "facts": r.facts, "last_seen": views.plain(r.last_seen)} for r in found
    ]
    print_rows(shown, json_output, ("entity", "turns", "facts", "last_seen"))


@app.command("usage")
def usage_list(
    entity: EntityOption = "default", config: ConfigOption = None, db: DbOption = None, json_output: JsonOption = False
) -> None:
    """Calls and tokens of models, by day and purpose."""
    from dataclasses import asdict

    from memproxy.store import usage

    found = on_store(config, db, lambda parts, e: parts.db.read(lambda c: usage.list_usage(c, e)), entity)
    columns = ("day", "purpose", "calls", "input_tokens", "output_tokens")
    print_rows([asdict(row) for row in found], json_output, columns)


@app.command()
def erase(
    entity: str,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Remove everything of an entity, for good."""
    if not yes:
        typer.confirm(f"Remove everything of {entity!r} for good?", abort=True)
    counts = on_store(config, db, lambda parts, e: parts.erase(e), entity)
    print_json({"deleted": counts}) if json_output else out.print(
        "deleted: " + (", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "there was nothing"),
        highlight=False,
        soft_wrap=True,
    )
