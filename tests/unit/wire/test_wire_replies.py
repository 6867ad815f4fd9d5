"""What is understood of an answer, over the oddities that servers have been seen to send."""

from __future__ import annotations

import gzip
import json
from typing import Any

import brotli
import pytest
import zstandard

from memproxy.model import Reply
from memproxy.wire import ChatCompletions, decoding, sse

FORM = ChatCompletions()


def events(*chunks: Any, done: bool = True) -> bytes:
    lines = [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks]
    return b"".join(lines) + (b"data: [DONE]\n\n" if done else b"")


def delta(finish_reason: str | None = None, index: int | None = 0, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": fields, "finish_reason": finish_reason}]}


def read(data: bytes, kind: str = "text/event-stream", coding: str = "") -> Reply:
    reader = FORM.reader(kind, coding)
    reader.feed(data)
    return reader.finish()


HI = delta(content="hi")
STOP = delta("stop")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (events(HI, STOP), Reply("hi", "stop", True)),
        (events(HI, STOP, done=False), Reply("hi", "stop", True)),
        (events(HI), Reply("hi", None, True)),
        (events(HI, done=False), Reply("hi")),
        (events(HI, delta(""), STOP, STOP, delta("")), Reply("hi", "stop", True)),
        (events({"choices": []}, {}, HI, {"usage": {}}, STOP), Reply("hi", "stop", True)),
        (events(delta(reasoning_content="hm"), delta(content=None), HI, STOP), Reply("hi", "stop", True)),
        (events(HI, delta(index=1, content="other"), delta(index=None, content="!"), STOP), Reply("hi!", "stop", True)),
        (events(HI, delta(tool_calls=[{"id": "1"}]), delta("tool_calls")), Reply("hi", "tool_calls", True, True)),
        (events(delta(content=[{"type": "think"}, {"type": "text", "text": "hi"}]), STOP), Reply("hi", "stop", True)),
        (events(HI, {"error": {"type": "server_error", "message": "secret"}}), Reply("hi", error="server_error")),
        (events(HI, {"error": "secret words"}), Reply("hi", error="error")),
        (events({"object": "error", "type": "BadRequest"}), Reply(error="BadRequest")),
        (events({"error": {"type": "it says: secret"}}), Reply(error="error")),
        (events("odd", 5, [HI], HI, STOP), Reply("hi", "stop", True)),
        (b"data: {broken\n\n" + events(HI, STOP), Reply("hi", "stop", True)),
        (events(HI, STOP) + b"data: [DO", Reply("hi", "stop", True)),
        (b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n'
         b'data: {"choices":[{"delta":{"content":"\\ude00"}}],"x":NaN}\n\n', Reply("😀")),
    ],
)  # fmt: skip
def test_a_stream_is_understood(data: bytes, expected: Reply) -> None:
    assert read(data) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"model": "m", "choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "length"}]},
         Reply("hi", "length", True, model="m")),
        ({"choices": [{"message": {"content": None, "tool_calls": [{}]}, "finish_reason": "tool_calls"}]},
         Reply("", "tool_calls", True, True)),
        ({"choices": [{"index": 1, "message": {"content": "b"}}, {"index": 0, "message": {"content": "a"}}]},
         Reply("a", None, True)),
        ({"choices": []}, Reply()),
        ({"error": {"type": "overloaded"}}, Reply(error="overloaded")),
        ([], Reply()),
    ],
)  # fmt: skip
def test_a_body_is_understood(value: Any, expected: Reply) -> None:
    data = json.dumps(value, indent=1).encode()
    for kind in ("application/json; charset=utf-8", "", "text/plain"):
        assert read(data, kind) == expected
    assert read(data[:-1], "application/json").complete is False


def test_a_stream_is_known_by_its_first_byte_where_its_type_is_missing() -> None:
    assert read(events(HI, STOP), "") == Reply("hi", "stop", True)


@pytest.mark.parametrize("at_line_end", [b"\n", b"\r\n"])
def test_the_end_is_seen_with_the_line_that_says_it(at_line_end: bytes) -> None:
    reader = FORM.reader("text/event-stream", "")
    assert not reader.feed(events(HI, done=False) + b"data: [DONE]")
    assert reader.feed(at_line_end)
    assert reader.feed(at_line_end)


# --- limits --------------------------------------------------------------------------------------------------


def test_a_line_of_many_megabytes_is_read_in_linear_time_and_what_is_longer_is_left_out() -> None:
    big = events(delta(content="x" * (20 << 20)), STOP)
    reader = FORM.reader("text/event-stream", "")
    for start in range(0, len(big), 1000):
        reader.feed(big[start : start + 1000])
    reply = reader.finish()
    assert (len(reply.text), reply.complete) == (8 << 20, True)


def test_an_event_beyond_the_limit_is_lost_and_the_reply_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LONGEST_EVENT", 100)
    assert read(events(HI, delta(content="x" * 200), delta(content="!"), STOP)) == Reply("hi!", "stop", False)
    assert read(b"data: 1234567890\n" * 20 + b"\n" + events(HI, STOP)) == Reply("hi", "stop", False)


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_a_bomb_is_given_up(coding: str) -> None:
    zeros = b"\0" * (decoding.LARGEST_OUTPUT + 1)
    squeeze = {"gzip": gzip.compress, "br": lambda data: brotli.compress(data, quality=1), "zstd": zstandard.compress}
    bomb = squeeze[coding](zeros)
    assert read(bomb, coding=coding) == Reply()


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "snappy", "gzip,gzip,gzip,gzip,gzip"])
def test_what_cannot_be_decoded_leaves_an_incomplete_reply(coding: str) -> None:
    assert read(events(HI, STOP), coding=coding) == Reply()


def test_a_coding_that_breaks_after_the_end_takes_nothing_away() -> None:
    for done in (True, False):
        squeezed = gzip.compress(events(HI, STOP, done=done))
        reader = FORM.reader("text/event-stream", "gzip")
        assert reader.feed(squeezed[:-4]) == done
        reader.feed(b"????")
        assert reader.finish() == Reply("hi", "stop", done)
