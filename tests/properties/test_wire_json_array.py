"""A JSON array in pieces: its items come out whole, whatever they are and wherever the bytes were cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.wire import json_array
from memproxy.wire.json_array import CLOSED, ArrayParser
from memproxy.wire.sse import Event
from tests.json_texts import SPACE, VALUES

ARRAYS = st.tuples(SPACE, st.lists(st.tuples(SPACE, VALUES, SPACE)), SPACE)
CUTS = st.lists(st.integers(0, 999))


def parsed(pieces: Sequence[bytes]) -> list[Event]:
    parser = ArrayParser()
    return [event for piece in pieces for event in parser.feed(piece)] + parser.finish()


def cut(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    places = sorted({0, len(data), *(at % (len(data) + 1) for at in cuts)})
    return [data[a:b] for a, b in pairwise(places)] or [data]


@given(ARRAYS, CUTS)
def test_every_item_comes_out_as_it_was_written(
    written: tuple[str, list[tuple[str, str, str]], str], cuts: list[int]
) -> None:
    before, items, after = written
    data = (before + "[" + (",".join(map("".join, items)) or before) + "]" + after).encode()
    expected = [Event(b"", item.encode()) for _, item, _ in items]
    assert parsed(cut(data, cuts)) == [*expected, CLOSED]
    assert parsed([bytes([byte]) for byte in data]) == [*expected, CLOSED]


@given(st.text('[]{},:"\\ a1\n').map(str.encode) | st.binary(), CUTS)
def test_whatever_the_bytes_a_cut_makes_no_difference(data: bytes, cuts: list[int]) -> None:
    assert parsed(cut(data, cuts)) == parsed([data])


def test_an_item_is_there_with_its_last_byte() -> None:
    parser = ArrayParser()
    assert parser.feed(b'[{"a": [1, {}]') == []
    assert parser.feed(b"}") == [Event(b"", b'{"a": [1, {}]}')]
    assert parser.feed(b'\n, "]\\"') == []
    assert parser.feed(b'"]') == [Event(b"", b'"]\\""'), CLOSED]
    assert parser.feed(b"[1]") == []


def test_depth_and_size_cost_no_more_than_their_bytes() -> None:
    deep = b"[" * 300_000 + b"]" * 300_000
    text = json.dumps('"\\' * 1_000_000).encode()
    data = b"[" + deep + b"," + text + b"]"
    pieces = [data[at : at + 1000] for at in range(0, len(data), 1000)]
    assert parsed(pieces) == [Event(b"", deep), Event(b"", text), CLOSED]


def test_an_item_beyond_the_limit_is_left_out_and_the_parser_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_array, "LONGEST_ITEM", 100)
    parser = ArrayParser()
    assert parser.feed(b'[1, "' + b"x" * 200) == [Event(b"", b"1")]
    assert parser.feed(b'", 2]') == [Event(b"", b"2"), CLOSED]
    assert parser.lost
