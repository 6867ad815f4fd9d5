"""Amazon Bedrock with signed requests: the signature is worked out a second time, from AWS's documentation alone."""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import botocore.session
import pytest

from memproxy.embedders import open_embedder
from memproxy.errors import SettingsError
from memproxy.lifecycle.extractor import plan_extraction
from memproxy.prompts.extraction import SCHEMA
from memproxy.providers.client import ChatClient, Completion
from memproxy.settings import LLM, Embed, Settings
from memproxy.testing import Answer, Request, ScriptedUpstream
from tests.contracts.chat_vendors import CONVERSE, FACTS, json_answer
from tests.contracts.embedding_vendors import WIDTH, numbers

pytestmark = pytest.mark.anyio

ACCESS, SECRET, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "eu-west-1"
MESSAGES = [{"role": "system", "content": "Answer in JSON."}, {"role": "user", "content": "I own a kayak."}]


@pytest.fixture(autouse=True)
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials in the environment, and no others on this machine."""
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", REGION)


@pytest.fixture
async def up() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream() as server:
        yield server


def signed_right(request: Request) -> bool:
    """Whether a request carries the signature that its owner would give it, a few minutes ago at most.

    After https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
    """
    said = request.header("authorization") or ""
    scheme, _, rest = said.partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    access, day, region, service, end = parts["Credential"].split("/")
    when = request.header("x-amz-date") or ""
    age = datetime.now(UTC) - datetime.strptime(when, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    path, _, query = request.target.decode().partition("?")
    names = parts["SignedHeaders"].split(";")
    canonical = [request.method, quote(path, safe="/~"), query]  # what is encoded in the path is encoded once more
    canonical += [f"{name}:{' '.join((request.header(name) or '').split())}" for name in names]
    canonical += ["", ";".join(names), hashlib.sha256(request.body).hexdigest()]
    scope = f"{day}/{region}/{service}/aws4_request"
    text = "\n".join([scheme, when, scope, hashlib.sha256("\n".join(canonical).encode()).hexdigest()])
    key = f"AWS4{SECRET}".encode()
    for step in (day, region, service, "aws4_request"):
        key = hmac.new(key, step.encode(), hashlib.sha256).digest()
    expected = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return (
        (scheme, access, region, service, end) == ("AWS4-HMAC-SHA256", ACCESS, REGION, "bedrock", "aws4_request")
        and {"host", "x-amz-date"} <= set(names)
        and abs(age.total_seconds()) < 300
        and hmac.compare_digest(expected, parts["Signature"])
    )


def checking(answer: Callable[[Request], Any]) -> Callable[[Request], Answer]:
    """A server that refuses what is not signed right, in AWS's words."""

    def serve(request: Request) -> Answer:
        if not signed_right(request):
            return json_answer({"message": "The request signature we calculated does not match"}, 403)
        return json_answer(answer(request))

    return serve


def titan(request: Request) -> Any:
    said = request.json()
    row = numbers(said["inputText"], said.get("dimensions", WIDTH))
    return {"embedding": row, "embeddingsByType": {"float": row}, "inputTextTokenCount": 4}


def llm(up: ScriptedUpstream, **more: Any) -> Settings:
    return Settings(llm=LLM(provider="bedrock-converse", base_url=up.url, **more))


async def ask(settings: Settings) -> Completion:
    own = plan_extraction(settings, b"s").own
    assert own is not None
    client = ChatClient(5)
    try:
        return await client.complete(own, MESSAGES, SCHEMA, 321)
    finally:
        await client.close()


@pytest.mark.parametrize("model", [None, "arn:aws:bedrock:eu-west-1:123:application-inference-profile/ab12"])
async def test_a_chat_model_is_called_with_a_signature(up: ScriptedUpstream, model: str | None) -> None:
    up.default = checking(lambda request: CONVERSE.success)
    assert await ask(llm(up, model=model)) == Completion(FACTS, 11, 7)
    assert SECRET.encode() not in b"".join(value for _, value in up.requests[0].headers)


