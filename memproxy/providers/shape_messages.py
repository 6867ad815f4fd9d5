"""Messages: Anthropic's API. https://docs.claude.com/en/api/messages"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from memproxy.providers.calls import Answered, Asked, Endpoint, Shape, count, strict, table, total


def url(endpoint: Endpoint) -> str:
    """The address of the endpoint's messages."""
    base = endpoint.base_url.rstrip("/")
    return f"{base}/messages" if urlsplit(base).path.endswith("/v1") else f"{base}/v1/messages"


def body(endpoint: Endpoint, asked: Asked, refused: frozenset[str]) -> dict[str, Any]:
    """The request. Its schema allows no further properties, as the API demands; newer models take no temperature."""
    wanted: dict[str, Any] = {}
    if "output_config" not in refused:
        wanted["output_config"] = {"format": {"type": "json_schema", "schema": strict(asked.schema)}}
    if asked.system:
        wanted["system"] = asked.system
    return {"model": endpoint.model, "messages": list(asked.said), "max_tokens": asked.max_tokens, **wanted}


def answered(answer: Any) -> Answered:
    """What a message says: its text blocks, not its thoughts. Tokens read from a cache count as read."""
    blocks, reason = answer["content"], answer.get("stop_reason")
    texts = [block["text"] for block in blocks if block.get("type") == "text"]
    usage = table(answer.get("usage"))
    read = total(*(usage.get(n) for n in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")))
    return Answered(
        "".join(texts),
        cut=reason in ("max_tokens", "model_context_window_exceeded"),
        refused=reason == "refusal",
        input_tokens=read,
        output_tokens=count(usage.get("output_tokens")),
    )


SHAPE = Shape(
    url,
    body,
    answered,
    {"output_config": ("output_config", "output_format", "output format", "structured output", "schema")},
    schema="output_config",
)
