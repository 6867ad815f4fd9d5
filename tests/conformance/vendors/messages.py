"""Anthropic's Messages API."""

from __future__ import annotations

from typing import Any

from tests.conformance.vendor import LONG_TEXT, QUESTION, TEXT, WORDS, Ask, Vendor, compact, event

USAGE = {
    "input_tokens": 25,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
    "output_tokens": 1,
    "service_tier": "standard",
}
MESSAGE = {
    "model": "claude-opus-4-5-20251101",
    "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
    "type": "message",
    "role": "assistant",
}
BODY = b"""{"model":"claude-opus-4-5","max_tokens":1024 , "system":[{"type":"text","text":"Be kind \\u2603.",
  "cache_control":{"type":"ephemeral","ttl":"1h"}}],"temperature":1.0,"thinking":{"type":"enabled","budget_tokens":1024},
 "tools":[{"name":"harbour","input_schema":{"type":"object","properties":{"of":{"type":"string"}}}}],
 "messages":[{"role":"user","content":[{"type":"text","text":"%s","cache_control":{"type":"ephemeral"}}]}],
 "metadata":{"user_id":"u1"},"seed":12345678901234567890,"x":{"y":1,"y":2.50}, "stream":%s}"""
HEADERS = (
    ("accept", "application/json"),
    ("accept-encoding", "gzip, deflate"),
    ("anthropic-beta", "interleaved-thinking-2025-05-14"),
    ("anthropic-version", "2023-06-01"),
    ("anthropic-beta", "context-management-2025-06-27,fine-grained-tool-streaming-2025-05-14"),
    ("content-type", "application/json"),
    ("user-agent", "claude-cli/2.1.0 (external, cli)"),
    ("x-api-key", "sk-ant-client"),
    ("x-app", "cli"),
    ("x-stainless-timeout", "600"),
)


def ask(streaming: bool) -> Ask:
    return Ask(
        b"/v1/messages?beta=true", HEADERS, BODY % (QUESTION.encode(), b"true" if streaming else b"false"), streaming
    )


def started(index: int, block: dict[str, Any]) -> bytes:
    return event({"type": "content_block_start", "index": index, "content_block": block})


def delta(index: int, kind: str, **fields: str) -> bytes:
    return event({"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}})


def stopped(index: int) -> bytes:
    return event({"type": "content_block_stop", "index": index})


def ending(reason: str, **usage: int) -> list[bytes]:
    stop = {"stop_reason": reason, "stop_sequence": None}
    return [
        event({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 15, **usage}}),
        event({"type": "message_stop"}),
    ]


def refusal(kind: str, message: str) -> bytes:
    error = {"type": kind, "message": message}
    return compact({"type": "error", "error": error, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"})


START = event(
    {
        "type": "message_start",
        "message": {**MESSAGE, "content": [], "stop_reason": None, "stop_sequence": None, "usage": USAGE},
    }
)
PING = event({"type": "ping"})
TEXT_BLOCK = {"type": "text", "text": ""}
SAID = [delta(0, "text_delta", text=word) for word in WORDS]

VENDOR = Vendor(
    name="messages",
    plain=ask(False),
    streamed=ask(True),
    headers=(
        ("date", "Thu, 01 Jan 2026 00:00:00 GMT"),
        ("anthropic-ratelimit-requests-limit", "50"),
        ("anthropic-ratelimit-requests-remaining", "49"),
        ("anthropic-ratelimit-requests-reset", "2026-01-01T00:00:00Z"),
        ("request-id", "req_011CSHoEeqs5C35K2UUqR7Fy"),
        ("anthropic-organization-id", "f2a5e5c8-0000-4000-8000-000000000000"),
        ("via", "1.1 google"),
        ("cf-cache-status", "DYNAMIC"),
        ("x-robots-tag", "none"),
        ("server", "cloudflare"),
        ("cf-ray", "9a1b2c3d4e5f-OSL"),
    ),
    stream_type="text/event-stream; charset=utf-8",
    body=compact(
        {
            **MESSAGE,
            "content": [{"type": "text", "text": TEXT}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {**USAGE, "output_tokens": 15},
        }
    ),
    opening=[START, started(0, TEXT_BLOCK), PING],
    words=SAID,
    closing=[stopped(0), *ending("end_turn")],
    long=[START, started(0, TEXT_BLOCK), delta(0, "text_delta", text=LONG_TEXT), stopped(0), *ending("end_turn")],
    tools=[
        START,
        started(0, TEXT_BLOCK),
        PING,
        *SAID,
        stopped(0),
        started(1, {"type": "tool_use", "id": "toolu_01T1x1fJ34qAmk2tNTrN7Up6", "name": "harbour", "input": {}}),
        delta(1, "input_json_delta", partial_json=""),
        delta(1, "input_json_delta", partial_json='{"of": "Pet'),
        delta(1, "input_json_delta", partial_json='rel"}'),
        stopped(1),
        *ending("tool_use"),
    ],
    tools_said=(TEXT, True),
    reasoning=[
        START,
        started(0, {"type": "thinking", "thinking": "", "signature": ""}),
        PING,
        delta(0, "thinking_delta", thinking="A kayak …"),
        delta(0, "signature_delta", signature="EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds"),
        stopped(0),
        started(1, TEXT_BLOCK),
        *(delta(1, "text_delta", text=word) for word in WORDS),
        stopped(1),
        *ending("end_turn"),
    ],
    usage=[
        START,
        started(0, TEXT_BLOCK),
        *SAID,
        stopped(0),
        *ending("end_turn", input_tokens=10682, cache_read_input_tokens=9216),
    ],
    error=[event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})],
    limited={
        400: refusal("invalid_request_error", "max_tokens: 999999 > 64000"),
        429: refusal("rate_limit_error", "This request would exceed your rate limit"),
    },
    limits=(
        ("retry-after", "7"),
        ("anthropic-ratelimit-unified-status", "rejected"),
        ("anthropic-ratelimit-unified-reset", "1767229200"),
        ("x-should-retry", "true"),
    ),
    noise=[b": ping\n\n", b"retry: 3000\n\n", b"id: 7\n\n"],
)
