"""`memproxy bench`: measure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import anyio
import typer

from memproxy.commands.console import out
from memproxy.commands.opening import ConfigOption, JsonOption, load

bench = typer.Typer(no_args_is_help=True, help="Measure.")


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


@bench.command("recall")
def bench_recall(
    data: Annotated[list[Path], typer.Argument(exists=True, help="Files of conversations with labelled questions.")],
    without: Annotated[
        list[str] | None, typer.Option(help="Also without this mechanism (several: joined by +), as often as wanted.")
    ] = None,
    changed: Annotated[
        list[str] | None, typer.Option("--with", help="Also with this set otherwise: NAME=VALUE, several joined by +.")
    ] = None,
    conversations: Annotated[int | None, typer.Option(help="Only the first so many of each.")] = None,
    store: Annotated[Path | None, typer.Option(file_okay=False, help="Keep the store here for a later run.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", dir_okay=False, help="Write the whole result.")] = None,
    compare: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="An earlier result to compare with.")
    ] = None,
    html: Annotated[Path | None, typer.Option(dir_okay=False, help="Write a page with plots.")] = None,
) -> None:
    """Measure how much of the evidence for labelled questions recall brings, and in how few tokens."""
    from memproxy.bench.recall import Plan, measure

    plan = Plan(data, tuple(without or ()), tuple(changed or ()), conversations, store, json_file, compare, html)
    raise typer.Exit(anyio.run(measure, plan, out))


@bench.command("adapter")
def bench_adapter(
    port: Annotated[int, typer.Option(help="Port on this machine.")] = 8780,
    store: Annotated[Path | None, typer.Option(file_okay=False, help="Keep the store here for a later run.")] = None,
) -> None:
    """Serve a temporary memory to other benchmarks: POST /ingest, /search and /reset as JSON."""
    from memproxy.bench.adapter import serve

    raise typer.Exit(anyio.run(serve, port, store, out))


@bench.command("models")
def bench_models(
    seconds: Annotated[float, typer.Option(help="Length of one measurement.")] = 1.0,
    config: ConfigOption = None,
    json_output: JsonOption = False,
) -> None:
    """Measure the embedding model: texts a second by length and batch, a question's time, start, and memory."""
    from memproxy.bench.models import Plan, measure

    raise typer.Exit(anyio.run(measure, Plan(load(config).settings.embed, seconds), out, json_output))


@bench.command("scale")
def bench_scale(
    turns: Annotated[int, typer.Option(min=20, help="Turns in the store, of everybody together.")] = 10_000,
    largest: Annotated[float, typer.Option(min=0.0, max=1.0, help="The share of one person.")] = 0.5,
    provider: Annotated[
        str, typer.Option(help="Embedder: local, or hash where only the store is to be measured.")
    ] = "local",
    vectors: Annotated[
        Literal["made", "invented"],
        typer.Option(help="made by the embedder, or invented: to fill a large store in minutes."),
    ] = "made",
    store: Annotated[Path | None, typer.Option(file_okay=False, help="Keep the store here for a later run.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Measure a store as it grows: recall warm and cold, ingest beside the embedder's own rate, size and memory."""
    from memproxy.bench.filling import Plan
    from memproxy.bench.scale import measure

    raise typer.Exit(anyio.run(measure, Plan(turns, largest, provider, vectors, store), out, json_output))


@bench.command("import")
def bench_import(
    file: Annotated[Path, typer.Argument(help="Conversations of any known format.", exists=True)],
    provider: Annotated[
        str, typer.Option(help="Embedder: local, or hash where only the rest is to be measured.")
    ] = "local",
    json_output: JsonOption = False,
) -> None:
    """Measure how fast a past comes in, beside the embedder's own rate over the same passages."""
    from memproxy.bench.importing import measure

    raise typer.Exit(anyio.run(measure, file, provider, out, json_output))


@bench.command("facts")
def bench_facts(
    facts: Annotated[int, typer.Option(help="Facts of the person that drafts are reconciled against.")] = 10_000,
    drafts: Annotated[int, typer.Option(help="Drafts to reconcile.")] = 1_000,
    people: Annotated[int, typer.Option(help="Everybody in the store.")] = 1_000,
    all_facts: Annotated[int, typer.Option(help="Facts in the store, of everybody together.")] = 100_000,
    json_output: JsonOption = False,
) -> None:
    """Measure what it costs to reconcile facts, beside embedding them, and what people do to their memory."""
    from memproxy.bench.facts import Plan, measure

    raise typer.Exit(anyio.run(measure, Plan(facts, drafts, people, all_facts), out, json_output))


@bench.command("page")
def bench_page(
    facts: Annotated[int, typer.Option(help="Facts of the person whose page is opened.")] = 10_000,
    rounds: Annotated[int, typer.Option(min=1, help="How often each thing is done.")] = 10,
    chromium: Annotated[str | None, typer.Option(help="The browser's program.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Measure the page in a real browser: first paint, and a search from the key to what was found."""
    from memproxy.bench.page import Plan, measure

    raise typer.Exit(anyio.run(measure, Plan(facts, rounds, chromium), out, json_output))


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
