"""`memproxy facts`: what is remembered."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memproxy.commands.console import out, print_json, print_one, print_rows
from memproxy.commands.opening import ConfigOption, DbOption, EntityOption, JsonOption, choices, fields, on_store
from memproxy.errors import Problem, SettingsError

facts = typer.Typer(no_args_is_help=True, help="What is remembered.")


@facts.command("list")
def facts_list(
    entity: EntityOption = "default",
    status: Annotated[str, typer.Option(help="current, historical, expired, quarantined, forgotten.")] = "current",
    limit: Annotated[int, typer.Option(min=1)] = 100,
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Facts of an entity, newest first."""
    from memproxy.model import FactStatus
    from memproxy.server import views
    from memproxy.store import facts as rows

    statuses = choices("--status", status, FactStatus)
    found = on_store(
        config,
        db,
        lambda parts, e: parts.db.read(lambda c: rows.list_facts(c, e, statuses=statuses, limit=limit)),
        entity,
    )
    print_rows(
        [views.fact(row) for row in found], json_output, ("id", "text", "type", "tag", "confidence", "recorded_at")
    )


@facts.command("search")
def facts_search(
    query: str,
    entity: EntityOption = "default",
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Facts and turns that bear on a query, best first."""
    found = on_store(config, db, lambda parts, e: parts.search(e, query, (), limit), entity, embed=True)
    print_rows(found, json_output, ("kind", "id", "score", "text"))


@facts.command("add")
def facts_add(
    text: str,
    entity: EntityOption = "default",
    pinned: Annotated[bool, typer.Option("--pinned", help="Show it whenever memory is shown.")] = False,
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Remember a statement."""
    from memproxy.server import views

    draft = fields({"text": text, "pinned": pinned}).draft()
    print_one(
        on_store(config, db, lambda parts, e: parts.curator.add(e, draft), entity, embed=True), json_output, views.fact
    )


@facts.command("show")
def facts_show(
    fact_id: str,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """One fact with its history."""
    from memproxy.server import views
    from memproxy.store import facts as rows

    async def show(parts: Any, e: Any) -> Any:
        fact = await parts.db.read(lambda c: rows.get(c, e, fact_id))
        if fact is None:
            raise Problem(404, "No such fact", f"See: memproxy facts list --entity {entity}")
        return fact, await parts.db.read(lambda c: rows.changes(c, e, fact_id))

    fact, changes = on_store(config, db, show, entity)
    history = [views.change(change) for change in changes]
    if json_output:
        print_json({**views.fact(fact), "history": history})
        return
    print_one(fact, json_output, views.fact)
    for change in history:
        was = change["before"].get("text")
        said = f': "{was}" until then' if was else ""
        out.print(f"{change['time']}  {change['kind']}{said}", highlight=False, markup=False, soft_wrap=True)


@facts.command("edit")
def facts_edit(
    fact_id: str,
    text: Annotated[str | None, typer.Option(help="What it says now.")] = None,
    pinned: Annotated[bool | None, typer.Option(help="Show it whenever memory is shown.")] = None,
    restore: Annotated[bool, typer.Option("--restore", help="Bring a forgotten fact back.")] = False,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Correct a fact; what it said before stays in its history."""
    from memproxy.server import views

    changes = {"text": text, "pinned": pinned, "status": "current" if restore else None}
    given = {name: value for name, value in changes.items() if value is not None}
    if not given:
        raise SettingsError("nothing to change: give --text, --pinned or --restore")
    given = fields(given).given()
    print_one(
        on_store(config, db, lambda parts, e: parts.curator.edit(e, fact_id, given), entity),
        json_output,
        views.fact,
    )


@facts.command("forget")
def facts_forget(
    fact_id: str,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Forget a fact (undo: memproxy facts edit ID --restore)."""
    on_store(config, db, lambda parts, e: parts.curator.forget(e, fact_id), entity)
    print_json({"forgotten": fact_id}) if json_output else out.print(f"forgotten: {fact_id}", highlight=False)
