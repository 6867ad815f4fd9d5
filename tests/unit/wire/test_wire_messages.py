"""Anthropic's messages: what is read of a request and of an answer, where an addition goes, how errors look."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memproxy.errors import NotUnderstood
from memproxy.model import Addition, ChatRequest, Message, Reply
from memproxy.wire import Messages, route

FORM = Messages()
CACHED = {"cache_control": {"type": "ephemeral"}}


def text_block(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


def message(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def body(*messages: Any, **fields: Any) -> bytes:
    return json.dumps({"model": "claude", "max_tokens": 100, **fields, "messages": list(messages)}).encode()


def injected(sent: bytes, *places: int | None) -> dict[str, Any]:
    additions = [Addition(f"ADDED {place}", place) for place in places or (None,)]
    after: dict[str, Any] = json.loads(FORM.inject(sent, additions))
    return after


IMAGE = {"type": "image", "source": {"type": "base64", "data": "eA=="}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [text_block("42 degrees")]}
CALL = {"type": "tool_use", "id": "t1", "name": "weather", "input": {}}
HI = message("user", "hi")


# --- reading a request ---------------------------------------------------------------------------------------


def test_a_request_is_read_as_far_as_memory_needs_it() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    sent = body(
        message("user", [text_block("look"), IMAGE, text_block(""), text_block("here")]),
        message("assistant", [thinking, text_block("I will."), CALL]),
        message("user", [RESULT]),
        message("user", [RESULT, text_block("and now?")]),
        message("system", "Be brief."),
        message("assistant", [{"type": "server_tool_use", "id": "s1"}, {"type": "brand_new", "text": "?"}]),
        "nonsense",
        {"role": 5, "content": 7},
        system=[text_block("Be kind.", **CACHED), text_block("Be true.")],
        stream=True,
        metadata={"user_id": "u-1"},
    )
    assert FORM.decode(sent) == ChatRequest(
        messages=(
            Message("user", "look\nhere"),
            Message("assistant", "I will.", calls_tools=True),
            Message("tool", "", answers_tools=True),
            Message("user", "and now?", answers_tools=True),
            Message("system", "Be brief."),
            Message("assistant", ""),
            Message("", ""),
            Message("", ""),
        ),
        system="Be kind.\nBe true.",
        model="claude",
        stream=True,
        max_tokens=100,
        fields={"model": "claude", "metadata.user_id": "u-1"},
        extensible=True,
    )


@pytest.mark.parametrize(("system", "read"), [("Be kind.", "Be kind."), (None, ""), ([], ""), (5, ""), ("", "")])
def test_the_system_prompt_stands_outside_the_messages(system: Any, read: str) -> None:
    assert FORM.decode(body(HI, system=system)).system == read
    assert FORM.decode(body(HI)).system == ""


@pytest.mark.parametrize("metadata", [None, {}, {"user_id": None}, {"user_id": ""}, "u-1", {"user_id": 5}])
def test_without_a_users_id_there_is_no_field_for_it(metadata: Any) -> None:
    assert "metadata.user_id" not in FORM.decode(body(HI, metadata=metadata)).fields


@pytest.mark.parametrize("sent", [b"", b"[]", b"{}", b'{"messages": "hi"}', b'{"messages": {}}', b'{"messages": []} x'])
def test_a_body_without_messages_is_not_understood(sent: bytes) -> None:
    for read in (FORM.decode, lambda data: FORM.inject(data, [Addition("x")])):
        with pytest.raises(NotUnderstood, match="body"):
            read(sent)


# --- additions to the system prompt --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "after"),
    [
        ("Be kind.", "Be kind.\n\nADDED None"),
        ("", "ADDED None"),
        ([], [text_block("ADDED None")]),
        ([text_block("a")], [text_block("a"), text_block("ADDED None")]),
        (
            [text_block("a", **CACHED), text_block("b", **CACHED)],
            [text_block("a", **CACHED), text_block("b", **CACHED), text_block("ADDED None")],
        ),
        (None, [text_block("ADDED None", citations=None)]),
    ],
)
def test_an_addition_goes_to_the_end_of_the_system_prompt(system: Any, after: Any) -> None:
    sent = body(HI, system=system)
    assert injected(sent) == {**json.loads(sent), "system": after}


def test_without_a_system_prompt_the_addition_becomes_it() -> None:
    sent = body(HI, message("assistant", "The answer is ("))
    assert injected(sent) == {**json.loads(sent), "system": "ADDED None"}
    assert FORM.inject(b'{"messages": [] }', [Addition("B")]) == b'{"messages": [],"system":"B" }'


def test_no_breakpoint_is_ever_added() -> None:
    four = [text_block(str(number), **CACHED) for number in range(4)]
    sent = body(message("user", [text_block("hi", **CACHED)]), system=four, cache_control=CACHED["cache_control"])
    after = FORM.inject(sent, [Addition("ADDED"), Addition("MORE", 0)])
    assert after.count(b'"cache_control"') == sent.count(b'"cache_control"')
    assert json.loads(after)["system"] == [*four, text_block("ADDED")]


@pytest.mark.parametrize("system", [5, {"type": "text", "text": "a"}, True])
def test_a_system_prompt_of_no_known_shape_is_let_be(system: Any) -> None:
    with pytest.raises(NotUnderstood, match="unspliceable"):
        injected(body(HI, system=system))


# --- additions to a message ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "after"),
    [
        ("hi", "hi\n\nADDED 0"),
        ([IMAGE], [IMAGE, text_block("ADDED 0")]),
        ([RESULT], [RESULT, text_block("ADDED 0")]),
        ([RESULT, text_block("so?", **CACHED)], [RESULT, text_block("so?", **CACHED), text_block("ADDED 0")]),
        ([], [text_block("ADDED 0")]),
    ],
)
def test_an_addition_goes_to_the_end_of_a_message(content: Any, after: Any) -> None:
    sent = body(message("user", content), message("assistant", "yes"))
    assert injected(sent, 0)["messages"] == [message("user", after), message("assistant", "yes")]


def test_several_additions_each_find_their_place() -> None:
    after = injected(body(HI, message("assistant", "yes"), HI, system="S"), None, 2, 0, 2)
    assert after["system"] == "S\n\nADDED None"
    assert [m["content"] for m in after["messages"]] == ["hi\n\nADDED 0", "yes", "hi\n\nADDED 2\n\nADDED 2"]


@pytest.mark.parametrize(
    ("target", "place"),
    [
        (message("assistant", "The answer is ("), 0),
        (message("assistant", [text_block("a")]), 0),
        (message("user", None), 0),
        (message("user", {"type": "text"}), 0),
        ({"role": "user"}, 0),
        ({"content": "hi"}, 0),
        ("hi", 0),
        (HI, 1),
        (HI, -1),
    ],
)
def test_where_no_place_is_safe_nothing_is_spliced(target: Any, place: int) -> None:
    with pytest.raises(NotUnderstood, match="unspliceable"):
        injected(body(target), place)


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        ('{"messages": [{"role": "user", "content": "a"}], "system": "a", "syst\\u0065m": "b"}', None),
        ('{"messages": [{"role": "user", "content": "a", "content": "b"}]}', 0),
        ('{"messages": [{"role": "user", "content": "a", "role": "user"}]}', 0),
    ],
)
def test_what_stands_there_twice_is_ambiguous_when_it_would_be_edited(sent: str, place: int | None) -> None:
    with pytest.raises(NotUnderstood, match="ambiguous"):
        FORM.inject(sent.encode(), [Addition("x", place)])
    assert FORM.inject(sent.encode(), [Addition("x", 0 if place is None else None)])


def test_two_lists_of_messages_are_ambiguous() -> None:
    with pytest.raises(NotUnderstood, match="ambiguous"):
        FORM.decode(b'{"messages": [], "messages": []}')


def test_all_other_bytes_stay_as_they_were() -> None:
    sent = '{ "temperature" :1.0,\r\n"system" :[ {"text":"h\\u00e9 é" ,"type":"text"} ] ,"messages":[ ]\t}'
    after = FORM.inject(sent.encode(), [Addition("B")]).decode()
    assert after == sent.replace("} ]", '},{"type":"text","text":"B"} ]')


# --- answers -------------------------------------------------------------------------------------------------


def events(*values: dict[str, Any]) -> bytes:
    return b"".join(b"event: %s\ndata: %s\n\n" % (v["type"].encode(), json.dumps(v).encode()) for v in values)


def started(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def ending(reason: str | None) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}


START = {"type": "message_start", "message": {"id": "msg_1", "model": "claude", "content": [], "stop_reason": None}}
PING = {"type": "ping"}
STOP = {"type": "message_stop"}
TEXT = started(0, "text", text="")
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "secret"}}


def read(data: bytes, kind: str = "text/event-stream; charset=utf-8") -> Reply:
    reader = FORM.reader(kind, "")
    reader.feed(data)
    return reader.finish()


def reply(text: str = "", reason: str | None = "end_turn", complete: bool = True, **more: Any) -> Reply:
    return Reply(text, reason, complete, model="claude", **more)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([START, PING, TEXT, delta(0, "text_delta", text="h"), PING, delta(0, "text_delta", text="i"),
          {"type": "content_block_stop", "index": 0}, ending("end_turn"), STOP], reply("hi")),
        ([START, started(0, "thinking"), delta(0, "thinking_delta", thinking="hm"),
          delta(0, "signature_delta", signature="s"), started(1, "text", text="so "),
          delta(1, "citations_delta", citation={}), delta(1, "text_delta", text="it is"), ending("end_turn"), STOP],
         reply("so it is")),
        ([START, TEXT, delta(1, "text_delta", text="b"), delta(0, "text_delta", text="a"),
          delta(1, "text_delta", text="c"), started(2, "text", text=""), ending("end_turn"), STOP], reply("a\nbc")),
        ([START, TEXT, delta(0, "text_delta", text="a"), started(1, "tool_use", id="t", name="w", input={}),
          delta(1, "input_json_delta", partial_json='{"text'), ending("tool_use"), STOP],
         reply("a", "tool_use", calls_tools=True)),
        ([START, started(0, "server_tool_use", id="t"), ending("pause_turn"), STOP], reply("", "pause_turn")),
        ([START, TEXT, delta(0, "text_delta", text="a")], reply("a", None, False)),
        ([START, TEXT, delta(0, "text_delta", text="a"), ending("max_tokens")], reply("a", "max_tokens")),
        ([START, TEXT, delta(0, "text_delta", text="a"), STOP], reply("a", None)),
        ([START, TEXT, delta(0, "text_delta", text="a"), OVERLOADED],
         reply("a", None, False, error="overloaded_error")),
        ([{"type": "error", "error": {"type": "it says: secret"}}], Reply(error="error")),
        ([{"type": "brand_new"}, START, {"type": "content_block_delta"}, {"type": "message_delta"},
          delta(0, "brand_new", text="x"), delta(0, "text_delta", text=5), TEXT, STOP], reply("", None)),
        ([START, TEXT, delta(0, "text_delta", text="\ud83d"), delta(0, "text_delta", text="\ude00"), STOP],
         reply("😀", None)),
    ],
)  # fmt: skip
def test_a_stream_is_understood(values: list[dict[str, Any]], expected: Reply) -> None:
    assert read(events(*values)) == expected
    assert read(events(*values), "") == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"content": [text_block("hi")], "stop_reason": "end_turn"}, reply("hi")),
        ({"content": [{"type": "thinking", "thinking": "hm"}, text_block("a"), text_block(""), text_block("b"), CALL],
          "stop_reason": "tool_use"}, reply("a\nb", "tool_use", calls_tools=True)),
        ({"content": [], "stop_reason": "refusal"}, reply("", "refusal")),
        ({"content": ["odd", 5, text_block("a")], "stop_reason": None}, reply("a", None)),
        ({"content": "odd"}, reply("", None, False)),
    ],
)  # fmt: skip
def test_a_body_is_understood(fields: dict[str, Any], expected: Reply) -> None:
    data = json.dumps({"type": "message", "id": "msg_1", "model": "claude", **fields}).encode()
    assert read(data, "application/json") == read(data, "") == expected
    assert read(data[:-1], "application/json") == Reply()


def test_an_error_in_place_of_a_message_is_one() -> None:
    assert read(json.dumps(OVERLOADED).encode(), "application/json") == Reply(error="overloaded_error")


def test_an_answer_that_comes_back_as_history_says_the_same() -> None:
    blocks = [text_block("The grass "), text_block("is green"), CALL, text_block(".")]
    whole = read(json.dumps({"content": blocks}).encode(), "application/json")
    streamed = read(events(*(started(index, **block_fields(block)) for index, block in enumerate(blocks)), STOP))
    back = FORM.decode(body(HI, message("assistant", blocks))).messages[1]
    assert whole.text == streamed.text == back.text


def block_fields(block: dict[str, Any]) -> dict[str, Any]:
    return {"kind": block["type"], **{key: value for key, value in block.items() if key != "type"}}


@pytest.mark.parametrize("stop", [STOP, {**STOP, "amazon-bedrock-invocationMetrics": {"inputTokenCount": 8}}])
def test_the_end_is_seen_with_the_line_that_says_it(stop: dict[str, Any]) -> None:
    reader = FORM.reader("text/event-stream", "")
    said = delta(0, "text_delta", text="message_stop")
    assert not reader.feed(events(START, TEXT, said, ending("end_turn")) + events(stop)[:-2])
    assert reader.feed(b"\n")
    assert reader.feed(b"\n")


# --- the rest ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "records"),
    [
        ("POST", b"/v1/messages", True),
        ("POST", b"/messages", True),
        ("POST", b"/api/anthropic/v1/messages", True),
        ("POST", b"/v1/messages/count_tokens", False),
        ("GET", b"/v1/messages", None),
        ("POST", b"/v1/messages/", None),
        ("POST", b"/v1/messages/batches", None),
        ("POST", b"/v1/messages/batches/b1/cancel", None),
        ("POST", b"/v1/threads/thread_1/messages", None),
        ("POST", b"/openai/threads/thread_1/messages", None),
        ("POST", b"/v1/agents/agent-1/messages", None),
        ("POST", b"/v1/xmessages", None),
    ],
)
def test_a_route_is_known_by_its_method_and_the_exact_end_of_its_path(
    method: str, path: bytes, records: bool | None
) -> None:
    form = route(method, path)
    assert (form.records if isinstance(form, Messages) else None) == records
    assert form is None or form.name == "messages"


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "authentication_error"), (418, "invalid_request_error"), (502, "api_error"), (504, "timeout_error")],
)
def test_errors_have_the_shape_of_the_api(status: int, kind: str) -> None:
    error = json.loads(FORM.error(status, "No “answer”.", "connect"))
    assert error == {"type": "error", "error": {"type": kind, "message": "No “answer”."}}
