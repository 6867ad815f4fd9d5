"""The table of models: every row of the catalogs stands in it, with settings that can be copied."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from memproxy import settings_sources
from memproxy.calling.access import resolve
from memproxy.embedders import open_embedder
from memproxy.embedders.catalog import EMBEDDERS
from memproxy.errors import EmbedderError, SettingsError
from memproxy.lifecycle.extractor import plan_extraction
from memproxy.providers.catalog import LLMS
from memproxy.providers.client import ChatClient
from memproxy.settings import LLM, Embed, Settings
from memproxy.testing import ScriptedUpstream
from tests.contracts.chat_vendors import CHAT as CHAT_API
from tests.contracts.chat_vendors import FACTS, KEY, json_answer
from tests.world import World

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
        usual = plan_extraction(Settings(llm=LLM(provider="mistral")), b"s").own
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


def installed(folder: Path, name: str, group: str, entry: str, code: str, patch: pytest.MonkeyPatch) -> None:
    """A package as pip leaves it: its module, and what it says of itself."""
    (folder / f"{name}.py").write_text(code)
    said = folder / f"{name}-1.0.dist-info"
    said.mkdir()
    (said / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (said / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
    patch.syspath_prepend(folder)
    patch.delitem(sys.modules, name, raising=False)


async def test_the_embedder_of_the_page_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = PAGE.partition("### Your own")[2].partition("```python\n")[2].partition("```")[0]
    assert len(code.splitlines()) <= 25
    installed(tmp_path, "letters", "memproxy.embedders", "letters = letters:Letters", code, monkeypatch)
    async with World.open(tmp_path, embed__provider="letters", embed__dimensions=256) as world:
        assert world.app is not None
        assert world.app.parts.embedder is not None
        assert world.app.parts.embedder.info.model == "letters/letters-1@256"
        assert 0 < world.app.parts.embedder.info.floor < world.app.parts.embedder.info.duplicate <= 1
        await world.say("ilse", [], "I own a kayak called Petrel")
        await world.drain()
        assert "Petrel" in await world.ask("ilse", "What is my kayak called?")
        assert await world.metric("memproxy_recall_lexical_only_total") == 0


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise RuntimeError", "RuntimeError"),
        ("return [[1.0, 2.0]] * (len(texts) - 1)", "no vector a text"),
        ("return [[0.0, 0.0]] * len(texts)", "length zero"),
        ("return [[float('nan')]] * len(texts)", "no vector a text"),
        ("return [[1.0, 'x']] * len(texts)", "ValueError"),
    ],
)
async def test_an_embedder_that_is_none_is_told_and_stops_no_chat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, told: str
) -> None:
    code = f"class Odd:\n    model = 'odd'\n    async def embed(self, texts, kind):\n        {body}\n"
    installed(
        tmp_path, "odd", "memproxy.embedders", "odd = odd:make", f"{code}def make(s): return Odd()\n", monkeypatch
    )
    with pytest.raises(EmbedderError, match=told):
        await open_embedder(Embed(provider="odd"))


async def test_a_row_of_another_package_is_a_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = PAGE.partition("```python\n")[2].partition("```")[0].replace('LLMS["mistral"]', "ROW")
    installed(tmp_path, "my_package", "memproxy.llms", "mistral = my_package:ROW", code, monkeypatch)
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    settings = settings_sources.load(None, {"llm.provider": "mistral"}, {}).settings
    own = plan_extraction(settings, b"s").own
    assert own is not None
    assert (own.base_url, own.headers["authorization"]) == ("https://api.mistral.ai/v1", f"Bearer {KEY}")


@pytest.mark.parametrize("name", ["llm.provider", "embed.provider"])
def test_a_provider_that_nobody_offers_is_an_error_that_lists_them(name: str) -> None:
    with pytest.raises(SettingsError, match=r"ollama.*installed packages") as raised:
        settings_sources.load(None, {name: "olama"}, {})
    assert "'olama'" in str(raised.value)
