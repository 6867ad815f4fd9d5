"""The table of models: every row of the catalogs stands in it, with settings that can be copied."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memproxy import settings_sources
from memproxy.calling.access import resolve
from memproxy.embedders.catalog import EMBEDDERS
from memproxy.lifecycle.extractor import plan_extraction
from memproxy.providers.catalog import LLMS

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text("utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of a section's table."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in section.splitlines()
        if line.startswith("| `")
    ]


CHAT = rows("Extraction models")
EMBEDDING = rows("Embedding models")


def test_every_provider_of_chat_models_stands_in_the_table_and_no_other() -> None:
    assert {row[0].strip("`| ") for row in CHAT} == set(LLMS)


@pytest.mark.parametrize("row", CHAT, ids=lambda row: f"{row[0]}-{row[1]}")
def test_the_settings_of_a_chat_model_can_be_copied(
    row: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, _, keys, model, snippet = row
    file = tmp_path / "memg.json"
    file.write_text(snippet.strip("`| "))
    known = LLMS[name.strip("`| ")]
    assert set(re.findall(r"`([A-Z_]+)`", keys)) == set(known.access.variables)
    assert model == (f"`{known.model}`" if known.model else model)
    for variable in known.access.variables:
        monkeypatch.setenv(variable, "from-the-environment")
    loaded = settings_sources.load(str(file), {}, {})
    assert loaded.warnings == ()
    own = plan_extraction(loaded.settings, b"s").own
    assert own is not None
    assert own.model == json.loads(file.read_text())["llm"].get("model", known.model)
    assert bool(own.headers) == bool(known.access.variables)


def test_every_provider_of_embedding_models_stands_in_the_table_and_no_other() -> None:
    assert {row[0].strip("`| ") for row in EMBEDDING} == set(EMBEDDERS)


@pytest.mark.parametrize("row", EMBEDDING, ids=lambda row: f"{row[0]}-{row[1]}")
def test_the_settings_of_an_embedding_model_can_be_copied(
    row: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, _, keys, model, snippet = row
    file = tmp_path / "memg.json"
    file.write_text(snippet.strip("`| "))
    known = EMBEDDERS[name.strip("`| ")]
    assert set(re.findall(r"`([A-Z_]+)`", keys)) == set(known.access.variables)
    assert model == (f"`{known.model}`" if known.model else model)
    for variable in known.access.variables:
        monkeypatch.setenv(variable, "from-the-environment")
    embed = settings_sources.load(str(file), {}, {}).settings.embed
    opened = resolve("embed", embed.provider, known.access, embed.base_url, embed.api_key)
    assert embed.model or known.model
    assert bool(opened.headers) == bool(known.access.variables)
