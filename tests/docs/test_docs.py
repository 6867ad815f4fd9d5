"""The documentation is part of the build: what exists is documented, and what is documented exists."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main

from memproxy import settings_sources
from memproxy.commands import tree
from memproxy.events import Metrics, Rejection, Skip
from memproxy.server import identity, views
from memproxy.server.agents.tools import TOOLS, Tool
from memproxy.server.api import ROUTES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text("utf-8")


@pytest.mark.parametrize("path", list(settings_sources.paths()))
def test_every_setting_is_documented_with_its_environment_name(path: str) -> None:
    row = next((line for line in page("settings").splitlines() if line.startswith(f"| `{path}` |")), None)
    assert row is not None, f"docs/settings.md has no row for {path}"
    assert "MEMG_" + path.replace(".", "_").upper() in row


def test_no_setting_is_documented_that_does_not_exist() -> None:
    named = set(re.findall(r"^\| `([a-z_.]+)` \|", page("settings"), re.MULTILINE))
    assert named == set(settings_sources.paths())


def test_the_example_file_holds_every_key_at_its_default() -> None:
    loaded = settings_sources.load(str(ROOT / "memg.example.json"), {}, {})
    assert loaded.settings == settings_sources.load(str(ROOT / "tests" / "data" / "empty.json"), {}, {}).settings
    assert leaves(json.loads((ROOT / "memg.example.json").read_text())) == leaves(settings_sources.defaults())


def leaves(tree: dict[str, Any], prefix: str = "") -> set[str]:
    """The dotted name of every value that is no group."""
    out = set()
    for name, value in tree.items():
        group = isinstance(value, dict) and bool(value)
        out |= leaves(value, f"{prefix}{name}.") if group else {prefix + name}
    return out


@pytest.mark.parametrize(("method", "path"), [(route.method, route.path) for route in ROUTES])
def test_every_route_is_documented(method: str, path: str) -> None:
    assert f"`{method} {path}`" in page("api")


@pytest.mark.parametrize("field", views.FACT_FIELDS)
def test_every_field_of_a_fact_is_documented(field: str) -> None:
    assert f"`{field}`" in page("api")


def test_the_reasons_why_a_fact_is_not_stored_are_all_documented_and_no_others() -> None:
    table = page("metrics").partition("## Why a proposed fact is not stored")[2]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == {reason.value for reason in Rejection}


def test_every_reason_with_which_a_fact_is_rejected_is_in_the_list() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "memproxy").rglob("*.py")]
    named = {reason for source in sources for reason in re.findall(r'\bReject\("([a-z-]+)"\)', source)}
    assert named <= {reason.value for reason in Rejection}


@pytest.mark.parametrize("reason", list(Skip))
def test_every_skip_reason_is_documented(reason: Skip) -> None:
    assert f"| `{reason.value}` |" in page("headers")


def test_no_skip_reason_is_documented_that_does_not_exist() -> None:
    table = page("headers").partition("## Skip reasons")[2]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == {reason.value for reason in Skip}


@pytest.mark.parametrize(
    "header",
    ["Entity", "Session", "Memory", "Timezone", "Time", "Key", "Request-Id"],
)
def test_every_header_is_documented(header: str) -> None:
    assert f"`X-MemG-{header}`" in page("headers")


def test_headers_that_the_code_reads_are_documented() -> None:
    source = Path(identity.__file__).read_text() + Path(identity.__file__).with_name("access.py").read_text()
    for name in set(re.findall(r'"(x-memg-[a-z-]+)"', source)):
        assert name in page("headers").lower()


def test_every_metric_is_documented() -> None:
    for metric in Metrics().registry.collect():
        suffix = "_total" if metric.type == "counter" else ""
        assert f"`{metric.name}{suffix}`" in page("metrics"), metric.name


def commands() -> list[str]:
    root = typer.main.get_command(tree.app)
    out = []
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        out += [f"{name} {sub}" for sub in inner] if inner else [name]
    return out


@pytest.mark.parametrize("command", commands())
def test_every_command_is_documented(command: str) -> None:
    assert f"`memproxy {command}" in page("cli")


def test_every_dependency_is_documented_with_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    for requirement in wanted:
        name = re.match(r"[A-Za-z0-9_.-]+", requirement)
        assert name is not None
        assert f"| {name[0]} |" in page("dependencies"), name[0]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_for_agents_is_documented_with_what_it_takes_and_does(tool: Tool) -> None:
    row = next(line for line in page("mcp").splitlines() if line.startswith(f"| `{tool.name}` |"))
    assert set(re.findall(r"`(\w+)`", row.split("|")[3])) == set(tool.takes)
    does = {"read-only": tool.read_only, "destructive": tool.destructive, "idempotent": tool.idempotent}
    assert row.split("|")[4].strip() == ", ".join(name for name, so in does.items() if so)


def test_no_tool_is_documented_that_does_not_exist() -> None:
    assert re.findall(r"^\| `(\w+)` \|", page("mcp"), re.MULTILINE) == [tool.name for tool in TOOLS]


def test_pages_link_only_to_what_exists() -> None:
    for file in [ROOT / "README.md", *DOCS.glob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", file.read_text("utf-8")):
            if not link.startswith(("http:", "https:")):
                assert (file.parent / link).exists(), f"{file.name} links to {link}"


def test_the_readme_shows_two_commands_and_the_figures() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "pip install . && memproxy demo" in readme
    assert "pip install '.[test]' && pytest" in readme
    assert "LoCoMo" in readme
    assert "BEAM" in readme
