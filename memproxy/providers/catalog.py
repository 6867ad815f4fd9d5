"""What is known of model hosts: as rows, not as code."""

from __future__ import annotations

from urllib.parse import urlsplit

# A small, cheap chat model that each host is known to serve, for extraction with a borrowed credential.
EXTRACTION_MODELS = {
    "api.openai.com": "gpt-4o-mini",
    "api.deepseek.com": "deepseek-chat",
    "api.groq.com": "llama-3.3-70b-versatile",
    "api.together.xyz": "meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo",
    "openrouter.ai": "openai/gpt-4o-mini",
    "api.x.ai": "grok-3-mini",
}


def extraction_model(base_url: str) -> str | None:
    """The model to extract with at a host, or None where none is known."""
    return EXTRACTION_MODELS.get(urlsplit(base_url).hostname or "")


def chat_completions_url(base_url: str) -> str:
    """The chat completions endpoint below a base URL, with or without a version path in it.

    A URL of the endpoint itself (a borrowed credential brings it, perhaps with an `api-version` query) stays as it is.
    """
    path = urlsplit(base_url).path
    if path.endswith("/chat/completions"):
        return base_url
    base, path = base_url.rstrip("/"), path.rstrip("/")
    return f"{base}/chat/completions" if path.rsplit("/", 1)[-1].startswith("v") else f"{base}/v1/chat/completions"
