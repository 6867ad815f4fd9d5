"""Calls to a chat endpoint: what they send, what each failure means, and what stays out of the errors."""

from __future__ import annotations

import json
import socket
import traceback
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from memproxy.errors import EmptyAnswer, ProviderBusy, ProviderError, TruncatedCompletion, UnusableReply
from memproxy.providers.catalog import chat_completions_url, extraction_model
from memproxy.providers.client import ChatClient, Completion, Endpoint
from memproxy.testing import Die, ScriptedUpstream, completion

pytestmark = pytest.mark.anyio

KEY = "sk-" + "Tt9" * 14
SAID = "I own a kayak called Petrel"
SCHEMA = {"type": "object"}
JSON = [("content-type", "application/json")]


@pytest.fixture
async def up() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream() as server:
        yield server


@pytest.fixture
async def client() -> AsyncIterator[ChatClient]:
    opened = ChatClient(timeout=5)
    yield opened
    await opened.close()


def at(up: ScriptedUpstream, model: str = "m") -> Endpoint:
    return Endpoint(f"{up.url}/v1", model, {"authorization": f"Bearer {KEY}"})


async def ask(client: ChatClient, endpoint: Endpoint, max_tokens: int = 64) -> Completion:
    return await client.complete(endpoint, [{"role": "user", "content": SAID}], SCHEMA, max_tokens)


def answer(up: ScriptedUpstream, body: Any, status: int = 200, headers: list[tuple[str, str]] | None = None) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    up.reply_raw(status, [*JSON, *(headers or [])], [raw])


# --- the request -------------------------------------------------------------------------------------------------


async def test_one_call_asks_for_json_with_an_output_limit_and_carries_the_credential(
    up: ScriptedUpstream, client: ChatClient
) -> None:
    up.reply("fine")
    found = await ask(client, at(up), 77)
    [request] = up.requests
    body = request.json()
    assert request.target == b"/v1/chat/completions"
    assert request.header("authorization") == f"Bearer {KEY}"
    assert body["max_tokens"] == 77
    assert (body["temperature"], body["stream"], body["model"]) == (0, False, "m")
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert found == Completion("fine", 1, 1)


async def test_a_server_on_this_machine_may_be_this_proxy_and_is_told_to_keep_memory_off(
    up: ScriptedUpstream, client: ChatClient
) -> None:
    await ask(client, at(up))
    assert up.requests[0].header("x-memg-memory") == "off"


async def test_this_machine_is_reached_without_the_environments_proxy(
    up: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{_closed_port()}")
    client = ChatClient(timeout=5)
    try:
        assert (await ask(client, at(up))).text
    finally:
        await client.close()


async def test_options_of_the_settings_are_sent_and_win(up: ScriptedUpstream) -> None:
    client = ChatClient(5, {"reasoning_effort": "low", "temperature": 1})
    await ask(client, at(up))
    await client.close()
    body = up.requests[0].json()
    assert (body["reasoning_effort"], body["temperature"]) == ("low", 1)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"),
        ("https://api.groq.com/openai/v1", "https://api.groq.com/openai/v1/chat/completions"),
        ("https://api.groq.com/openai", "https://api.groq.com/openai/v1/chat/completions"),
        ("https://x.example/api/v3", "https://x.example/api/v3/chat/completions"),
        ("https://a.example/openai/deployments/g/chat/completions?api-version=1", None),
    ],
)
async def test_the_endpoint_below_a_base_url(base: str, url: str | None) -> None:
    assert chat_completions_url(base) == (url or base)


async def test_a_model_is_known_for_some_hosts_only() -> None:
    assert extraction_model("https://api.openai.com/v1/chat/completions") == "gpt-4o-mini"
    assert extraction_model("https://api.openai.com.evil.example/v1") is None


# --- options that a server refuses -------------------------------------------------------------------------------


def refuses(*names: str) -> Any:
    """A server that answers 400 naming the first option of its list that a request carries."""

    def react(request: Any) -> Any:
        body = request.json()
        bad = next((name for name in names if name in body), None)
        if bad is None:
            return completion("fine")
        error = json.dumps({"error": {"message": f"Unsupported parameter: '{bad}'"}}).encode()
        return type(completion(""))(400, JSON, [error])

    return react


@pytest.mark.parametrize("status", [400, 422])
async def test_a_refused_option_is_left_out_at_once_and_from_then_on(
    up: ScriptedUpstream, client: ChatClient, status: int
) -> None:
    answer(up, {"error": {"message": "response_format is not supported by this model"}}, status)
    up.default = lambda request: "fine"
    assert (await ask(client, at(up))).text == "fine"
    assert (await ask(client, at(up))).text == "fine"
    assert ["response_format" in request.json() for request in up.requests] == [True, False, False]


