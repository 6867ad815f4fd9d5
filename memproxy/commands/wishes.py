"""`memproxy preferences` and `memproxy denied`: what a person wants of their memory."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memproxy.commands.console import out, print_fields, print_json, print_rows
from memproxy.commands.opening import ConfigOption, DbOption, EntityOption, JsonOption, fields, on_store

preferences = typer.Typer(no_args_is_help=True, help="What is learned and remembered at all.")
denied = typer.Typer(no_args_is_help=True, help="What is never to be learned again.")


@preferences.command("show")
def preferences_show(
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """What an entity wants."""
    from memproxy.server import views
    from memproxy.store import preferences as rows

    found = on_store(config, db, lambda parts, e: parts.db.read(lambda c: rows.get(c, e)), entity)
    _print(views.preferences(found), json_output)


@preferences.command("set")
def preferences_set(
    exclude: Annotated[list[str] | None, typer.Option(help='Learn no facts with this tag; "" for none.')] = None,
    learning: Annotated[bool | None, typer.Option(help="Learn facts from what is said.")] = None,
    memory: Annotated[bool | None, typer.Option(help="Recall, store and learn anything at all.")] = None,
    patterns: Annotated[bool | None, typer.Option(help="Learn habits.")] = None,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Want something else from now on; what is left out stays as it is."""
    from memproxy.server import views
    from memproxy.server.requests import PreferenceFields

    tags = [tag for tag in exclude if tag] if exclude is not None else None
    changes = {"excluded_tags": tags, "learning": learning, "memory": memory, "patterns": patterns}
    given = fields({name: value for name, value in changes.items() if value is not None}, PreferenceFields).given()
    wanted = on_store(config, db, lambda parts, e: parts.curator.prefer(e, given), entity)
    _print(views.preferences(wanted), json_output)


@denied.command("list")
def denied_list(
    entity: EntityOption = "default",
    limit: Annotated[int, typer.Option(min=1)] = 100,
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """That something was denied, and when; what it was is kept nowhere."""
    from memproxy.server import views
    from memproxy.store import denied as rows

    found = on_store(config, db, lambda parts, e: parts.db.read(lambda c: rows.list_denials(c, e, limit)), entity)
    print_rows([views.denial(row) for row in found], json_output, ("id", "denied_at"))


@denied.command("add")
def denied_add(
    text: str,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Remove what says this for good, and do not learn it again."""
    from memproxy.server import views
    from memproxy.server.requests import Words

    words = fields({"text": text}, Words).checked()

    async def deny(parts: Any, e: Any) -> Any:
        denial, gone = await parts.curator.deny_text(e, words)
        await parts.removed(e)
        return {**views.denial(denial), "deleted": {"facts": gone}}

    done = on_store(config, db, deny, entity)
    print_json(done) if json_output else out.print(
        f"denied: {done['id']} ({done['deleted']['facts']} facts removed)", highlight=False
    )


@denied.command("allow")
def denied_allow(
    denied_id: str,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Deny something no more: it may be learned again."""
    on_store(config, db, lambda parts, e: parts.curator.allow(e, denied_id), entity)
    print_json({"allowed": denied_id}) if json_output else out.print(f"allowed: {denied_id}", highlight=False)


def _print(shown: dict[str, Any], json_output: bool) -> None:
    print_json(shown) if json_output else print_fields({**shown, "excluded_tags": ", ".join(shown["excluded_tags"])})
