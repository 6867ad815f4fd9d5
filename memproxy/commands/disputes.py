"""`memproxy contradictions` and `memproxy collisions`: what is in dispute, and deciding it."""

from __future__ import annotations

from typing import Annotated

import typer

from memproxy.commands.console import print_json, print_one, print_rows
from memproxy.commands.opening import ConfigOption, DbOption, EntityOption, JsonOption, choices, fields, on_store

contradictions = typer.Typer(no_args_is_help=True, help="What was said against what is remembered.")
collisions = typer.Typer(no_args_is_help=True, help="Facts that exclude each other.")
NoteOption = Annotated[str | None, typer.Option(help="Why.")]


@contradictions.command("list")
def contradictions_list(
    status: Annotated[str, typer.Option(help="open, held, resolved; several with commas.")] = "open",
    limit: Annotated[int, typer.Option(min=1)] = 100,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Contradictions, newest first, with both sides."""
    from memproxy.server import views
    from memproxy.store.contradictions import ContradictionStatus

    statuses = choices("--status", status, ContradictionStatus)
    rows = on_store(config, db, lambda parts, e: parts.disputes.contradictions(e, statuses, limit), entity)
    shown = [views.contradiction(row) for row in rows]
    print_rows(shown, json_output, ("id", "status", "stored", "stated", "repeat_count", "decision"))


@contradictions.command("resolve")
def contradictions_resolve(
    contradiction_id: str,
    decision: Annotated[str, typer.Argument(help="user_stated, stored or neither.")],
    note: NoteOption = None,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Decide: what was stated is so, what is stored is so, or neither."""
    from memproxy.server import views
    from memproxy.server.requests import ResolveFields

    given = fields({"decision": decision, "note": note}, ResolveFields)
    row = on_store(
        config, db, lambda parts, e: parts.disputes.resolve(e, contradiction_id, given.decision, note), entity
    )
    print_one(row, json_output, views.contradiction)


@contradictions.command("hold")
def contradictions_hold(
    contradiction_id: str,
    note: NoteOption = None,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Leave it be for as long as the stored fact says what it says now."""
    from memproxy.server import views

    row = on_store(config, db, lambda parts, e: parts.disputes.hold(e, contradiction_id, note), entity)
    print_one(row, json_output, views.contradiction)


@collisions.command("list")
def collisions_list(
    entity: EntityOption = "default", config: ConfigOption = None, db: DbOption = None, json_output: JsonOption = False
) -> None:
    """Collisions as they are now: whom they are about, the sides, and what is left on the wrong one."""
    from memproxy.server import views

    rows = [views.collision(row) for row in on_store(config, db, lambda parts, e: parts.disputes.collisions(e), entity)]
    if json_output:
        print_json(rows)
        return
    flat = [{**row, "sides": ", ".join(row["sides"]), "residue": len(row["residue"])} for row in rows]
    print_rows(flat, False, ("id", "family", "subject", "status", "sides", "kept_side", "residue"))


@collisions.command("settle")
def collisions_settle(
    collision_id: str,
    side: str,
    note: NoteOption = None,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Say which side is right; no fact is changed."""
    from memproxy.server import views

    row = on_store(config, db, lambda parts, e: parts.disputes.settle(e, collision_id, side, note), entity)
    print_one(row, json_output, views.collision)
