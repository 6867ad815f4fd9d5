"""Listening to answers: however a stream is cut, coded or spoiled, the same reply comes out, and nothing is raised."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from memproxy.interfaces import WireFormat
from memproxy.model import Reply
from memproxy.wire import ChatCompletions, Gemini, Messages, Ollama, Responses
from memproxy.wire.sse import Event, EventParser


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


class Answer(NamedTuple):
    """A streamed answer in some format that says TEXT."""

    form: WireFormat
    kind: str  # its content type
    data: bytes
    expected: Reply
    ends: bool = True  # whether it says where it ends


def _chat(end: str) -> Answer:
    chunks: list[dict[str, Any]] = [
        {"choices": []},
        {"model": "m", "choices": [{"index": 0, "delta": {"role": "assistant"}}]},
        *({"choices": [{"index": 0, "delta": {"content": letter}}]} for letter in TEXT),
        {"choices": [{"index": 1, "delta": {"content": "other"}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"usage": {}},
    ]
    lines = [": hello", "retry: 3", ""]
    for number, chunk in enumerate(chunks):
        lines += [("data:" if number % 2 else "data: ") + _written(chunk, number), ""]
    lines += ["event: x", "id: 7", "data: [DONE]", "", ""]
    data = b"\xef\xbb\xbf" + end.join(lines).encode()
    return Answer(ChatCompletions(), "text/event-stream", data, Reply(TEXT, "stop", True, model="m"))


def _response(*, whole: bool) -> Answer:
    """Said in deltas and then once more in several ways; or in some deltas only, and all of it at the end."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": TEXT}]}
    place = {"output_index": 1, "content_index": 0}
    answer = {"id": "resp_1", "model": "m", "output": []}
    values: list[dict[str, Any]] = [
        {"type": "response.created", "response": answer},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}},
        {"type": "response.reasoning_text.delta", "output_index": 0, "delta": "hm"},
        *({"type": "response.output_text.delta", **place, "delta": letter} for letter in TEXT[4 if whole else 0 :]),
        {"type": "response.output_text.done", **place, "text": "" if whole else TEXT},
        {"type": "response.completed", "response": {**answer, "output": [said] if whole else []}},
    ]
    lines = [f"event: {value['type']}\ndata: {_written(value, n)}\n\n" for n, value in enumerate(values)]
    expected = Reply(TEXT, "completed", True, model="m", id="resp_1")
    return Answer(Responses(), "text/event-stream", "".join(lines).encode(), expected)


def _ollama() -> Answer:
    values = [{"model": "m", "message": {"content": letter}, "done": False} for letter in TEXT]
    values += [{"model": "m", "message": {"content": ""}, "done": True, "done_reason": "stop"}]
    data = "".join(_written(value, n) + ("\r\n" if n % 5 else "\n") for n, value in enumerate(values)).encode()
    return Answer(Ollama(), "application/x-ndjson", data, Reply(TEXT, "stop", True, model="m"))


def _message() -> Answer:
    """Two blocks of text, and what is no text."""

    def delta(index: int, kind: str, **fields: str) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}

    first, second = TEXT.split("\u2028")
    values: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "msg_1", "model": "m", "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "ping"},
        delta(0, "thinking_delta", thinking="hm"),
        *(delta(1, "text_delta", text=letter) for letter in first),
        *(delta(2, "text_delta", text=letter) for letter in second),
        delta(2, "citations_delta"),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]
    lines = [f"event: {value['type']}\ndata: {_written(value, n)}\n\n" for n, value in enumerate(values)]
    expected = Reply(f"{first}\n{second}", "end_turn", True, model="m")
    return Answer(Messages(), "text/event-stream", "".join(lines).encode(), expected)


