"""`memproxy turns`: what was said."""

from __future__ import annotations

from typing import Annotated

import typer

from memproxy.commands.console import print_rows
from memproxy.commands.opening import ConfigOption, DbOption, EntityOption, JsonOption, on_store

turns = typer.Typer(no_args_is_help=True, help="What was said.")


@turns.command("list")
def turns_list(
    entity: EntityOption = "default",
    session: Annotated[str | None, typer.Option(help="Only this conversation (id).")] = None,
    limit: Annotated[int, typer.Option(min=1)] = 100,
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Turns of an entity, in the order they were said."""
    from memproxy.server import views
    from memproxy.store import turns as rows

    found = on_store(
        config,
        db,
        lambda parts, e: parts.db.read(lambda c: rows.list_turns(c, e, session_id=session, limit=limit)),
        entity,
    )
    print_rows([views.turn(row) for row in found], json_output, ("time", "session_id", "role", "content"))
