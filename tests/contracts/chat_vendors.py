"""What the vendors' chat APIs answer, as recorded in their documentation: success, failure, and what lies between."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memproxy.testing import Answer

FACTS = '{"facts": [{"text": "Owns a kayak"}]}'
PART = '{"facts": [{"text": "Owns a ka'
KEY = "vendor-" + "Kq7" * 12


def json_answer(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [("content-type", "application/json"), ("content-length", str(len(raw))), *(headers or {}).items()]
    return Answer(status, lines, [raw])


@dataclass(frozen=True)
class Said:
    """One API's answers, each with 11 tokens read and 7 written where the API counts them."""

    success: Any
    cut: Any
    thoughts_only: Any
    refusal: Any
    error: Callable[[int, str], Any]  # status and message → body
    limit: Callable[[dict[str, Any]], Any]  # where a request says its output limit
    instructions: Callable[[dict[str, Any]], Any]
    schema: Callable[[dict[str, Any]], Any]
    schema_words: str  # how a server refuses the schema
    malformed: tuple[Any, ...]


def _chat(content: Any, reason: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-123",
        "object": "chat.completion",
        "created": 1767225600,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": None, **message},
                "logprobs": None,
                "finish_reason": reason,
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        "system_fingerprint": "fp_1",
    }


def _chat_error(status: int, message: str) -> dict[str, Any]:
    kind = {401: "invalid_request_error", 402: "insufficient_quota", 429: "rate_limit_exceeded"}
    return {"error": {"message": message, "type": kind.get(status, "server_error"), "param": None, "code": None}}


CHAT = Said(
    success=_chat(FACTS),
    cut=_chat(PART, "length"),
    thoughts_only=_chat("", reasoning_content="The person owns…", reasoning="The person owns…"),
    refusal=_chat(None, refusal="I can't help with that."),
    error=_chat_error,
    limit=lambda body: body.get("max_tokens") or body.get("max_completion_tokens"),
    instructions=lambda body: body["messages"][0]["content"],
    schema=lambda body: (body.get("response_format") or {}).get("json_schema", {}).get("schema"),
    schema_words="This model does not support response format `json_schema`. See supported models.",
    malformed=(b"", b"<html>busy</html>", {}, {"choices": []}, {"choices": [{"message": None}]}, [], None),
)


def _message(*content: dict[str, Any], reason: str = "end_turn") -> dict[str, Any]:
    return {
        "id": "msg_013Zva2CMHLNnXjNJJKqJ2EF",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 6,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 5,
            "output_tokens": 7,
            "service_tier": "standard",
        },
    }


_THINKING = {"type": "thinking", "thinking": "The person owns…", "signature": "WaUjzkyp"}


def _message_error(status: int, message: str) -> dict[str, Any]:
    kind = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 429: "rate_limit_error"}
    return {
        "type": "error",
        "error": {"type": kind.get(status, "api_error"), "message": message},
        "request_id": "req_011",
    }


MESSAGES = Said(
    success=_message(_THINKING, {"type": "text", "text": FACTS, "citations": None}),
    cut=_message({"type": "text", "text": PART, "citations": None}, reason="max_tokens"),
    thoughts_only=_message(_THINKING, reason="max_tokens"),
    refusal=_message({"type": "text", "text": "I", "citations": None}, reason="refusal"),
    error=_message_error,
    limit=lambda body: body["max_tokens"],
    instructions=lambda body: body["system"],
    schema=lambda body: (body.get("output_config") or {}).get("format", {}).get("schema"),
    schema_words="output_config.format: Extra inputs are not permitted",
    malformed=(b"", {}, {"content": 7}, {"content": ["x"]}, {"content": [{"type": "text"}]}, [], None),
)


def _candidate(*parts: dict[str, Any], reason: str = "STOP") -> dict[str, Any]:
    return {
        "candidates": [{"content": {"parts": list(parts), "role": "model"}, "finishReason": reason, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 11,
            "candidatesTokenCount": 4,
            "thoughtsTokenCount": 3,
            "totalTokenCount": 18,
        },
        "modelVersion": "m",
        "responseId": "r-1",
    }


_STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}

GEMINI = Said(
    success=_candidate({"text": "The person owns…", "thought": True}, {"text": FACTS}),
    cut=_candidate({"text": PART}, reason="MAX_TOKENS"),
    thoughts_only={"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS", "index": 0}]},
    refusal={"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 11}},
    error=lambda status, message: {
        "error": {"code": status, "message": message, "status": _STATUS.get(status, "UNKNOWN")}
    },
    limit=lambda body: body["generationConfig"]["maxOutputTokens"],
    instructions=lambda body: body["systemInstruction"]["parts"][0]["text"],
    schema=lambda body: body["generationConfig"].get("responseJsonSchema"),
    schema_words="Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config'",
    malformed=(b"", {}, {"candidates": []}, {"candidates": [7]}, {"candidates": [{"content": {"parts": [7]}}]}, []),
)


