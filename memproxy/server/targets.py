"""Where a request goes: the configured target of its format, the one target for all, or the vendor's own host."""

from __future__ import annotations

from memproxy.providers.vendors import VENDORS
from memproxy.server.access import Headers
from memproxy.settings import Settings

# Which vendor's API a wire format is.
FAMILIES = {
    "chat_completions": "openai",
    "responses": "openai",
    "messages": "anthropic",
    "gemini": "gemini",
    "ollama": "ollama",
}


def family(format_name: str | None, path: bytes, headers: Headers) -> str:
    """The vendor whose API a request speaks; for paths that no format claims, by their tell-tale signs."""
    if format_name is not None:
        return FAMILIES[format_name]
    if headers.get("anthropic-version") is not None:
        return "anthropic"
    if headers.get("x-goog-api-key") is not None or path.startswith(b"/v1beta/") or b"/publishers/google/" in path:
        return "gemini"
    return "openai"


def resolve(settings: Settings, vendor: str) -> str:
    """The base URL of a vendor's requests, its own path kept and without a trailing slash."""
    own: str | None = getattr(settings.targets, vendor)
    return (own or settings.target or VENDORS[vendor]).rstrip("/")
