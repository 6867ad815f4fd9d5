"""Injection, over bodies of every shape: take the inserted spans out, and the original bytes are there again."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.context.placement import place
from memproxy.errors import NotUnderstood
from memproxy.model import Addition, Placement
from memproxy.wire import ChatCompletions, spans
from memproxy.wire.chat_completions import edits
from tests.json_texts import SPACE, TEXT, VALUES, arrays, objects, strings

FORM = ChatCompletions()
TEXT_PART = objects(st.permutations([('"type"', '"text"'), ('"text"', '"hi"'), ('"cache_control"', "{}")]).map(list))
CONTENTS = st.one_of(strings(), st.just('""'), st.just("null"), arrays(st.one_of(TEXT_PART, VALUES)), VALUES)
ROLES = st.sampled_from(
    ['"system"', '"developer"', '"user"', '"assistant"', '"tool"', '"us\\u0065r"', '"function"', '"x"', "null", "1"]
)


@st.composite
def member_lists(draw: st.DrawFn) -> list[tuple[str, str]]:
    """The members of a message: role and content in any order, now and then missing or double, and others."""
    members = [('"role"', draw(ROLES)), ('"content"', draw(CONTENTS))]
    if draw(st.integers(0, 9)) == 0:
        members.append(draw(st.sampled_from([('"role"', '"user"'), ('"cont\\u0065nt"', '"twice"'), ('"name"', '"Z"')])))
    if draw(st.integers(0, 9)) == 0:
        members.pop(draw(st.integers(0, 1)))
    members += draw(st.lists(st.tuples(strings(), VALUES), max_size=1))
    return list(draw(st.permutations(members)))


MESSAGES = arrays(st.one_of(objects(member_lists()), objects(member_lists()), VALUES))


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """Chat requests, most of them with a list of messages."""
    members = [('"messages"', draw(MESSAGES))]
    members += draw(st.lists(st.tuples(st.one_of(strings(), st.just('"seed"')), VALUES), max_size=3))
    members = list(draw(st.permutations(members)))
    body = draw(SPACE) + draw(objects(st.just(members))) + draw(SPACE)
    return body.encode("utf-8")


READS: list[Callable[[bytes], object]] = [
    FORM.decode,
    lambda body: FORM.inject(body, [Addition("x")]),
    lambda body: FORM.inject(body, [Addition("x", 0), Addition("y")]),
]
PLACEMENTS = st.sampled_from(get_args(Placement))
BLOCKS = st.one_of(st.just("<memproxy-memory>\n- „Zoë“ \\ 😀\n</memproxy-memory>"), TEXT)


@given(bodies(), BLOCKS, PLACEMENTS)
def test_without_the_inserted_spans_the_original_bytes_are_there_again(
    body: bytes, block: str, placement: Placement
) -> None:
    text = body.decode()
    try:
        additions = place(block, placement, FORM.decode(body))
    except NotUnderstood:
        return
    try:
        inserted = spans.byte_edits(body, text, edits(text, additions))
    except NotUnderstood as error:
        with pytest.raises(NotUnderstood, match=error.reason):
            FORM.inject(body, additions)
        return
    result = FORM.inject(body, additions)
    for offset, data in inserted:
        assert result[offset : offset + len(data)] == data
        result = result[:offset] + result[offset + len(data) :]
    assert result == body


@given(bodies(), BLOCKS, PLACEMENTS)
def test_an_injected_request_says_the_same_and_the_block(body: bytes, block: str, placement: Placement) -> None:
    try:
        after = _read(FORM.inject(body, place(block, placement, FORM.decode(body))))
    except NotUnderstood:
        return
    before = _read(body)
    assert {**after, "messages": 0} == {**before, "messages": 0}
    old, new = before["messages"], after["messages"]
    if len(new) > len(old):
        assert (new[0], new[1:]) == ({"role": "system", "content": block}, old)
        assert not any(isinstance(message, dict) and message.get("role") in ("system", "developer") for message in old)
        return
    changed = [index for index in range(len(old)) if old[index] != new[index]]
    assert len(changed) <= 1  # none, where the block is empty
    for index in changed:
        assert new[index]["role"] in (("user",) if placement == "user" else ("system", "developer"))
        assert {**new[index], "content": 0} == {**old[index], "content": 0}
        content = old[index]["content"]
        if isinstance(content, str):
            assert _whole(new[index]["content"]) == _whole(content + "\n\n" + block if content else block)
        else:
            assert new[index]["content"] == [*content, {"type": "text", "text": block}]


@given(bodies())
def test_every_message_keeps_its_place_when_a_request_is_read(body: bytes) -> None:
    try:
        request = FORM.decode(body)
    except NotUnderstood:
        return
    raw = json.loads(body, parse_int=float)["messages"]
    assert len(request.messages) == len(raw)
    for message, value in zip(request.messages, raw, strict=True):
        message.text.encode()  # no lone surrogates
        if not isinstance(value, dict):
            assert (message.role, message.text) == ("", "")
        elif isinstance(value.get("content"), str) and _is_text(value["content"]):
            assert message.text == value["content"]


SPOILT = bodies().flatmap(lambda body: st.sampled_from([body.rstrip()[:-1], body + b",", b"\xef\xbb\xbf" + body]))


@given(SPOILT)
def test_a_spoilt_request_is_not_understood(body: bytes) -> None:
    for read in READS:
        with pytest.raises(NotUnderstood):
            read(body)


@given(st.binary(max_size=200))
def test_whatever_the_bytes_they_are_understood_or_not(body: bytes) -> None:
    for read in READS:
        with contextlib.suppress(NotUnderstood):
            read(body)


def _read(body: bytes) -> Any:
    """The body as an ordinary reader sees it; numbers as they are spelled."""
    return json.loads(body, parse_int=str, parse_float=str, parse_constant=str)


def _whole(text: str) -> bytes:
    """The text in UTF-16, where two halves side by side are the character they make."""
    return text.encode("utf-16", "surrogatepass")


def _is_text(text: str) -> bool:
    return not any(0xD800 <= ord(character) <= 0xDFFF for character in text)
