"""The vendors' own hosts, by the API that each speaks: where a request goes that nobody sends elsewhere."""

from __future__ import annotations

VENDORS = {
    "openai": "https://api.openai.com",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "ollama": "http://localhost:11434",
}
