"""`memproxy bench recall` and its adapter, over a small invented past: both ask the product's own search."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from rich.console import Console

from memproxy.bench import filling, recall, recall_report, scale, scale_report
from memproxy.bench.adapter import application
from memproxy.bench.dataset import Question, RecordedTurn
from memproxy.bench.recall_page import page
from memproxy.bench.scoring import Item, score
from memproxy.bench.searched import RememberedQueries, SearchedMemory, moment, searched_memory
from memproxy.bench.sources import read
from memproxy.errors import SettingsError
from memproxy.interfaces import Vectors

SAID = (
    ("1", "2024-03-15T10:00:00", "Ada", "My sister Wren moved to Tromsø and works nights at the hospital."),
    ("1", "2024-03-15T10:00:00", "Bo", "Does she like the dark winters?"),
    ("1", "2024-03-15T10:00:00", "Ada", "She says the northern lights make up for it."),
    ("2", "2024-05-02T10:00:00", "Ada", "I bought a kayak and named it Petrel."),
    ("2", "2024-05-02T10:00:00", "Bo", "My own boat leaks, so I sold it."),
    ("3", "2024-06-20T10:00:00", "Bo", "The plum cake was too sweet for me."),
)
TURNS = [
    {"id": f"t{n}", "session": session, "time": time, "speaker": speaker, "role": None, "text": text, "caption": None}
    for n, (session, time, speaker, text) in enumerate(SAID)
]
QUESTIONS = [
    {"qid": "q1", "question": "Where does Wren work?", "answer": "a hospital", "evidence": ["t0"]},
    {"qid": "q2", "question": "What is Ada's kayak called?", "answer": "Petrel", "evidence": ["t3"]},
    {"qid": "q3", "question": "Who sold a boat?", "answer": "Bo", "evidence": ["t4"]},
]
DATA = {
    "name": "invented",
    "conversations": [{"id": "c1", "turns": TURNS, "questions": [{**q, "category_name": "single"} for q in QUESTIONS]}],
}
HASH = {"embed.provider": "hash"}


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[SearchedMemory]:
    async with searched_memory(tmp_path, HASH) as memory:
        yield memory


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "invented.json"
    path.write_text(json.dumps(DATA))
    return path


async def measured(memory: SearchedMemory, file: Path, *without: str) -> dict[str, Any]:
    return await recall.measured(memory, [read(file)], recall.variants(without))


async def test_the_adapter_gives_the_figures_of_the_benchmark(memory: SearchedMemory, file: Path) -> None:
    report = await measured(memory, file)
    transport = httpx.ASGITransport(application(memory))
    turns = {turn.id: turn for turn in read(file).conversations[0].turns}
    async with httpx.AsyncClient(transport=transport, base_url="http://adapter") as client:
        assert (await client.post("/reset", json={})).status_code == 200
        sent = {"conversation_id": "c1", "turns": TURNS}
        assert (await client.post("/ingest", json=sent)).json() == {"turns": 6}
        for question, row in zip(QUESTIONS, report["runs"][0]["rows"], strict=True):
            asked = {"conversation_id": "c1", "query": question["question"], "k": 200, "now": None}
            results = (await client.post("/search", json=asked)).json()["results"]
            items = [Item(tuple(found["ids"]), found["text"]) for found in results]
            labelled = Question(str(question["qid"]), "", "single", list(question["evidence"]), question["answer"])
            assert score(items, labelled, turns) == row["measures"]
        refused = await client.post("/search", json={"query": "whose?"})
        assert refused.status_code == 400
        assert "conversation_id" in refused.json()["error"]


async def test_results_can_be_compared_shown_and_plotted(memory: SearchedMemory, file: Path) -> None:
    report = await measured(memory, file, "spread", "session+named", "floor")
    assert [run["variant"] for run in report["runs"]] == [
        "all",
        "without spread",
        "without session+named",
        "without floor",
    ]
    assert recall_report.mean(report["runs"][0], "RB@2000") == 100
    written = io.StringIO()
    recall_report.show(report, Console(file=written, width=200))
    recall_report.show_comparison(report, report, Console(file=written, width=200))
    assert "without spread" in written.getvalue()
    assert "+0.0 (+0.0, +0.0)" in written.getvalue()
    drawn = page(report)
    assert drawn.count("<svg") == 2
    assert "without session+named" in drawn


class NoNumbers(RememberedQueries):
    """A model that has gone wrong."""

    async def embed_query(self, text: str) -> Vectors:
        return np.full(self.info.dimensions, np.nan, np.float32)


async def test_a_question_whose_vector_is_no_number_is_answered_by_words(memory: SearchedMemory, file: Path) -> None:
    await memory.ingest(read(file).conversations[0])
    asking = SearchedMemory(memory.parts, NoNumbers(memory.embedder)).recaller
    found = await memory.search("c1", "What is Ada's kayak called?", moment("2024-07-01"), recaller=asking)
    assert found.items[0].ids == ("t3",)
    assert {scored.candidate.cosine for scored in found.found.scored} == {None}


async def test_a_store_is_measured_as_it_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scale, "SIZES", (10, 30))  # whom a small store is made of, to be compared with
    monkeypatch.setattr(scale, "COMPARED", 60)
    monkeypatch.setattr(filling, "SAMPLE", 40)
    plan = filling.Plan(turns=70, provider="hash", vectors="invented", store=tmp_path)
    assert filling.people(plan) == [("largest", 35), ("person 1", 30), ("person 2", 5)]
    assert await scale.measure(plan, Console(), True) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["turns"] for row in report["recall"]] == [5, 30, 35]
    assert (report["filled"]["turns"], report["vectors"]) == (70, "hash-384")
    assert report["ingest_per_second"] > 0
    assert report["bytes_per_turn"] > sum(report["of_them"].values()) * 0.9
    assert all(size > 0 for size in report["of_them"].values())
    for row in report["recall"]:
        assert 0 < row["warm"]["p50_ms"] <= row["warm"]["p99_ms"]
    assert report["beside_small"]["warm"]["small"]["p95_ms"] > 0
    scale_report.show(report, Console(file=io.StringIO()))
    assert await scale.measure(plan, Console(), True) == 0  # what is there is not brought in again
    assert json.loads(capsys.readouterr().out)["filled"]["turns"] == 0


def test_a_large_store_has_people_of_every_size() -> None:
    everybody = filling.people(filling.Plan(turns=1_000_000))
    sizes = [size for _, size in everybody]
    assert (sum(sizes), sizes[:2], len({name for name, _ in everybody})) == (1_000_000, [100_000, 10_000], len(sizes))
    assert set(sizes[2:-1]) == set(filling.SIZES)


def test_an_unknown_mechanism_is_named_with_those_there_are() -> None:
    with pytest.raises(SettingsError, match=r"sprad.*spread"):
        recall.variants(["sprad"])


def test_what_does_not_fit_a_budget_is_skipped_and_the_same_text_charged_once() -> None:
    turns = {name: RecordedTurn(name, name, "2024-01-01", "user", name) for name in "abc"}
    items = [Item(("a",), "x" * 1600), Item(("b",), "y" * 800), Item(("b",), "y" * 800), Item(("c",), "Petrel " * 100)]
    found = score(items, Question("q", "?", "all", ["b", "c"], "the Petrel"), turns)
    assert (found["R@5"], found["used@500"], found["used@1000"]) == (1.0, 400, 775)
    assert (found["RB@500"], found["RB@1000"], found["allB@1000"]) == (0.0, 1.0, 1.0)
    assert (found["AB@500"], found["AB@1000"]) == (0.0, 1.0)
    assert (found["MRR"], found["S@1"]) == (0.5, 0.0)


def test_a_file_in_the_shape_of_longmemeval_is_read(tmp_path: Path) -> None:
    asked = {
        "question_id": "g1", "question_type": "single-session-user", "question": "What is my dog called?",
        "answer": "Juniper", "question_date": "2023/05/30 (Tue) 23:40", "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["s1"], "answer_session_ids": ["s1"],
        "haystack_sessions": [[{"role": "user", "content": "My dog Juniper barks.", "has_answer": True}]],
    }  # fmt: skip
    path = tmp_path / "long.json"
    path.write_text(json.dumps([asked]))
    [conversation] = read(path).conversations
    [question] = conversation.questions
    assert question.evidence == [conversation.turns[0].id]
    assert question.evidence_sessions == ["s1"]
    assert (conversation.turns[0].time, question.time) == ("2023-05-20T02:21:00+00:00", "2023-05-30T23:40:00+00:00")


def test_a_folder_of_own_chats_is_one_past_with_questions(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "My dog is Juniper."}, {"role": "assistant", "content": "A fine name."}]
    (tmp_path / "dogs.json").write_text(json.dumps({"messages": said}))
    (tmp_path / "boats.json").write_text(json.dumps([{"role": "user", "content": "I sold it.", "time": "2024-01-02"}]))
    questions = [{"question": "My dog?", "evidence": ["dogs:1"]}, {"question": "My boat?", "evidence": ["boats"]}]
    (tmp_path / "questions.json").write_text(json.dumps(questions))
    [past] = read(tmp_path).conversations
    assert [turn.id for turn in past.turns] == ["boats:1", "dogs:1", "dogs:2"]
    assert [question.evidence for question in past.questions] == [["dogs:1"], ["boats:1"]]
    (tmp_path / "questions.json").write_text(json.dumps([{"question": "?", "evidence": ["cats:1"]}]))
    with pytest.raises(SettingsError, match="cats:1"):
        read(tmp_path)
