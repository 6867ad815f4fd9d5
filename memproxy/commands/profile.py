"""`memproxy profile`: what is known of a person in structured form."""

from __future__ import annotations

from typing import Annotated

import typer

from memproxy.commands.console import print_json, print_rows
from memproxy.commands.opening import ConfigOption, DbOption, EntityOption, JsonOption, fields, on_store

profile = typer.Typer(no_args_is_help=True, help="What is known in structured form (facts.rule_packs).")


@profile.command("show")
def profile_show(
    history: Annotated[bool, typer.Option("--history", help="What ever held, the newest first.")] = False,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """The entries that hold, by field."""
    from memproxy.server import views

    if history:
        rows = on_store(config, db, lambda parts, e: parts.profiles.history(e), entity)
        shown = [views.profile_entry(row) for row in rows]
        print_rows(shown, json_output, ("field", "value", "recorded_at", "removed_at", "fact_id"))
        return
    found = on_store(config, db, lambda parts, e: parts.profiles.current(e), entity)
    if json_output:
        print_json(views.profile(found))
        return
    entries = [views.profile_entry(entry) for entries in found.values() for entry in entries]
    print_rows(entries, False, ("field", "value", "recorded_at", "fact_id"))


@profile.command("change")
def profile_change(
    field: str,
    add: Annotated[list[str] | None, typer.Option(help="An entry that holds from now on.")] = None,
    remove: Annotated[list[str] | None, typer.Option(help="An entry that holds no more.")] = None,
    only: Annotated[list[str] | None, typer.Option("--set", help="The only entries that hold.")] = None,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Change the entries of a field by hand."""
    from memproxy.server import views
    from memproxy.server.requests import ProfileFields

    given = {"set": only, "add": add, "remove": remove}
    named = {kind: {field: entries} for kind, entries in given.items() if entries}
    changes = fields(named, ProfileFields).changes()
    found = on_store(config, db, lambda parts, e: parts.profiles.change(e, changes), entity)
    if json_output:
        print_json(views.profile(found))
        return
    entries = [views.profile_entry(entry) for entries in found.values() for entry in entries]
    print_rows(entries, False, ("field", "value", "recorded_at", "fact_id"))
