"""What commands share: their options, the settings, and the database they work on."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import anyio
import typer

from memproxy.commands import loading
from memproxy.errors import SettingsError, StoreError
from memproxy.settings_sources import Loaded

T = TypeVar("T")

ConfigOption = Annotated[str | None, typer.Option("--config", help="Settings file (default: memg.json and others).")]
DbOption = Annotated[str | None, typer.Option("--db", help="Database file.")]
EntityOption = Annotated[str, typer.Option("--entity", "-e", help="Whose memory.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print rows as JSON.")]


def load(config: str | None, **flags: object) -> Loaded:
    return loading.load(config, {name.replace("__", "."): value for name, value in flags.items()})


def on_store(
    config: str | None,
    db: str | None,
    work: Callable[[Any, Any], Awaitable[T]],
    entity: str,
    *,
    embed: bool = False,
    models: bool = False,
) -> T:
    """Do work on the database. Without `models` a missing key is no hindrance; vectors are loaded only to search."""
    from msgspec.structs import replace

    from memproxy.assembly.parts import open_parts
    from memproxy.model import Entity
    from memproxy.names import clean_name

    settings = load(config, db=db).settings
    if not models:
        settings = replace(
            settings, llm=replace(settings.llm, provider=None, base_url=None, api_key=None, borrow=False)
        )
    if not embed:
        settings = replace(settings, embed=replace(settings.embed, provider="off"))
    try:
        whose = Entity(clean_name(entity))
    except ValueError as error:
        raise SettingsError(f"--entity: {error}") from None

    async def run() -> T:
        with naming(settings.database):
            async with open_parts(settings) as parts:
                return await work(parts, whose)

    return anyio.run(run)


@contextlib.contextmanager
def naming(database: Path) -> Iterator[None]:
    """Trouble with the database says which file it is."""
    try:
        yield
    except StoreError as error:
        if str(database) in str(error):
            raise
        raise StoreError(f"{database}: {error}; choose another with --db") from None


def choices(option: str, said: str, kind: Any) -> list[str]:
    """The values of an option that takes some of a closed list."""
    chosen = [part.strip() for part in said.split(",") if part.strip()]
    if not chosen or not set(chosen) <= set(get_args(kind)):
        raise SettingsError(f"{option}: {said!r}; give one or more of {', '.join(get_args(kind))}, with commas")
    return chosen


def fields(given: Mapping[str, Any], kind: Any = None) -> Any:
    """Fields (of a fact, unless it is another body), checked as those that come over HTTP."""
    from memproxy.server.requests import FactFields, decode

    return decode(json.dumps(given).encode(), kind or FactFields)


def moment(option: str, said: str | None) -> datetime | None:
    """A time that an option names; without a zone it is UTC."""
    if said is None:
        return None
    try:
        when = datetime.fromisoformat(said)
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError):
        raise SettingsError(f"{option}: {said!r}; give a time as 2026-11-30 or 2026-11-30T08:00:00Z") from None
