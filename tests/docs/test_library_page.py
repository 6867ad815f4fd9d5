"""The examples of docs/library.md are run as they stand there, the clients' against a scripted upstream."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from memproxy import Memory
from memproxy.testing import ScriptedUpstream

pytestmark = pytest.mark.anyio
PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text("utf-8")


def example(number: int) -> Any:
    """The `main` of an example."""
    code = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[number]
    names: dict[str, Any] = {}
    exec(compile(code, f"library.md[{number}]", "exec"), names)
    return names["main"]


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMG_EMBED_PROVIDER", "hash")
    monkeypatch.setenv("OPENAI_API_KEY", "client-key")


async def test_a_client_that_remembers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    async with ScriptedUpstream() as up:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{up.url}/v1")
        await example(0)()
        assert capsys.readouterr().out == "This is a scripted answer.\n"
        assert b"bakery in Quillhaven with my brother Jorun" in up.requests[-1].body


async def test_a_memory_to_work_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await example(1)()
    said = capsys.readouterr().out
    assert "Is allergic to hazelnuts" in said
    assert "turn I keep a bakery in Quillhaven" in said
    assert (tmp_path / "alice.jsonl").read_bytes().startswith(b'{"memproxy":"memory","version":1,')


def test_every_method_is_named_on_the_page() -> None:
    methods = {name for name in vars(Memory) if not name.startswith("_")} - {"open", "of", "entity", "parts"}
    assert methods == set(re.findall(r"`(\w+)`", PAGE.partition("| about | methods |")[2].partition("\n\n")[0]))
