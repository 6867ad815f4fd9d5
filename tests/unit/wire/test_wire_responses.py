"""OpenAI Responses: what is read of a request, where a block goes, what is understood of an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memproxy.errors import NotUnderstood
from memproxy.model import Addition, ChatRequest, Message, Placement, Reply
from memproxy.wire import Responses, route
from memproxy.wire.responses import fetched_id
from tests.placing import place

FORM = Responses()
SYSTEM: Placement = "system"
USER: Placement = "user"


def body(given: Any = "hi", **fields: Any) -> bytes:
    return json.dumps({"model": "m", "input": given, **fields}).encode()


def inject(sent: bytes, placement: Placement = SYSTEM) -> bytes:
    return FORM.inject(sent, place("BLOCK", placement, FORM.decode(sent)))


def injected(sent: bytes, placement: Placement = SYSTEM) -> dict[str, Any]:
    request: dict[str, Any] = json.loads(inject(sent, placement))
    return request


TEXT_PART = {"type": "input_text", "text": "look"}
IMAGE = {"type": "input_image", "image_url": "data:x"}
BLOCK_PART = {"type": "input_text", "text": "BLOCK"}
CALL = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "1", "output": "42"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "secret"}


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **fields}


def test_a_request_is_read_as_far_as_memory_needs_it() -> None:
    sent = body(
        "Hello",
        instructions="Be kind.",
        previous_response_id="resp_1",
        stream=True,
        max_output_tokens=7,
        user="u-1",
    )
    assert FORM.decode(sent) == ChatRequest(
        messages=(Message("user", "Hello"),),
        system="Be kind.",
        previous="resp_1",
        model="m",
        stream=True,
        max_tokens=7,
        fields={
            "model": "m",
            "input": "Hello",
            "instructions": "Be kind.",
            "previous_response_id": "resp_1",
            "user": "u-1",
        },
    )


def test_every_item_is_a_message_in_its_place() -> None:
    said = {"type": "output_text", "text": "Sure.", "annotations": []}
    items = [
        {"role": "developer", "content": "Be brief."},
        {"type": "message", "role": "user", "content": [TEXT_PART, IMAGE, {"type": "input_text", "text": "here"}]},
        REASONING,
        {
            "type": "message",
            "role": "assistant",
            "id": "msg_1",
            "content": [said, {"type": "refusal", "refusal": "no"}],
        },
        CALL,
        OUTPUT,
        {"type": "custom_tool_call", "name": "t", "input": "x"},
        {"type": "custom_tool_call_output", "output": [{"type": "input_text", "text": "done"}, IMAGE]},
        {"type": "web_search_call", "status": "completed"},
        {"type": "item_reference", "id": "msg_0"},
        {"id": "msg_0"},
        {"type": "brand_new", "text": "words"},
        {"role": 5, "content": "odd"},
        "nonsense",
        None,
    ]
    assert FORM.decode(body(items)).messages == (
        Message("developer", "Be brief."),
        Message("user", "look\nhere"),
        Message("reasoning", ""),
        Message("assistant", "Sure."),
        Message("assistant", "", calls_tools=True),
        Message("tool", "42"),
        Message("assistant", "", calls_tools=True),
        Message("tool", "done"),
        Message("assistant", ""),
        Message("item_reference", ""),
        Message("", ""),
        Message("brand_new", ""),
        Message("", "odd"),
        Message("", ""),
        Message("", ""),
    )


@pytest.mark.parametrize(
    ("fields", "previous"),
    [
        ({}, None),
        ({"previous_response_id": None, "conversation": None}, None),
        ({"previous_response_id": "resp_1"}, "resp_1"),
        ({"conversation": "conv_1"}, "conv_1"),
        ({"conversation": {"id": "conv_1"}}, "conv_1"),
        ({"conversation": {"id": 5}, "previous_response_id": ""}, None),
    ],
)
def test_what_a_request_goes_on_from_is_read(fields: dict[str, Any], previous: str | None) -> None:
    assert FORM.decode(body(**fields)).previous == previous


@pytest.mark.parametrize("sent", [b'{"prompt": {"id": "p"}}', b'{"input": null, "conversation": "conv_1"}', b"{}"])
def test_a_request_may_say_nothing(sent: bytes) -> None:
    assert FORM.decode(sent).messages == ()


@pytest.mark.parametrize(
    "sent", [b"", b"[]", b"null", b'{"input": 5}', b'{"input": {}}', b'{"input": []} x', b'{"input": "\xff"}']
)
def test_a_body_that_is_no_request_is_not_understood(sent: bytes) -> None:
    for read in (FORM.decode, lambda b: FORM.inject(b, [Addition("x")])):
        with pytest.raises(NotUnderstood, match="body"):
            read(sent)


# --- placement -----------------------------------------------------------------------------------------------


def test_a_block_goes_to_the_end_of_the_instructions() -> None:
    assert injected(body(instructions="Be kind."))["instructions"] == "Be kind.\n\nBLOCK"
    assert injected(body(instructions=""))["instructions"] == "BLOCK"


@pytest.mark.parametrize("given", ["hi", [user("hi")], [{"role": "developer", "content": "a"}, user("hi")], [OUTPUT]])
def test_without_instructions_there_are_some_and_the_input_stays_as_it_was(given: Any) -> None:
    sent = body(given, previous_response_id="resp_1")
    assert inject(sent) == sent[:-1] + b',"instructions":"BLOCK"}'


@pytest.mark.parametrize("sent", [b"{}", b" { \n} "])
def test_even_a_request_without_anything_gets_its_instructions(sent: bytes) -> None:
    assert json.loads(FORM.inject(sent, [Addition("A"), Addition("B")])) == {"instructions": "A\n\nB"}


@pytest.mark.parametrize("fields", [{"prompt": {"id": "p"}}, {"instructions": None}])
def test_where_instructions_would_do_harm_the_newest_user_message_is_used(fields: dict[str, Any]) -> None:
    assert injected(body("hi", **fields)) == {"model": "m", "input": "hi\n\nBLOCK", **fields}
    items = [user("a"), {"role": "assistant", "content": "b"}, user([TEXT_PART]), CALL, OUTPUT]
    got = injected(body(items, **fields))
    assert got == {"model": "m", "input": [*items[:2], user([TEXT_PART, BLOCK_PART]), CALL, OUTPUT], **fields}


def test_a_template_with_instructions_beside_it_gets_no_text_in_its_input() -> None:
    got = injected(body("hi", prompt={"id": "p"}, instructions="Be kind."))
    assert (got["input"], got["instructions"]) == ("hi", "Be kind.\n\nBLOCK")
    assert "instructions" in injected(body("hi", prompt=None))


def test_a_block_goes_into_the_newest_user_message() -> None:
    assert injected(body("hi"), USER)["input"] == "hi\n\nBLOCK"
    assert injected(body([user("a"), user("b"), OUTPUT]), USER)["input"] == [user("a"), user("b\n\nBLOCK"), OUTPUT]
    parts = [{**TEXT_PART, "prompt_cache_breakpoint": {"mode": "explicit"}}, IMAGE]
    got = injected(body([REASONING, user(parts, type="message")]), USER)["input"]
    assert got == [REASONING, user([*parts, BLOCK_PART], type="message")]


def test_several_texts_find_their_places() -> None:
    sent = body([user([]), REASONING, user("b")], prompt={"id": "p"})
    got = FORM.inject(sent, [Addition("S"), Addition("A", 0), Addition("B", 2), Addition("C", 0)])
    parts = [{"type": "input_text", "text": "A\n\nC"}]
    assert json.loads(got)["input"] == [user(parts), REASONING, user("b\n\nS\n\nB")]


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        (body(instructions=["a"]), None),
        (body(instructions=5), None),
        (body([OUTPUT], prompt={"id": "p"}), None),
        (body([], instructions=None), None),
        (body("hi"), 1),
        (body([user("a")]), 1),
        (body([OUTPUT]), 0),
        (body([REASONING]), 0),
        (body([CALL]), 0),
        (body(["nonsense"]), 0),
        (body([user(None)]), 0),
        (body([{"role": "user"}]), 0),
        (body([{"role": "assistant", "content": [{"type": "output_text", "text": "a"}]}]), 0),
        (b"{}", 0),
    ],
)
def test_where_no_place_is_safe_nothing_is_spliced(sent: bytes, place: int | None) -> None:
    with pytest.raises(NotUnderstood, match="unspliceable"):
        FORM.inject(sent, [Addition("x", place)])


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        ('{"input": "a", "input": "b"}', None),
        ('{"input": "a", "inp\\u0075t": "b"}', 0),
        ('{"input": "a", "instructions": "b", "instructions": "c"}', None),
        ('{"input": [{"role": "user", "content": "a", "content": "b"}]}', 0),
        ('{"input": [{"role": "user", "content": "a", "role": "user"}]}', 0),
        ('{"input": [{"type": "reasoning", "role": "user", "content": "a", "type": "message"}]}', 0),
    ],
)
def test_what_is_said_twice_is_ambiguous_when_it_would_be_edited(sent: str, place: int | None) -> None:
    with pytest.raises(NotUnderstood, match="ambiguous"):
        FORM.inject(sent.encode(), [Addition("x", place)])


def test_all_other_bytes_stay_as_they_were() -> None:
    sent = '{ "store" :false,\r\n"seed":1.0 , "include":["reasoning.encrypted_content"], "input":"h\\u00e9 é" }'
    assert inject(sent.encode(), USER).decode() == sent.replace('é" }', 'é\\n\\nBLOCK" }')
    assert inject(sent.encode()).decode() == sent.replace('é" }', 'é","instructions":"BLOCK" }')


# --- answers -------------------------------------------------------------------------------------------------


def message(*texts: str, **fields: Any) -> dict[str, Any]:
    parts = [{"type": "output_text", "text": text} for text in texts]
    return {"type": "message", "role": "assistant", "content": parts, **fields}


def response(status: str | None, *output: Any, **fields: Any) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "status": status, "output": list(output), "error": None, **fields}


def ending(status: str, *output: Any, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": response(status, *output, **fields)}


def delta(text: Any, item: int = 0, part: int = 0) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "output_index": item, "content_index": part, "delta": text}


def done(text: Any, item: int = 0, part: int = 0) -> dict[str, Any]:
    return {"type": "response.output_text.done", "output_index": item, "content_index": part, "text": text}


def added(item: Any, index: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def item_done(item: Any, index: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def events(*values: Any) -> bytes:
    written = []
    for value in values:
        name = f"event: {value['type']}\n" if isinstance(value, dict) and "type" in value else ""
        written.append(f"{name}data: {json.dumps(value)}\n\n")
    return "".join(written).encode()


def read(data: bytes, kind: str = "text/event-stream") -> Reply:
    reader = FORM.reader(kind, "")
    reader.feed(data)
    return reader.finish()


HI = delta("hi")
COMPLETED = ending("completed")
SAID = Reply("hi", "completed", True, id="resp_1")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (events(HI, COMPLETED), SAID),
        (events(HI, COMPLETED) + b"data: [DONE]\n\n", SAID),
        (events(HI) + b"data: [DONE]\n\n", Reply("hi")),
        (events(ending("created"), HI), Reply("hi", id="resp_1")),
        (events(ending("created", model="m"), ending("in_progress"), HI, COMPLETED),
         Reply("hi", "completed", True, model="m", id="resp_1")),
        (events(delta("b", 1), delta("c", 1, 1), delta("a", 0), delta("d", 10), COMPLETED),
         Reply("abcd", "completed", True, id="resp_1")),
        # what is missing or only partly there is made good by what says it as a whole
        (events(done("hi"), COMPLETED), SAID),
        (events(delta("i"), done("hi"), COMPLETED), SAID),
        (events(HI, done(""), done(None), item_done(message()), COMPLETED), SAID),
        (events(item_done(message("h", "i")), COMPLETED), SAID),
        (events(delta("i"), item_done(message("hi")), COMPLETED), SAID),
        (events(ending("completed", message("hi"))), SAID),
        (events(delta("h", 3), ending("completed", REASONING, message("h", "i"))), SAID),
        (events(HI, ending("completed", REASONING)), SAID),
        (events(delta("x"), item_done({"type": "message", "content": "hi"}), COMPLETED), SAID),
        # what is no word of the assistant's
        (events({"type": "response.reasoning_text.delta", "delta": "hm"},
                {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
                {"type": "response.refusal.delta", "delta": "no"},
                {"type": "response.function_call_arguments.delta", "delta": "{}"}, HI, COMPLETED), SAID),
        (events(added(REASONING), delta("hm"), done("hm"), added(message(), 1), delta("hi", 1), COMPLETED), SAID),
        (events(added(REASONING), added(message()), HI, COMPLETED), SAID),
        (events(added(message(role="user")), delta("x"), delta("hi", 1), COMPLETED), SAID),
        (events(item_done(message("x", role="user")), delta("hi", 1), COMPLETED), SAID),
        # tools
        (events(HI, added(CALL, 1), COMPLETED), Reply("hi", "completed", True, True, id="resp_1")),
        (events(HI, item_done({"type": "custom_tool_call"}, 1), COMPLETED),
         Reply("hi", "completed", True, True, id="resp_1")),
        (events(HI, ending("completed", message("hi"), CALL)), Reply("hi", "completed", True, True, id="resp_1")),
        (events(HI, added({"type": "web_search_call"}, 1), COMPLETED), SAID),
        # other endings
        (events(HI, ending("incomplete", incomplete_details={"reason": "max_output_tokens"})),
         Reply("hi", "max_output_tokens", id="resp_1")),
        (events(HI, ending("incomplete")), Reply("hi", "incomplete", id="resp_1")),
        (events(HI, ending("failed", error={"code": "server_error", "message": "secret"})),
         Reply("hi", "failed", error="server_error", id="resp_1")),
        (events(HI, ending("failed")), Reply("hi", "failed", error="error", id="resp_1")),
        (events(HI, {"type": "error", "code": "rate_limit_exceeded", "message": "secret"}),
         Reply("hi", error="rate_limit_exceeded")),
        (events(HI, {"type": "error", "error": {"type": "server_error", "code": None}}),
         Reply("hi", error="server_error")),
        (events(HI, {"error": {"code": "it says: secret"}}), Reply("hi", error="error")),
        # oddities
        (events("odd", 5, [HI], {"type": 5}, {"type": "response.brand_new"}, HI, COMPLETED), SAID),
        (events({"type": "response.output_text.delta", "delta": "hi"}, COMPLETED), SAID),
        (events(delta(None), delta({"text": "x"}), HI, {**COMPLETED, "response": None}, COMPLETED), SAID),
        (b'event: response.output_text.delta\ndata: {"delta": "hi"}\n\n' + events(COMPLETED), SAID),
        (events(delta("\ud83d"), delta("\ude00"), delta("\ud83d"), COMPLETED),
         Reply("😀\ufffd", "completed", True, id="resp_1")),
    ],
)  # fmt: skip
def test_a_stream_is_understood(data: bytes, expected: Reply) -> None:
    assert read(data) == expected
    assert read(data, "") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (response("completed", REASONING, message("h", "i"), model="m"),
         Reply("hi", "completed", True, model="m", id="resp_1")),
        (response(None, message("hi")), SAID),
        (response(None), Reply(id="resp_1")),
        (response("completed", CALL), Reply("", "completed", True, True, id="resp_1")),
        (response("incomplete", message("hi"), incomplete_details={"reason": "content_filter"}),
         Reply("hi", "content_filter", id="resp_1")),
        (response("queued"), Reply("", "queued", id="resp_1")),
        (response("in_progress", message("h")), Reply("", "in_progress", id="resp_1")),
        (response("cancelled", message("h")), Reply("h", "cancelled", id="resp_1")),
        (response("failed", error={"code": "server_error", "message": "secret"}),
         Reply("", "failed", error="server_error", id="resp_1")),
        ({"error": {"type": "overloaded", "message": "secret"}}, Reply(error="overloaded")),
        ({"output": "odd", "status": 5}, Reply()),
        ({}, Reply()),
        ([], Reply()),
    ],
)  # fmt: skip
def test_a_body_is_understood(value: Any, expected: Reply) -> None:
    data = json.dumps(value, indent=1).encode()
    for kind in ("application/json; charset=utf-8", ""):
        assert read(data, kind) == expected
    assert read(data[:-1], "application/json").complete is False


@pytest.mark.parametrize(
    "last", [COMPLETED, ending("incomplete"), ending("failed"), {"type": "error", "message": "x"}, "[DONE]"]
)
def test_the_end_is_seen_with_the_line_that_says_it(last: Any) -> None:
    reader = FORM.reader("text/event-stream", "")
    assert not reader.feed(events(HI, {"type": "response.completed_not", "response": {}}))
    line = b"data: " + (last.encode() if isinstance(last, str) else json.dumps(last).encode())
    assert not reader.feed(line)
    assert reader.feed(b"\n")
    assert reader.feed(b"\n" + events(delta("more")))


def test_an_end_that_does_not_name_itself_first_is_seen_when_it_is_closed() -> None:
    reader = FORM.reader("text/event-stream", "")
    data = events(HI, {"sequence_number": 9, **COMPLETED})
    assert not reader.feed(data[:-1])
    assert reader.feed(data[-1:])
    assert reader.finish() == SAID


# --- the rest ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "known"),
    [
        ("POST", b"/v1/responses", True),
        ("POST", b"/openai/v1/responses", True),
        ("POST", b"/openai/deployments/gpt-4o/responses", True),
        ("GET", b"/v1/responses", False),
        ("POST", b"/v1/responses/", False),
        ("POST", b"/v1/responses/resp_1", False),
        ("POST", b"/v1/responses/resp_1/cancel", False),
        ("POST", b"/v1/responses/compact", False),
        ("POST", b"/v1/xresponses", False),
    ],
)
def test_a_route_is_known_by_its_method_and_the_exact_end_of_its_path(method: str, path: bytes, known: bool) -> None:
    assert isinstance(route(method, path), Responses) == known


@pytest.mark.parametrize(
    ("method", "path", "fetched"),
    [
        ("GET", b"/v1/responses/resp_1", "resp_1"),
        ("GET", b"/openai/v1/responses/resp%2D1", "resp-1"),
        ("DELETE", b"/v1/responses/resp_1", None),
        ("GET", b"/v1/responses/resp_1/input_items", None),
        ("GET", b"/v1/responses", None),
        ("GET", b"/v1/responses/", None),
        ("GET", b"/v1/xresponses/resp_1", None),
    ],
)
def test_fetching_an_answer_is_known_by_its_path(method: str, path: bytes, fetched: str | None) -> None:
    assert fetched_id(method, path) == fetched


@pytest.mark.parametrize("after", range(5))
def test_a_stream_that_is_fetched_from_a_later_event_on_says_it_all(after: int) -> None:
    values = [delta("h"), delta("i"), done("hi"), item_done(message("hi")), ending("completed", message("hi"))]
    assert read(events(*values[after:])) == SAID


def test_errors_have_the_shape_of_the_api() -> None:
    error = json.loads(FORM.error(502, "No “answer”.", "connect"))
    assert error == {"error": {"message": "No “answer”.", "type": "upstream_error", "param": None, "code": "connect"}}