async def test_the_finding_is_for_that_model_alone(up: ScriptedUpstream, client: ChatClient) -> None:
    answer(up, {"error": {"message": "response_format"}}, 400)
    await ask(client, at(up, "one"))
    await ask(client, at(up, "two"))
    assert "response_format" in up.requests[-1].json()


async def test_max_tokens_is_called_otherwise_where_it_is_refused(up: ScriptedUpstream, client: ChatClient) -> None:
    up.default = refuses("max_tokens")
    await ask(client, at(up), 50)
    body = up.requests[-1].json()
    assert body["max_completion_tokens"] == 50
    assert "max_tokens" not in body


async def test_all_options_may_be_refused_one_after_the_other(up: ScriptedUpstream, client: ChatClient) -> None:
    up.default = refuses("temperature", "response_format", "max_tokens")
    assert (await ask(client, at(up))).text == "fine"
    assert len(up.requests) == 4
    assert (await ask(client, at(up))).text == "fine"
    assert len(up.requests) == 5


async def test_a_server_that_refuses_whatever_is_left_out_is_given_up_and_nothing_is_remembered(
    up: ScriptedUpstream, client: ChatClient
) -> None:
    everything = "max_tokens temperature response_format " + SAID
    up.default = lambda request: type(completion(""))(400, JSON, [everything.encode()])
    with pytest.raises(ProviderError) as failed:
        await ask(client, at(up))
    assert not isinstance(failed.value, ProviderBusy)
    assert len(up.requests) <= 5
    up.default = lambda request: "fine"
    await ask(client, at(up))
    assert {"max_tokens", "temperature", "response_format"} <= set(up.requests[-1].json())


# --- what a failure means ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
async def test_what_passes_by_itself_is_busy(up: ScriptedUpstream, client: ChatClient, status: int) -> None:
    answer(up, {"error": SAID}, status)
    with pytest.raises(ProviderBusy) as failed:
        await ask(client, at(up))
    assert (failed.value.reason, failed.value.retry_after) == (f"status-{status}", None)


@pytest.mark.parametrize("status", [301, 307, 400, 401, 402, 403, 404, 413, 451, 501])
async def test_what_does_not_is_final(up: ScriptedUpstream, client: ChatClient, status: int) -> None:
    answer(up, {"error": SAID}, status, [("location", "http://127.0.0.1:9/steal")])
    with pytest.raises(ProviderError) as failed:
        await ask(client, at(up))
    assert not isinstance(failed.value, ProviderBusy)
    assert failed.value.reason == f"status-{status}"
    assert len(up.requests) == 1


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ([("Retry-After", "20")], 20, 20),
        ([("Retry-After", "1.5")], 1.5, 1.5),
        ([("Retry-After", "-5")], 0, 0),
        ([("retry-after-ms", "1500")], 1.5, 1.5),
        ([("retry-after-ms", "1500"), ("Retry-After", "20")], 1.5, 1.5),
        ([("Retry-After", format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True))], 3000, 3600),
        ([("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT")], 0, 0),
    ],
)
async def test_the_time_to_wait_is_read_in_every_form(
    up: ScriptedUpstream, client: ChatClient, headers: list[tuple[str, str]], low: float, high: float
) -> None:
    answer(up, {}, 429, headers)
    with pytest.raises(ProviderBusy) as failed:
        await ask(client, at(up))
    assert failed.value.retry_after is not None
    assert low <= failed.value.retry_after <= high


@pytest.mark.parametrize("value", ["", "soon", "nan", "inf", "Wed, 99 Foo 2015", "9" * 400])
async def test_an_unreadable_time_to_wait_is_none(up: ScriptedUpstream, client: ChatClient, value: str) -> None:
    answer(up, {}, 503, [("Retry-After", value)])
    with pytest.raises(ProviderBusy) as failed:
        await ask(client, at(up))
    assert failed.value.retry_after is None


async def test_a_server_that_is_not_there_is_busy(client: ChatClient) -> None:
    with pytest.raises(ProviderBusy, match="unreachable"):
        await ask(client, Endpoint(f"http://127.0.0.1:{_closed_port()}", "m", {}))


async def test_a_server_that_hangs_up_is_busy(up: ScriptedUpstream, client: ChatClient) -> None:
    up.reply_raw(200, [("content-type", "application/json"), ("content-length", "100")], [b'{"cho', Die()])
    with pytest.raises(ProviderBusy, match="unreachable"):
        await ask(client, at(up))


