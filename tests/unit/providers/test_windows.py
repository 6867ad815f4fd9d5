"""Windows of models by name."""

from __future__ import annotations

import pytest

from memproxy.providers.windows import window_of


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-4o-mini", 128_000),
        ("openai/gpt-4o", 128_000),
        ("claude-sonnet-4-5", 200_000),
        ("meta-llama/Llama-2-7b-chat", 4_096),
        ("llama3.1:8b", 131_072),
        ("somebody/something-new", None),
        ("", None),
        (None, None),
    ],
)
def test_the_longest_beginning_of_a_name_that_is_known_counts(model: str | None, window: int | None) -> None:
    assert window_of(model) == window
