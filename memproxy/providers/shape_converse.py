"""Converse: Amazon Bedrock's API for all its chat models.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from memproxy.providers.calls import Answered, Asked, Endpoint, Shape, count, strict, table, total

_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
_REFUSED = frozenset({"guardrail_intervened", "content_filtered"})


def url(endpoint: Endpoint) -> str:
    """The address of a model (its id, an inference profile, or the ARN of one) at the endpoint."""
    return f"{endpoint.base_url.rstrip('/')}/model/{quote(endpoint.model, safe='')}/converse"


def body(endpoint: Endpoint, asked: Asked, refused: frozenset[str]) -> dict[str, Any]:
    """The request; the schema goes as text."""
    inference: dict[str, Any] = {"maxTokens": asked.max_tokens}
    wanted: dict[str, Any] = {}
    if "temperature" not in refused:
        inference["temperature"] = 0
    if "outputConfig" not in refused:
        schema = {"name": "answer", "schema": json.dumps(strict(asked.schema))}
        wanted["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": schema}}}
    if asked.system:
        wanted["system"] = [{"text": asked.system}]
    said = [{"role": message["role"], "content": [{"text": message["content"]}]} for message in asked.said]
    return {"messages": said, "inferenceConfig": inference, **wanted}


def answered(answer: Any) -> Answered:
    """What an answer says: its text, not its reasoning. Tokens read from a cache, or into one, count as read."""
    blocks, reason = answer["output"]["message"]["content"], answer["stopReason"]
    texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    usage = table(answer.get("usage"))
    read = total(*(usage.get(name) for name in ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")))
    return Answered(
        "".join(texts),
        cut=reason in _CUT,
        refused=reason in _REFUSED,
        input_tokens=read,
        output_tokens=count(usage.get("outputTokens")),
    )


SHAPE = Shape(
    url,
    body,
    answered,
    {
        "temperature": ("temperature",),
        "outputConfig": ("outputconfig", "output_config", "textformat", "structured output", "json_schema", "schema"),
    },
    schema="outputConfig",
    nested=frozenset({"inferenceConfig"}),
)