async def test_a_server_that_takes_too_long_is_busy(up: ScriptedUpstream) -> None:
    client = ChatClient(timeout=0.05)
    up.reply_raw(200, JSON, [5.0])
    with pytest.raises(ProviderBusy, match="timeout"):
        await ask(client, at(up))
    await client.close()


@pytest.mark.parametrize("key", ["clé", "two\nlines", "\udcff"])
async def test_a_key_that_no_header_can_carry_is_final(up: ScriptedUpstream, client: ChatClient, key: str) -> None:
    with pytest.raises(ProviderError, match="not-sendable") as failed:
        await ask(client, Endpoint(up.url, "m", {"authorization": f"Bearer {key}"}))
    assert not isinstance(failed.value, ProviderBusy)


# --- the answer --------------------------------------------------------------------------------------------------


def choice(content: Any, finish_reason: Any = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": finish_reason}], **more}


@pytest.mark.parametrize("reason", ["length", "max_tokens"])
async def test_a_cut_answer_is_an_error_that_holds_what_there_was(
    up: ScriptedUpstream, client: ChatClient, reason: str
) -> None:
    answer(up, choice('{"facts":[', reason))
    with pytest.raises(TruncatedCompletion) as failed:
        await ask(client, at(up))
    assert failed.value.text == '{"facts":['
    assert "facts" not in str(failed.value)


@pytest.mark.parametrize("reason", ["stop", "length"])
@pytest.mark.parametrize("content", [None, "", "  \n", 7, {}, [], [{"type": "thinking", "thinking": "hm"}]])
async def test_l13_an_answer_without_a_word_is_an_error(
    up: ScriptedUpstream, client: ChatClient, content: Any, reason: str
) -> None:
    answer(up, choice(content, reason))
    with pytest.raises(EmptyAnswer, match="empty-answer"):
        await ask(client, at(up))


@pytest.mark.parametrize("thoughts", ["reasoning_content", "reasoning", "thinking"])
async def test_l13_thoughts_are_no_answer(up: ScriptedUpstream, client: ChatClient, thoughts: str) -> None:
    body = choice("")
    body["choices"][0]["message"][thoughts] = '{"facts": [{"text": "DRAFT"}]}'
    answer(up, body)
    with pytest.raises(EmptyAnswer):
        await ask(client, at(up))


@pytest.mark.parametrize("reason", ["content_filter", "safety", "stop"])
async def test_b10_a_refusal_is_no_answer(up: ScriptedUpstream, client: ChatClient, reason: str) -> None:
    body = choice(None, reason)
    if reason == "stop":
        body["choices"][0]["message"]["refusal"] = "I cannot help with that."
    answer(up, body)
    with pytest.raises(UnusableReply, match="refused"):
        await ask(client, at(up))


async def test_an_answer_in_parts_is_put_together(up: ScriptedUpstream, client: ChatClient) -> None:
    parts = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": '{"facts"'},
        {"type": "text", "text": ":[]}"},
    ]
    answer(up, choice(parts))
    assert (await ask(client, at(up))).text == '{"facts":[]}'


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"null", b"7", b"\xff", b"{}", b'{"choices":[]}', b'{"choices":[7]}', b'{"choices":[{}]}',
     b'{"choices":{}}', b'{"choices":[{"message":"x"}]}', b'{"error":{"message":"x"}}', b"[" * 100_000],
)  # fmt: skip
async def test_what_is_no_completion_is_tried_again_later(
    up: ScriptedUpstream, client: ChatClient, body: bytes
) -> None:
    answer(up, body)
    with pytest.raises(ProviderBusy, match="not-a-completion"):
        await ask(client, at(up))


@pytest.mark.parametrize(
    "usage", [None, [], "x", {"prompt_tokens": True}, {"prompt_tokens": -1}, {"prompt_tokens": 10**30}]
)
async def test_a_usage_that_can_be_none_is_left_out(up: ScriptedUpstream, client: ChatClient, usage: Any) -> None:
    answer(up, choice("fine", usage=usage))
    assert await ask(client, at(up)) == Completion("fine", None, None)


# --- what stays out ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
async def test_neither_words_nor_keys_stand_in_an_error_or_its_traceback(
    up: ScriptedUpstream, client: ChatClient, status: int
) -> None:
    answer(up, {"error": {"message": f"bad input {SAID} with key {KEY}"}}, status)
    with pytest.raises(ProviderError) as failed:
        await ask(client, at(up))
    shown = "".join(traceback.format_exception(failed.value)) + repr(failed.value)
    assert "Petrel" not in shown
    assert KEY not in shown
    assert failed.value.__cause__ is None


async def test_a_key_does_not_show_in_the_endpoint(up: ScriptedUpstream) -> None:
    assert KEY not in repr(at(up))


def _closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port
