"""Request bodies as generated text, odd in every way that JSON and their format allow."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.json_texts import SPACE, VALUES, arrays, objects, strings

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
def requests(draw: st.DrawFn, members: st.SearchStrategy[list[tuple[str, str]]]) -> bytes:
    """Bodies with these members and others, in any order."""
    others = draw(st.lists(st.tuples(st.one_of(strings(), st.just('"seed"')), VALUES), max_size=3))
    ordered = list(draw(st.permutations(draw(members) + others)))
    return (draw(SPACE) + draw(objects(st.just(ordered))) + draw(SPACE)).encode("utf-8")


def chats() -> st.SearchStrategy[bytes]:
    """Requests with a list of messages: chat completions and Ollama's chat."""
    return requests(MESSAGES.map(lambda messages: [('"messages"', messages)]))


TYPES = st.sampled_from(
    ['"message"', '"mess\\u0061ge"', '"reasoning"', '"function_call"', '"function_call_output"', '"x"', "null", "1"]
)
ITEMS = objects(
    st.one_of(member_lists(), st.tuples(TYPES, member_lists()).map(lambda both: [('"type"', both[0]), *both[1]]))
)
INPUTS = st.one_of(strings(), strings(), arrays(st.one_of(ITEMS, ITEMS, VALUES)), st.just("null"), VALUES)
INSTRUCTIONS = st.one_of(strings(), st.just("null"), VALUES)


@st.composite
def response_members(draw: st.DrawFn) -> list[tuple[str, str]]:
    """What a request for a response is about: its input, mostly, its instructions and its template, now and then."""
    members = [('"input"', draw(INPUTS))] if draw(st.integers(0, 9)) else []
    if draw(st.booleans()):
        members.append(('"instructions"', draw(INSTRUCTIONS)))
    if draw(st.integers(0, 3)) == 0:
        members.append(('"prompt"', draw(st.sampled_from(["{}", "null"]))))
    if draw(st.integers(0, 9)) == 0:
        members.append(draw(st.sampled_from([('"inp\\u0075t"', '"twice"'), ('"instructions"', '"twice"')])))
    return members