def _ollama(content: str, reason: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "model": "m",
        "created_at": "2026-11-30T08:00:00.123456Z",
        "message": {"role": "assistant", "content": content, **message},
        "done_reason": reason,
        "done": True,
        "total_duration": 4883583458,
        "load_duration": 1334875,
        "prompt_eval_count": 11,
        "prompt_eval_duration": 342546000,
        "eval_count": 7,
        "eval_duration": 4535599000,
    }


OLLAMA = Said(
    success=_ollama(FACTS),
    cut=_ollama(PART, "length"),
    thoughts_only=_ollama("", "length", thinking="The person owns…"),
    refusal=None,  # the API has no sign for one
    error=lambda status, message: {"error": message},
    limit=lambda body: body["options"]["num_predict"],
    instructions=lambda body: body["messages"][0]["content"],
    schema=lambda body: body.get("format"),
    schema_words="invalid JSON schema in format",
    malformed=(b"", {}, {"message": 7}, {"message": {}}, {"error": "loading"}, [], None),
)


def _converse(*content: dict[str, Any], reason: str = "end_turn") -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": list(content)}},
        "stopReason": reason,
        "usage": {
            "inputTokens": 6,
            "outputTokens": 7,
            "totalTokens": 18,
            "cacheReadInputTokens": 5,
            "cacheWriteInputTokens": 0,
        },
        "metrics": {"latencyMs": 551},
    }


_REASONING = {"reasoningContent": {"reasoningText": {"text": "The person owns…", "signature": "WaUj"}}}

CONVERSE = Said(
    success=_converse(_REASONING, {"text": FACTS}),
    cut=_converse({"text": PART}, reason="max_tokens"),
    thoughts_only=_converse(_REASONING, reason="max_tokens"),
    refusal=_converse({"text": "Sorry."}, reason="guardrail_intervened"),
    error=lambda status, message: {"message": message},
    limit=lambda body: body["inferenceConfig"]["maxTokens"],
    instructions=lambda body: body["system"][0]["text"],
    schema=lambda body: (
        json.loads(body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"])
        if "outputConfig" in body
        else None
    ),
    schema_words="This model doesn't support the outputConfig field. Remove outputConfig and try again.",
    malformed=(b"", {}, {"output": {}}, {"output": {"message": {"content": [7]}}, "stopReason": "end_turn"}, [], None),
)


@dataclass(frozen=True)
class Vendor:
    """A row of the catalog as its vendor documents it: address, header of the key, and what it answers."""

    provider: str
    path: str  # of the base URL
    target: str  # of the request
    said: Said
    header: tuple[str, str]
    model: str | None = None
    settings: tuple[tuple[str, Any], ...] = ()


BEARER = ("authorization", f"Bearer {KEY}")
AZURE = ("api-key", KEY)

VENDORS = {
    "openai": Vendor("openai", "/v1", "/v1/chat/completions", CHAT, BEARER),
    "anthropic": Vendor("anthropic", "", "/v1/messages", MESSAGES, ("x-api-key", KEY)),
    "gemini": Vendor(
        "gemini", "", "/v1beta/models/gemini-flash-latest:generateContent", GEMINI, ("x-goog-api-key", KEY)
    ),
    "ollama": Vendor("ollama", "", "/api/chat", OLLAMA, BEARER),
    "ollama, its other address": Vendor("ollama", "/v1", "/api/chat", OLLAMA, BEARER),
    "azureopenai, dated": Vendor(
        "azureopenai", "", "/openai/deployments/mine/chat/completions?api-version=2024-10-21", CHAT, AZURE, "mine"
    ),
    "azureopenai, another date": Vendor(
        "azureopenai",
        "/openai",
        "/openai/deployments/mine/chat/completions?api-version=2025-04-01-preview",
        CHAT,
        AZURE,
        "mine",
        (("api_version", "2025-04-01-preview"),),
    ),
    "azureopenai, v1": Vendor("azureopenai", "/openai/v1", "/openai/v1/chat/completions", CHAT, AZURE, "mine"),
    "bedrock": Vendor("bedrock", "/openai/v1", "/openai/v1/chat/completions", CHAT, BEARER),
    "bedrock-converse": Vendor("bedrock-converse", "", "/model/amazon.nova-lite-v1%3A0/converse", CONVERSE, BEARER),
    "bedrock-converse, a profile's ARN": Vendor(
        "bedrock-converse",
        "",
        "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123%3Aapplication-inference-profile%2Fab12/converse",
        CONVERSE,
        BEARER,
        "arn:aws:bedrock:eu-west-1:123:application-inference-profile/ab12",
    ),
    "deepseek": Vendor("deepseek", "", "/v1/chat/completions", CHAT, BEARER),
    "groq": Vendor("groq", "/openai/v1", "/openai/v1/chat/completions", CHAT, BEARER),
    "togetherai": Vendor("togetherai", "/v1", "/v1/chat/completions", CHAT, BEARER),
    "xai": Vendor("xai", "/v1", "/v1/chat/completions", CHAT, BEARER),
    "openrouter": Vendor("openrouter", "/api/v1", "/api/v1/chat/completions", CHAT, BEARER),
    "custom": Vendor("custom", "/v1", "/v1/chat/completions", CHAT, BEARER, "mine"),
}
