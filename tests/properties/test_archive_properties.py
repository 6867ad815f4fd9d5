"""Universal promises of taking a memory away and bringing it back."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memproxy.archive import markdown, rows
from tests.archives import brought, memories, stores, taken, without_head, written

# NUL and lone surrogates cannot be stored.
stored = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(memories())
def test_a_memory_that_is_taken_away_and_brought_back_is_the_same(found: list[rows.Row]) -> None:
    async def lossless(folder: Path) -> None:
        file = folder / "memory.jsonl"
        file.write_bytes(written("Bo", found))
        async with stores(folder, "one", "other") as (one, other):
            report, _ = await brought(one, "Bo", file)
            assert report.broken == []
            first = await taken(one, "Bo")
            assert without_head(first) == without_head(file.read_bytes())
            file.write_bytes(first)
            await brought(other, "Bo", file)
            assert without_head(await taken(other, "Bo")) == without_head(first)
            again, _ = await brought(other, "Bo", file)
            assert (again.new_turns, again.new_facts, again.new_others, again.broken) == (0, 0, 0, [])
            assert without_head(await taken(other, "Bo")) == without_head(first)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(lossless(Path(folder)))


@given(
    st.text(max_size=60) | st.sampled_from(["# a\n- b", "```\nx", "</p><script>", "[a](javascript:b)", "1. a\n\n    b"])
)
def test_stored_text_never_leaves_its_place_in_a_page(text: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(f"## Title\n\n{markdown.block(text)}\nafter\n")
    kinds = [token.type for token in tokens if token.level == 0]
    assert kinds.count("heading_open") == 1
    assert kinds[-1] == "paragraph_close"  # "after" is a paragraph of its own
    inside = {part.type for token in tokens if token.children for part in token.children}
    assert inside <= {"text", "hardbreak", "softbreak", "text_special"}
    assert {token.type for token in tokens} <= {
        "heading_open",
        "heading_close",
        "blockquote_open",
        "blockquote_close",
        "paragraph_open",
        "paragraph_close",
        "inline",
    }


@given(stored)
def test_stored_text_in_a_line_stays_in_it(text: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(f"- {markdown.inline(text)} (sure)\n")
    shown = "".join(part.content for token in tokens for part in token.children or ())
    assert shown == f"{' '.join(text.split())} (sure)".lstrip() or not text.split()
    assert [token.type for token in tokens].count("list_item_open") == 1
