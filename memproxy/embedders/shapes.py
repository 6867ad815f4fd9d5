"""The APIs of embedding models: for each a pure function from texts to a request, and one from an answer to vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

from memproxy.calling.addresses import below, deployed
from memproxy.calling.aws import Signer

Kind = Literal["query", "document"]


@dataclass(frozen=True, slots=True)
class Route:
    """Where vectors are made, by which model, and how many numbers each should have (None: as the model has it)."""

    base_url: str
    model: str
    headers: Mapping[str, str] = field(repr=False)
    dimensions: int | None = None
    quirks: frozenset[str] = frozenset()
    api_version: str | None = None
    signer: Signer | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Shape:
    """One API. `vectors` may raise LookupError, TypeError, AttributeError or ValueError for what is no answer.

    `optional` holds what a server may refuse and the words (lower case) of a 400 that refuse it; it is left out then.
    """

    url: Callable[[Route], str]
    body: Callable[[Route, Sequence[str], Kind, frozenset[str]], dict[str, Any]]
    vectors: Callable[[Any], list[Sequence[float]]]
    optional: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


# OpenAI's, which most others speak: https://platform.openai.com/docs/api-reference/embeddings


def _openai_url(route: Route) -> str:
    if "deployments" in route.quirks:
        return deployed(route.base_url, route.model, "embeddings", route.api_version)
    return below(route.base_url, "embeddings")


def _openai_body(route: Route, texts: Sequence[str], kind: Kind, refused: frozenset[str]) -> dict[str, Any]:
    wanted: dict[str, Any] = {"model": route.model, "input": list(texts), "encoding_format": "float"}
    if route.dimensions is not None:
        wanted["dimensions"] = route.dimensions
    return {name: value for name, value in wanted.items() if name not in refused}


def _by_index(answer: Any) -> list[Sequence[float]]:
    return [row["embedding"] for row in sorted(answer["data"], key=lambda row: row["index"])]


# Gemini's: https://ai.google.dev/api/embeddings


def _gemini_model(route: Route) -> str:
    return f"models/{route.model.removeprefix('models/')}"


def _gemini_url(route: Route) -> str:
    return below(route.base_url, f"{quote(_gemini_model(route))}:batchEmbedContents", "v1beta")


def _gemini_body(route: Route, texts: Sequence[str], kind: Kind, refused: frozenset[str]) -> dict[str, Any]:
    wanted: dict[str, Any] = {"taskType": "RETRIEVAL_QUERY" if kind == "query" else "RETRIEVAL_DOCUMENT"}
    if route.dimensions is not None:
        wanted["outputDimensionality"] = route.dimensions
    common = {name: value for name, value in wanted.items() if name not in refused}
    model = _gemini_model(route)
    return {"requests": [{"model": model, "content": {"parts": [{"text": text}]}, **common} for text in texts]}


def _gemini_vectors(answer: Any) -> list[Sequence[float]]:
    return [row["values"] for row in answer["embeddings"]]


# Ollama's: https://docs.ollama.com/api/embed


def _ollama_url(route: Route) -> str:
    return f"{route.base_url.rstrip('/').removesuffix('/v1').removesuffix('/api')}/api/embed"


def _ollama_body(route: Route, texts: Sequence[str], kind: Kind, refused: frozenset[str]) -> dict[str, Any]:
    chosen = {} if route.dimensions is None else {"dimensions": route.dimensions}
    return {"model": route.model, "input": list(texts), "truncate": True, **chosen}


# Cohere's, second version: https://docs.cohere.com/reference/embed


def _cohere_body(route: Route, texts: Sequence[str], kind: Kind, refused: frozenset[str]) -> dict[str, Any]:
    chosen = {} if route.dimensions is None else {"output_dimension": route.dimensions}
    wanted = {"input_type": f"search_{kind}", "embedding_types": ["float"], "truncate": "END"}
    return {"model": route.model, "texts": list(texts), **wanted, **chosen}


# Voyage's, which differs from OpenAI's by its options: https://docs.voyageai.com/reference/embeddings-api


def _voyage_body(route: Route, texts: Sequence[str], kind: Kind, refused: frozenset[str]) -> dict[str, Any]:
    chosen = {} if route.dimensions is None else {"output_dimension": route.dimensions}
    return {"model": route.model, "input": list(texts), "input_type": kind, "truncation": True, **chosen}


# Titan's, of Amazon, a text a call: https://docs.aws.amazon.com/bedrock/latest/userguide/titan-embedding-models.html


def _titan_url(route: Route) -> str:
    return f"{route.base_url.rstrip('/')}/model/{quote(route.model, safe='')}/invoke"


def _titan_body(route: Route, texts: Sequence[str], kind: Kind, refused: frozenset[str]) -> dict[str, Any]:
    [text] = texts
    return {"inputText": text, **({} if route.dimensions is None else {"dimensions": route.dimensions})}


SHAPES = {
    "openai": Shape(_openai_url, _openai_body, _by_index, {"encoding_format": ("encoding_format",)}),
    "gemini": Shape(_gemini_url, _gemini_body, _gemini_vectors, {"taskType": ("tasktype", "task_type", "task type")}),
    "ollama": Shape(_ollama_url, _ollama_body, lambda answer: list(answer["embeddings"])),
    "cohere": Shape(
        lambda route: below(route.base_url, "embed", "v2"),
        _cohere_body,
        lambda answer: list(answer["embeddings"]["float"]),
    ),
    "titan": Shape(_titan_url, _titan_body, lambda answer: [answer["embedding"]]),
    "voyage": Shape(lambda route: below(route.base_url, "embeddings"), _voyage_body, _by_index),
}
