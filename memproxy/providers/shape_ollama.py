"""Ollama's own API, which takes a schema and the context's length. https://docs.ollama.com/api/chat"""

from __future__ import annotations

from typing import Any

from memproxy.providers.calls import Answered, Asked, Endpoint, Shape, count


def url(endpoint: Endpoint) -> str:
    """The address of the server's chat; that of its OpenAI-compatible API is understood, too."""
    return f"{endpoint.base_url.rstrip('/').removesuffix('/v1').removesuffix('/api')}/api/chat"


def body(endpoint: Endpoint, asked: Asked, refused: frozenset[str]) -> dict[str, Any]:
    """The request. Thinking is switched off: it would use up the answer's limit."""
    wanted: dict[str, Any] = {"format": asked.schema, "think": False}
    for name in refused:
        wanted.pop(name, None)
    options = {"temperature": 0, "num_predict": asked.max_tokens}
    return {"model": endpoint.model, "messages": list(asked.messages), "stream": False, "options": options, **wanted}


def answered(answer: Any) -> Answered:
    """What the message says, without its thoughts."""
    text, reason = answer["message"]["content"], answer.get("done_reason")
    return Answered(
        text if isinstance(text, str) else "",
        cut=reason == "length",
        refused=False,
        input_tokens=count(answer.get("prompt_eval_count")),
        output_tokens=count(answer.get("eval_count")),
    )


SHAPE = Shape(
    url,
    body,
    answered,
    {"format": ("format", "schema", "grammar"), "think": ("think",)},
    schema="format",
    nested=frozenset({"options"}),
)