async def test_a_signature_is_of_the_very_request(up: ScriptedUpstream) -> None:
    up.default = checking(lambda request: CONVERSE.success)
    await ask(llm(up))
    sent = up.requests[0]
    assert signed_right(sent)
    assert not signed_right(Request(sent.method, sent.target, sent.headers, sent.body + b" "))
    assert not signed_right(Request(sent.method, sent.target + b"?x=1", sent.headers, sent.body))


async def test_passing_credentials_carry_their_token(up: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-of-a-role")
    up.default = checking(lambda request: CONVERSE.success)
    await ask(llm(up))
    assert up.requests[0].header("x-amz-security-token") == "token-of-a-role"
    assert "x-amz-security-token" in (up.requests[0].header("authorization") or "")


async def test_vectors_are_made_with_a_signature_a_text_a_call(up: ScriptedUpstream) -> None:
    up.default = checking(titan)
    embedder = await open_embedder(Embed(provider="bedrock", base_url=up.url, dimensions=256))
    try:
        assert embedder.info.model == "bedrock/amazon.titan-embed-text-v2:0@256"
        up.requests.clear()
        vectors = await embedder.embed_documents([f"text {n}" for n in range(7)])
        assert vectors.shape == (7, 256)
        assert len(up.requests) == 7
        assert {request.target for request in up.requests} == {b"/model/amazon.titan-embed-text-v2%3A0/invoke"}
        assert up.requests[0].json().keys() == {"inputText", "dimensions"}
    finally:
        await embedder.close()


async def test_amazons_own_client_sends_the_same_and_reads_the_same_answers(up: ScriptedUpstream) -> None:
    up.default = checking(lambda request: CONVERSE.success)
    theirs = botocore.session.get_session().create_client("bedrock-runtime", REGION, endpoint_url=up.url)
    await ask(llm(up, model="amazon.nova-lite-v1:0"))
    mine = up.requests[0]
    assert signed_right(mine)
    told = await anyio.to_thread.run_sync(lambda: theirs.converse(modelId="amazon.nova-lite-v1:0", **mine.json()))
    assert told["output"]["message"]["content"][-1]["text"] == FACTS
    assert up.requests[1].target == mine.target
    assert up.requests[1].json() == mine.json()
    theirs.close()


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        (("AWS_REGION",), "AWS_REGION"),
        (("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "AWS_ACCESS_KEY_ID"),
    ],
)
def test_what_is_missing_is_named_at_the_start(
    monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], named: str
) -> None:
    for name in missing:
        monkeypatch.delenv(name)
    wanted = Settings(llm=LLM(provider="bedrock-converse", base_url="http://localhost:1"))
    with pytest.raises(SettingsError, match=named) as raised:
        plan_extraction(wanted, b"s")
    assert "MEMG_LLM_API_KEY" in str(raised.value)
    assert "AWS_BEARER_TOKEN_BEDROCK" in str(raised.value)


def test_without_botocore_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "botocore"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "botocore", None)
    with pytest.raises(SettingsError, match=r"memproxy\[bedrock\]"):
        plan_extraction(Settings(llm=LLM(provider="bedrock-converse")), b"s")


def test_the_region_of_an_address_goes_before_that_of_the_environment() -> None:
    own = plan_extraction(
        Settings(llm=LLM(provider="bedrock-converse", base_url="https://bedrock-runtime.us-gov-west-1.amazonaws.com")),
        b"s",
    ).own
    assert own is not None
    assert own.signer is not None
    assert own.signer._region == "us-gov-west-1"


def test_a_key_goes_before_a_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "a-key")
    own = plan_extraction(Settings(llm=LLM(provider="bedrock-converse")), b"s").own
    assert own is not None
    assert own.signer is None
    assert own.base_url == f"https://bedrock-runtime.{REGION}.amazonaws.com"
    assert json.dumps(dict(own.headers)) == '{"authorization": "Bearer a-key"}'
