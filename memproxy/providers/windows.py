"""How much text models read at once: their windows in tokens, by how their names begin. Data.

As their makers publish them; the smaller figure where a name stands for several. A model that is not here is one of
which nothing is known. `memory.context_window` goes before all of it.
"""

from __future__ import annotations

WINDOWS: dict[str, int] = {
    "chatgpt-4o": 128_000,
    "claude": 200_000,
    "claude-2.0": 100_000,
    "claude-instant": 100_000,
    "codellama": 16_384,
    "command-r": 128_000,
    "deepseek": 65_536,
    "gemini": 1_048_576,
    "gemini-1.0": 32_760,
    "gemini-pro": 32_760,
    "gemma": 8_192,
    "gemma-3": 32_768,
    "gemma3": 32_768,
    "gpt-3.5-turbo": 16_385,
    "gpt-3.5-turbo-instruct": 4_096,
    "gpt-4": 8_192,
    "gpt-4-0125": 128_000,
    "gpt-4-1106": 128_000,
    "gpt-4-32k": 32_768,
    "gpt-4-turbo": 128_000,
    "gpt-4-vision": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4.5": 128_000,
    "gpt-4o": 128_000,
    "gpt-5": 400_000,
    "gpt-5-chat": 128_000,
    "gpt-oss": 131_072,
    "grok": 131_072,
    "llama-2": 4_096,
    "llama2": 4_096,
    "llama-3": 8_192,
    "llama3": 8_192,
    "llama-3.1": 131_072,
    "llama3.1": 131_072,
    "llama-3.2": 131_072,
    "llama3.2": 131_072,
    "llama-3.3": 131_072,
    "llama3.3": 131_072,
    "mistral": 32_768,
    "mixtral": 32_768,
    "o1": 128_000,
    "o3": 200_000,
    "o4": 200_000,
    "phi-2": 2_048,
    "phi3": 4_096,
    "qwen2": 32_768,
    "qwen3": 32_768,
    "tinyllama": 2_048,
}


def window_of(model: str | None) -> int | None:
    """The window of a model in tokens, by the longest beginning of its name that is known. None: nothing is known.

    Whoever serves it may stand before its name ("openai/gpt-4o").
    """
    name = (model or "").rpartition("/")[2].casefold()
    known = max((prefix for prefix in WINDOWS if name.startswith(prefix)), key=len, default=None)
    return WINDOWS[known] if known is not None else None
