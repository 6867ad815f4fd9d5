"""Running: the proxy itself, its demonstration, its check-up, and its database."""

from __future__ import annotations

from typing import Annotated

import anyio
import typer

from memproxy.commands import serving
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
    serving.run(
        {
            "config": config,
            "host": host,
            "port": port,
            "target": target,
            "entity": entity,
            "db": db,
            "debug": debug,
            "llm.provider": llm_provider,
            "llm.model": llm_model,
            "llm.base_url": llm_base_url,
            "embed.provider": embed_provider,
            "embed.model": embed_model,
            "embed.dir": embed_dir,
        }
    )


@app.command()
def demo(
    json_output: JsonOption = False,
) -> None:
    """See what memory does, in one minute: no key, no network."""
    from memproxy.demo import run_demo

    raise typer.Exit(anyio.run(run_demo, json_output))


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
