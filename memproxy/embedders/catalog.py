"""What is known of providers of embedding models: as rows, not as code.

Quirks: `deployments`, the model is a deployment in Azure's path unless the base URL ends in `/v1`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from memproxy.calling.access import Access


@dataclass(frozen=True, slots=True)
class Row:
    """A provider: the API it speaks, how it is reached, a model it serves, and how many texts a call takes."""

    access: Access
    model: str | None  # None: each customer's own; the setting names it
    shape: str = "openai"
    batch: int = 64
    dimensions: int | None = None  # asked for unless the setting says otherwise; None: as many as the model gives
    quirks: frozenset[str] = frozenset()


EMBEDDERS: dict[str, Row] = {
    "openai": Row(Access("https://api.openai.com/v1", variables=("OPENAI_API_KEY",)), "text-embedding-3-small"),
    "azureopenai": Row(
        Access(
            "{place}",
            places=("AZURE_OPENAI_ENDPOINT",),
            variables=("AZURE_OPENAI_API_KEY",),
            header="api-key",
            prefix="",
        ),
        None,
        quirks=frozenset({"deployments"}),
    ),
    # Its 3072 dimensions are nested, the first 768 of use alone: https://ai.google.dev/gemini-api/docs/embeddings
    "gemini": Row(
        Access(
            "https://generativelanguage.googleapis.com",
            variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            header="x-goog-api-key",
            prefix="",
        ),
        "gemini-embedding-001",
        "gemini",
        dimensions=768,
    ),
    "ollama": Row(
        Access("http://localhost:11434", variables=("OLLAMA_API_KEY",), keyless=True),
        "nomic-embed-text",
        "ollama",
        batch=16,
    ),
    "bedrock": Row(
        Access(
            "https://bedrock-runtime.{place}.amazonaws.com",
            places=("AWS_REGION", "AWS_DEFAULT_REGION"),
            variables=("AWS_BEARER_TOKEN_BEDROCK",),
            signed="bedrock",
        ),
        "amazon.titan-embed-text-v2:0",
        "titan",
        batch=1,
    ),
    "togetherai": Row(
        Access("https://api.together.xyz/v1", variables=("TOGETHER_API_KEY",)),
        "intfloat/multilingual-e5-large-instruct",
    ),
    "cohere": Row(Access("https://api.cohere.com", variables=("COHERE_API_KEY", "CO_API_KEY")), "embed-v4.0", "cohere"),
    "voyageai": Row(Access("https://api.voyageai.com/v1", variables=("VOYAGE_API_KEY",)), "voyage-3.5", "voyage"),
    "openrouter": Row(
        Access("https://openrouter.ai/api/v1", variables=("OPENROUTER_API_KEY",)), "openai/text-embedding-3-small"
    ),
    "custom": Row(Access(keyless=True), None, batch=16),
}

# What models want to read before a query and before a document, from their model cards.
_PREFIXES = {
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "mxbai-embed-large": ("Represent this sentence for searching relevant passages: ", ""),
    "intfloat/multilingual-e5-large-instruct": (
        "Instruct: Given a question, retrieve what was said that answers it\nQuery: ",
        "",
    ),
}


def prefixes(model: str) -> tuple[str, str]:
    """What a model wants before a query and before a document; its tag (`:latest`) makes no difference."""
    return _PREFIXES.get(model.partition(":")[0], ("", ""))


def marked(prefix: str, usual: str = "") -> str:
    """What a prefix of one's own adds to a model's name: with another, the same text has another vector."""
    return "" if prefix == usual else f"~{hashlib.sha256(prefix.encode()).hexdigest()[:6]}"
