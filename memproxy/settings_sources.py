"""Where settings come from: flags, the environment, a file, and the defaults, in that order of precedence."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from memproxy.errors import SettingsError
from memproxy.settings import Duration, Secret, Settings, check

CANDIDATES = ("memg.json", "memg.config.json", "~/.memg/config.json")

# Names that earlier memory systems used in the environment, and the setting each one means here.
ALIASES = {
    "MEMG_RECALL_FACTS_LIMIT": "recall.limit",
    "MEMG_MAX_RECALL_CANDIDATES": "recall.limit",
    "MEMG_SUMMARY_TOKEN_BUDGET": "memory.summary_budget",
    "MEMG_TOKEN_BUDGET": "memory.token_budget",
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, the file they were read from (if any), and what a person should be told about their sources."""

    settings: Settings
    file: Path | None
    warnings: tuple[str, ...]


def load(
    config: str | None = None,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Loaded:
    """Find, merge and check all settings. `flags` maps dotted names to values; None means "not given".

    Raises SettingsError that names the key, where it came from, and what would work.
    """
    file = _find(config)
    values: dict[str, object] = {}
    sources: dict[str, str] = {}
    if file is not None:
        for path, value in _flatten(_read(file), file):
            values[path], sources[path] = value, str(file)
            if path.endswith("api_key") and isinstance(value, str) and not Secret(value).points_elsewhere:
                raise SettingsError(f'{path} in {file}: no key in a file; write "env:NAME" or "file:PATH"')
    warnings = []
    # An earlier system's name gives way to our own; an empty variable counts as none.
    for name, text in sorted(environ.items(), key=lambda item: (item[0] not in ALIASES, item[0])):
        if not name.startswith("MEMG_") or not text.strip():
            continue
        found = _environment_path(name)
        if found is None:
            warnings.append(f"{name} is set but means nothing here{_nearest(name, list(_environment_names()))}")
        else:
            values[found], sources[found] = _from_text(found, text, name), name
    for path, value in (flags or {}).items():
        if value is not None:
            values[path], sources[path] = value, "--" + path.replace(".", "-").replace("_", "-")
    settings = _convert(values, sources)
    try:
        check(settings)
    except SettingsError as error:
        raise _with_source(error, sources) from None
    return Loaded(settings, file, tuple(warnings))


def paths(kind: type[msgspec.Struct] = Settings, prefix: str = "") -> Iterator[str]:
    """The dotted name of every setting."""
    hints = get_type_hints(kind)
    for field in kind.__struct_fields__:
        hint = hints[field]
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            yield from paths(hint, f"{prefix}{field}.")
        else:
            yield prefix + field


def defaults() -> dict[str, Any]:
    """Every setting at its default, as it would stand in memg.json."""
    out: dict[str, Any] = msgspec.to_builtins(Settings(), enc_hook=_plain)
    return out


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Duration) else str(value)


def _find(config: str | None) -> Path | None:
    if config is not None:
        path = Path(config).expanduser()
        if not path.is_file():
            raise SettingsError(f"--config: there is no file {config}")
        return path
    return next((path for name in CANDIDATES if (path := Path(name).expanduser()).is_file()), None)


def _read(file: Path) -> dict[str, Any]:
    try:
        tree = json.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise SettingsError(f"{file} is no JSON: {error}") from None
    if not isinstance(tree, dict):
        raise SettingsError(f'{file}: the settings are one JSON object, for example {{"port": 8787}}')
    return tree


def _flatten(tree: Mapping[str, Any], file: Path, prefix: str = "") -> Iterator[tuple[str, object]]:
    known = list(paths())
    sections = {path.rpartition(".")[0] for path in known if "." in path}
    for key, value in tree.items():
        path = prefix + key
        if path in sections and isinstance(value, dict):
            yield from _flatten(value, file, path + ".")
        elif path in sections:
            raise SettingsError(f"{path} in {file} is a group of settings: write it as an object")
        elif path not in known:
            raise SettingsError(f"unknown setting {path} in {file}{_nearest(path, known)}")
        else:
            yield path, value


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""


def _environment_names() -> Iterator[str]:
    yield from ("MEMG_" + path.replace(".", "_").upper() for path in paths())
    yield from ALIASES


def _environment_path(name: str) -> str | None:
    for path in paths():
        if name == "MEMG_" + path.replace(".", "_").upper():
            return path
    return ALIASES.get(name)


def _from_text(path: str, text: str, name: str) -> object:
    """The environment knows text only: lists and objects are written as JSON there."""
    default = defaults()
    for part in path.split("."):
        default = default[part]
    if isinstance(default, list | dict):
        try:
            return json.loads(text)
        except ValueError:
            if isinstance(default, list) and not text.lstrip().startswith(("[", "{")):
                return [part.strip() for part in text.split(",") if part.strip()]
            example = '["one", "two"]' if isinstance(default, list) else '{"name": "value"}'
            raise SettingsError(f"{name}: a list or an object is written as JSON here, for example {example}") from None
    return text


def _convert(values: Mapping[str, object], sources: Mapping[str, str]) -> Settings:
    tree: dict[str, Any] = {}
    for path, value in values.items():
        *groups, leaf = path.split(".")
        node = tree
        for group in groups:
            node = node.setdefault(group, {})
        node[leaf] = value
    try:
        return msgspec.convert(tree, Settings, strict=False, dec_hook=_decode)
    except msgspec.ValidationError as error:
        raise _explain(str(error), sources) from None


def _explain(message: str, sources: Mapping[str, str]) -> SettingsError:
    text, _, where = message.partition(" - at `$.")
    place = where.rstrip("`")
    path = re.sub(r"\[.*", "", place)
    source = sources.get(path) or next((s for p, s in sources.items() if p.startswith(path)), None)
    unknown = re.search(r"unknown field `(\w+)`", text)
    if unknown and path == "keys":
        return SettingsError(f"keys in {source}: unknown field {unknown[1]}; known: key_env, key_file, entities, admin")
    named = f"{place or 'settings'}{f' (from {source})' if source else ''}"
    return SettingsError(f"{named}: {_plainly(text, path)}")


# What the types are called in a message to a person.
_CALLED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "text",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
    "Secret": '"env:NAME" or "file:PATH"',
}


def _plainly(text: str, path: str) -> str:
    """msgspec's words for what does not fit, in ours; they never hold the value."""
    if text.startswith("Invalid enum value"):
        return f"{text.removeprefix('Invalid enum value ')} is none of {', '.join(_choices(path))}"
    text = re.sub(r"`(\w+(?: \| \w+)*)`", lambda m: " or ".join(_CALLED.get(k, k) for k in m[1].split(" | ")), text)
    return text.replace("Expected", "expected", 1).replace(" >= ", " of at least ").replace(" <= ", " of at most ")


def _choices(path: str) -> list[str]:
    """The values that a setting may have."""
    kind: type = Settings
    for part in path.split("."):
        kind = get_type_hints(kind)[part]
    return [str(choice) for choice in get_args(kind)]


def _with_source(error: SettingsError, sources: Mapping[str, str]) -> SettingsError:
    """An error that begins with a setting's name, with the place where its value stands."""
    name, colon, rest = str(error).partition(":")
    source = sources.get(re.sub(r"\[.*", "", name))
    return SettingsError(f"{name} (from {source}):{rest}") if colon and source else error


def _decode(kind: type, value: object) -> object:
    if kind is Duration:
        return Duration.parse(value)
    if kind is Secret and isinstance(value, str):
        return Secret(value)
    raise ValueError(f"Expected `{kind.__name__}`")
