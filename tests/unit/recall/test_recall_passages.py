"""Passages: pieces of a turn with exact places, cut where a reader would."""

from __future__ import annotations

from memproxy.recall.passages import INDEXED_BYTES, PASSAGE_CHARS, embedding_text, split


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in split(text)]


def test_a_short_turn_is_one_passage_without_its_outer_blanks() -> None:
    assert pieces("  I like otters. \n") == ["I like otters."]


def test_nothing_visible_has_no_passage() -> None:
    assert pieces(" \n\t ") == []


def test_cuts_fall_at_sentence_and_line_ends() -> None:
    sentence = "This sentence has exactly as many words as it needs to have. "
    for piece in pieces(sentence * 40):
        assert piece.startswith("This")
        assert piece.endswith("have.")
        assert len(piece) <= PASSAGE_CHARS * 1.3


def test_chinese_sentences_are_ends_too() -> None:
    assert all(piece.endswith("。") for piece in pieces("我住在青岛并且对花生过敏。" * 100))


def test_an_endless_line_is_cut_at_blanks_and_never_inside_a_joined_emoji() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    text = family * 400
    assert "".join(pieces(text)) == text
    assert all(not piece.startswith("\u200d") and not piece.endswith("\u200d") for piece in pieces(text))
    assert all(" " not in (piece[0], piece[-1]) for piece in pieces("word " * 2000))


def test_a_short_rest_stays_with_what_it_belongs_to() -> None:
    assert len(pieces("x" * 470 + ". " + "Yes.")) == 1


def test_of_a_huge_turn_head_and_tail_are_indexed() -> None:
    text = "The beginning matters. " + "filler words here. " * 20_000 + "What about the harbour?"
    found = pieces(text)
    assert found[0].startswith("The beginning matters.")
    assert found[-1].endswith("What about the harbour?")
    assert sum(len(piece.encode()) for piece in found) <= INDEXED_BYTES


def test_what_is_embedded_names_the_speaker() -> None:
    assert embedding_text("I like otters", "Zoë") == "Zoë: I like otters"
