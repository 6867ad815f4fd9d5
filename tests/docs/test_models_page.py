"""The table of models: every row of the catalogs stands in it, with settings that can be copied."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from memproxy import settings_sources
from memproxy.calling.access import resolve
from memproxy.embedders.catalog import EMBEDDERS
from memproxy.lifecycle.extractor import plan_extraction
from memproxy.providers.catalog import LLMS
from memproxy.providers.client import ChatClient
from memproxy.settings import LLM, Settings
from memproxy.testing import ScriptedUpstream
from tests.contracts.chat_vendors import CHAT as CHAT_API
from tests.contracts.chat_vendors import FACTS, KEY, json_answer

pytestmark = pytest.mark.anyio

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


async def test_a_provider_is_added_by_the_row_that_the_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    code = PAGE.partition("```python\n")[2].partition("```")[0]
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    with monkeypatch.context() as patched:
        patched.setitem(LLMS, "mistral", LLMS["custom"])  # taken back afterwards, whatever the page's code put there
        exec(code, {})
        usual = plan_extraction(Settings(llm=LLM(provider="mistral")), b"s").own  # type: ignore[arg-type]
        assert usual is not None
        assert (usual.base_url, usual.model) == ("https://api.mistral.ai/v1", "mistral-small-latest")
        async with ScriptedUpstream() as up:
            up.reply_answer(json_answer(CHAT_API.success))
            client = ChatClient(5)
            answer = await client.complete(
                replace(usual, base_url=f"{up.url}/v1"), [{"role": "user", "content": "x"}], {}, 9
            )
            await client.close()
            assert (answer.text, up.requests[0].header("authorization")) == (FACTS, f"Bearer {KEY}")
    assert "mistral" not in LLMS


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
