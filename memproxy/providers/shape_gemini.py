"""generateContent: Gemini's API. https://ai.google.dev/api/generate-content"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlsplit

from memproxy.providers.calls import Answered, Asked, Endpoint, Shape, count, table, total

_DECLINED = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR"})


def url(endpoint: Endpoint) -> str:
    """The address of the model's generateContent."""
    base = endpoint.base_url.rstrip("/")
    base = base if urlsplit(base).path.rsplit("/", 1)[-1].startswith("v1") else f"{base}/v1beta"
    return f"{base}/models/{quote(endpoint.model.removeprefix('models/'), safe='')}:generateContent"


def body(endpoint: Endpoint, asked: Asked, refused: frozenset[str]) -> dict[str, Any]:
    """The request. Thinking is switched off: it would use up the answer's limit."""
    config: dict[str, Any] = {
        "responseMimeType": "application/json",
        "responseJsonSchema": asked.schema,
        "temperature": 0,
        "thinkingConfig": {"thinkingBudget": 0},
    }
    for name in refused:
        config.pop(name, None)
    config["maxOutputTokens"] = asked.max_tokens
    contents = [
        {"role": "model" if message["role"] == "assistant" else "user", "parts": [{"text": message["content"]}]}
        for message in asked.said
    ]
    instructions = {"systemInstruction": {"parts": [{"text": asked.system}]}} if asked.system else {}
    return {"contents": contents, **instructions, "generationConfig": config}


def answered(answer: Any) -> Answered:
    """What the first candidate says, without its thoughts; where there is none, why."""
    usage = table(answer.get("usageMetadata"))
    read = count(usage.get("promptTokenCount"))
    written = total(usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount"))
    if not answer.get("candidates") and table(answer.get("promptFeedback")).get("blockReason"):
        return Answered("", False, True, read, written)
    candidate = answer["candidates"][0]
    reason = candidate.get("finishReason")
    parts = table(candidate.get("content")).get("parts") or []
    texts = [part["text"] for part in parts if "text" in part and not part.get("thought")]
    return Answered("".join(texts), reason == "MAX_TOKENS", reason in _DECLINED, read, written)


SHAPE = Shape(
    url,
    body,
    answered,
    {
        "thinkingConfig": ("thinking",),
        "responseJsonSchema": ("responsejsonschema", "response_json_schema", "response json schema", "schema"),
        "responseMimeType": ("responsemimetype", "response_mime_type", "json mode"),
        "temperature": ("temperature",),
    },
    schema="responseJsonSchema",
    nested=frozenset({"generationConfig"}),
)
