"""Gemini: what is read of a request and of an answer, where an addition goes, how errors look."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memproxy.errors import NotUnderstood
from memproxy.model import Addition, ChatRequest, Message, Reply
from memproxy.wire import Gemini, route

FORM = Gemini()
PATH = b"/v1beta/models/gemini-2.5-flash:generateContent"


def part(text: str, **more: Any) -> dict[str, Any]:
    return {"text": text, **more}


def content(role: str | None, *parts: Any) -> dict[str, Any]:
    return {**({} if role is None else {"role": role}), "parts": list(parts)}


def body(*contents: Any, **fields: Any) -> bytes:
    return json.dumps({**fields, "contents": list(contents)}).encode()


def injected(sent: bytes, *places: int | None) -> dict[str, Any]:
    additions = [Addition(f"ADDED {place}", place) for place in places or (None,)]
    after: dict[str, Any] = json.loads(FORM.inject(sent, additions))
    return after


ADDED = part("ADDED None")
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "eA=="}}
CALL = {"functionCall": {"name": "weather", "args": {}}}
RESULT = {"functionResponse": {"name": "weather", "response": {"degrees": 42}}}
HI = content("user", part("hi"))


# --- reading a request ---------------------------------------------------------------------------------------


def test_a_request_is_read_as_far_as_memory_needs_it() -> None:
    sent = body(
        content(None, part("look"), IMAGE, part(""), part("here")),
        content("model", part("hm", thought=True), part("I "), part("will."), CALL),
        content("user", RESULT),
        content("function", RESULT),
        content("user", RESULT, part("and now?")),
        content("model", {"function_call": {}}),
        content("user", {"function_response": {}}),
        {"role": "user"},
        5,
        systemInstruction=content("system", part("Be kind."), part("Be true.")),
        generationConfig={"maxOutputTokens": 100, "candidateCount": 2},
        user="u-1",
    )
    assert FORM.decode(sent, PATH) == ChatRequest(
        messages=(
            Message("user", "look\nhere"),
            Message("assistant", "I will.", calls_tools=True),
            Message("tool", "", answers_tools=True),
            Message("tool", "", answers_tools=True),
            Message("user", "and now?", answers_tools=True),
            Message("assistant", "", calls_tools=True),
            Message("tool", "", answers_tools=True),
            Message("user", ""),
            Message("user", ""),
        ),
        system="Be kind.\nBe true.",
        model="gemini-2.5-flash",
        stream=False,
        max_tokens=100,
        choices=2,
        fields={"user": "u-1"},
        extensible=True,
    )


def test_snake_case_is_read_as_well() -> None:
    config = {"max_output_tokens": 7, "candidate_count": 3}
    request = FORM.decode(body(HI, system_instruction=content(None, part("S")), generation_config=config))
    assert (request.system, request.max_tokens, request.choices) == ("S", 7, 3)


@pytest.mark.parametrize(
    ("path", "model", "stream"),
    [
        (b"/v1beta/models/gemini-2.5-pro:streamGenerateContent", "gemini-2.5-pro", True),
        (b"/v1/models/tuned%20one:generateContent", "tuned one", False),
        (b"/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent", "g", True),
        (b"", None, False),
    ],
)
def test_model_and_streaming_stand_in_the_path(path: bytes, model: str | None, stream: bool) -> None:
    request = FORM.decode(body(HI), path)
    assert (request.model, request.stream) == (model, stream)


@pytest.mark.parametrize(
    "contents", ["hi", {"parts": {"text": "hi"}}, {"parts": [part("hi")]}, [{"parts": "hi"}], ["hi"], [[part("hi")]]]
)
def test_a_list_may_be_a_single_object_or_a_string(contents: Any) -> None:
    sent = json.dumps({"contents": contents, "systemInstruction": contents}).encode()
    request = FORM.decode(sent)
    assert request.messages == (Message("user", "hi"),)


@pytest.mark.parametrize(
    "instruction", ["S", part("S"), [part("S")], {"parts": "S"}, {"parts": part("S")}, content(None, part("S"))]
)
def test_an_instruction_may_have_many_shapes(instruction: Any) -> None:
    expected = "" if instruction == part("S") else "S"
    assert FORM.decode(body(HI, systemInstruction=instruction)).system == expected


def test_an_answer_that_was_streamed_comes_back_in_pieces_and_is_read_as_one() -> None:
    pieces = [
        content("model", part("The gra")),
        content("model", part("ss is "), CALL),
        content("model", part("green.")),
    ]
    messages = FORM.decode(body(HI, *pieces, HI, *pieces)).messages
    said = Message("assistant", "The grass is green.")
    empty = Message("assistant", "")
    run = (said, Message("assistant", "", calls_tools=True), empty)
    assert messages == (Message("user", "hi"), *run, Message("user", "hi"), *run)


@pytest.mark.parametrize(
    "sent", [b"", b"[]", b"{}", b'{"contents": null}', b'{"contents": 5}', b'{"contents": []} x', b'{"messages": []}']
)
def test_a_body_without_contents_is_not_understood(sent: bytes) -> None:
    for read in (FORM.decode, lambda data: FORM.inject(data, [Addition("x")])):
        with pytest.raises(NotUnderstood, match="body"):
            read(sent)


# --- additions to the instruction ----------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["systemInstruction", "system_instruction"])
@pytest.mark.parametrize(
    ("instruction", "after"),
    [
        (content("system", part("a")), content("system", part("a"), ADDED)),
        (content(None), content(None, ADDED)),
        ({"parts": part("a"), "role": "x"}, {"parts": [part("a"), ADDED], "role": "x"}),
        ({"parts": "a"}, {"parts": "a\n\nADDED None"}),
        ([part("a")], [part("a"), ADDED]),
        ("a", "a\n\nADDED None"),
        ("", "ADDED None"),
        (None, {"parts": [ADDED], "role": None}),
    ],
)
def test_an_addition_goes_to_the_end_of_the_instruction(spelling: str, instruction: Any, after: Any) -> None:
    sent = body(HI, **{spelling: instruction})
    assert injected(sent) == {**json.loads(sent), spelling: after}


@pytest.mark.parametrize(
    ("fields", "parts", "spelling"),
    [
        ({}, [part("hi")], "systemInstruction"),
        ({"generationConfig": {}}, [part("hi")], "systemInstruction"),
        ({"generation_config": {}}, [part("hi")], "system_instruction"),
        ({}, [{"inline_data": {}}, part("hi")], "system_instruction"),
        ({}, [IMAGE, part("hi")], "systemInstruction"),
    ],
)
def test_without_an_instruction_there_is_one_in_the_clients_spelling(
    fields: dict[str, Any], parts: list[Any], spelling: str
) -> None:
    sent = body(content("user", *parts), **fields)
    assert injected(sent) == {**json.loads(sent), spelling: {"parts": [ADDED]}}


@pytest.mark.parametrize("spelling", ["cachedContent", "cached_content"])
def test_beside_a_cached_prompt_the_addition_goes_to_what_the_person_said_last(spelling: str) -> None:
    loop = [content("model", CALL), content("user", RESULT), content("user", RESULT, part("so"))]
    sent = body(HI, content("model", part("yes")), content("user", IMAGE), *loop, **{spelling: "cachedContents/1"})
    after = injected(sent)
    assert after["contents"][2] == content("user", IMAGE, ADDED)
    assert {**after, "contents": 0} == {**json.loads(sent), "contents": 0}
    assert injected(sent, None, 2)["contents"][2]["parts"] == [IMAGE, part("ADDED None\n\nADDED 2")]


def test_beside_a_cached_prompt_and_without_words_of_the_person_there_is_no_place() -> None:
    with pytest.raises(NotUnderstood, match="unspliceable"):
        injected(body(content("model", CALL), content("user", RESULT), cachedContent="c"))


@pytest.mark.parametrize("nothing", [None, ""])
def test_no_cached_prompt_is_none(nothing: str | None) -> None:
    assert "systemInstruction" in injected(body(HI, cachedContent=nothing))


@pytest.mark.parametrize("instruction", [5, {}, part("a"), {"parts": None}, {"parts": 5}, True])
def test_an_instruction_of_no_known_shape_is_let_be(instruction: Any) -> None:
    with pytest.raises(NotUnderstood, match="unspliceable"):
        injected(body(HI, systemInstruction=instruction))


# --- additions to a content ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "after"),
    [
        (HI, content("user", part("hi"), part("ADDED 0"))),
        (content(None, IMAGE), content(None, IMAGE, part("ADDED 0"))),
        (content("user", RESULT, part("so?")), content("user", RESULT, part("so?"), part("ADDED 0"))),
        (content("user"), content("user", part("ADDED 0"))),
        ({"parts": part("hi")}, content(None, part("hi"), part("ADDED 0"))),
        ("hi", "hi\n\nADDED 0"),
    ],
)
def test_an_addition_goes_to_the_end_of_a_content(target: Any, after: Any) -> None:
    assert injected(body(target, content("model", part("yes"))), 0)["contents"] == [
        after,
        content("model", part("yes")),
    ]


def test_contents_that_are_no_list_can_be_added_to() -> None:
    assert injected(b'{"contents": "hi"}', 0) == {"contents": "hi\n\nADDED 0"}
    assert injected(b'{"contents": {"parts": {"text": "hi"}}}', 0) == {
        "contents": {"parts": [part("hi"), part("ADDED 0")]}
    }


@pytest.mark.parametrize(
    ("target", "place"),
    [
        (content("model", part("a")), 0),
        (content("user", RESULT), 0),
        (content("function", RESULT), 0),
        ({"role": "user"}, 0),
        ({"role": "user", "parts": 5}, 0),
        (5, 0),
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
        ('{"contents": [{"parts": []}], "systemInstruction": "a", "system_instruction": "b"}', None),
        ('{"contents": [{"parts": []}], "systemInstruction": {"parts": [], "parts": []}}', None),
        ('{"contents": [{"parts": [], "p\\u0061rts": []}]}', 0),
        ('{"contents": [{"parts": [], "role": "model", "role": "user"}]}', 0),
        ('{"contents": [], "contents": []}', 0),
    ],
)
def test_what_stands_there_twice_is_ambiguous_when_it_would_be_edited(sent: str, place: int | None) -> None:
    with pytest.raises(NotUnderstood, match="ambiguous"):
        FORM.inject(sent.encode(), [Addition("x", place)])


def test_all_other_bytes_stay_as_they_were() -> None:
    sent = '{ "x" :1.0,\r\n"contents":[ {"parts" : [ {"text":"h\\u00e9 é"} ] } ]\t}'
    after = FORM.inject(sent.encode(), [Addition("B", 0), Addition("S")]).decode()
    expected = sent.replace('é"} ]', 'é"},{"text":"B"} ]')
    assert after == expected.replace("]\t}", "]\t}".replace("]", '],"systemInstruction":{"parts":[{"text":"S"}]}'))


# --- answers -------------------------------------------------------------------------------------------------


def chunk(*parts: Any, reason: str | None = None, index: int | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    candidate |= {} if reason is None else {"finishReason": reason}
    candidate |= {} if index is None else {"index": index}
    return {"candidates": [candidate], "responseId": "r1", "modelVersion": "gemini", **more}


def sse(chunks: list[Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(one).encode() + b"\r\n\r\n" for one in chunks)


def array(chunks: list[Any]) -> bytes:
    return b"[" + b",\r\n".join(json.dumps(one, indent=2).encode() for one in chunks) + b"\n]\n"


def read(data: bytes, kind: str) -> Reply:
    reader = FORM.reader(kind, "")
    reader.feed(data)
    return reader.finish()


def reply(text: str = "", reason: str | None = "STOP", complete: bool = True, **more: Any) -> Reply:
    return Reply(text, reason, complete, model="gemini", **more)


STOP = chunk(part(""), reason="STOP")
BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "responseId": "r1", "modelVersion": "gemini"}
FAILED = {"error": {"code": 503, "message": "secret", "status": "UNAVAILABLE"}}


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([chunk(part("h")), chunk(part("i")), STOP, {"usageMetadata": {}}], reply("hi")),
        ([chunk(part("hm", thought=True), part("h")), chunk(part("i", thought=False), reason="STOP")], reply("hi")),
        ([chunk(part("hi")), chunk(CALL, reason="STOP")], reply("hi", calls_tools=True)),
        ([chunk(part("hi"))], reply("hi", None, False)),
        ([chunk(part("hi"), reason="MAX_TOKENS")], reply("hi", "MAX_TOKENS")),
        ([chunk(part("hi"), reason="CONTINUATION")], reply("hi", "CONTINUATION", False)),
        ([chunk(part("b"), index=1), chunk(part("a"), index=0), STOP], reply("a")),
        ([BLOCKED], reply("", "SAFETY")),
        ([chunk(part("h")), FAILED], reply("h", None, False, error="UNAVAILABLE")),
        ([{"error": {"status": "it says: secret"}}], Reply(error="error")),
        ([{"error": "secret"}, {"candidates": "odd"}, {"candidates": [5]}, 7, "odd", None], Reply(error="error")),
        ([{"candidates": [{"finishReason": "OTHER"}]}], Reply("", "OTHER", True)),
        ([chunk({"executableCode": {}}, {"codeExecutionResult": {}}, {"text": 5}, part("hi")), STOP], reply("hi")),
        ([chunk(part("\ud83d")), chunk(part("\ude00")), STOP], reply("😀")),
    ],
)  # fmt: skip
def test_a_stream_is_understood_in_either_frame(chunks: list[Any], expected: Reply) -> None:
    assert read(sse(chunks), "text/event-stream") == expected
    assert read(sse(chunks), "") == expected
    assert read(array(chunks), "application/json; charset=UTF-8") == expected
    assert read(array(chunks), "") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (chunk(part("h"), part("i"), reason="STOP"), reply("hi")),
        (chunk(part("hm", thought=True), part("a"), CALL, reason="STOP"), reply("a", calls_tools=True)),
        ({"candidates": [chunk(part("a"), reason="STOP")["candidates"][0], chunk(part("b"))["candidates"][0]]},
         Reply("a", "STOP", True)),
        (BLOCKED, reply("", "SAFETY")),
        (FAILED, Reply(error="UNAVAILABLE")),
        ({}, Reply()),
    ],
)  # fmt: skip
def test_a_body_is_understood(value: Any, expected: Reply) -> None:
    data = json.dumps(value, indent=1).encode()
    assert read(data, "application/json") == read(data, "") == expected
    assert read(data[:-1], "application/json") == Reply()


def test_an_array_that_broke_off_says_what_came_whole() -> None:
    whole = array([chunk(part("h")), STOP])
    assert read(whole[: whole.rindex(b"}")], "application/json") == reply("h", None, False)
    assert read(whole[: whole.rindex(b"]")], "application/json") == reply("h")


def test_the_end_of_an_array_is_its_bracket_and_a_stream_of_events_has_none() -> None:
    chunks = [chunk(part("]")), STOP]
    reader = FORM.reader("application/json", "")
    assert not reader.feed(array(chunks)[:-2])
    assert reader.feed(b"]")
    assert reader.feed(b"\n")
    assert not FORM.reader("text/event-stream", "").feed(sse(chunks))


# --- the rest ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "known"),
    [
        ("POST", b"/v1beta/models/gemini-2.5-flash:generateContent", True),
        ("POST", b"/v1beta/models/gemini-2.5-flash:streamGenerateContent", True),
        ("POST", b"/v1/models/g:generateContent", True),
        ("POST", b"/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent", True),
        ("GET", b"/v1beta/models/g:generateContent", False),
        ("POST", b"/v1beta/models/g:countTokens", False),
        ("POST", b"/v1beta/models/g:batchGenerateContent", False),
        ("POST", b"/v1beta/models/g:generateContent/x", False),
        ("POST", b"/v1/projects/p/publishers/anthropic/models/c:rawPredict", False),
    ],
)
def test_a_route_is_known_by_its_method_and_the_exact_end_of_its_path(method: str, path: bytes, known: bool) -> None:
    form = route(method, path)
    assert (form is not None and form.name == "gemini") == known
    assert known or form is None


@pytest.mark.parametrize(
    ("status", "word"),
    [(400, "INVALID_ARGUMENT"), (403, "PERMISSION_DENIED"), (502, "UNAVAILABLE"), (504, "DEADLINE_EXCEEDED")],
)
def test_errors_have_the_shape_of_the_api(status: int, word: str) -> None:
    error = json.loads(FORM.error(status, "No “answer”.", "connect"))
    assert error == {"error": {"code": status, "message": "No “answer”.", "status": word}}