def _gemini(*, array: bool) -> Answer:
    chunks: list[dict[str, Any]] = [
        {"candidates": [{"content": {"parts": [{"text": "hm]", "thought": True}]}}], "responseId": "r1"},
        *({"candidates": [{"content": {"parts": [{"text": letter}]}}], "modelVersion": "m"} for letter in TEXT),
        {"candidates": [{"finishReason": "STOP"}]},
    ]
    written = [_written(chunk, n) for n, chunk in enumerate(chunks)]
    data = "[" + ",\r\n".join(written) + "\n]\n" if array else "".join(f"data: {one}\r\n\r\n" for one in written)
    kind = "application/json; charset=UTF-8" if array else "text/event-stream"
    return Answer(Gemini(), kind, data.encode(), Reply(TEXT, "STOP", True, model="m"), ends=array)


def _written(value: object, number: int) -> str:
    return json.dumps(value, ensure_ascii=number % 3 == 0)


ANSWERS = {
    "chat LF": _chat("\n"),
    "chat CRLF": _chat("\r\n"),
    "chat CR": _chat("\r"),
    "responses": _response(whole=False),
    "responses at the end": _response(whole=True),
    "ollama": _ollama(),
    "messages": _message(),
    "gemini": _gemini(array=False),
    "gemini in an array": _gemini(array=True),
}


def read(form: WireFormat, pieces: Sequence[bytes], kind: str, coding: str = "") -> tuple[Reply, bool]:
    reader = form.reader(kind, coding)
    ended = [reader.feed(piece) for piece in pieces]
    assert ended == sorted(ended)  # once ended, it stays so
    return reader.finish(), ended[-1] if ended else False


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_every_cut_of_a_stream_gives_the_same_reply(answer: Answer, coding: str) -> None:
    data = CODINGS[coding](answer.data)

    def cut(*pieces: bytes) -> tuple[Reply, bool]:
        return read(answer.form, pieces, answer.kind, coding)

    expected = (answer.expected, answer.ends)
    assert cut(data) == expected
    assert cut(*(data[at : at + 1] for at in range(len(data)))) == expected
    for at in range(0, len(data), 1 if not coding else 7):
        assert cut(data[:at], data[at:]) == expected


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_breaks_off_says_part_of_it_and_is_not_complete(answer: Answer) -> None:
    for at in range(len(answer.data) - 200):
        reply, ended = read(answer.form, [answer.data[:at]], answer.kind)
        assert (ended, reply.complete, reply.error) == (False, False, None)
        assert reply.text in answer.expected.text


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


KEYS = st.sampled_from(
    (
        "choices delta message content index finish_reason error type object done done_reason response output item "
        "text status role output_index content_index incomplete_details delta content_block stop_reason thought "
        "candidates parts finishReason promptFeedback blockReason functionCall"
    ).split()
)
WORDS = st.sampled_from(
    (
        "message assistant output_text function_call completed queued error response.completed response.failed "
        "response.output_text.delta response.output_text.done response.output_item.done text text_delta tool_use "
        "message_start content_block_start content_block_delta message_delta message_stop"
    ).split()
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
FORMS = {
    "chat_completions": ChatCompletions(),
    "responses": Responses(),
    "ollama": Ollama(),
    "messages": Messages(),
    "gemini": Gemini(),
}
every_format = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@every_format
@given(
    st.lists(
        ANYTHING.map(lambda value: b"data: " + json.dumps(value).encode() + b"\n\n")
        | ANYTHING.map(lambda value: json.dumps(value).encode() + b"\n")
        | ANYTHING.map(lambda value: b"[" + json.dumps(value).encode() + b",")
        | st.binary(max_size=30)
    ),
    st.sampled_from([*CODINGS, "unknown", "gzip, gzip, gzip, gzip, gzip", ",,"]),
    st.sampled_from(["text/event-stream", "application/json", "application/x-ndjson", ""]),
)
def test_no_bytes_make_a_reader_raise(form: WireFormat, pieces: list[bytes], coding: str, kind: str) -> None:
    reply, _ = read(form, pieces, kind, coding)
    reply.text.encode()


@every_format
@given(ANYTHING)
def test_no_json_body_makes_a_reader_raise(form: WireFormat, value: object) -> None:
    read(form, [json.dumps(value).encode()], "application/json")
