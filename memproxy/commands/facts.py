"""`memproxy facts`: what is remembered, and what is behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from memproxy.commands.console import out, print_fields, print_json, print_one, print_rows
from memproxy.commands.opening import (
    ConfigOption,
    DbOption,
    EntityOption,
    JsonOption,
    choices,
    fields,
    moment,
    on_store,
)
from memproxy.errors import Problem

facts = typer.Typer(no_args_is_help=True, help="What is remembered.")


@facts.command("list")
def facts_list(
    entity: EntityOption = "default",
    status: Annotated[str, typer.Option(help="current, historical, expired, quarantined, forgotten.")] = "current",
    group: Annotated[bool, typer.Option("--group", help="By tag, with how far each is to be trusted.")] = False,
    as_of_valid: Annotated[str | None, typer.Option(help="What was true then (ISO 8601).")] = None,
    as_of_txn: Annotated[str | None, typer.Option(help="What was believed then (ISO 8601).")] = None,
    limit: Annotated[int, typer.Option(min=1)] = 100,
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Facts of an entity, newest first."""
    from memproxy.model import FactStatus
    from memproxy.server import views
    from memproxy.store import beliefs
    from memproxy.store import facts as rows

    statuses = choices("--status", status, FactStatus)
    valid, txn = moment("--as-of-valid", as_of_valid), moment("--as-of-txn", as_of_txn)

    async def look(parts: Any, e: Any) -> Any:
        if valid is None and txn is None:
            return await parts.db.read(lambda c: rows.list_facts(c, e, statuses=statuses, limit=limit))
        now = parts.clock.now()
        return (await parts.db.read(lambda c: beliefs.as_of(c, e, valid or now, txn or now)))[::-1][:limit]

    found = on_store(config, db, look, entity)
    if group and json_output:
        print_json({"groups": views.groups(found)})
    elif group:
        shown = [row for tagged in views.groups(found) for row in tagged["items"]]
        print_rows(shown, json_output, ("tag", "id", "text", "label", "source"))
    else:
        columns = ("id", "text", "type", "tag", "confidence", "recorded_at")
        print_rows([views.fact(row) for row in found], json_output, columns)


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
    from memproxy.server import views

    found = on_store(config, db, lambda parts, e: parts.search(e, query, (), limit), entity, embed=True)
    print_rows([views.scored(row) for row in found], json_output, ("kind", "id", "score", "text"))


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


@facts.command("note")
def facts_note(
    text: str,
    slot: Annotated[str | None, typer.Option(help="The attribute it fills: location, employer …")] = None,
    tag: Annotated[str | None, typer.Option(help="What it is about.")] = None,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Write down what is to be remembered, as the person's own word: nothing that is learned overrides it."""
    from memproxy.server import views
    from memproxy.server.requests import NoteFields

    given = {"text": text, "slot": slot, "tag": tag}
    words, more = fields({k: v for k, v in given.items() if v is not None}, NoteFields).note()
    noted = on_store(config, db, lambda parts, e: parts.curator.note(e, words, more), entity, embed=True)
    print_one(noted, json_output, views.fact)


@facts.command("show")
def facts_show(
    fact_id: str,
    entity: EntityOption = "default",
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """One fact with what is behind it: its words, who repeated it, what it replaced, and all that happened to it."""
    from memproxy.server import views
    from memproxy.store import evidence
    from memproxy.store import facts as rows

    async def look(parts: Any, e: Any) -> Any:
        fact = await parts.db.read(lambda c: rows.get(c, e, fact_id))
        if fact is None:
            raise Problem(404, "No such fact", f"See: memproxy facts list --entity {entity}")
        return await parts.db.read(lambda c: evidence.behind(c, e, fact))

    shown = views.behind(on_store(config, db, look, entity))
    if json_output:
        print_json(shown)
        return
    print_fields({name: value for name, value in shown.items() if not isinstance(value, list | dict)})
    for line in _told(shown):
        out.print(line, highlight=False, markup=False, soft_wrap=True)


def _told(shown: Mapping[str, Any]) -> Iterator[str]:
    """What is behind a fact, a line each."""
    if shown["turn"] is not None:
        yield f"{shown['turn']['time']}  {shown['turn']['role']} said: {shown['turn']['content']}"
    for said in shown["repetitions"]:
        yield f"{said['time']}  said again in session {said['session_id']}"
    for other in shown["supersedes"]:
        yield f"{other['superseded_at']}  took the place of {other['id']}: {other['text']}"
    if shown["superseded_by_fact"] is not None:
        yield f"{shown['superseded_at']}  gave way to {shown['superseded_by']}: {shown['superseded_by_fact']['text']}"
    for change in shown["history"]:
        was = change["before"].get("text")
        said = f': "{was}" until then' if was else ""
        yield f"{change['time']}  {change['kind']}{f' ({reason})' if (reason := change['reason']) else ''}{said}"


@facts.command("threads")
def facts_threads(
    entity: EntityOption = "default",
    limit: Annotated[int, typer.Option(min=1)] = 20,
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """What is not settled yet: the weightiest first, then the oldest."""
    from memproxy.server import views
    from memproxy.store import evidence

    found = on_store(config, db, lambda parts, e: parts.db.read(lambda c: evidence.open_threads(c, e, limit)), entity)
    print_rows([views.fact(row) for row in found], json_output, ("id", "text", "significance", "recorded_at"))
