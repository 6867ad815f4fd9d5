"""Rule packs: facts of some kinds in structured form, by rules that are data. Opt-in, and narrow.

A pack only reads facts; the fact stays what is remembered, the entry points to it. What a rule would get wrong ("has a
dog" is no condition) is worse than what it misses, so a pack comes with sentences it must not fire on.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from memproxy.errors import SettingsError

FieldKind = Literal["list", "records"]  # names alone, or a record for each


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a profile: under a key of a field, a name or a record."""

    field: str
    key: str  # folded: entries with equal keys are one
    value: str | Mapping[str, str]
    pin: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """Fires on a fact's text and makes an entry of it."""

    field: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None
    key: str
    value: Mapping[str, str] | None
    pin: bool

    def entry(self, text: str) -> Entry | None:
        """The entry that a statement makes, if any."""
        match = self.pattern.search(text)
        if match is None or (self.unless is not None and self.unless.search(text) is not None):
            return None
        groups = {name: " ".join((found or "").split()) for name, found in match.groupdict().items()}
        name = self.key.format(**groups).strip(" .,'-")
        key = key_of(name)
        if not key:
            return None
        if self.value is None:
            return Entry(self.field, key, name, self.pin)
        record = {part: shape.format(**groups) for part, shape in self.value.items()}
        return Entry(self.field, key, {part: said for part, said in record.items() if said}, self.pin)


@dataclass(frozen=True, slots=True)
class Pack:
    """A set of rules and the fields they fill."""

    name: str
    fields: Mapping[str, FieldKind]
    rules: Sequence[Rule]

    def entries(self, text: str) -> list[Entry]:
        """What a statement says in structured form: at most one entry a field, and a goal is no measurement."""
        found: dict[str, Entry] = {}
        for rule in self.rules:
            if rule.field not in found and not (rule.field == "vitals" and "goals" in found):
                entry = rule.entry(text)
                if entry is not None:
                    found[rule.field] = entry
        return list(found.values())


def key_of(name: str) -> str:
    """The form of a name under which it is one entry, however it is written."""
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")[:80]


def load(names: Iterable[str]) -> tuple[Pack, ...]:
    """The packs of these names. Raises SettingsError for one that does not exist."""
    return tuple(_pack(name) for name in dict.fromkeys(names))


def available() -> list[str]:
    """The names of all packs."""
    return sorted(file.name.removesuffix(".toml") for file in _folder().iterdir() if file.name.endswith(".toml"))


@cache
def _pack(name: str) -> Pack:
    if name not in available():
        raise SettingsError(f"facts.rule_packs: there is no pack {name!r}; there is {', '.join(available())}")
    data = tomllib.loads(_folder().joinpath(f"{name}.toml").read_text("utf-8"))
    return Pack(data["name"], data["fields"], tuple(_rule(rule) for rule in data["rules"]))


def _rule(data: Mapping[str, Any]) -> Rule:
    unless = data.get("unless")
    return Rule(
        data["field"],
        re.compile(data["pattern"], re.IGNORECASE),
        re.compile(unless, re.IGNORECASE) if unless else None,
        data["key"],
        data.get("value"),
        data.get("pin", False),
    )


def _folder() -> Any:
    return files("memproxy.packs")
