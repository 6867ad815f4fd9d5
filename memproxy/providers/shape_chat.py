"""Chat completions: OpenAI's API, and that of most others.

https://platform.openai.com/docs/api-reference/chat; Azure's deployments and api-version:
https://learn.microsoft.com/azure/ai-services/openai/reference
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memproxy.calling.addresses import below, deployed
from memproxy.providers.calls import Answered, Asked, Endpoint, Shape, count, table


def url(endpoint: Endpoint) -> str:
    """The address of the endpoint's chat completions."""
    if "deployments" in endpoint.quirks:
        return deployed(endpoint.base_url, endpoint.model, "chat/completions", endpoint.api_version)
    return chat_completions_url(endpoint.base_url)


def chat_completions_url(base_url: str) -> str:
    """The chat completions endpoint below a base URL, with or without a version path in it.

    A URL of the endpoint itself (a borrowed credential brings it, perhaps with an `api-version` query) stays as it is.
    """
    return below(base_url, "chat/completions")


def body(endpoint: Endpoint, asked: Asked, refused: frozenset[str]) -> dict[str, Any]:
    """The request."""
    schema: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "facts", "schema": asked.schema}}
    wanted: dict[str, Any] = {
        "response_format": {"type": "json_object"} if "json_object_only" in endpoint.quirks else schema,
        "temperature": 0,
        "max_tokens": asked.max_tokens,
    }
    if "reasoning_off" in endpoint.quirks:
        wanted["reasoning"] = {"enabled": False}
    for name in refused:
        value = wanted.pop(name, None)
        if name == "max_tokens":
            wanted["max_completion_tokens"] = value
    return {"model": endpoint.model, "messages": list(asked.messages), "stream": False, **wanted}


def answered(answer: Any) -> Answered:
    """What a completion says."""
    choice = answer["choices"][0]
    message, reason = choice["message"], choice.get("finish_reason")
    text = _text(message.get("content"))
    filtered = reason in ("content_filter", "safety", "refusal")
    usage = table(answer.get("usage"))
    return Answered(
        text,
        cut=reason in ("length", "max_tokens"),
        refused=filtered or (bool(message.get("refusal")) and not text.strip()),
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
    )


def _text(content: object) -> str:
    """The words of an answer; some servers give them in parts, with their thoughts as parts of another type."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


SHAPE = Shape(
    url,
    body,
    answered,
    {
        "response_format": ("response_format", "response format", "json_schema", "response_schema"),
        "temperature": ("temperature",),
        "max_tokens": ("max_tokens",),
        "reasoning": ("reasoning",),
    },
    schema="response_format",
)
