"""Running: the proxy itself, its demonstration, its check-up, and its database."""

from __future__ import annotations

import logging
import os
from typing import Annotated, Any

import anyio
import typer

from memproxy.commands.console import out, print_json
from memproxy.commands.opening import ConfigOption, DbOption, JsonOption, load, naming

app = typer.Typer()


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
    embed_provider: Annotated[str | None, typer.Option(help="Where vectors are made.")] = None,
    embed_model: Annotated[str | None, typer.Option(help="Embedding model of the provider.")] = None,
    embed_dir: Annotated[str | None, typer.Option(help="Directory of your own ONNX embedding model.")] = None,
    debug: Annotated[bool | None, typer.Option("--debug", help="Log more (never content).")] = None,
) -> None:
    """Run the proxy."""
    # Before numpy is loaded: comparing a query with thousands of vectors takes half a millisecond on one core, and ten
    # on two where the second is busy, since its threads wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from memproxy.server.serve import serve as run

    loaded = load(
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
        embed__model=embed_model,
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

    loaded = load(config, db=db, target=target)
    findings = anyio.run(examine, loaded, through)
    if json_output:
        print_json([{"check": f.check, "state": f.state, "detail": f.detail, "fix": f.fix} for f in findings])
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

    settings = load(config, db=db).settings

    async def run() -> str:
        with naming(settings.database):
            database = await SqliteDatabase.open(settings.database)
        info = database.describe()
        await database.close()
        return f"{info.driver} {info.sqlite_version}, {info.vectors}"

    described = anyio.run(run)
    print_json({"database": str(settings.database), "state": described}) if json_output else out.print(
        f"{settings.database}: up to date ({described})", highlight=False, soft_wrap=True
    )


def _log(debug: bool) -> None:
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for noisy in ("httpx", "httpcore", "aiosqlite", "asyncio", "uvicorn", "mcp", "sse_starlette"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _uvloop() -> bool:
    import importlib.util

    return importlib.util.find_spec("uvloop") is not None
