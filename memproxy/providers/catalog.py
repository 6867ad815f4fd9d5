"""What is known of providers of chat models: as rows, not as code. Adding one that speaks a known API is a row.

Quirks, each a way in which a row differs from the API it speaks:

- `deployments`: the model is a deployment in the path, with a dated api-version, unless the base URL ends in `/v1`
- `max_completion_tokens`: that is what the output limit is called
- `no_temperature`: only the default temperature is accepted
- `json_object_only`: JSON is offered, schemas are not
- `reasoning_off`: models that reason do so unless `reasoning.enabled` is false
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from memproxy.calling import plugins
from memproxy.calling.access import Access
from memproxy.errors import SettingsError
from memproxy.providers.calls import Shape
from memproxy.providers.shape_chat import chat_completions_url

__all__ = ["LLMS", "Row", "chat_completions_url", "extraction_model", "known_at", "row_of"]


@dataclass(frozen=True, slots=True)
class Row:
    """A provider: the API it speaks, how it is reached, a small and cheap model it serves, and how it differs."""

    access: Access
    model: str | None  # None: each customer's own; the setting names it
    shape: str | Shape = "chat"  # a key of client.SHAPES, or an API of one's own
    quirks: frozenset[str] = frozenset()


LLMS: dict[str, Row] = {
    "openai": Row(Access("https://api.openai.com/v1", variables=("OPENAI_API_KEY",)), "gpt-4o-mini"),
    "anthropic": Row(
        Access(
            "https://api.anthropic.com",
            variables=("ANTHROPIC_API_KEY",),
            header="x-api-key",
            prefix="",
            fixed=(("anthropic-version", "2023-06-01"),),
        ),
        "claude-haiku-4-5",
        "messages",
    ),
    "gemini": Row(
        Access(
            "https://generativelanguage.googleapis.com",
            variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            header="x-goog-api-key",
            prefix="",
        ),
        "gemini-flash-latest",
        "gemini",
    ),
    "ollama": Row(Access("http://localhost:11434", variables=("OLLAMA_API_KEY",), keyless=True), "llama3.2", "ollama"),
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
    "bedrock": Row(
        Access(
            "https://bedrock-runtime.{place}.amazonaws.com/openai/v1",
            places=("AWS_REGION", "AWS_DEFAULT_REGION"),
            variables=("AWS_BEARER_TOKEN_BEDROCK",),
        ),
        "openai.gpt-oss-20b-1:0",
        quirks=frozenset({"max_completion_tokens"}),
    ),
    "bedrock-converse": Row(
        Access(
            "https://bedrock-runtime.{place}.amazonaws.com",
            places=("AWS_REGION", "AWS_DEFAULT_REGION"),
            variables=("AWS_BEARER_TOKEN_BEDROCK",),
            signed="bedrock",
        ),
        "amazon.nova-lite-v1:0",
        "converse",
    ),
    "deepseek": Row(
        Access("https://api.deepseek.com", variables=("DEEPSEEK_API_KEY",)),
        "deepseek-chat",
        quirks=frozenset({"json_object_only"}),
    ),
    "groq": Row(Access("https://api.groq.com/openai/v1", variables=("GROQ_API_KEY",)), "llama-3.3-70b-versatile"),
    "togetherai": Row(
        Access("https://api.together.xyz/v1", variables=("TOGETHER_API_KEY",)),
        "meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo",
    ),
    "xai": Row(Access("https://api.x.ai/v1", variables=("XAI_API_KEY",)), "grok-3-mini"),
    "openrouter": Row(
        Access("https://openrouter.ai/api/v1", variables=("OPENROUTER_API_KEY",)),
        "openai/gpt-4o-mini",
        quirks=frozenset({"reasoning_off"}),
    ),
    "custom": Row(Access(keyless=True), None),
}


def row_of(provider: str) -> Row:
    """What is known of a provider: its row here, or one that a package brings along. Raises SettingsError."""
    if provider in LLMS:
        return LLMS[provider]
    found = plugins.load("memproxy.llms", provider)
    if not isinstance(found, Row):
        raise SettingsError(f"llm.provider: {provider} is no {Row.__module__}.{Row.__name__}")
    return found


# A small, cheap chat model that each host is known to serve, for extraction with a borrowed credential.
_MODELS_AT = {
    urlsplit(row.access.address).hostname: row.model
    for row in LLMS.values()
    if row.shape == "chat" and row.access.address is not None and not row.access.places
}


def extraction_model(base_url: str) -> str | None:
    """The model to extract with at a host, or None where none is known."""
    return _MODELS_AT.get(urlsplit(base_url).hostname or "")


def known_at(base_url: str) -> str | None:
    """The provider of chat completions whose own address this is, if any."""
    host = urlsplit(base_url).hostname
    own = (name for name, row in LLMS.items() if row.shape == "chat" and row.access.address and not row.access.places)
    return next((name for name in own if urlsplit(LLMS[name].access.address or "").hostname == host), None)
