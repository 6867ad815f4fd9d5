"""`memproxy facts`: what a person does to what is remembered."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memproxy.commands.console import out, print_json, print_one
from memproxy.commands.facts import facts as facts
from memproxy.commands.opening import ConfigOption, DbOption, EntityOption, JsonOption, fields, on_store
from memproxy.errors import SettingsError


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


@facts.command("correct")
def facts_correct(
    fact_id: str,
    text: str,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Let a fact say something else, as the person's own word; what it said before was true at no time."""
    from memproxy.server import views

    given = fields({"text": text}).given()
    print_one(
        on_store(config, db, lambda parts, e: parts.curator.correct(e, fact_id, given), entity),
        json_output,
        views.fact,
    )


def _on_one(name: str, description: str) -> None:
    """A command that does something to one fact and needs no further word."""

    @facts.command(name, help=description)
    def command(
        fact_id: str,
        entity: EntityOption = "default",
        config: ConfigOption = None,
        db: DbOption = None,
        json_output: JsonOption = False,
    ) -> None:
        from memproxy.server import views

        done = on_store(config, db, lambda parts, e: getattr(parts.curator, name)(e, fact_id), entity)
        print_one(done, json_output, views.fact)


for name, description in (
    ("confirm", "The person says that it is so: sure, theirs, lasting."),
    ("pin", "Show it whenever memory is shown, and let it never expire."),
    ("unpin", "Let it be one like others again, with the time to live it had."),
    ("resolve", "An open thread is settled."),
    ("restore", "Bring a forgotten fact back as it was."),
):
    _on_one(name, description)


@facts.command("forget")
def facts_forget(
    fact_id: str,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Forget a fact (undo: memproxy facts restore ID)."""
    on_store(config, db, lambda parts, e: parts.curator.forget(e, fact_id), entity)
    print_json({"forgotten": fact_id}) if json_output else out.print(f"forgotten: {fact_id}", highlight=False)


@facts.command("delete")
def facts_delete(
    fact_id: str,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Remove a fact with its history, for good."""
    if not yes:
        typer.confirm(f"Remove fact {fact_id} for good?", abort=True)

    async def erase(parts: Any, e: Any) -> int:
        gone: int = await parts.curator.erase(e, fact_id)
        await parts.removed(e)
        return gone

    gone = on_store(config, db, erase, entity)
    print_json({"deleted": {"facts": gone}}) if json_output else out.print(f"deleted: {gone} facts", highlight=False)


@facts.command("deny")
def facts_deny(
    fact_id: str,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Remove a fact for good and do not learn it again (undo: memproxy denied allow, or say it with facts note)."""
    from memproxy.server import views

    async def deny(parts: Any, e: Any) -> Any:
        denial, gone = await parts.curator.deny(e, fact_id)
        await parts.removed(e)
        return {**views.denial(denial), "deleted": {"facts": gone}}

    denied = on_store(config, db, deny, entity)
    print_json(denied) if json_output else out.print(
        f"denied: {denied['id']} ({denied['deleted']['facts']} facts removed)", highlight=False
    )
