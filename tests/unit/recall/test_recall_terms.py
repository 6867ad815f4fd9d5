"""Terms: what is stored and what is asked meet, in every script, and nothing can be query syntax."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memproxy.recall.terms import index_terms, query_terms, terms


def found(query: str, text: str) -> bool:
    return bool(set(query_terms(query)) & set(terms(text)))


@pytest.mark.parametrize("query", ["qrx", "lib-qrx", "告警", "迁移", "12"])
def test_f3_identifiers_glued_to_han_text_are_found(query: str) -> None:
    assert found(query, "迁移lib-qrx后剩12个告警")


@pytest.mark.parametrize("query", ["Ágnes", "agnes", "őze", "oze", "suni", "Süni"])
def test_f5_accents_do_not_hide_a_word(query: str) -> None:
    assert found(query, "Ágnes és Őze a Süni projekten dolgozik")


def test_f5_the_exactly_accented_word_shares_more_terms() -> None:
    assert len(set(query_terms("süni")) & set(terms("Süni"))) > len(set(query_terms("süni")) & set(terms("suni")))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("محمد", "مُحَمَّدٌ يحب الشاي"),
        ("שלום", "שָׁלוֹם לכולם"),
        ("שלום", "\u200fשלום"),
        ("чай", "люблю чай"),
        ("ёлка", "елка"),
    ],
)
def test_f6_vowel_marks_do_not_hide_a_word(query: str, text: str) -> None:
    assert found(query, text)


@pytest.mark.parametrize(
    "term", ["won't", "re-order", "v3.11", "LOT-77120", '"--dry"', "BX-2219-q", "fetch_user", "a:b*(c)"]
)
def test_l7_signs_are_never_syntax_and_never_hide_a_term(term: str) -> None:
    assert found(term, f"please note {term} here")
    assert all(word.isalnum() for word in terms(term))


def test_identifiers_are_found_by_their_parts_and_whole() -> None:
    assert {"user", "data", "getuserdata"} <= set(terms("getUserData()"))
    assert "77120" in terms("LOT-77120")
    assert "lot77120" in terms("LOT-77120")


def test_words_meet_in_their_stems() -> None:
    assert found("hiking", "We hiked all day")
    assert found("sister's", "my sisters")


@pytest.mark.parametrize("word", ["not", "no", "never", "nothing", "without"])
def test_negations_are_no_stopwords(word: str) -> None:
    assert terms(f"I {word} eat")[0] != terms("I eat")[0]


def test_a_contracted_negation_says_not() -> None:
    assert "not" in terms("I don't eat meat")
    assert "not" in terms("I don’t eat meat")


def test_l59_may_the_verb_is_no_month() -> None:
    assert terms("May I ask? You may.") == ["ask"]
    assert "may" in terms("we met in May")
    assert "may" in terms("on 7 may 2023")


def test_a_passages_terms_hold_its_date_and_speaker() -> None:
    held = index_terms("I love otters", "Zoë", datetime(2023, 5, 7, 23, tzinfo=UTC)).split()
    assert held[:3] == ["7", "may", "2023"]
    assert "zoe" in held
    assert "otter" in held


def test_a_long_question_keeps_its_first_and_last_terms() -> None:
    words = [f"word{i}" for i in range(500)]
    kept = query_terms(" ".join(words))
    assert len(kept) == 64
    assert kept[0] == "word0"
    assert kept[-1] == "word499"


def test_single_han_characters_and_pairs_are_terms() -> None:
    assert set(terms("花生")) == {"花", "生", "花生"}
