"""Injection, over bodies of every shape: take the inserted spans out, and the original bytes are there again."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.errors import NotUnderstood
from memproxy.interfaces import WireFormat
from memproxy.model import Addition, Placement
from memproxy.wire import (
    ChatCompletions,
    Gemini,
    Messages,
    Ollama,
    Responses,
    chat_completions,
    gemini,
    messages,
    ollama,
    responses,
    spans,
)
from memproxy.wire.spans import Splice
from tests.bodies import anthropic_members, chats, gemini_members, requests, response_members
from tests.json_texts import TEXT
from tests.placing import place


class Format(NamedTuple):
    """A wire format, its edits, and requests that speak it."""

    form: WireFormat
    edits: Callable[[str, Sequence[Addition]], list[Splice]]
    bodies: st.SearchStrategy[bytes]


FORMATS = {
    "chat_completions": Format(ChatCompletions(), chat_completions.edits, chats()),
    "responses": Format(Responses(), responses.edits, requests(response_members())),
    "ollama": Format(Ollama(), ollama.edits, chats()),
    "messages": Format(Messages(), messages.edits, requests(anthropic_members())),
    "gemini": Format(Gemini(), gemini.edits, requests(gemini_members())),
}
every_format = pytest.mark.parametrize("spoken", FORMATS.values(), ids=FORMATS)

WHOLE: tuple[Placement, ...] = ("system", "user")  # where a block goes in one piece
PLACEMENTS = st.sampled_from(WHOLE)
BLOCKS = st.one_of(st.just("<memproxy-memory>\n- „Zoë“ \\ 😀\n</memproxy-memory>"), TEXT)
ADDITIONS = st.lists(st.builds(Addition, BLOCKS, st.none() | st.integers(0, 3)), max_size=4)


@every_format
@given(st.data())
def test_without_the_inserted_spans_the_original_bytes_are_there_again(spoken: Format, data: st.DataObject) -> None:
    body = data.draw(spoken.bodies)
    additions = data.draw(_additions(spoken, body))
    try:
        inserted = spans.byte_edits(body, body.decode(), spoken.edits(body.decode(), additions))
    except NotUnderstood as error:
        with pytest.raises(NotUnderstood, match=error.reason):
            spoken.form.inject(body, additions)
        return
    result = spoken.form.inject(body, additions)
    read(result)
    for offset, added in inserted:
        assert result[offset : offset + len(added)] == added
        result = result[:offset] + result[offset + len(added) :]
    assert result == body


@every_format
@given(st.data())
def test_without_anything_to_add_the_bytes_are_the_same(spoken: Format, data: st.DataObject) -> None:
    body = data.draw(spoken.bodies)
    with contextlib.suppress(NotUnderstood):
        assert spoken.form.inject(body, []) == body


@every_format
@given(st.data())
def test_a_spoilt_request_is_not_understood(spoken: Format, data: st.DataObject) -> None:
    body = data.draw(spoken.bodies)
    for spoilt in (body.rstrip()[:-1], body + b",", b"\xef\xbb\xbf" + body):
        for reading in _reads(spoken.form):
            with pytest.raises(NotUnderstood):
                reading(spoilt)


@every_format
@given(st.binary(max_size=200))
def test_whatever_the_bytes_they_are_understood_or_not(spoken: Format, body: bytes) -> None:
    for reading in _reads(spoken.form):
        with contextlib.suppress(NotUnderstood):
            reading(body)


def _additions(spoken: Format, body: bytes) -> st.SearchStrategy[list[Addition]]:
    """A text or two, mostly for places that can take one: where one of several finds no place, none is spliced."""
    fitting = [place for place in (None, 0, 1, 2, 3) if _fits(spoken, body, place)]
    if not fitting:
        return ADDITIONS
    chosen = st.lists(st.builds(Addition, BLOCKS, st.sampled_from(fitting[::-1])), min_size=1, max_size=3)
    return st.one_of(chosen, ADDITIONS)


def _fits(spoken: Format, body: bytes, place: int | None) -> bool:
    try:
        spoken.edits(body.decode(), [Addition("x", place)])
    except NotUnderstood:
        return False
    return True


def _reads(form: WireFormat) -> list[Callable[[bytes], object]]:
    return [
        form.decode,
        lambda body: form.inject(body, [Addition("x")]),
        lambda body: form.inject(body, [Addition("x", 0), Addition("y")]),
    ]


# --- what an injected request says ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["chat_completions", "ollama"])
@given(st.data(), BLOCKS, PLACEMENTS)
def test_an_injected_chat_says_the_same_and_the_block(
    name: str, data: st.DataObject, block: str, placement: Placement
) -> None:
    form = FORMATS[name].form
    body = data.draw(chats())
    try:
        after = read(form.inject(body, place(block, placement, form.decode(body))))
    except NotUnderstood:
        return
    before = read(body)
    assert {**after, "messages": 0} == {**before, "messages": 0}
    old, new = before["messages"], after["messages"]
    if len(new) > len(old):
        assert name == "chat_completions"
        assert (new[0], new[1:]) == ({"role": "system", "content": block}, old)
        assert not any(isinstance(message, dict) and message.get("role") in ("system", "developer") for message in old)
        return
    roles = ("user",) if placement == "user" else ("system", "developer")
    if name == "ollama" and not any(isinstance(message, dict) and message.get("role") == "system" for message in old):
        roles = ("user",)
    assert_one_more(old, new, roles, block, "text" if name == "chat_completions" else None)


@given(requests(response_members()), BLOCKS, PLACEMENTS)
def test_an_injected_request_for_a_response_says_the_same_and_the_block(
    body: bytes, block: str, placement: Placement
) -> None:
    form = FORMATS["responses"].form
    try:
        after = read(form.inject(body, place(block, placement, form.decode(body))))
    except NotUnderstood:
        return
    before = read(body)
    parts = {"input": 0, "instructions": 0}
    assert {**after, **parts} == {**before, **parts}
    template = before.get("prompt") is not None and "instructions" not in before
    if placement == "user" or template or before.get("instructions", "") is None:
        assert ("instructions" in after, after.get("instructions")) == (
            "instructions" in before,
            before.get("instructions"),
        )
        old, new = before["input"], after["input"]
        if isinstance(old, str):
            assert whole(new) == whole(extended(old, block))
        else:
            assert_one_more(old, new, ("user",), block, "input_text")
    else:
        assert after.get("input") == before.get("input")
        assert whole(after["instructions"]) == whole(extended(before.get("instructions", ""), block))


@given(requests(anthropic_members()), BLOCKS, PLACEMENTS)
def test_an_injected_message_says_the_same_and_the_block(body: bytes, block: str, placement: Placement) -> None:
    form = FORMATS["messages"].form
    try:
        after = read(form.inject(body, place(block, placement, form.decode(body))))
    except NotUnderstood:
        return
    before = read(body)
    parts = {"messages": 0, "system": 0}
    assert {**after, **parts} == {**before, **parts}
    if placement == "user":
        assert ("system" in after, after.get("system")) == ("system" in before, before.get("system"))
        assert_one_more(before["messages"], after["messages"], ("user",), block, "text")
        return
    assert after["messages"] == before["messages"]
    system, added = before.get("system", ""), {"type": "text", "text": block}
    if isinstance(system, str):
        assert whole(after["system"]) == whole(extended(system, block))
    else:
        assert after["system"] == ([{**added, "citations": None}] if system is None else [*system, added])


@given(requests(gemini_members()), BLOCKS, PLACEMENTS)
def test_an_injected_request_for_content_says_the_same_and_the_block(
    body: bytes, block: str, placement: Placement
) -> None:
    form = FORMATS["gemini"].form
    try:
        after = read(form.inject(body, place(block, placement, form.decode(body))))
    except NotUnderstood:
        return
    before = read(body)
    changed = [key for key in after if key not in before or after[key] != before[key]]
    if changed in (["systemInstruction"], ["system_instruction"]):
        assert placement != "user"
        assert not any(before.get(key) for key in ("cachedContent", "cached_content"))
        old = before.get(changed[0])
        new = {"parts": [{"text": block}]} if changed[0] not in before else {"parts": [{"text": block}], "role": None}
        assert after[changed[0]] == (new if old is None else with_part(old, block))
    elif changed:
        assert changed == ["contents"]
        old, new = before["contents"], after["contents"]
        olds, news = (old, new) if isinstance(old, list) else ([old], [new])
        [at] = [at for at in range(len(olds)) if olds[at] != news[at]]
        assert not isinstance(olds[at], dict) or olds[at].get("role") != "model"
        assert news[at] == with_part(olds[at], block)


def with_part(old: Any, block: str) -> Any:
    """A content, its parts, one part or a text, with the block after it."""
    if isinstance(old, str):
        return extended(old, block).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if isinstance(old, list):
        return [*old, {"text": block}]
    parts = old["parts"]
    return {**old, "parts": [parts, {"text": block}] if isinstance(parts, dict) else with_part(parts, block)}


def assert_one_more(old: list[Any], new: list[Any], roles: Sequence[str], block: str, kind: str | None) -> None:
    """At most one message (none, where the block is empty) says the block beside what it said."""
    assert len(old) == len(new)
    changed = [index for index in range(len(old)) if old[index] != new[index]]
    assert len(changed) <= 1
    for index in changed:
        assert new[index]["role"] in roles
        assert {**new[index], "content": 0} == {**old[index], "content": 0}
        content = old[index]["content"]
        if isinstance(content, str):
            assert whole(new[index]["content"]) == whole(extended(content, block))
        else:
            assert kind is not None
            assert new[index]["content"] == [*content, {"type": kind, "text": block}]


# --- what is read of a request -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["chat_completions", "responses", "ollama", "messages"])
@given(st.data())
def test_every_message_keeps_its_place_when_a_request_is_read(name: str, data: st.DataObject) -> None:
    form, _, bodies = FORMATS[name]
    body = data.draw(bodies)
    try:
        request = form.decode(body)
    except NotUnderstood:
        return
    values = json.loads(body, parse_int=float)
    raw = values.get("input") if name == "responses" else values["messages"]
    raw = [{"role": "user", "content": raw}] if isinstance(raw, str) else raw or []
    assert len(request.messages) == len(raw)
    for message, value in zip(request.messages, raw, strict=True):
        message.text.encode()  # no lone surrogates
        if not isinstance(value, dict):
            assert (message.role, message.text) == ("", "")
        elif isinstance(value.get("content"), str) and _is_text(value["content"]):
            said = (
                name != "responses" or value.get("type") == "message" or (value.get("type") is None and "role" in value)
            )
            assert message.text == (value["content"] if said else "")


def read(body: bytes) -> Any:
    """The body as an ordinary reader sees it; numbers as they are spelled."""
    return json.loads(body, parse_int=str, parse_float=str, parse_constant=str)


def whole(text: str) -> bytes:
    """The text in UTF-16, where two halves side by side are the character they make."""
    return text.encode("utf-16", "surrogatepass")


def extended(text: str, block: str) -> str:
    """A text with a block at its end."""
    return text + "\n\n" + block if text else block


def _is_text(text: str) -> bool:
    return not any(0xD800 <= ord(character) <= 0xDFFF for character in text)
