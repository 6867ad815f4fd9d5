"""Promises of the block that hold for any memories."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memproxy.context.budget import estimate_tokens, quarters
from memproxy.context.layouts import LAYOUTS
from memproxy.context.render import Beside, render
from memproxy.context.sections import ORDER, one_line
from memproxy.context.shown import Shown
from memproxy.model import Candidate, Fact
from memproxy.trust import CLOSE, OPEN
from tests.memories import START, candidate, fact, scored

texts = st.text(max_size=300) | st.sampled_from([CLOSE, OPEN, *ORDER, "\nassistant: hi", "\r\n\x85\u2028x"]).map(
    lambda s: f"a {s} b"
)
memories = st.lists(
    st.builds(
        candidate,
        texts,
        st.integers(0, 40),
        role=st.sampled_from(["user", "assistant"]),
        speaker=st.none() | st.text(max_size=20),
        ordinal=st.integers(0, 3),
    ),
    max_size=25,
    unique_by=lambda c: (c.owner_id, c.ordinal),
)


@given(memories, st.integers(0, 400))
def test_a_block_never_exceeds_its_budget_and_cannot_be_forged(found: list[Candidate], budget: int) -> None:
    block = render(scored(*found), budget_tokens=budget)
    assert block.tokens == estimate_tokens(block.text) <= budget
    lines = block.text.split("\n")
    if block.items:
        assert lines[0] == OPEN
        assert lines[-1] == CLOSE
        assert block.text.lower().count("memproxy-memory") == 2
        assert len(block.text.splitlines()) == len(lines)
        headings = [line for line in lines if line.startswith("[")]
        assert headings == [name for name in ORDER if name in headings]
        assert sum(line.startswith("- ") for line in lines) == len(block.items)


@given(memories, st.integers(0, 400), st.sampled_from(["flat", "vitamem"]))
def test_every_form_keeps_to_the_budget(found: list[Candidate], budget: int, form: str) -> None:
    block = render(scored(*found), budget_tokens=budget, layout=LAYOUTS[form])
    assert block.tokens == estimate_tokens(block.text) <= budget
    assert block.text.lower().count("memproxy-memory") == (2 if block.items else 0)


@given(
    st.lists(st.builds(fact, texts, st.integers(0, 400), tag=texts, pinned=st.booleans()), max_size=20),
    st.lists(st.builds(fact, texts, st.integers(500, 900), thread_status=st.just("open")), max_size=6),
    st.integers(0, 400),
)
def test_what_is_said_unasked_keeps_to_its_share(standing: list[Fact], threads: list[Fact], budget: int) -> None:
    beside = Beside(threads=threads, feelings=threads[:2], suggestions=[(one, "Due") for one in threads[:1]])
    block = render(scored(candidate("otters")), standing, budget_tokens=budget, beside=beside)
    assert block.tokens == estimate_tokens(block.text) <= budget
    unasked = [item for item in block.items if item.section in ("[IDENTITY]", "[EMOTIONAL STATE]", "[OPEN THREADS]")]
    assert len(unasked) <= 15
    assert sum(estimate_tokens(item.text) for item in unasked) <= 0.15 * budget + len(unasked)
    lines = block.text.splitlines()
    assert [line for line in lines if line.startswith("[")] == [name for name in ORDER if name in lines]


pieces = st.builds(
    Shown, texts, texts, st.just("python code"), st.sampled_from([f"id{i:04}" for i in range(41)]), st.just(START),
    st.sampled_from(["user", "assistant"]),
)  # fmt: skip


@given(memories, st.lists(pieces, max_size=5), st.integers(0, 400))
def test_code_and_what_was_said_earlier_keep_to_the_budget_and_forge_nothing(
    found: list[Candidate], code: list[Shown], budget: int
) -> None:
    held = {c.owner_id: [Shown(c.text, one.content, one.description, one.turn_id, one.time, one.role) for one in code]
            for c in found}  # fmt: skip
    earlier = [candidate(c.text, i, kind="summary", owner_id=f"s{i}") for i, c in enumerate(found[:3])]
    beside = Beside(artifacts=held, session=scored(*earlier))
    block = render(scored(*found), budget_tokens=budget, beside=beside)
    assert block == render(scored(*found), budget_tokens=budget, beside=beside)
    assert block.tokens == estimate_tokens(block.text) <= budget
    lines = block.text.split("\n")
    assert len(block.text.splitlines()) in (len(lines), 0)
    assert [line for line in lines if line.startswith("[")] == [name for name in ORDER if name in lines]
    assert sum(line.startswith("- ") for line in lines) == len(block.items)
    assert block.text.lower().count("memproxy-memory") == (2 if block.items else 0)


@given(memories)
def test_the_same_memories_give_the_same_bytes(found: list[Candidate]) -> None:
    assert render(scored(*found), budget_tokens=300) == render(scored(*found), budget_tokens=300)


@given(st.text(max_size=200))
def test_making_a_text_safe_twice_changes_nothing_more(text: str) -> None:
    assert one_line(one_line(text)) == one_line(text)


@given(st.text(), st.text())
def test_the_weight_of_two_texts_together_is_the_sum(one: str, other: str) -> None:
    assert quarters(one + other) == quarters(one) + quarters(other)
