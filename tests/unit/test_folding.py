"""When two texts count as the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.folding import content_key, fold, fold_space
from tests.growth import MOST, growth


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Likes otters", "likes  OTTERS."),
        ("Lives in Tolm!", " lives in tolm "),
        ("It's «nice»", "it’s \"nice\""),
        ("Ágnes", "A\u0301gnes"),
        ("café au lait", "CAFE\u0301 AU LAIT"),
        ("Straße", "STRASSE"),
        ("Weighs −5 units", "weighs -5 units"),
        ("co\u00adoperates", "cooperates"),
        ("Loves ❤\ufe0f tea", "loves ❤ tea"),
        ("１２３", "123"),
        ("Born 2021-05-06", "born 2021 05 06"),
        ("住在青岛。", "住在青岛"),
        ("line\none", "line one"),
    ],
)  # fmt: skip
def test_case_punctuation_and_white_space_make_no_difference(one: str, other: str) -> None:
    assert content_key(one) == content_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rent is 840 a month", "Rent is 860 a month"),
        ("It is -5 degrees", "It is 5 degrees"),
        ("Takes .5 mg", "Takes 5 mg"),
        ("Takes 1.5 mg", "Takes 15 mg"),
        ("Takes 1/2 tablet", "Takes 12 tablet"),
        ("Pays $5", "Pays €5"),
        ("Owns 5%", "Owns 5"),
        ("Knows C", "Knows C++"),
        ("Knows C", "Knows C#"),
        ("Knows C++", "Knows C#"),
        ("Likes 🍕", "Likes 🎸"),
        ("Likes 🍕", "Likes"),
        ("Likes tea", "Does not like tea"),
        ("कि", "का"),
        ("ที่", "ทั่"),
        ("Meets at 10:30", "Meets at 1030"),
        ("Ágnes", "Agnes"),
    ],
)
def test_signs_and_marks_that_carry_meaning_tell_texts_apart(one: str, other: str) -> None:
    assert content_key(one) != content_key(other)


@given(st.text(max_size=80))
def test_a_key_is_sixteen_hex_characters_and_blind_to_the_shape_of_white_space(text: str) -> None:
    key = content_key(text)
    assert len(key) == 16
    assert int(key, 16) >= 0
    assert content_key(f"  {text}\n") == key
    assert content_key(fold(text)) == key


@given(st.text(max_size=80))
def test_folding_twice_folds_no_further(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold_space(fold_space(text)) == fold_space(text)


@pytest.mark.parametrize("pump", [" ", ".", "-", "1.", "a", "+", "❤"])
def test_folding_takes_time_in_proportion_to_the_text(pump: str) -> None:
    assert growth(content_key, pump) < MOST


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_texts_are_folded_the_short_way_to_the_same(text: str) -> None:
    assert fold(text) == fold(text + "é").removesuffix("é").rstrip()
