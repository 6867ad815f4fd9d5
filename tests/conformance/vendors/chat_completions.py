"""OpenAI's chat completions."""

from __future__ import annotations

from typing import Any

from tests.conformance.vendor import LONG_TEXT, QUESTION, TEXT, WORDS, Ask, Vendor, data, pretty

HEAD = {
    "id": "chatcmpl-CkaZ7wQWmTqk1iFqjUvS3tpbVf0aG",
    "object": "chat.completion.chunk",
    "created": 1767225600,
    "model": "gpt-5.1-2025-11-13",
    "service_tier": "default",
    "system_fingerprint": None,
}
USAGE = {
    "prompt_tokens": 19,
    "completion_tokens": 10,
    "total_tokens": 29,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0},
}
BODY = b"""{"model": "gpt-5.1", "temperature" : 1.0,
 "messages": [ {"role":"developer","content":"Be kind \\u2603, \\ud83d\\ude00."} ,
  {"content":"%s", "role": "user", "name":"ilse"}], "seed":123456789012345678901234567890, "metadata": {"a":1, "a":2},
 "x_vendor":{"deep":[[[1e400]]], "half":"\\ud83d"}, "stream": %s
}"""
HEADERS = (
    ("accept", "application/json"),
    ("accept-encoding", "gzip, deflate, br, zstd"),
    ("content-type", "application/json"),
    ("user-agent", "AsyncOpenAI/Python 2.8.1"),
    ("x-stainless-lang", "python"),
    ("x-stainless-retry-count", "0"),
    ("authorization", "Bearer sk-client"),
    ("openai-organization", "org-1"),
    ("x-client-request-id", "client-1"),
    ("cookie", "a=1"),
    ("cookie", "b=2"),
    ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
)


def ask(streaming: bool) -> Ask:
    body = BODY % (QUESTION.encode(), b"true" if streaming else b"false")
    return Ask(b"/v1/chat/completions?tag=a%20b&tag=c", HEADERS, body, streaming)


def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return data({**HEAD, "choices": [choice], "obfuscation": "aB3xYz", **more})


def call(index: int, arguments: str, **more: Any) -> bytes:
    return chunk(
        {"tool_calls": [{"index": index, **more, "function": {**more.get("function", {}), "arguments": arguments}}]}
    )


def begun(index: int, name: str) -> bytes:
    return call(index, "", id=f"call_{index}", type="function", function={"name": name})


def refusal(message: str, kind: str, code: str | None) -> bytes:
    return pretty({"error": {"message": message, "type": kind, "param": None, "code": code}})


OPENING = [chunk({"role": "assistant", "content": "", "refusal": None})]
SAID = [chunk({"content": word}) for word in WORDS]
DONE = b"data: [DONE]\n\n"

VENDOR = Vendor(
    name="chat completions",
    plain=ask(False),
    streamed=ask(True),
    headers=(
        ("date", "Thu, 01 Jan 2026 00:00:00 GMT"),
        ("access-control-expose-headers", "X-Request-ID"),
        ("openai-organization", "org-1"),
        ("openai-processing-ms", "412"),
        ("openai-version", "2020-10-01"),
        ("x-ratelimit-limit-requests", "500"),
        ("x-ratelimit-remaining-tokens", "29986"),
        ("x-request-id", "req_7f1b7a0c5ed94f3e8bd1"),
        ("strict-transport-security", "max-age=31536000; includeSubDomains; preload"),
        ("set-cookie", "__cf_bm=abc; path=/; HttpOnly; Secure; SameSite=None"),
        ("server", "cloudflare"),
        ("set-cookie", "_cfuvid=def; path=/; HttpOnly; Secure; SameSite=None"),
        ("cf-ray", "9a1b2c3d4e5f-OSL"),
        ("alt-svc", 'h3=":443"; ma=86400'),
    ),
    stream_type="text/event-stream; charset=utf-8",
    body=pretty(
        {
            **HEAD,
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": TEXT, "refusal": None, "annotations": []},
                    "logprobs": None,
                    "finish_reason": "stop",
                }
            ],
            "usage": USAGE,
        }
    ),
    opening=OPENING,
    words=SAID,
    closing=[chunk({}, "stop"), DONE],
    long=[*OPENING, chunk({"content": LONG_TEXT}), chunk({}, "stop"), DONE],
    tools=[
        *OPENING,
        begun(0, "harbour"),
        call(0, '{"of":'),
        call(0, '"Petrel"}'),
        begun(1, "tide"),
        call(1, "{}"),
        chunk({}, "tool_calls"),
        DONE,
    ],
    tools_said=("", True),
    reasoning=[
        *OPENING,
        chunk({"reasoning_content": "A kayak …"}),
        chunk({"reasoning": "Petrel?", "reasoning_details": [{"type": "reasoning.text", "text": "Petrel?"}]}),
        *SAID,
        chunk({}, "stop"),
        DONE,
    ],
    usage=[
        data({"choices": [], "id": "", "object": "", "created": 0, "model": "", "prompt_filter_results": []}),
        *OPENING,
        *SAID,
        chunk({}, "stop", usage=None),
        data({**HEAD, "choices": [], "usage": USAGE}),
        DONE,
    ],
    error=[data({"error": {"message": "The server had an error", "type": "server_error", "code": None}}), DONE],
    limited={
        400: refusal("Unsupported value: 'temperature'", "invalid_request_error", "unsupported_value"),
        429: refusal("Rate limit reached for gpt-5.1", "requests", "rate_limit_exceeded"),
    },
    limits=(
        ("retry-after", "7"),
        ("retry-after-ms", "6842"),
        ("x-ratelimit-reset-requests", "6.842s"),
        ("x-should-retry", "true"),
    ),
    noise=[b": OPENROUTER PROCESSING\n\n", b"retry: 3000\n\n", b": ping\n"],
)
