"""`memproxy models` and `memproxy models test`: what there is, what is in use, and whether it answers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
import typer.main

from memproxy import survey
from memproxy.commands import tree
from memproxy.embedders.catalog import EMBEDDERS
from memproxy.providers.catalog import LLMS
from memproxy.settings_sources import load
from memproxy.testing import ScriptedUpstream
from tests.contracts.chat_vendors import CHAT, FACTS, KEY, json_answer
from tests.contracts.embedding_vendors import VENDORS, WIDTH

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_REGION")) or name.startswith("MEMG_"):
            monkeypatch.delenv(name)


def settings(up: ScriptedUpstream, **more: Any) -> dict[str, Any]:
    return {
        "llm": {"provider": "custom", "base_url": up.base_url, "model": "mine", **more},
        "embed": {"provider": "custom", "base_url": up.base_url, "model": "theirs"},
    }


def serve(request: Any) -> Any:
    return VENDORS["custom"].serve(request) if b"embeddings" in request.target else json_answer(CHAT.success)


async def run(*args: str) -> int:
    def call() -> int:
        try:
            typer.main.get_command(tree.app)(list(args))
        except SystemExit as left:
            return int(left.code or 0)
        return 0

    return await anyio.to_thread.run_sync(call)


async def test_every_provider_is_listed_and_only_what_is_configured_or_here_is_asked(tmp_path: Path) -> None:
    async with ScriptedUpstream() as up:
        up.default = serve
        (tmp_path / "memg.json").write_text(json.dumps(settings(up)))
        found = await survey.options(load(None, {}, {}).settings)
        asked = [(request.method, request.header("authorization")) for request in up.requests]
    listed = {(option.kind, option.provider) for option in found}
    assert listed == {("embedding", "local")} | {("extraction", n) for n in LLMS} | {
        ("embedding", n) for n in EMBEDDERS
    }
    used = [option for option in found if option.configured]
    assert {(o.kind, o.provider, o.model, o.reachable) for o in used} == {
        ("extraction", "custom", "mine", True),
        ("embedding", "custom", "theirs", True),
    }
    assert {o.provider for o in found if o.reachable is not None} <= {"custom", "ollama", "local"}
    assert asked == [("GET", None)] * 2


async def test_the_list_says_where_a_key_is_or_would_be_and_never_the_key(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    assert await run("models", "--json") == 0
    said = capfd.readouterr().out
    keys = {(row["kind"], row["provider"]): row["key"] for row in json.loads(said)}
    assert keys["extraction", "groq"] == "in GROQ_API_KEY"
    assert keys["extraction", "gemini"] == "missing (GEMINI_API_KEY or GOOGLE_API_KEY)"
    assert keys["embedding", "ollama"] == "none needed"
    assert KEY not in said


async def test_people_read_a_table(capfd: pytest.CaptureFixture[str]) -> None:
    assert await run("models", "--configured") == 0
    said = capfd.readouterr().out
    assert "local" in said
    assert "groq" not in said


async def test_one_real_call_of_each_kind_is_made_and_measured(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with ScriptedUpstream() as up:
        up.default = serve
        (tmp_path / "memg.json").write_text(json.dumps(settings(up)))
        assert await run("models", "test", "--json") == 0
        chats = [request for request in up.requests if b"chat" in request.target]
    extraction, embedding = json.loads(capfd.readouterr().out)
    assert (extraction["state"], extraction["model"], extraction["json"]) == ("ok", "mine", "schema")
    assert (embedding["state"], embedding["dimensions"]) == ("ok", WIDTH)
    assert extraction["milliseconds"] > 0
    assert len(chats) == 1


async def test_a_server_without_schemas_is_found_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def plain(request: Any) -> Any:
        if b"embeddings" not in request.target and "response_format" in request.json():
            return json_answer(CHAT.error(400, "response_format is not supported"), 400)
        return serve(request)

    async with ScriptedUpstream() as up:
        up.default = plain
        (tmp_path / "memg.json").write_text(json.dumps(settings(up)))
        assert await run("models", "test", "--json") == 0
    assert json.loads(capfd.readouterr().out)[0]["json"] == "none"


@pytest.mark.parametrize("answer", [json_answer({}, 401), json_answer(CHAT.success | {"choices": []})])
async def test_a_call_that_fails_is_told_and_the_exit_code_is_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], answer: Any
) -> None:
    async with ScriptedUpstream() as up:
        up.default = lambda request: answer
        (tmp_path / "memg.json").write_text(json.dumps(settings(up)))
        assert await run("models", "test", "--json") == 1
    assert [trial["state"] for trial in json.loads(capfd.readouterr().out)] == ["failure", "failure"]


async def test_a_setting_that_is_missing_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "memg.json").write_text(json.dumps({"llm": {"provider": "groq"}, "embed": {"provider": "cohere"}}))
    assert await run("models", "test", "--json") == 1
    extraction, embedding = json.loads(capfd.readouterr().out)
    assert "GROQ_API_KEY" in extraction["detail"]
    assert "COHERE_API_KEY" in embedding["detail"]


async def test_without_settings_nothing_leaves_this_machine(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "memg.json").write_text(json.dumps({"embed": {"provider": "hash"}}))
    assert await run("models", "test", "--json") == 0
    extraction, embedding = json.loads(capfd.readouterr().out)
    assert (extraction["state"], embedding["state"]) == ("off", "ok")
    assert FACTS not in str(extraction)


@pytest.mark.parametrize(
    ("priced", "cost", "said"),
    [({"model": "gpt-4o-mini"}, 0.1, "2026-11"), ({"input_price": 0, "output_price": 10}, 0.4, "the settings")],
)
async def test_what_a_thousand_turns_cost_is_told_where_the_price_is_known(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], priced: dict[str, Any], cost: float, said: str
) -> None:
    async with ScriptedUpstream() as up:
        up.default = serve
        chosen = settings(up, **priced)
        chosen["embed"]["price"] = 2.0
        (tmp_path / "memg.json").write_text(json.dumps(chosen))
        assert await run("models", "test", "--json") == 0
    extraction, embedding = json.loads(capfd.readouterr().out)
    assert extraction["cost"] == pytest.approx(cost, rel=2)
    assert extraction["cost"] > 0
    assert f"price of {said}" in extraction["detail"]
    assert embedding["cost"] == pytest.approx(0.5)  # 250 tokens a turn, at 2 dollars a million


async def test_where_no_price_is_known_none_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with ScriptedUpstream() as up:
        up.default = serve
        (tmp_path / "memg.json").write_text(json.dumps(settings(up)))
        assert await run("models", "test", "--json") == 0
    assert [trial["cost"] for trial in json.loads(capfd.readouterr().out)] == [None, None]


async def test_the_embedding_model_is_measured(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "memg.json").write_text('{"embed": {"provider": "hash"}}')
    assert await run("bench", "models", "--seconds", "0.01", "--json") == 0
    figures = json.loads(capfd.readouterr().out)
    assert figures["model"] == "hash-256"
    assert len(figures["throughput"]) == 9
    assert all(row["texts_per_second"] > 0 for row in figures["throughput"])
    assert figures["query_ms"]["p95"] >= figures["query_ms"]["p50"] > 0
    assert await run("bench", "models", "--seconds", "0.01") == 0
    assert "batch of 32" in capfd.readouterr().out
