"""What the vendors' embedding APIs ask for and answer, as their documentation has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from memproxy.embedders.hashing import HashEmbedder
from memproxy.testing import Answer, Request
from tests.contracts.chat_vendors import AZURE, BEARER, KEY, json_answer

WIDTH = 48


def numbers(text: str, width: int = WIDTH) -> list[float]:
    """What the server makes of a text: of no unit length, as some servers give it."""
    return [float(x) * 3.0 for x in HashEmbedder(width)._embed(text)]


@dataclass(frozen=True)
class Said:
    """One API: where a request has its texts, its kind and its dimensions, and an answer its vectors."""

    texts: Callable[[dict[str, Any]], Sequence[str]]
    kind: Callable[[dict[str, Any]], str | None]
    width: Callable[[dict[str, Any]], int | None]
    answer: Callable[[Sequence[Sequence[float]]], Any]


def _openai(rows: Sequence[Sequence[float]]) -> Any:
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
    return {
        "object": "list",
        "data": data[::-1],  # the index says which is which, not the order
        "model": "m",
        "usage": {"prompt_tokens": 8, "total_tokens": 8},
    }


def _cohere(rows: Sequence[Sequence[float]]) -> Any:
    return {
        "id": "da6e531f-54c5-4a73-bf92-f60566d8d753",
        "embeddings": {"float": rows},
        "texts": [],
        "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 8}},
        "response_type": "embeddings_by_type",
    }


OPENAI = Said(lambda body: body["input"], lambda body: None, lambda body: body.get("dimensions"), _openai)
VOYAGE = Said(
    lambda body: body["input"], lambda body: body["input_type"], lambda body: body.get("output_dimension"), _openai
)
COHERE = Said(
    lambda body: body["texts"], lambda body: body["input_type"], lambda body: body.get("output_dimension"), _cohere
)
OLLAMA = Said(
    lambda body: body["input"],
    lambda body: None,
    lambda body: body.get("dimensions"),
    lambda rows: {"model": "m", "embeddings": rows, "total_duration": 14143917, "prompt_eval_count": 8},
)
GEMINI = Said(
    lambda body: [request["content"]["parts"][0]["text"] for request in body["requests"]],
    lambda body: body["requests"][0].get("taskType"),
    lambda body: body["requests"][0].get("outputDimensionality"),
    lambda rows: {"embeddings": [{"values": row} for row in rows]},
)


TITAN = Said(
    lambda body: [body["inputText"]],
    lambda body: None,
    lambda body: body.get("dimensions"),
    lambda rows: {"embedding": rows[0], "embeddingsByType": {"float": rows[0]}, "inputTextTokenCount": 4},
)


@dataclass(frozen=True)
class Vendor:
    """A row of the catalog as its vendor documents it."""

    provider: str
    path: str  # of the base URL
    target: str
    said: Said
    header: tuple[str, str]
    kinds: tuple[str | None, str | None] = (None, None)  # as the API calls queries and documents
    model: str | None = None
    settings: tuple[tuple[str, Any], ...] = ()

    def serve(self, request: Request) -> Answer:
        """Answer as the vendor would."""
        body = request.json()
        width = self.said.width(body) or WIDTH
        return json_answer(self.said.answer([numbers(text, width) for text in self.said.texts(body)]))


VENDORS = {
    "openai": Vendor("openai", "/v1", "/v1/embeddings", OPENAI, BEARER),
    "azureopenai, dated": Vendor(
        "azureopenai",
        "",
        "/openai/deployments/mine/embeddings?api-version=2023-05-15",
        OPENAI,
        AZURE,
        model="mine",
        settings=(("api_version", "2023-05-15"),),
    ),
    "azureopenai, v1": Vendor("azureopenai", "/openai/v1", "/openai/v1/embeddings", OPENAI, AZURE, model="mine"),
    "gemini": Vendor(
        "gemini",
        "",
        "/v1beta/models/gemini-embedding-001:batchEmbedContents",
        GEMINI,
        ("x-goog-api-key", KEY),
        ("RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"),
    ),
    "ollama": Vendor("ollama", "", "/api/embed", OLLAMA, BEARER),
    "bedrock": Vendor("bedrock", "", "/model/amazon.titan-embed-text-v2%3A0/invoke", TITAN, BEARER),
    "togetherai": Vendor("togetherai", "/v1", "/v1/embeddings", OPENAI, BEARER),
    "cohere": Vendor("cohere", "", "/v2/embed", COHERE, BEARER, ("search_query", "search_document")),
    "voyageai": Vendor("voyageai", "/v1", "/v1/embeddings", VOYAGE, BEARER, ("query", "document")),
    "openrouter": Vendor("openrouter", "/api/v1", "/api/v1/embeddings", OPENAI, BEARER),
    "custom": Vendor("custom", "/v1", "/v1/embeddings", OPENAI, BEARER, model="mine"),
}
