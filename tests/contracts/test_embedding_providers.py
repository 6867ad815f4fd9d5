"""One contract for every provider of embedding models, against servers that answer as the vendors document it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import numpy as np
import ollama
import openai
import pytest
from google import genai

from memproxy.embedders import PROVIDERS, open_embedder, remote
from memproxy.embedders.catalog import EMBEDDERS
from memproxy.embedders.shapes import SHAPES
from memproxy.errors import EmbedderError, SettingsError
from memproxy.interfaces import Embedder
from memproxy.lifecycle import embedding
from memproxy.settings import Embed, EmbedProvider, Secret
from memproxy.testing import Answer, Request, ScriptedUpstream
from tests.contracts.chat_vendors import KEY, json_answer
from tests.contracts.embedding_vendors import VENDORS, WIDTH, Vendor, numbers
from tests.world import World

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:Inheritance class Aiohttp:DeprecationWarning"),  # one vendor's client's own
]

VARIABLES = sorted({name for row in EMBEDDERS.values() for name in (*row.access.variables, *row.access.places)})


@pytest.fixture(autouse=True)
def no_keys_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def up() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream() as server:
        yield server


@pytest.fixture(params=VENDORS, ids=str)
def vendor(request: pytest.FixtureRequest) -> Vendor:
    return VENDORS[request.param]


def chosen(vendor: Vendor, up: ScriptedUpstream, **more: Any) -> Embed:
    given = {"model": vendor.model, "base_url": up.url + vendor.path, "api_key": Secret(KEY), **dict(vendor.settings)}
    return Embed(provider=vendor.provider, **{**given, **more})


@contextlib.asynccontextmanager
async def opened(vendor: Vendor, up: ScriptedUpstream, **more: Any) -> AsyncIterator[Embedder]:
    """An embedder whose start is over; what the server recorded of it is dropped."""
    up.default = vendor.serve
    embedder = await open_embedder(chosen(vendor, up, **more))
    up.requests.clear()
    try:
        yield embedder
    finally:
        await embedder.close()


def texts_of(vendor: Vendor, request: Request) -> list[str]:
    return list(vendor.said.texts(request.json()))


# --- rows ----------------------------------------------------------------------------------------------------------


def test_every_row_may_be_chosen_in_the_settings_and_has_its_contract() -> None:
    assert set(get_args(EmbedProvider)) == {*EMBEDDERS, *PROVIDERS, "off"}
    assert {vendor.provider for vendor in VENDORS.values()} == set(EMBEDDERS)
    assert {row.shape for row in EMBEDDERS.values()} == set(SHAPES)


# --- the start -----------------------------------------------------------------------------------------------------


async def test_the_first_vector_says_how_many_numbers_there_are(vendor: Vendor, up: ScriptedUpstream) -> None:
    width = EMBEDDERS[vendor.provider].dimensions or WIDTH
    async with opened(vendor, up) as embedder:
        model = vendor.model or EMBEDDERS[vendor.provider].model
        assert (embedder.info.model, embedder.info.dimensions) == (f"{vendor.provider}/{model}@{width}", width)
        assert 0 < embedder.info.floor <= embedder.info.duplicate <= 1


async def test_the_start_is_a_handful_of_calls(vendor: Vendor, up: ScriptedUpstream) -> None:
    up.default = vendor.serve
    embedder = await open_embedder(chosen(vendor, up))
    await embedder.close()
    assert len(up.requests) <= (4 if EMBEDDERS[vendor.provider].batch > 1 else 21)


async def test_dimensions_are_asked_for_and_have_to_be_right(vendor: Vendor, up: ScriptedUpstream) -> None:
    async with opened(vendor, up, dimensions=32) as embedder:
        assert embedder.info.dimensions == 32
        assert embedder.info.model.endswith("@32")
    up.default = lambda request: json_answer(
        vendor.said.answer([numbers(text, 40) for text in texts_of(vendor, request)])
    )
    with pytest.raises(EmbedderError, match="40 dimensions, not 32"):
        await open_embedder(chosen(vendor, up, dimensions=32))


@pytest.mark.parametrize(
    ("status", "told"), [(401, "the key is refused"), (402, "account is empty"), (404, "no such model"), (500, "500")]
)
async def test_a_start_that_fails_says_why_and_never_the_key(
    vendor: Vendor, up: ScriptedUpstream, status: int, told: str
) -> None:
    up.default = lambda request: json_answer({"error": {"message": f"bad {KEY}"}}, status)
    with pytest.raises(EmbedderError, match=told) as failed:
        await open_embedder(chosen(vendor, up))
    assert KEY not in str(failed.value)
    assert vendor.provider in str(failed.value)


@pytest.mark.parametrize("bad", [[], [0.0] * WIDTH, [float("nan")] * WIDTH, [float("inf")] * WIDTH, ["x"], None])
async def test_what_is_no_vector_is_refused_at_the_start(vendor: Vendor, up: ScriptedUpstream, bad: Any) -> None:
    up.default = lambda request: json_answer(vendor.said.answer([bad]))
    with pytest.raises(EmbedderError, match="no-vectors"):
        await open_embedder(chosen(vendor, up))


async def test_what_is_no_answer_is_refused_at_the_start(vendor: Vendor, up: ScriptedUpstream) -> None:
    bodies: tuple[Any, ...] = (
        b"",
        b"<html>",
        {},
        [],
        None,
        {"data": 7, "embeddings": 7},
        {"data": [], "embeddings": []},
    )
    for body in bodies:
        up.default = lambda request, body=body: json_answer(body)  # type: ignore[misc]
        with pytest.raises(EmbedderError, match="no-vectors"):
            await open_embedder(chosen(vendor, up))


async def test_a_server_that_is_silent_at_the_start_is_waited_for_a_while_only(
    up: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "PROBE_SECONDS", 0.05)
    up.default = lambda request: Answer(200, [], [30.0])
    with pytest.raises(EmbedderError, match="no vector within"):
        await open_embedder(chosen(VENDORS["openai"], up))


@pytest.mark.parametrize("provider", [name for name, row in EMBEDDERS.items() if not row.access.keyless])
async def test_a_provider_without_a_key_is_an_error_that_names_setting_and_variable(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(SettingsError) as failed:
        await open_embedder(Embed(provider=provider, model="m"))
    assert "MEMG_EMBED_API_KEY" in str(failed.value)
    assert all(name in str(failed.value) for name in EMBEDDERS[provider].access.variables)


async def test_o4_a_local_server_needs_no_key_and_gets_every_call(
    up: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    for name in ("ollama", "custom"):
        async with opened(VENDORS[name], up, api_key=None) as embedder:
            await embedder.embed_query("where is the kayak?")
        assert [request.header("authorization") for request in up.requests] == [None]


# --- the request -------------------------------------------------------------------------------------------------


async def test_calls_go_where_the_vendor_says_and_tell_queries_from_documents(
    vendor: Vendor, up: ScriptedUpstream
) -> None:
    async with opened(vendor, up) as embedder:
        query = await embedder.embed_query("where is the kayak?")
        documents = await embedder.embed_documents(["the kayak is in the shed", "it rains"])
    assert query.shape == (embedder.info.dimensions,)
    assert documents.shape == (2, embedder.info.dimensions)
    assert query.dtype == documents.dtype == np.float32
    assert np.linalg.norm(np.vstack([query, documents]), axis=1) == pytest.approx(1, abs=1e-5)
    assert len(up.requests) == (2 if EMBEDDERS[vendor.provider].batch > 1 else 3)
    assert {request.target.decode() for request in up.requests} == {vendor.target}
    assert {request.header(vendor.header[0]) for request in up.requests} == {vendor.header[1]}
    assert tuple(vendor.said.kind(request.json()) for request in up.requests[:2]) == vendor.kinds


async def test_vectors_come_in_the_order_of_their_texts(vendor: Vendor, up: ScriptedUpstream) -> None:
    texts = [f"text number {i} of {i * i}" for i in range(150)]
    async with opened(vendor, up, query_prefix="", document_prefix="") as embedder:
        found = await embedder.embed_documents(texts)
    width = embedder.info.dimensions
    expected = np.array([numbers(text, width) for text in texts])
    assert np.allclose(found, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5)
    assert len(up.requests) == -(-150 // EMBEDDERS[vendor.provider].batch)
    assert all(len(texts_of(vendor, request)) <= EMBEDDERS[vendor.provider].batch for request in up.requests)


async def test_l32_calls_one_after_the_other_share_a_connection(up: ScriptedUpstream) -> None:
    async with opened(VENDORS["openai"], up) as embedder:
        at_start = up.connections
        for _ in range(3):
            await embedder.embed_documents(["a"])
        assert (len(up.requests), up.connections) == (3, at_start)


async def test_k1_with_another_prefix_of_documents_it_is_another_model(up: ScriptedUpstream) -> None:
    named = []
    for prefix in (None, "", "passage: ", "text: "):
        async with opened(VENDORS["custom"], up, document_prefix=prefix) as embedder:
            named.append(embedder.info.model)
    assert named[:2] == ["custom/mine@48"] * 2
    assert len(set(named)) == 3


async def test_no_texts_are_no_call(up: ScriptedUpstream) -> None:
    async with opened(VENDORS["openai"], up) as embedder:
        assert (await embedder.embed_documents([])).shape == (0, WIDTH)
    assert up.requests == []


async def test_l24_texts_that_begin_alike_have_vectors_of_their_own(up: ScriptedUpstream) -> None:
    async with opened(VENDORS["openai"], up) as embedder:
        first, second = await embedder.embed_documents(["word " * 300 + "otter", "word " * 300 + "heron"])
    assert not np.allclose(first, second)


@pytest.mark.parametrize(
    ("name", "model", "query", "document"),
    [
        ("ollama", None, "search_query: q", "search_document: d"),
        ("ollama", "nomic-embed-text:latest", "search_query: q", "search_document: d"),
        ("ollama", "all-minilm", "q", "d"),
        ("openai", None, "q", "d"),
    ],
)
async def test_a_model_is_asked_as_its_card_says(
    up: ScriptedUpstream, name: str, model: str | None, query: str, document: str
) -> None:
    async with opened(VENDORS[name], up, model=model) as embedder:
        await embedder.embed_query("q")
        await embedder.embed_documents(["d"])
    assert [texts_of(VENDORS[name], request) for request in up.requests] == [[query], [document]]


async def test_prefixes_of_the_settings_win(up: ScriptedUpstream) -> None:
    async with opened(VENDORS["ollama"], up, query_prefix="Q ", document_prefix="") as embedder:
        await embedder.embed_query("q")
        await embedder.embed_documents(["d"])
    assert [texts_of(VENDORS["ollama"], request) for request in up.requests] == [["Q q"], ["d"]]


async def test_documents_take_a_few_calls_at_once_and_a_query_goes_between(up: ScriptedUpstream) -> None:
    running, most = 0, 0
    release = asyncio.Event()
    vendor = VENDORS["custom"]

    async def slowly(request: Request) -> Answer:
        nonlocal running, most
        if texts_of(vendor, request) != ["quick"]:
            running += 1
            most = max(most, running)
            await release.wait()
            running -= 1
        return vendor.serve(request)

    async with opened(vendor, up) as embedder:
        up.default = slowly
        work = asyncio.create_task(embedder.embed_documents([f"text {i}" for i in range(16 * 9)]))
        await up.wait_for(lambda server: len(server.requests) == remote.AT_ONCE)
        assert (await embedder.embed_query("quick")).shape == (WIDTH,)
        release.set()
        assert len(await work) == 144
    assert most == remote.AT_ONCE


# --- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_l51_one_text_that_is_refused_never_fails_its_batch(
    vendor: Vendor, up: ScriptedUpstream, status: int
) -> None:
    def picky(request: Request) -> Answer:
        if any("POISON" in text for text in texts_of(vendor, request)):
            return json_answer({"error": {"message": "cannot be read"}}, status)
        return vendor.serve(request)

    texts = [f"text {i}" for i in range(10)]
    texts[6] = "POISON"
    async with opened(vendor, up) as embedder:
        whole = await embedder.embed_documents([text for text in texts if text != "POISON"])
        up.default = picky
        found = await embedder.embed_documents(texts)
    assert np.allclose(np.delete(found, 6, axis=0), whole, atol=1e-6)
    assert np.linalg.norm(found[6]) == pytest.approx(1, abs=1e-5)


async def test_l51_a_text_that_is_too_long_is_shortened(up: ScriptedUpstream) -> None:
    vendor = VENDORS["openai"]

    def short_sighted(request: Request) -> Answer:
        if any(len(text) > 5000 for text in texts_of(vendor, request)):
            return json_answer({"error": {"message": "This model's maximum context length is 8192 tokens"}}, 400)
        return vendor.serve(request)

    async with opened(vendor, up) as embedder:
        up.default = short_sighted
        [found] = await embedder.embed_documents(["kayak " * 4000])
        [part] = await embedder.embed_documents(["kayak " * 4000][:1])
        like = await embedder.embed_query("kayak")
    assert float(found @ like) > 0.9
    assert np.allclose(found, part)


async def test_a_server_that_refuses_every_text_fails_and_gives_none_a_vector(up: ScriptedUpstream) -> None:
    async with opened(VENDORS["openai"], up) as embedder:
        up.default = lambda request: json_answer({"error": {"message": "model was retired"}}, 400)
        with pytest.raises(EmbedderError, match="status-400"):
            await embedder.embed_documents([f"text {i}" for i in range(8)])
        with pytest.raises(EmbedderError, match="status-400"):
            await embedder.embed_query("x")


async def test_documents_wait_as_long_as_they_are_told_and_try_again(up: ScriptedUpstream) -> None:
    vendor = VENDORS["openai"]
    async with opened(vendor, up) as embedder:
        up.reply_answer(json_answer({}, 429, {"retry-after-ms": "20"}))
        up.reply_answer(json_answer({}, 503, {"Retry-After": "0"}))
        assert len(await embedder.embed_documents(["a", "b"])) == 2
        assert len(up.requests) == 3
        up.reply_answer(json_answer({}, 429, {"Retry-After": "3600"}))
        with pytest.raises(EmbedderError, match="status-429"):
            await embedder.embed_documents(["a", "b"])
        assert len(up.requests) == 4


async def test_a_server_that_hangs_is_not_waited_for_over_and_over(
    up: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "PATIENCE", 0.2)
    async with opened(VENDORS["openai"], up) as embedder:
        up.default = lambda request: Answer(200, [], [30.0])
        with pytest.raises(EmbedderError, match="timeout"):
            await embedder.embed_documents(["a", "b"])
    assert len(up.requests) == 1


@pytest.mark.parametrize("status", [401, 402, 403])
async def test_a_wrong_key_and_an_empty_account_are_not_tried_again(up: ScriptedUpstream, status: int) -> None:
    async with opened(VENDORS["openai"], up) as embedder:
        up.default = lambda request: json_answer({}, status)
        with pytest.raises(EmbedderError, match=f"status-{status}"):
            await embedder.embed_documents(["a", "b"])
    assert len(up.requests) == 1


async def test_an_option_that_a_server_does_not_know_is_left_out_from_then_on(up: ScriptedUpstream) -> None:
    vendor = VENDORS["custom"]

    def old(request: Request) -> Answer:
        if "encoding_format" in request.json():
            return json_answer({"error": {"message": "unknown field encoding_format"}}, 400)
        return vendor.serve(request)

    up.default = old
    embedder = await open_embedder(chosen(vendor, up))
    up.requests.clear()
    await embedder.embed_query("x")
    await embedder.close()
    assert len(up.requests) == 1


# --- in the proxy ----------------------------------------------------------------------------------------------------


def in_the_proxy(up: ScriptedUpstream) -> dict[str, Any]:
    return {"embed__provider": "custom", "embed__base_url": f"{up.url}/v1", "embed__model": "m"}


async def test_k3_an_embedder_that_is_not_there_at_the_start_stops_no_chat(
    tmp_path: Path, up: ScriptedUpstream
) -> None:
    up.default = lambda request: json_answer({"error": {"message": "down"}}, 500)
    async with World.open(tmp_path, **in_the_proxy(up)) as world:
        await world.say("ilse", [], "I own a kayak called Petrel")
        ready = (await world.client.get(f"{world.url}/memproxy/ready")).json()
        assert ready["memory"] == "degraded"
        assert any("status-500" in reason for reason in ready["reasons"])
        assert "Petrel" in await world.ask("ilse", "What is my kayak called?")


async def test_k3_vectors_are_made_up_for_when_the_embedder_returns(tmp_path: Path, up: ScriptedUpstream) -> None:
    vendor = VENDORS["custom"]
    up.default = vendor.serve
    async with World.open(tmp_path, **in_the_proxy(up)) as world:
        up.default = lambda request: json_answer({}, 401)
        await world.say("ilse", [], "I own a kayak called Petrel")
        await world.drain()
        assert "Petrel" in await world.ask("ilse", "What is my kayak called?")
        ready = (await world.client.get(f"{world.url}/memproxy/ready")).json()
        assert ready["memory"] == "degraded"
        up.default = vendor.serve
        up.requests.clear()
        await up.wait_for(lambda server: any("Petrel" in request.body.decode() for request in server.requests))


async def test_k3_a_provider_that_is_away_at_a_later_start_is_made_up_for_on_its_return(
    tmp_path: Path, up: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "PAUSE_AFTER_FAILURE", 0.05)
    vendor = VENDORS["custom"]
    up.default = vendor.serve
    async with World.open(tmp_path, **in_the_proxy(up)) as world:
        measured = world.app.parts.embedder.info  # type: ignore[union-attr]
        up.default = lambda request: json_answer({}, 503, {"Retry-After": "3600"})
        await world.restart()
        assert world.app.parts.embedder.info == measured  # type: ignore[union-attr]
        assert await degraded(world)
        await world.say("ilse", [], "I own a kayak called Petrel")
        assert "Petrel" in await world.ask("ilse", "What is my kayak called?")
        up.default = vendor.serve
        await up.wait_for(lambda server: b"Petrel" in server.requests[-1].body)
        await world.drain()
        assert not await degraded(world)


async def degraded(world: World) -> list[str]:
    """Why memory is not whole."""
    reasons: list[str] = (await world.client.get(f"{world.url}/memproxy/ready")).json()["reasons"]
    return reasons


@pytest.mark.parametrize("again", ["sent whole", "started anew", "learned", "asked for"])
async def test_l18_of_each_new_text_one_vector_is_made(tmp_path: Path, up: ScriptedUpstream, again: str) -> None:
    up.default = VENDORS["custom"].serve
    async with World.open(tmp_path, **in_the_proxy(up)) as world:
        up.requests.clear()
        history: list[dict[str, Any]] = []
        await world.say("ilse", history, "I own a kayak called Petrel")
        await world.drain()
        if again == "sent whole":
            await world.say("ilse", history, "And it leaks")
            await world.say("ilse", history, "So I patch it")
        elif again == "started anew":
            await world.restart()
        elif again == "learned":
            await world.seed("ilse", "Owns a kayak called Petrel", quote="I own a kayak called Petrel")
            await world.seed("ilse", "owns a  kayak called PETREL", quote="I own a kayak called Petrel")
        else:
            await world.ask("ilse", "What is my kayak called?")
        await world.drain()
        made = [text for request in up.requests for text in json.loads(request.body)["input"]]
        assert made.count("user: I own a kayak called Petrel") == 1
        assert made.count("I own a kayak called Petrel") == 1  # as the question that it was
        assert len([text for text in made if "Owns" in text]) <= 1


async def test_a_model_is_measured_at_its_first_start_only(tmp_path: Path, up: ScriptedUpstream) -> None:
    up.default = VENDORS["custom"].serve
    async with World.open(tmp_path, **in_the_proxy(up)) as world:
        first = len(up.requests)
        up.requests.clear()
        await world.restart()
        assert len(up.requests) == 1 < first


async def test_a_model_that_changed_under_its_name_is_measured_anew(tmp_path: Path, up: ScriptedUpstream) -> None:
    vendor = VENDORS["custom"]
    up.default = vendor.serve
    async with World.open(tmp_path, **in_the_proxy(up)) as world:
        up.default = lambda request: json_answer(
            vendor.said.answer([numbers(text, 40) for text in texts_of(vendor, request)])
        )
        await world.restart()
        assert world.app.parts.embedder.info.dimensions == 40  # type: ignore[union-attr]


@pytest.mark.parametrize("status", [401, 404])
async def test_what_no_waiting_mends_is_told_at_a_later_start_too(
    tmp_path: Path, up: ScriptedUpstream, status: int
) -> None:
    up.default = VENDORS["custom"].serve
    async with World.open(tmp_path, **in_the_proxy(up)) as world:
        up.default = lambda request: json_answer({}, status)
        await world.restart()
        assert world.app.parts.embedder is None  # type: ignore[union-attr]
        assert await degraded(world)


# --- the answers are what the vendors' own clients understand --------------------------------------------------------


async def test_openais_client_reads_the_same_answers(up: ScriptedUpstream) -> None:
    up.default = VENDORS["openai"].serve
    async with openai.AsyncOpenAI(base_url=f"{up.url}/v1", api_key=KEY) as theirs:
        told = await theirs.embeddings.create(
            model="text-embedding-3-small", input=["a", "b"], encoding_format="float", dimensions=32
        )
    assert sorted(row.index for row in told.data) == [0, 1]
    assert {len(row.embedding) for row in told.data} == {32}
    sent = up.requests[0].json()
    async with opened(VENDORS["openai"], up, dimensions=32) as embedder:
        await embedder.embed_documents(["a", "b"])
    assert up.requests[0].json() == sent


async def test_geminis_client_sends_the_same_and_reads_the_same_answers(up: ScriptedUpstream) -> None:
    up.default = VENDORS["gemini"].serve
    theirs = genai.Client(api_key=KEY, http_options=genai.types.HttpOptions(base_url=up.url, api_version="v1beta"))
    try:
        told = await theirs.aio.models.embed_content(
            model="gemini-embedding-001",
            contents=["a", "b"],
            config=genai.types.EmbedContentConfig(task_type="RETRIEVAL_DOCUMENT", output_dimensionality=32),
        )
    finally:
        await theirs.aio.aclose()
        theirs.close()
    assert [len(row.values or ()) for row in told.embeddings or ()] == [32, 32]
    target, sent = up.requests[0].target, up.requests[0].json()
    async with opened(VENDORS["gemini"], up, dimensions=32) as embedder:
        await embedder.embed_documents(["a", "b"])
    assert up.requests[0].target == target
    assert [plain(request) for request in up.requests[0].json()["requests"]] == [
        plain(request) for request in sent["requests"]
    ]


def plain(request: dict[str, Any]) -> dict[str, Any]:
    """A request without what the client adds of itself."""
    return json.loads(json.dumps({**request, "content": {"parts": request["content"]["parts"]}}))  # type: ignore[no-any-return]


async def test_ollamas_client_reads_the_same_answers(up: ScriptedUpstream) -> None:
    up.default = VENDORS["ollama"].serve
    async with ollama.AsyncClient(host=up.url) as theirs:
        told = await theirs.embed(model="nomic-embed-text", input=["a", "b"], truncate=True)
    assert [len(row) for row in told.embeddings] == [WIDTH, WIDTH]
    sent = up.requests[0].json()
    async with opened(VENDORS["ollama"], up, document_prefix="") as embedder:
        await embedder.embed_documents(["a", "b"])
    assert up.requests[0].json() == sent
