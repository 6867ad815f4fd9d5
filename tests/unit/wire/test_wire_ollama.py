"""Ollama's own chat: what is read of a request, where a block goes, what is understood of an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memproxy.errors import NotUnderstood
from memproxy.model import Addition, ChatRequest, Message, Placement, Reply
from memproxy.wire import Ollama, ndjson, route
from tests.placing import place

FORM = Ollama()
SYSTEM: Placement = "system"
USER: Placement = "user"


def body(*messages: Any, **fields: Any) -> bytes:
    return json.dumps({"model": "m", "messages": list(messages), **fields}).encode()


def message(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


def injected(sent: bytes, placement: Placement = SYSTEM) -> list[Any]:
    messages: list[Any] = json.loads(FORM.inject(sent, place("BLOCK", placement, FORM.decode(sent))))["messages"]
    return messages


HELLO = message("user", "hi")


def test_a_request_is_read_as_far_as_memory_needs_it() -> None:
    sent = body(
        message("system", "Be kind."),
        message("user", "look", images=["aGk="]),
        message("assistant", "", tool_calls=[{"function": {"name": "f", "arguments": {}}}], thinking="hm"),
        message("tool", "42", tool_name="f"),
        "nonsense",
        options={"num_predict": 7, "seed": 1},
        keep_alive="5m",
    )
    assert FORM.decode(sent) == ChatRequest(
        messages=(
            Message("system", "Be kind."),
            Message("user", "look"),
            Message("assistant", "", calls_tools=True),
            Message("tool", "42"),
            Message("", ""),
        ),
        model="m",
        stream=True,
        max_tokens=7,
        fields={"model": "m", "keep_alive": "5m"},
        extensible=True,
    )


@pytest.mark.parametrize(("fields", "streams"), [({}, True), ({"stream": None}, True), ({"stream": False}, False)])
def test_an_answer_is_a_stream_unless_the_request_says_otherwise(fields: dict[str, Any], streams: bool) -> None:
    assert FORM.decode(body(HELLO, **fields)).stream == streams


@pytest.mark.parametrize("options", [None, 5, {}, {"num_predict": -1}, {"num_predict": 0}, {"num_predict": True}])
def test_an_output_limit_that_is_none_is_no_limit(options: Any) -> None:
    assert FORM.decode(body(HELLO, options=options)).max_tokens is None


@pytest.mark.parametrize("sent", [b"", b"[]", b"{}", b'{"prompt": "hi"}', b'{"messages": "hi"}'])
def test_a_body_that_is_no_chat_request_is_not_understood(sent: bytes) -> None:
    for read in (FORM.decode, lambda b: FORM.inject(b, [Addition("x")])):
        with pytest.raises(NotUnderstood, match="body"):
            read(sent)


def test_a_block_goes_to_the_system_message() -> None:
    assert injected(body(message("system", "a"), HELLO)) == [message("system", "a\n\nBLOCK"), HELLO]


def test_without_a_system_message_the_models_own_stays_and_the_first_words_of_the_person_get_the_block() -> None:
    before = message("assistant", "Hi, how are you?")
    got = injected(body(before, HELLO, message("assistant", "b"), message("user", "c")))
    assert got[0] == before
    assert got[1]["content"].endswith("\n\nBLOCK")
    assert [one["content"] for one in got[2:]] == ["b", "c"]
    with pytest.raises(NotUnderstood, match="unspliceable"):
        injected(body(before))


def test_a_block_goes_to_the_newest_user_message() -> None:
    loop = [message("assistant", "", tool_calls=[{}]), message("tool", "42")]
    got = injected(body(HELLO, message("user", "ho", images=["aGk="]), *loop), USER)
    assert got == [HELLO, message("user", "ho\n\nBLOCK", images=["aGk="]), *loop]


@pytest.mark.parametrize("content", [[{"type": "text", "text": "hi"}], None, 5])
def test_content_that_is_no_string_is_left_alone(content: Any) -> None:
    with pytest.raises(NotUnderstood, match="unspliceable"):
        injected(body(message("user", content)), USER)


# --- answers -------------------------------------------------------------------------------------------------


def piece(content: Any, **fields: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": content}, "done": False, **fields}


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def read(data: bytes, kind: str = "application/x-ndjson") -> Reply:
    reader = FORM.reader(kind, "")
    reader.feed(data)
    return reader.finish()


HI = piece("hi")
CALL = {"message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f"}}]}, "done": False}
DONE = piece("", done=True, done_reason="stop", eval_count=3)
SAID = Reply("hi", "stop", True)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (lines(piece("h", model="m"), piece("i", model="m"), DONE), Reply("hi", "stop", True, model="m")),
        (lines(HI, DONE)[:-1], SAID),
        (lines(HI, DONE).replace(b"\n", b"\r\n\r\n"), SAID),
        (lines(HI), Reply("hi")),
        (lines(HI, piece("", done=True, done_reason="length")), Reply("hi", "length", True)),
        (lines(HI, {"done": True}), Reply("hi", None, True)),
        (lines({"message": {"thinking": "hm"}}, {"message": {"content": "", "thinking": "hm"}}, HI, DONE), SAID),
        (lines(HI, CALL, DONE), Reply("hi", "stop", True, True)),
        (lines(HI, {"error": "secret words"}), Reply("hi", error="error")),
        (lines(HI, {"error": "unexpected"}, DONE), Reply("hi", "stop", error="error")),
        (lines("odd", 5, [HI], {}, {"message": 5}, piece(None), piece(["x"]), HI, DONE), SAID),
        (b"{broken\n" + lines(HI, DONE), SAID),
        (lines(HI, DONE) + b'{"mess', SAID),
        (lines(piece("\ud83d"), piece("\ude00"), piece("\ud83d"), DONE), Reply("😀\ufffd", "stop", True)),
        (b'{"message":{"content":"a\xe2\x80\xa8b\xc2\x85"}}\n' + lines(DONE), Reply("a\u2028b\x85", "stop", True)),
    ],
)  # fmt: skip
def test_a_stream_is_understood(data: bytes, expected: Reply) -> None:
    assert read(data) == expected
    assert read(data, "application/x-ndjson; charset=utf-8") == expected


def test_a_stream_under_another_type_is_understood_at_its_end() -> None:
    assert read(lines(HI, DONE), "application/json") == SAID
    assert read(lines(HI, DONE), "") == SAID


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (piece("hi", model="m", done=True, done_reason="stop"), Reply("hi", "stop", True, model="m")),
        ({**CALL, "done": True}, Reply("", None, True, True)),
        ({"error": "secret words"}, Reply(error="error")),
        ([], Reply()),
    ],
)
def test_a_body_is_understood(value: Any, expected: Reply) -> None:
    assert read(json.dumps(value, indent=1).encode(), "application/json; charset=utf-8") == expected
    assert read(lines(value)) == expected


def test_the_end_is_seen_with_the_line_that_says_it() -> None:
    reader = FORM.reader("application/x-ndjson", "")
    assert not reader.feed(lines(HI, DONE)[:-1])
    assert reader.feed(b"\n")
    assert reader.feed(lines(HI))


def test_a_line_of_many_megabytes_is_read_in_linear_time_and_what_is_longer_is_left_out() -> None:
    big = lines(piece("x" * (20 << 20)), DONE)
    reader = FORM.reader("application/x-ndjson", "")
    for start in range(0, len(big), 1000):
        reader.feed(big[start : start + 1000])
    reply = reader.finish()
    assert (len(reply.text), reply.complete) == (8 << 20, True)


def test_a_line_beyond_the_limit_is_lost_and_the_reply_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ndjson, "LONGEST_LINE", 200)
    assert read(lines(HI, piece("x" * 200), piece("!"), DONE)) == Reply("hi!", "stop", False)


# --- the rest ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "known"),
    [
        ("POST", b"/api/chat", True),
        ("POST", b"/ollama/api/chat", True),
        ("GET", b"/api/chat", False),
        ("POST", b"/api/chat/", False),
        ("POST", b"/api/chats", False),
        ("POST", b"/xapi/chat", False),
        ("POST", b"/api/generate", False),
    ],
)
def test_a_route_is_known_by_its_method_and_the_exact_end_of_its_path(method: str, path: bytes, known: bool) -> None:
    assert isinstance(route(method, path), Ollama) == known


def test_errors_have_the_shape_of_the_api() -> None:
    assert json.loads(FORM.error(502, "No “answer”.", "connect")) == {"error": "No “answer”."}
