"""The formats as their vendors serve them: the columns of the table in docs/wire.md."""

from __future__ import annotations

from tests.conformance.vendors import chat_completions, gemini, messages, ollama, responses

VENDORS = (
    chat_completions.VENDOR,
    responses.VENDOR,
    messages.VENDOR,
    gemini.VENDOR,
    gemini.ARRAY,
    ollama.VENDOR,
)
