"""Listening to answers: however a stream is cut, coded or spoiled, the same reply comes out, and nothing is raised."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from memproxy.model import Reply
from memproxy.wire import ChatCompletions
from memproxy.wire.sse import Event, EventParser

FORM = ChatCompletions()


def _raw_deflate(data: bytes) -> bytes:
    squeeze = zlib.compressobj(wbits=-15)
    return squeeze.compress(data) + squeeze.flush()


CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": lambda data: gzip.compress(data[:40]) + gzip.compress(data[40:]),
    "deflate": zlib.compress,
    "deflate ": _raw_deflate,
    "br": brotli.compress,
    "zstd": lambda data: zstandard.compress(data[:40]) + zstandard.compress(data[40:]),
    "deflate, gzip": lambda data: gzip.compress(zlib.compress(data)),
}
TEXT = "Grüße 🎉\u2028\u0085 日本"


def _stream(end: str) -> bytes:
    chunks = [{"choices": []}, {"model": "m", "choices": [{"index": 0, "delta": {"role": "assistant"}}]}]
    chunks += [{"choices": [{"index": 0, "delta": {"content": letter}}]} for letter in TEXT]
    chunks += [{"choices": [{"index": 1, "delta": {"content": "other"}}]}]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, {"usage": {}}]
    lines = [": hello", "retry: 3", ""]
    for number, chunk in enumerate(chunks):
        lines += [("data:" if number % 2 else "data: ") + json.dumps(chunk, ensure_ascii=number % 3 == 0), ""]
    lines += ["event: x", "id: 7", "data: [DONE]", "", ""]
    return b"\xef\xbb\xbf" + end.join(lines).encode()


def read(pieces: Sequence[bytes], coding: str = "", kind: str = "text/event-stream") -> tuple[Reply, bool]:
    reader = FORM.reader(kind, coding)
    ended = [reader.feed(piece) for piece in pieces]
    assert ended == sorted(ended)  # once ended, it stays so
    return reader.finish(), ended[-1] if ended else False


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("coding", CODINGS)
def test_every_cut_of_a_stream_gives_the_same_reply(end: str, coding: str) -> None:
    data = CODINGS[coding](_stream(end))
    expected = Reply(TEXT, "stop", True, model="m")
    assert read([data], coding) == (expected, True)
    assert read([data[at : at + 1] for at in range(len(data))], coding) == (expected, True)
    for at in range(0, len(data), 1 if not coding else 7):
        assert read([data[:at], data[at:]], coding) == (expected, True)


LINES = st.sampled_from(
    [b"", b"data", b"data:", b"data: a", b"data:  b", b"data:{}", b":c", b"event: e", b"id", b"x: y"]
)
ENDED_LINES = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"])).map(b"".join)).map(b"".join)


@given(ENDED_LINES, st.lists(st.integers(0, 99)))
def test_events_do_not_depend_on_where_the_bytes_are_cut(data: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    assert _events([data[a:b] for a, b in pairwise(places)]) == _events([data])


def test_events_follow_the_standard() -> None:
    data = b"\xef\xbb\xbfdata: a\ndata:b\n\n: c\n\ndata\n\nevent: e\r\ndata:  x\r\r\ndata: end"
    assert _events([data]) == [Event(b"", b"a\nb"), Event(b"", b""), Event(b"e", b" x"), Event(b"", b"end")]


def _events(pieces: Sequence[bytes]) -> list[Event]:
    parser = EventParser()
    return [event for piece in pieces for event in parser.feed(piece)] + list(parser.finish())


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "message", "content", "index", "finish_reason", "error", "type", "object"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.lists(ANYTHING.map(lambda value: b"data: " + json.dumps(value).encode() + b"\n\n") | st.binary(max_size=30)),
    st.sampled_from([*CODINGS, "unknown", "gzip, gzip, gzip, gzip, gzip", ",,"]),
    st.sampled_from(["text/event-stream", "application/json", ""]),
)
def test_no_bytes_make_a_reader_raise(pieces: list[bytes], coding: str, kind: str) -> None:
    reply, _ = read(pieces, coding, kind)
    reply.text.encode()


@given(ANYTHING)
def test_no_json_body_makes_a_reader_raise(value: object) -> None:
    read([json.dumps(value).encode()], "", "application/json")
