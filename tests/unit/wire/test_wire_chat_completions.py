"""Chat completions: what is read of a request, where a block goes, how errors look."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memproxy.errors import NotUnderstood
from memproxy.model import Addition, ChatRequest, Message, Placement
from memproxy.wire import ChatCompletions, route
from tests.placing import place

FORM = ChatCompletions()
SYSTEM: Placement = "system"
USER: Placement = "user"


def body(*messages: Any, **fields: Any) -> bytes:
    return json.dumps({"model": "m", "messages": list(messages), **fields}).encode()


def message(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


def inject(sent: bytes, block: str, placement: Placement) -> bytes:
    return FORM.inject(sent, place(block, placement, FORM.decode(sent)))


def injected(sent: bytes, placement: Placement = SYSTEM) -> list[Any]:
    messages: list[Any] = json.loads(inject(sent, "BLOCK", placement))["messages"]
    return messages


TEXT_PART = {"type": "text", "text": "look"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:x"}}
BLOCK_PART = {"type": "text", "text": "BLOCK"}


def test_a_request_is_read_as_far_as_memory_needs_it() -> None:
    sent = body(
        message("system", "Be kind."),
        message("user", [TEXT_PART, IMAGE, {"type": "text", "text": "here"}], name="Zoë"),
        message("assistant", None, tool_calls=[{"id": "1"}]),
        message("tool", "42"),
        "nonsense",
        {"role": 5},
        stream=True,
        max_tokens=7,
        n=2,
        user="u-1",
    )
    assert FORM.decode(sent) == ChatRequest(
        messages=(
            Message("system", "Be kind."),
            Message("user", "look\nhere", name="Zoë"),
            Message("assistant", "", calls_tools=True),
            Message("tool", "42"),
            Message("", ""),
            Message("", ""),
        ),
        model="m",
        stream=True,
        max_tokens=7,
        choices=2,
        fields={"model": "m", "user": "u-1"},
        extensible=True,
    )


@pytest.mark.parametrize("end", ["", "  \n"])
def test_numbers_that_no_machine_holds_do_not_disturb(end: str) -> None:
    sent = f'{{"seed": {"9" * 6000}, "top_p": 1e999, "x": NaN, "max_tokens": {"9" * 30}, "messages": []}}{end}'
    assert FORM.decode(sent.encode()).messages == ()


def test_half_an_emoji_is_replaced_in_what_is_read_and_kept_in_what_is_sent() -> None:
    sent = b'{"messages":[{"role":"user","content":"hi \\ud83d"}]}'
    assert FORM.decode(sent).messages[0].text == "hi \ufffd"
    assert b'"hi \\ud83d\\n\\nBLOCK"' in inject(sent, "BLOCK", USER)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"messages"',
        b"{}",
        b'{"messages": "hi"}',
        b'{"messages": [] ',
        b'{"messages": []} x',
        b'{"messages": [],}',
        b'{"messages": [{"content": "\xff"}]}',
        b'{"messages": [{"content": "a\nb"}]}',
        b"\xef\xbb\xbf" + b'{"messages": []}',
        b'{"messages": ' + b"[" * 100_000,
        b'{"messages": [' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"]}",
    ],
)
def test_a_body_that_is_no_chat_request_is_not_understood(sent: bytes) -> None:
    for read in (FORM.decode, lambda b: FORM.inject(b, [Addition("x")])):
        with pytest.raises(NotUnderstood, match="body"):
            read(sent)


def test_two_lists_of_messages_are_ambiguous() -> None:
    with pytest.raises(NotUnderstood, match="ambiguous"):
        FORM.decode(b'{"messages": [], "mess\\u0061ges": []}')


@pytest.mark.parametrize("double", ['"content": "b"', '"role": "system"'])
def test_a_message_that_says_two_things_is_ambiguous_when_it_would_be_edited(double: str) -> None:
    sent = f'{{"messages": [{{"role": "system", "content": "a", {double}}}, {{"role": "user", "content": "hi"}}]}}'
    with pytest.raises(NotUnderstood, match="ambiguous"):
        inject(sent.encode(), "BLOCK", SYSTEM)
    assert inject(sent.encode(), "BLOCK", USER)


# --- placement -----------------------------------------------------------------------------------------------


def test_a_block_goes_to_the_end_of_the_systems_words() -> None:
    got = injected(body(message("system", "Be kind."), message("user", "hi")))
    assert got == [message("system", "Be kind.\n\nBLOCK"), message("user", "hi")]


def test_of_several_leading_system_messages_the_last_one_is_taken() -> None:
    got = injected(body(message("system", "a"), message("developer", "b"), message("user", "hi")))
    assert got[:2] == [message("system", "a"), message("developer", "b\n\nBLOCK")]


def test_an_empty_system_message_becomes_the_block() -> None:
    assert injected(body(message("system", ""), message("user", "hi")))[0] == message("system", "BLOCK")


@pytest.mark.parametrize("parts", [[], [TEXT_PART], [{**TEXT_PART, "cache_control": {"type": "ephemeral"}}]])
def test_a_system_message_in_parts_gets_one_more(parts: list[Any]) -> None:
    got = injected(body(message("system", parts), message("user", "hi")))
    assert got[0] == message("system", [*parts, BLOCK_PART])


@pytest.mark.parametrize("additions", [[Addition("A", 0), Addition("B")], [Addition("B"), Addition("A", 0)]])
def test_two_additions_meet_in_one_system_message(additions: list[Addition]) -> None:
    words = "\n\n".join(addition.text for addition in additions)
    for content, whole in (("", words), ("said", f"said\n\n{words}"), ([], [{"type": "text", "text": words}])):
        sent = FORM.inject(body(message("system", content), message("user", "q")), additions)
        assert json.loads(sent)["messages"][0]["content"] == whole


def test_without_a_system_message_one_is_put_first() -> None:
    got = injected(body(message("user", "hi"), message("assistant", "yes")))
    assert got == [message("system", "BLOCK"), message("user", "hi"), message("assistant", "yes")]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_system_message_in_mid_list_is_used_and_no_second_one_made(role: str) -> None:
    got = injected(body(message("user", "hi"), message(role, "a"), message("user", "ho")))
    assert got == [message("user", "hi"), message(role, "a\n\nBLOCK"), message("user", "ho")]


def test_a_leading_system_message_without_words_is_passed_over_for_one_with() -> None:
    got = injected(body(message("system", "a"), message("system", None), message("user", "hi")))
    assert got[:2] == [message("system", "a\n\nBLOCK"), message("system", None)]


@pytest.mark.parametrize(
    ("sent", "placement"),
    [
        (body(message("system", None), message("user", "hi")), SYSTEM),
        (body({"role": "system"}, message("user", "hi")), SYSTEM),
        (body(message("system", 5), message("user", "hi")), SYSTEM),
        (body(), SYSTEM),
        (body(), USER),
        (body(message("system", "a")), USER),
        (body(message("user", "hi"), message("user", None)), USER),
    ],
)
def test_where_no_place_is_safe_nothing_is_spliced(sent: bytes, placement: Placement) -> None:
    with pytest.raises(NotUnderstood, match="unspliceable"):
        inject(sent, "BLOCK", placement)


def test_in_a_tool_loop_the_block_goes_to_the_user_turn_that_began_it() -> None:
    loop = [message("assistant", None, tool_calls=[{"id": "1"}]), message("tool", "42")]
    got = injected(body(message("user", "a"), message("assistant", "b"), message("user", [IMAGE]), *loop), USER)
    assert got == [message("user", "a"), message("assistant", "b"), message("user", [IMAGE, BLOCK_PART]), *loop]


def test_all_other_bytes_stay_as_they_were() -> None:
    sent = '{ "seed" :1.0,\r\n"n":123456789012345678901 , "messages":[ {"content" : "h\\u00e9 é" ,"role":"user"} ] }'
    got = inject(sent.encode(), "B", USER).decode()
    assert got == sent.replace('é" ,', 'é\\n\\nB" ,')


# --- the rest ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "known"),
    [
        ("POST", b"/v1/chat/completions", True),
        ("POST", b"/chat/completions", True),
        ("POST", b"/openai/deployments/gpt-4o/chat/completions", True),
        ("GET", b"/v1/chat/completions", False),
        ("POST", b"/v1/chat/completions/", False),
        ("POST", b"/v1/chat/completions/chatcmpl-1", False),
        ("POST", b"/v1/xchat/completions", False),
        ("POST", b"/v1/chat%2Fcompletions", False),
        ("POST", b"/v1/completions", False),
    ],
)
def test_a_route_is_known_by_its_method_and_the_exact_end_of_its_path(method: str, path: bytes, known: bool) -> None:
    assert (route(method, path) is not None) == known


def test_errors_have_the_shape_of_the_api() -> None:
    error = json.loads(FORM.error(502, "No “answer”.", "connect"))
    assert error == {"error": {"message": "No “answer”.", "type": "upstream_error", "param": None, "code": "connect"}}
