"""One contract for every provider of chat models, against servers that answer as the vendors document it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import anthropic
import ollama
import openai
import pytest
from google import genai

from memproxy.errors import (
    EmptyAnswer,
    ProviderBusy,
    ProviderError,
    SettingsError,
    TruncatedCompletion,
    UnusableReply,
)
from memproxy.lifecycle.extractor import plan_extraction
from memproxy.prompts.extraction import SCHEMA
from memproxy.providers.catalog import LLMS
from memproxy.providers.client import SHAPES, ChatClient, Completion, Endpoint
from memproxy.settings import LLM, LLMProvider, Secret, Settings
from memproxy.testing import ScriptedUpstream
from tests.contracts.chat_vendors import FACTS, KEY, PART, VENDORS, Vendor, json_answer
from tests.world import World, facts

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:Inheritance class Aiohttp:DeprecationWarning"),  # one vendor's client's own
]

MESSAGES = [{"role": "system", "content": "Answer in JSON."}, {"role": "user", "content": "I own a kayak."}]
QUIRKS = {"deployments", "max_completion_tokens", "no_temperature", "json_object_only", "reasoning_off"}
KEYS = sorted({name for row in LLMS.values() for name in (*row.access.variables, *row.access.places)})


@pytest.fixture(autouse=True)
def no_keys_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def up() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream() as server:
        yield server


@pytest.fixture
async def client() -> AsyncIterator[ChatClient]:
    opened = ChatClient(timeout=5)
    yield opened
    await opened.close()


@pytest.fixture(params=VENDORS, ids=str)
def vendor(request: pytest.FixtureRequest) -> Vendor:
    return VENDORS[request.param]


def endpoint(vendor: Vendor, up: ScriptedUpstream) -> Endpoint:
    """As the settings give it."""
    llm: dict[str, Any] = {
        "provider": vendor.provider,
        "model": vendor.model,
        "base_url": up.url + vendor.path,
        **dict(vendor.settings),
    }
    own = plan_extraction(Settings(llm=LLM(api_key=Secret(KEY), **llm)), b"s").own
    assert own is not None
    return own


async def ask(client: ChatClient, where: Endpoint) -> Completion:
    return await client.complete(where, MESSAGES, SCHEMA, 321)


# --- rows ----------------------------------------------------------------------------------------------------------


def test_every_row_may_be_chosen_in_the_settings_and_has_its_contract() -> None:
    assert set(LLMS) == set(get_args(LLMProvider)) == {vendor.provider for vendor in VENDORS.values()}


@pytest.mark.parametrize("provider", LLMS)
def test_a_row_differs_by_quirks_that_are_known(provider: str) -> None:
    assert LLMS[provider].quirks <= QUIRKS
    assert LLMS[provider].shape in SHAPES


# --- the request -------------------------------------------------------------------------------------------------


async def test_a_call_goes_where_the_vendor_says_and_is_understood(
    vendor: Vendor, up: ScriptedUpstream, client: ChatClient
) -> None:
    up.reply_answer(json_answer(vendor.said.success))
    assert await ask(client, endpoint(vendor, up)) == Completion(FACTS, 11, 7)
    [request] = up.requests
    assert (request.method, request.target.decode()) == ("POST", vendor.target)
    assert request.header(vendor.header[0]) == vendor.header[1]
    assert request.header("content-type") == "application/json"
    body = request.json()
    assert vendor.said.limit(body) == 321
    assert vendor.said.instructions(body) == "Answer in JSON."
    assert "I own a kayak." in request.body.decode()


async def test_l32_calls_one_after_the_other_share_a_connection(up: ScriptedUpstream, client: ChatClient) -> None:
    vendor = VENDORS["openai"]
    up.default = lambda request: json_answer(vendor.said.success)
    for _ in range(3):
        await ask(client, endpoint(vendor, up))
    assert (len(up.requests), up.connections) == (3, 1)


async def test_a_schema_is_sent_where_it_is_offered(vendor: Vendor, up: ScriptedUpstream, client: ChatClient) -> None:
    up.reply_answer(json_answer(vendor.said.success))
    await ask(client, endpoint(vendor, up))
    schema = vendor.said.schema(up.requests[0].json())
    if "json_object_only" in LLMS[vendor.provider].quirks:
        assert up.requests[0].json()["response_format"] == {"type": "json_object"}
    else:
        assert schema["properties"]["facts"]["items"]["properties"].keys() >= {"text", "quote", "slot"}


async def test_a_version_header_goes_along_with_messages(up: ScriptedUpstream, client: ChatClient) -> None:
    up.reply_answer(json_answer(VENDORS["anthropic"].said.success))
    await ask(client, endpoint(VENDORS["anthropic"], up))
    assert up.requests[0].header("anthropic-version") == "2023-06-01"
    assert up.requests[0].json()["output_config"]["format"]["schema"]["additionalProperties"] is False


async def test_reasoning_is_switched_off_where_there_is_a_switch(up: ScriptedUpstream, client: ChatClient) -> None:
    found = {}
    for name in ("openrouter", "gemini", "ollama", "openai"):
        up.reply_answer(json_answer(VENDORS[name].said.success))
        await ask(client, endpoint(VENDORS[name], up))
        found[name] = up.requests[-1].json()
    assert found["openrouter"]["reasoning"] == {"enabled": False}
    assert found["gemini"]["generationConfig"]["thinkingConfig"] == {"thinkingBudget": 0}
    assert found["ollama"]["think"] is False
    assert "reasoning" not in found["openai"]


async def test_a_model_that_must_think_is_allowed_to(up: ScriptedUpstream, client: ChatClient) -> None:
    where = endpoint(VENDORS["gemini"], up)
    message = "Budget 0 is invalid. This model only works in thinking mode."
    up.reply_answer(json_answer(VENDORS["gemini"].said.error(400, message), 400))
    up.default = lambda request: json_answer(VENDORS["gemini"].said.success)
    await ask(client, where)
    assert "thinkingConfig" not in up.requests[1].json()["generationConfig"]
    assert "responseJsonSchema" in up.requests[1].json()["generationConfig"]


async def test_the_output_limit_is_called_as_the_row_says(up: ScriptedUpstream, client: ChatClient) -> None:
    up.reply_answer(json_answer(VENDORS["bedrock"].said.success))
    await ask(client, endpoint(VENDORS["bedrock"], up))
    assert up.requests[0].json()["max_completion_tokens"] == 321
    assert "max_tokens" not in up.requests[0].json()


@pytest.mark.parametrize(
    ("name", "options", "sent"),
    [
        ("ollama", {"options": {"num_ctx": 9}}, {"options": {"temperature": 0, "num_predict": 321, "num_ctx": 9}}),
        ("ollama", {"think": "low"}, {"think": "low"}),
        ("gemini", {"labels": {"for": "memory"}}, {"labels": {"for": "memory"}}),
        ("openai", {"response_format": {"type": "json_object"}}, {"response_format": {"type": "json_object"}}),
        ("anthropic", {"metadata": {"user_id": "m"}}, {"metadata": {"user_id": "m"}}),
    ],
)  # fmt: skip
async def test_options_of_the_settings_win_and_join_what_is_nested(
    up: ScriptedUpstream, name: str, options: dict[str, Any], sent: dict[str, Any]
) -> None:
    client = ChatClient(5, options)
    up.reply_answer(json_answer(VENDORS[name].said.success))
    await ask(client, endpoint(VENDORS[name], up))
    await client.close()
    body = up.requests[0].json()
    assert {key: body[key] for key in sent} == sent


# --- the answer ----------------------------------------------------------------------------------------------------


async def test_a_cut_answer_is_truncated_and_not_asked_for_again_as_it_is(
    vendor: Vendor, up: ScriptedUpstream, client: ChatClient
) -> None:
    up.reply_answer(json_answer(vendor.said.cut))
    with pytest.raises(TruncatedCompletion) as failed:
        await ask(client, endpoint(vendor, up))
    assert failed.value.text == PART
    assert len(up.requests) == 1


async def test_l13_thoughts_alone_are_no_answer(vendor: Vendor, up: ScriptedUpstream, client: ChatClient) -> None:
    up.reply_answer(json_answer(vendor.said.thoughts_only))
    with pytest.raises(EmptyAnswer):
        await ask(client, endpoint(vendor, up))


async def test_b10_a_refusal_is_no_answer(vendor: Vendor, up: ScriptedUpstream, client: ChatClient) -> None:
    if vendor.said.refusal is None:
        return
    up.reply_answer(json_answer(vendor.said.refusal))
    with pytest.raises(UnusableReply, match="refused"):
        await ask(client, endpoint(vendor, up))


async def test_b14_a_schema_that_is_refused_is_left_out_at_once_and_from_then_on(
    vendor: Vendor, up: ScriptedUpstream, client: ChatClient
) -> None:
    up.reply_answer(json_answer(vendor.said.error(400, vendor.said.schema_words), 400))
    up.default = lambda request: json_answer(vendor.said.success)
    where = endpoint(vendor, up)
    assert (await ask(client, where)).text == FACTS
    assert (await ask(client, where)).text == FACTS
    assert [vendor.said.schema(request.json()) for request in up.requests[1:]] == [None, None]


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_o3_a_wrong_key_and_an_empty_account_are_not_tried_again(
    vendor: Vendor, up: ScriptedUpstream, client: ChatClient, status: int
) -> None:
    up.reply_answer(json_answer(vendor.said.error(status, "no"), status))
    with pytest.raises(ProviderError, match=f"status-{status}") as failed:
        await ask(client, endpoint(vendor, up))
    assert not isinstance(failed.value, ProviderBusy)


async def test_too_many_requests_are_tried_again_when_the_server_says(
    vendor: Vendor, up: ScriptedUpstream, client: ChatClient
) -> None:
    up.reply_answer(json_answer(vendor.said.error(429, "slow down"), 429, {"Retry-After": "17"}))
    with pytest.raises(ProviderBusy, match="status-429") as failed:
        await ask(client, endpoint(vendor, up))
    assert failed.value.retry_after == 17


@pytest.mark.parametrize("status", [500, 503, 529])
async def test_a_servers_own_trouble_passes(
    vendor: Vendor, up: ScriptedUpstream, client: ChatClient, status: int
) -> None:
    up.reply_answer(json_answer(vendor.said.error(status, "oh"), status))
    with pytest.raises(ProviderBusy, match=f"status-{status}"):
        await ask(client, endpoint(vendor, up))


async def test_what_cannot_be_read_is_tried_again_later(
    vendor: Vendor, up: ScriptedUpstream, client: ChatClient
) -> None:
    for body in vendor.said.malformed:
        up.reply_answer(json_answer(body))
        with pytest.raises(ProviderBusy, match="not-a-completion"):
            await ask(client, endpoint(vendor, up))


async def test_an_empty_account_that_is_told_as_too_many_requests_is_not_tried_again(
    up: ScriptedUpstream, client: ChatClient
) -> None:
    body = {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": None}}
    up.reply_answer(json_answer(body, 429))
    with pytest.raises(ProviderError, match="unpaid") as failed:
        await ask(client, endpoint(VENDORS["openai"], up))
    assert not isinstance(failed.value, ProviderBusy)


@pytest.mark.parametrize(("said", "seconds"), [("32s", 32.0), ("0.5s", 0.5), ("soon", None), (7, None)])
async def test_a_time_to_wait_in_the_body_is_read(
    up: ScriptedUpstream, client: ChatClient, said: Any, seconds: float | None
) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.Help"}, {"retryDelay": said}, 7]
    up.reply_answer(json_answer({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details}}, 429))
    with pytest.raises(ProviderBusy) as failed:
        await ask(client, endpoint(VENDORS["gemini"], up))
    assert failed.value.retry_after == seconds


# --- keys and addresses ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", [name for name, row in LLMS.items() if not row.access.keyless])
def test_a_provider_without_a_key_is_an_error_that_names_setting_and_variable(provider: str) -> None:
    llm = LLM(provider=provider, base_url=None if LLMS[provider].access.address else "http://x", model="m")
    if LLMS[provider].access.places:
        llm = LLM(provider=provider, base_url="https://me.example/openai/v1", model="m")
    with pytest.raises(SettingsError) as failed:
        plan_extraction(Settings(llm=llm), b"s")
    assert "MEMG_LLM_API_KEY" in str(failed.value)
    assert all(name in str(failed.value) for name in LLMS[provider].access.variables)


@pytest.mark.parametrize(("provider", "variable"), [(p, v) for p, row in LLMS.items() for v in row.access.variables])
def test_a_key_in_the_providers_variable_is_used_for_its_own_address(
    monkeypatch: pytest.MonkeyPatch, provider: str, variable: str
) -> None:
    monkeypatch.setenv(variable, KEY)
    for place in LLMS[provider].access.places:
        monkeypatch.setenv(place, "https://me.openai.azure.com" if "ENDPOINT" in place else "eu-west-1")
    own = plan_extraction(Settings(llm=LLM(provider=provider, model="m")), b"s").own
    assert own is not None
    assert KEY in str(own.headers)
    assert "{" not in own.base_url


def test_the_setting_wins_over_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "other")
    own = plan_extraction(Settings(llm=LLM(provider="groq", api_key=Secret(KEY))), b"s").own
    assert own is not None
    assert own.headers == {"authorization": f"Bearer {KEY}"}


def test_a_vendors_key_does_not_go_to_another_address_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(SettingsError, match="env:OPENAI_API_KEY") as failed:
        plan_extraction(Settings(llm=LLM(provider="openai", base_url="https://gateway.example/v1")), b"s")
    assert KEY not in str(failed.value)


def test_o4_keys_that_lie_around_change_nothing_where_no_provider_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, KEY)
    plan = plan_extraction(Settings(), b"s")
    assert plan.own is None
    assert plan.purse is not None
    assert plan_extraction(Settings(llm=LLM(borrow=False)), b"s").off
    assert plan_extraction(Settings(llm=LLM(base_url="http://localhost:8000/v1")), b"s").off


def test_an_address_that_is_a_vendors_own_says_whose_key_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    plan = plan_extraction(Settings(llm=LLM(base_url="https://api.groq.com/openai/v1")), b"s")
    assert plan.own is not None
    assert plan.own.headers == {"authorization": f"Bearer {KEY}"}
    assert plan_extraction(Settings(llm=LLM(base_url="https://api.groq.com.evil.example/v1")), b"s").own is None


@pytest.mark.parametrize(
    ("llm", "named"),
    [
        (LLM(provider="custom", model="m"), "llm.base_url"),
        (LLM(provider="custom", base_url="http://localhost:1/v1"), "llm.model"),
        (LLM(provider="azureopenai", api_key=Secret(KEY)), "AZURE_OPENAI_ENDPOINT"),
        (LLM(provider="azureopenai", api_key=Secret(KEY), base_url="https://me.openai.azure.com"), "llm.model"),
        (LLM(provider="bedrock", api_key=Secret(KEY)), "AWS_REGION"),
    ],
)
def test_o4_what_is_missing_is_named_at_the_start(llm: LLM, named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        plan_extraction(Settings(llm=llm), b"s")


@pytest.mark.parametrize("provider", ["ollama", "custom"])
async def test_o4_a_local_server_needs_no_key_and_gets_every_call(
    up: ScriptedUpstream, client: ChatClient, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    llm = LLM(provider=provider, base_url=up.url, model="m")
    own = plan_extraction(Settings(llm=llm), b"s").own
    assert own is not None
    up.reply_answer(json_answer(VENDORS[provider].said.success))
    assert (await ask(client, own)).text == FACTS
    assert up.requests[0].header("authorization") is None
    assert up.requests[0].header("x-memg-memory") == "off"


async def test_o4_only_local_endpoints_and_no_vendors_key_the_proxy_starts_and_learns(
    tmp_path: Path, up: ScriptedUpstream
) -> None:
    learned = facts({"text": "Owns a kayak", "quote": "I own a kayak"})
    message = {"role": "assistant", "content": learned}
    up.default = lambda request: json_answer({**VENDORS["ollama"].said.success, "message": message})
    local: dict[str, Any] = {"llm__provider": "ollama", "llm__base_url": up.url, "llm__api_key": None}
    async with World.open(tmp_path, **local) as world:
        await world.say("ilse", [], "I own a kayak")
        await world.drain()
        assert await world.mem("ilse") == ["Owns a kayak"]
        assert world.ext.requests == []
    assert {(request.target, request.header("authorization")) for request in up.requests} == {(b"/api/chat", None)}


async def test_n7_the_environments_proxy_is_the_way_out_but_for_hosts_it_excepts(
    up: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", up.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.2")
    client = ChatClient(5)
    assert (await ask(client, Endpoint("http://model.example/v1", "m", {}))).text
    assert up.requests[0].target == b"http://model.example/v1/chat/completions"
    with pytest.raises(ProviderBusy, match="unreachable"):  # nothing listens there
        await ask(client, Endpoint("http://127.0.0.2:9/v1", "m", {}))
    await client.close()
    assert len(up.requests) == 1


# --- the recorded answers are what the vendors' own clients understand ------------------------------------------------


async def test_openais_client_reads_the_same_answers(up: ScriptedUpstream) -> None:
    up.default = lambda request: json_answer(VENDORS["openai"].said.success)
    async with openai.AsyncOpenAI(base_url=f"{up.url}/v1", api_key=KEY, max_retries=0) as theirs:
        told = await theirs.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
        assert (told.choices[0].message.content, told.choices[0].finish_reason) == (FACTS, "stop")
        assert told.usage is not None
        assert (told.usage.prompt_tokens, told.usage.completion_tokens) == (11, 7)
        up.default = lambda request: json_answer(VENDORS["openai"].said.error(429, "slow"), 429, {"Retry-After": "17"})
        with pytest.raises(openai.RateLimitError):
            await theirs.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])


async def test_openais_client_for_azure_calls_the_same_address(up: ScriptedUpstream) -> None:
    up.default = lambda request: json_answer(VENDORS["openai"].said.success)
    async with openai.AsyncAzureOpenAI(azure_endpoint=up.url, api_key=KEY, api_version="2024-10-21") as theirs:
        await theirs.chat.completions.create(model="mine", messages=[{"role": "user", "content": "x"}])
    assert up.requests[0].target.decode() == VENDORS["azureopenai, dated"].target
    assert up.requests[0].header("api-key") == KEY


async def test_anthropics_client_reads_the_same_answers_and_sends_the_same_schema(up: ScriptedUpstream) -> None:
    said = VENDORS["anthropic"].said
    up.default = lambda request: json_answer(said.success)
    ours = ChatClient(5)
    await ask(ours, endpoint(VENDORS["anthropic"], up))
    await ours.close()
    async with anthropic.AsyncAnthropic(base_url=up.url, api_key=KEY, max_retries=0) as theirs:
        sent = up.requests[0].json()
        told = await theirs.messages.create(**sent)
        assert [block.text for block in told.content if block.type == "text"] == [FACTS]
        assert (told.stop_reason, told.usage.output_tokens) == ("end_turn", 7)
        assert up.requests[1].json() == sent
        up.default = lambda request: json_answer(said.error(429, "slow"), 429)
        with pytest.raises(anthropic.RateLimitError):
            await theirs.messages.create(**sent)


async def test_geminis_client_reads_the_same_answers_at_the_same_address(up: ScriptedUpstream) -> None:
    said = VENDORS["gemini"].said
    up.default = lambda request: json_answer(said.success)
    theirs = genai.Client(api_key=KEY, http_options=genai.types.HttpOptions(base_url=up.url, api_version="v1beta"))
    try:
        told = await theirs.aio.models.generate_content(
            model="gemini-flash-latest",
            contents="x",
            config=genai.types.GenerateContentConfig(
                response_mime_type="application/json",
                response_json_schema=SCHEMA,
                max_output_tokens=321,
                temperature=0,
                thinking_config=genai.types.ThinkingConfig(thinking_budget=0),
                system_instruction="Answer in JSON.",
            ),
        )
        assert told.text == FACTS
    finally:
        await theirs.aio.aclose()
        theirs.close()
    ours = ChatClient(5)
    await ask(ours, endpoint(VENDORS["gemini"], up))
    await ours.close()
    first, second = (request.json()["generationConfig"] for request in up.requests)
    key = {name.replace("_", "").lower(): value for name, value in first.items()}
    assert {name.lower(): value for name, value in second.items() if name != "thinkingConfig"}.items() <= key.items()
    assert up.requests[0].target == up.requests[1].target


async def test_ollamas_client_reads_the_same_answers(up: ScriptedUpstream) -> None:
    up.default = lambda request: json_answer(VENDORS["ollama"].said.success)
    async with ollama.AsyncClient(host=up.url) as theirs:
        told = await theirs.chat(model="m", messages=[{"role": "user", "content": "x"}], format="json", think=False)
    assert (told.message.content, told.done_reason, told.eval_count) == (FACTS, "stop", 7)
    assert up.requests[0].target == b"/api/chat"
