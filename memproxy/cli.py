"""The command line: a few lines a command. Exit codes: 0 done, 1 failed, 2 wrong usage or settings."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import anyio
import typer
from rich.console import Console
from rich.table import Table

from memproxy import __version__, settings_sources
from memproxy.errors import MemproxyError, Problem, SettingsError, StoreError
from memproxy.settings_sources import Loaded

T = TypeVar("T")

app = typer.Typer(
    name="memproxy",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Long-term memory for any app that talks to a language model.",
)
facts = typer.Typer(no_args_is_help=True, help="What is remembered.")
turns = typer.Typer(no_args_is_help=True, help="What was said.")
jobs = typer.Typer(no_args_is_help=True, help="Background work.")
bench = typer.Typer(no_args_is_help=True, help="Measure.")
for name, group in (("facts", facts), ("turns", turns), ("jobs", jobs), ("bench", bench)):
    app.add_typer(group, name=name)

# Into a pipe goes each row in one line, whole: to be searched and copied from. A remembered ":dog:" stays what it is.
out = Console(emoji=False, width=None if sys.stdout.isatty() else 10_000)
err = Console(stderr=True, emoji=False)

ConfigOption = Annotated[str | None, typer.Option("--config", help="Settings file (default: memg.json and others).")]
DbOption = Annotated[str | None, typer.Option("--db", help="Database file.")]
EntityOption = Annotated[str, typer.Option("--entity", "-e", help="Whose memory.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print rows as JSON.")]


def main() -> None:
    """Entry point: errors become one line that names the fix, and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter is no reason to fail
    try:
        app(standalone_mode=True)
    except SettingsError as error:
        _tell("error", str(error))
        sys.exit(2)
    except Problem as problem:
        _tell("error", f"{problem.title}. {problem.detail}".strip())
        sys.exit(1)
    except MemproxyError as error:
        _tell("error", str(error))
        sys.exit(1)
    except BrokenPipeError:
        _close_quietly()
        sys.exit(1)
    except OSError as error:
        _close_quietly()
        _tell("error", f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _tell(kind: str, text: str) -> None:
    """One line to a person; what it quotes (paths, `keys[0]`) is never read as markup."""
    err.print(f"[{'red' if kind == 'error' else 'yellow'}]{kind}:[/]", end=" ")
    err.print(text, markup=False, highlight=False, soft_wrap=True)


def _close_quietly() -> None:
    """Whoever read our output has had enough (`| head`): what is left goes nowhere, and nothing is said about it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _load(config: str | None, **flags: object) -> Loaded:
    loaded = settings_sources.load(config, {name.replace("__", "."): value for name, value in flags.items()})
    for warning in loaded.warnings:
        _tell("warning", warning)
    return loaded


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


# --- running -------------------------------------------------------------------------------------------------


@app.command()
def serve(
    config: ConfigOption = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    target: Annotated[str | None, typer.Option(help="Where requests go.")] = None,
    entity: Annotated[str | None, typer.Option(help="Whose memory, where a request names nobody.")] = None,
    db: DbOption = None,
    llm_provider: Annotated[str | None, typer.Option(help="Provider of the extraction model.")] = None,
    llm_model: Annotated[str | None, typer.Option(help="Extraction model.")] = None,
    llm_base_url: Annotated[str | None, typer.Option(help="Base URL of the extraction model.")] = None,
    embed_provider: Annotated[str | None, typer.Option(help="local, or off.")] = None,
    embed_dir: Annotated[str | None, typer.Option(help="Directory of your own ONNX embedding model.")] = None,
    debug: Annotated[bool | None, typer.Option("--debug", help="Log more (never content).")] = None,
) -> None:
    """Run the proxy."""
    # Before numpy is loaded: comparing a query with thousands of vectors takes half a millisecond on one core, and ten
    # on two where the second is busy, since its threads wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from memproxy.server.serve import serve as run

    loaded = _load(
        config,
        host=host,
        port=port,
        target=target,
        entity=entity,
        db=db,
        debug=debug,
        llm__provider=llm_provider,
        llm__model=llm_model,
        llm__base_url=llm_base_url,
        embed__provider=embed_provider,
        embed__dir=embed_dir,
    )
    _log(loaded.settings.debug)

    def started(application: Any, listening: int) -> None:
        from memproxy.server.banner import banner

        for label, text in banner(application, listening, application.parts.named_at_start):
            out.print(f"[bold]{label:>16}[/bold]  {text}", highlight=False, soft_wrap=True)

    anyio.run(run, loaded.settings, started, backend_options={"use_uvloop": _uvloop()})


@app.command()
def demo(
    json_output: JsonOption = False,
) -> None:
    """See what memory does, in one minute: no key, no network."""
    from memproxy.demo import run_demo

    raise typer.Exit(anyio.run(run_demo, out, json_output))


@app.command()
def doctor(
    config: ConfigOption = None,
    db: DbOption = None,
    target: Annotated[str | None, typer.Option(help="Where requests go.")] = None,
    through: Annotated[
        str | None, typer.Option(help="Base URL of a running memproxy to test an app's way through.")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Check settings, database, embedder, upstream and extraction model; say what to do."""
    from memproxy.doctor import examine

    loaded = _load(config, db=db, target=target)
    findings = anyio.run(examine, loaded, through)
    if json_output:
        _print_json([{"check": f.check, "state": f.state, "detail": f.detail, "fix": f.fix} for f in findings])
    else:
        colours = {"ok": "green", "warning": "yellow", "failure": "red"}
        for finding in findings:
            fix = f" → {finding.fix}" if finding.fix else ""
            out.print(f"[{colours[finding.state]}]{finding.state.upper():>8}[/] ", finding.check, end="")
            out.print(f": {finding.detail}{fix}", highlight=False, soft_wrap=True, markup=False)
    raise typer.Exit(1 if any(f.state == "failure" for f in findings) else 0)


@app.command()
def migrate(config: ConfigOption = None, db: DbOption = None, json_output: JsonOption = False) -> None:
    """Bring the database to this version's schema."""
    from memproxy.store.sqlite import SqliteDatabase

    settings = _load(config, db=db).settings

    async def run() -> str:
        with _naming(settings.database):
            database = await SqliteDatabase.open(settings.database)
        info = database.describe()
        await database.close()
        return f"{info.driver} {info.sqlite_version}, {info.vectors}"

    described = anyio.run(run)
    _print_json({"database": str(settings.database), "state": described}) if json_output else out.print(
        f"{settings.database}: up to date ({described})", highlight=False, soft_wrap=True
    )


# --- looking and changing ------------------------------------------------------------------------------------


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

    statuses = _choices("--status", status, FactStatus)
    found = _on_store(
        config,
        db,
        lambda parts, e: parts.db.read(lambda c: rows.list_facts(c, e, statuses=statuses, limit=limit)),
        entity,
    )
    _print_rows(
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
    found = _on_store(config, db, lambda parts, e: parts.search(e, query, (), limit), entity, embed=True)
    _print_rows(found, json_output, ("kind", "id", "score", "text"))


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

    draft = _fields({"text": text, "pinned": pinned}).draft()
    _print_one(
        _on_store(config, db, lambda parts, e: parts.curator.add(e, draft), entity, embed=True), json_output, views.fact
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

    fact, changes = _on_store(config, db, show, entity)
    history = [views.change(change) for change in changes]
    if json_output:
        _print_json({**views.fact(fact), "history": history})
        return
    _print_one(fact, json_output, views.fact)
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
    given = _fields(given).given()
    _print_one(
        _on_store(config, db, lambda parts, e: parts.curator.correct(e, fact_id, given), entity),
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
    _on_store(config, db, lambda parts, e: parts.curator.forget(e, fact_id), entity)
    _print_json({"forgotten": fact_id}) if json_output else out.print(f"forgotten: {fact_id}", highlight=False)


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

    found = _on_store(
        config,
        db,
        lambda parts, e: parts.db.read(lambda c: rows.list_turns(c, e, session_id=session, limit=limit)),
        entity,
    )
    _print_rows([views.turn(row) for row in found], json_output, ("time", "session_id", "role", "content"))


@app.command("entities")
def entities_list(config: ConfigOption = None, db: DbOption = None, json_output: JsonOption = False) -> None:
    """Whose memories are stored."""
    from memproxy.model import DEFAULT_TENANT
    from memproxy.server import views
    from memproxy.store import entities as rows

    found = _on_store(
        config,
        db,
        lambda parts, e: parts.db.read(lambda c: rows.list_entities(c, DEFAULT_TENANT, 10_000, None)),
        "default",
    )
    shown = [
        {"entity": r.name, "turns": r.turns, "facts": r.facts, "last_seen": views.plain(r.last_seen)} for r in found
    ]
    _print_rows(shown, json_output, ("entity", "turns", "facts", "last_seen"))


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
    counts = _on_store(config, db, lambda parts, e: parts.erase(e), entity)
    _print_json({"deleted": counts}) if json_output else out.print(
        "deleted: " + (", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "there was nothing"),
        highlight=False,
        soft_wrap=True,
    )


@jobs.command("list")
def jobs_list(
    state: Annotated[str | None, typer.Option(help="pending, running, dead …")] = None,
    config: ConfigOption = None,
    db: DbOption = None,
    json_output: JsonOption = False,
) -> None:
    """Background jobs, newest first."""
    from memproxy.model import JobState
    from memproxy.server import views
    from memproxy.store import jobs as rows

    states = _choices("--state", state, JobState) if state else []
    found = _on_store(
        config, db, lambda parts, e: parts.db.read(lambda c: rows.list_jobs(c, states=states, limit=1000)), "default"
    )
    _print_rows(
        [views.job(row) for row in found],
        json_output,
        ("id", "entity", "kind", "state", "attempts", "error", "run_after"),
    )


@jobs.command("retry")
def jobs_retry(job_id: str, config: ConfigOption = None, db: DbOption = None, json_output: JsonOption = False) -> None:
    """Bring a dead job back."""
    from memproxy.lifecycle.dead_letters import bring_back

    done = _on_store(
        config, db, lambda parts, e: parts.db.write(lambda c: bring_back(c, job_id, parts.clock.now())), "default"
    )
    if not done:
        raise Problem(404, "No such dead job", "See: memproxy jobs list --state dead")
    _print_json({"retried": job_id}) if json_output else out.print(f"due again: {job_id}", highlight=False)


@bench.command("replay")
def bench_replay(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Conversations with labelled questions.")],
    conversations: Annotated[int | None, typer.Option(help="Only the first so many.")] = None,
    budget: Annotated[int | None, typer.Option(help="Token budget of the block.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Play a data file through the real proxy; report how much of the evidence stood in the injected blocks."""
    from memproxy.bench.replay import replay

    raise typer.Exit(anyio.run(replay, file, conversations, budget, out, json_output))


@bench.command("relay")
def bench_relay(
    seconds: Annotated[float, typer.Option(help="Length of one slice of load.")] = 1.0,
    rounds: Annotated[int, typer.Option(help="Slices of each kind, taken in turn.")] = 3,
    concurrency: Annotated[list[int] | None, typer.Option(help="Requests under way (default: 1, 32 and 256).")] = None,
    turns: Annotated[int, typer.Option(help="Stored turns of the entity that memory is on for; 0: only off.")] = 10_000,
    soak: Annotated[bool, typer.Option(help="Then 10,000 streams and 500 abandoned ones, and memory after.")] = False,
    also: Annotated[list[str] | None, typer.Option(help="litellm or portkey, where installed.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Measure what the relay costs, beside a minimal proxy and the upstream alone, in one interleaved run."""
    from memproxy.bench.relay import Plan, measure

    plan = Plan(seconds, rounds, tuple(concurrency or (1, 32, 256)), turns, soak, tuple(also or ()))
    raise typer.Exit(
        anyio.run(measure, plan, out, json_output, backend_options={"use_uvloop": sys.platform != "win32"})
    )


# --- helpers -------------------------------------------------------------------------------------------------


def _on_store(
    config: str | None, db: str | None, work: Callable[[Any, Any], Awaitable[T]], entity: str, *, embed: bool = False
) -> T:
    """Do work on the database. No model is asked: a missing key is no hindrance, vectors are loaded only to search."""
    from msgspec.structs import replace

    from memproxy.model import Entity
    from memproxy.server.identity import clean_name
    from memproxy.server.parts import open_parts

    settings = _load(config, db=db).settings
    settings = replace(settings, llm=replace(settings.llm, api_key=None, borrow=False))
    if not embed:
        settings = replace(settings, embed=replace(settings.embed, provider="off"))
    try:
        whose = Entity(clean_name(entity))
    except ValueError as error:
        raise SettingsError(f"--entity: {error}") from None

    async def run() -> T:
        with _naming(settings.database):
            async with open_parts(settings) as parts:
                return await work(parts, whose)

    return anyio.run(run)


@contextlib.contextmanager
def _naming(database: Path) -> Iterator[None]:
    """Trouble with the database says which file it is."""
    try:
        yield
    except StoreError as error:
        if str(database) in str(error):
            raise
        raise StoreError(f"{database}: {error}; choose another with --db") from None


def _choices(option: str, said: str, kind: Any) -> list[str]:
    """The values of an option that takes some of a closed list."""
    chosen = [part.strip() for part in said.split(",") if part.strip()]
    if not chosen or not set(chosen) <= set(get_args(kind)):
        raise SettingsError(f"{option}: {said!r}; give one or more of {', '.join(get_args(kind))}, with commas")
    return chosen


def _fields(given: Mapping[str, Any]) -> Any:
    """Fields of a fact, checked as those that come over HTTP."""
    from memproxy.server.requests import FactFields, decode

    return decode(json.dumps(given).encode(), FactFields)


def _print_json(value: object) -> None:
    sys.stdout.buffer.write(json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def _print_rows(rows: Sequence[Mapping[str, Any]], json_output: bool, columns: Sequence[str]) -> None:
    if json_output:
        _print_json(list(rows))
        return
    table = Table(*columns, box=None)
    for row in rows:
        table.add_row(*(_cell(row.get(column)) for column in columns))
    out.print(table if rows else "nothing there", highlight=False)


def _cell(value: object) -> Any:
    from rich.text import Text

    return Text("" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value), overflow="fold")


def _print_one(row: Any, json_output: bool, view: Callable[[Any], Mapping[str, Any]]) -> None:
    shown = view(row)
    if json_output:
        _print_json(shown)
        return
    for label, value in shown.items():
        if value is not None:
            out.print(f"{label:>18}  {value}", highlight=False, markup=False, soft_wrap=True)


def _log(debug: bool) -> None:
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for noisy in ("httpx", "httpcore", "aiosqlite", "asyncio", "uvicorn"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _uvloop() -> bool:
    import importlib.util

    return importlib.util.find_spec("uvloop") is not None


if __name__ == "__main__":
    main()
