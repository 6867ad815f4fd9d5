"""The words of an answer: in the order of their places, never more than there is room for."""

from __future__ import annotations

import pytest

from memproxy.wire import words
from memproxy.wire.words import Words


def test_words_stand_in_the_order_of_their_places_and_inside_one_as_they_came() -> None:
    said = Words()
    for text, place in [("c", (1, 0)), ("e", (10, 0)), ("a", (0, 2)), ("d", (1, 0)), ("b", (0, 10))]:
        said.add(text, place)
    assert said.text() == "abcde"


def test_what_is_said_once_more_as_a_whole_replaces_what_was_there() -> None:
    said = Words()
    said.add("hel", (1, 0))
    said.add("!", (2, 0))
    said.put("hello", (1, 0))
    assert said.text() == "hello!"
    said.clear()
    said.put("bye", (0, 0))
    assert said.text() == "bye"


def test_there_is_room_for_so_much_and_what_is_replaced_gives_its_room_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "LONGEST_TEXT", 5)
    said = Words()
    said.add("abc", (0, 0))
    said.add("defg", (1, 0))
    said.add("h", (1, 0))
    assert said.text() == "abcde"
    said.put("wxyz", (1, 0))
    assert said.text() == "abcwx"
    said.put("", (0, 0))
    said.add("yz", (1, 0))
    assert said.text() == "wxyz"


def test_there_are_so_many_places() -> None:
    said = Words()
    for number in range(words.MOST_PLACES + 5):
        said.add("x", (number, 0))
    said.add("!", (0, 0))
    assert len(said.text()) == words.MOST_PLACES + 1
