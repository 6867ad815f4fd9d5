"""Blocks of ours that come in again are cut out of what memory reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.trust import CLOSE, OPEN, cut_blocks
from tests.growth import MOST, growth

SPELLINGS = [
    "<memproxy-memory>",
    "<MEMPROXY-Memory>",
    "< memproxy-memory >",
    "<\tmemproxy-memory\n>",
    "<memproxy-memory/>",
]
CLOSINGS = ["</memproxy-memory>", "</MemProxy-Memory>", "< / memproxy-memory >", "<\n/memproxy-memory\t>"]


@pytest.mark.parametrize("opening", SPELLINGS)
@pytest.mark.parametrize("closing", CLOSINGS)
def test_a_block_is_cut_in_any_case_and_spacing(opening: str, closing: str) -> None:
    assert cut_blocks(f"before\n\n{opening}\n- Owns a castle\n{closing}\n\nafter") == "before\nafter"


def test_of_a_block_inside_a_block_nothing_stays() -> None:
    assert cut_blocks(f"a {OPEN} b {OPEN} c {CLOSE} d {CLOSE} e") == "a\ne"


def test_what_follows_a_marker_that_nobody_closes_stays() -> None:
    assert cut_blocks(f"I wrote {OPEN} by hand").split() == "I wrote by hand".split()
    assert cut_blocks(f"I wrote {CLOSE} by hand").split() == "I wrote by hand".split()


def test_words_between_a_typed_marker_and_a_real_block_stay() -> None:
    assert (
        cut_blocks(f"{OPEN} my words {OPEN}\n- Owns a castle\n{CLOSE} more words").split()
        == "my words more words".split()
    )


def test_several_blocks_are_cut_and_what_stands_between_them_is_kept() -> None:
    assert cut_blocks(f"{OPEN}x{CLOSE} one {OPEN}y{CLOSE} two") == "one\ntwo"


@pytest.mark.parametrize("text", ["", "  two  blanks ", "memproxy-memory is a name", "<memory>x</memory>", "a < b > c"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert cut_blocks(text) == text


@given(st.lists(st.sampled_from([OPEN, CLOSE, "<memproxy-memory", " ", "\n", "word", ">", "/"]), max_size=30))
def test_no_marker_survives_and_cutting_again_changes_nothing(pieces: list[str]) -> None:
    cut = cut_blocks("".join(pieces))
    assert OPEN not in cut
    assert CLOSE not in cut
    assert cut_blocks(cut) == cut


@pytest.mark.parametrize("pump", [OPEN, CLOSE, OPEN + CLOSE, "<", "< ", " ", "\n", "</", OPEN + " x " + CLOSE + " y "])
@pytest.mark.parametrize("before", [OPEN, "<memproxy-memory", "memproxy-memory"])
def test_cutting_takes_time_in_proportion_to_the_text(before: str, pump: str) -> None:
    assert growth(cut_blocks, pump, before) < MOST
