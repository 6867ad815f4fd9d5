"""One window through a model that thinks too long, reads too little, stops early or answers anything at all."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memproxy.errors import EmptyAnswer, UnusableReply
from memproxy.extraction.drafts import drafts
from memproxy.extraction.extract import MAX_OUTPUT_TOKENS, TOKENS_TO_THINK, Extracted, extract, prompt_cut
from memproxy.folding import fold
from memproxy.model import Turn
from memproxy.prompts.extraction import Window, messages, parse, salvage
from memproxy.providers.client import ChatClient, Endpoint
from memproxy.testing import ScriptedUpstream
from memproxy.testing.upstream import Answer, completion

pytestmark = pytest.mark.anyio

ZONE = ZoneInfo("UTC")
TURN = Turn("t", "s", 1, "user", None, "I own a kayak and I speak Basque.", datetime(2026, 5, 6, tzinfo=UTC))
FACTS = '{"facts":[{"text":"Owns a kayak","quote":"I own a kayak"}]}'
NONE = '{"facts":[]}'


@pytest.fixture
async def ext() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream(lambda request: NONE) as server:
        yield server


async def learn(ext: ScriptedUpstream, *said: str) -> Extracted:
    client = ChatClient(timeout=5)
    turns = tuple(replace(TURN, id=f"t{i}", content=text) for i, text in enumerate(said or (TURN.content,)))
    try:
        return await extract(client, Endpoint(f"{ext.url}/v1", "m", {}), Window(turns, ()), ZONE)
    finally:
        await client.close()


def answer(text: str, *, finish: str = "stop", prompt_tokens: int | None = None, **message: Any) -> Answer:
    body = {
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
        ],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 5},
    }
    return Answer(200, [("content-type", "application/json")], [json.dumps(body).encode()])


def limits(ext: ScriptedUpstream) -> list[int]:
    return [request.json()["max_tokens"] for request in ext.requests]


# --- L13: thoughts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize("message", [{"reasoning_content": "hm " * 900}, {"reasoning": "hm"}, {}])
async def test_l13_a_model_that_only_thought_gets_more_room_once(
    ext: ScriptedUpstream, finish: str, message: dict[str, Any]
) -> None:
    ext.reply_with(lambda request: answer("", finish=finish, **message))
    ext.reply(FACTS)
    found = await learn(ext)
    assert [draft.text for draft in found.drafts.accepted] == ["Owns a kayak"]
    assert limits(ext) == [MAX_OUTPUT_TOKENS, TOKENS_TO_THINK]
    assert (found.calls, found.failures) == (2, ("empty-answer",))


async def test_l13_a_model_that_never_answers_is_a_failure_and_not_nothing_to_remember(ext: ScriptedUpstream) -> None:
    ext.default = lambda request: answer("", reasoning_content="hm")
    with pytest.raises(EmptyAnswer):
        await learn(ext)
    assert len(ext.requests) == 2


# --- L12: cut answers ------------------------------------------------------------------------------------------------


async def test_l12_nothing_is_taken_from_a_cut_answer_that_can_be_asked_for_in_parts(ext: ScriptedUpstream) -> None:
    cut = '{"facts":[{"text":"I own a kayak"},{"text":"I am sav'
    ext.reply_with(lambda request: completion(cut, finish_reason="length"))
    ext.default = lambda request: NONE
    found = await learn(ext, "I own a kayak", "I speak Basque")
    assert found.drafts.accepted == ()
    assert (found.calls, found.partial, found.failures) == (3, False, ("truncated",))


async def test_l12_a_part_that_cannot_get_smaller_gets_twice_the_limit_and_then_its_whole_facts_count(
    ext: ScriptedUpstream,
) -> None:
    cut = '{"facts":[{"text":"I own a kayak"},{"text":"I speak Bas'
    ext.default = lambda request: completion(cut, finish_reason="length")
    found = await learn(ext)
    assert limits(ext) == [MAX_OUTPUT_TOKENS, 2 * MAX_OUTPUT_TOKENS]
    assert [draft.text for draft in found.drafts.accepted] == ["I own a kayak"]
    assert found.partial


# --- E10: a prompt that was cut --------------------------------------------------------------------------------------

LONG = [f"I saw {i} herons at the lake of Quillhaven, and then I rowed home with Jorun again." for i in range(250)]


async def test_e10_a_server_that_read_half_the_prompt_is_asked_again_in_parts(ext: ScriptedUpstream) -> None:
    def small_window(request: Any) -> Answer:
        tokens = len(request.body) // 4
        return answer(NONE, prompt_tokens=min(tokens, 2050))

    ext.default = small_window
    found = await learn(ext, *LONG)
    assert found.failures.count("prompt-cut") >= 1
    assert len(ext.requests) >= 3
    last = ext.requests[-1].json()["messages"]
    assert not prompt_cut(last, min(len(ext.requests[-1].body) // 4, 2050))


async def test_e10_a_part_that_cannot_get_smaller_and_is_still_cut_is_a_failure(ext: ScriptedUpstream) -> None:
    ext.default = lambda request: answer(NONE, prompt_tokens=40)
    with pytest.raises(UnusableReply, match="prompt-cut"):
        await learn(ext, "I own a kayak. " * 45)


async def test_e10_facts_that_were_found_all_the_same_count(ext: ScriptedUpstream) -> None:
    ext.default = lambda request: answer(FACTS, prompt_tokens=100)
    found = await learn(ext, TURN.content, *LONG)
    assert [draft.text for draft in found.drafts.accepted] == ["Owns a kayak"]
    assert found.failures == ()


@pytest.mark.parametrize("share", [0.45, 0.6, 1.0, 1.5])
def test_e10_an_estimate_that_is_merely_wrong_is_no_cut(share: float) -> None:
    request = messages(Window((replace(TURN, content=" ".join(LONG)),), ()), ZONE)
    whole = sum(len(message["content"]) for message in request) / 4
    assert not prompt_cut(request, int(whole * share))


@pytest.mark.parametrize("reported", [None, 0, 1, 31])
def test_e10_a_server_that_does_not_count_is_believed(reported: int | None) -> None:
    assert not prompt_cut(messages(Window((replace(TURN, content=" ".join(LONG)),), ()), ZONE), reported)


def test_e10_a_server_that_leaves_out_what_it_had_in_its_cache_is_believed() -> None:
    request = messages(Window((replace(TURN, content=" ".join(LONG[:20])),), ()), ZONE)
    assert not prompt_cut(request, len(request[-1]["content"]) // 4)


# --- B12: operations -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["facts", "memory", "memories"])
async def test_b12_an_update_of_an_unknown_id_is_a_new_fact_and_a_deletion_is_none(
    ext: ScriptedUpstream, key: str
) -> None:
    entries = [
        {"id": "12", "event": "UPDATE", "text": "I have a sprained wrist", "old_memory": "Has a wrist"},
        {"id": 7, "event": "DELETE", "text": "I own a kayak"},
        {"id": None, "event": "NONE", "text": "I own a kayak"},
        {"text": "I speak Basque"},
        {"event": "ADD", "text": "I row"},
        {"event": "FROBNICATE", "text": "I ski"},
        {"op": "update", "id": "99"},
    ]
    ext.reply(json.dumps({key: entries}))
    found = await learn(ext, "I have a sprained wrist. I own a kayak. I speak Basque. I row and I ski.")
    assert [draft.text for draft in found.drafts.accepted] == [
        "I have a sprained wrist", "I speak Basque", "I row", "I ski"
    ]  # fmt: skip
    assert found.drafts.rejected == {"operation": 2, "empty": 1}


# --- any reply -------------------------------------------------------------------------------------------------------

SAID = (
    "I own a kayak called Petrel. My sister Jorun hates opera. 我对花生过敏。 I never drink coffee.",
    "From now on always put the conclusion first. Can my twins swim?",
)
WORDS = fold(" ".join(SAID))
VALID: dict[str, list[dict[str, Any]]] = {
    "facts": [
        {"text": "Owns a kayak called Petrel", "quote": "I own a kayak called Petrel", "type": "identity"},
        {"text": "Sister Jorun hates opera", "quote": "My sister Jorun hates opera", "slot": None},
        {"text": "对花生过敏", "quote": "我对花生过敏", "significance": 9},
        {"text": "Owns a castle", "quote": "I own a castle"},
        {"text": "Drinks coffee", "quote": "drink coffee"},
    ]
}
junk = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.lists(st.integers(), max_size=2)
)


@st.composite
def replies(draw: st.DrawFn) -> str:
    """A valid reply with values replaced, keys lost, entries doubled, something around it, and perhaps cut."""
    entries: list[Any] = []
    for entry in VALID["facts"]:
        fact: dict[str, Any] = dict(entry)
        for key in draw(st.lists(st.sampled_from(sorted(fact)), max_size=2)):
            fact[key] = draw(junk)
        for key in draw(st.lists(st.sampled_from(["speaker", "tag", "event", "id", "reference_time"]), max_size=2)):
            fact[key] = draw(junk | st.sampled_from(["user", "assistant", "UPDATE", "DELETE", "2026-02-30", "12"]))
        entries.append(draw(st.sampled_from([fact, [fact], fact["text"], None, {"fact": fact["text"]}])))
    shape = draw(st.sampled_from(["facts", "memories", "results", "bare", "single", "other"]))
    value: Any = {shape: entries}
    if shape in ("bare", "single"):
        value = entries if shape == "bare" else entries[0]
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    before, after = draw(st.sampled_from([
        ("", ""), ("```json\n", "\n```\nThat is all."), ("<think>[{}]</think>", ""), ("As in [1] {x}: ", " see {2}"),
        ("Sure! ", ""), ("\ufeff", "\n\n"),
    ]))  # fmt: skip
    reply = before + text + after
    return reply[: draw(st.integers(0, len(reply)))] if draw(st.booleans()) else reply


@given(replies())
@settings(max_examples=300, deadline=None)
def test_b_whatever_comes_back_nothing_raises_but_an_unusable_reply_and_nothing_unsaid_is_learned(reply: str) -> None:
    turns = [replace(TURN, id=f"t{i}", content=text) for i, text in enumerate(SAID)]
    try:
        facts = parse(reply)
    except UnusableReply:
        facts = []
    for found in (drafts(facts, turns), drafts(salvage(reply), turns)):
        for draft in found.accepted:
            words = fold(draft.quote or draft.text).strip(" .,;:!?\"'()[]{}…。、，；：！？「」『』*_`>-")
            assert words in WORDS
            assert "castle" not in draft.text
            assert draft.text != "Drinks coffee"
