"""Request bodies as generated text, odd in every way that JSON and their format allow."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.json_texts import SPACE, VALUES, arrays, objects, strings

TEXT_PART = objects(st.permutations([('"type"', '"text"'), ('"text"', '"hi"'), ('"cache_control"', "{}")]).map(list))
PARTS = arrays(st.one_of(TEXT_PART, VALUES))
CONTENTS = st.one_of(strings(), st.just('""'), st.just("null"), PARTS, VALUES)
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
TYPED_ITEMS = objects(st.tuples(TYPES, member_lists()).map(lambda both: [('"type"', both[0]), *both[1]]))
LISTS = arrays(st.one_of(objects(member_lists()), TYPED_ITEMS, VALUES))
INPUTS = st.sampled_from([LISTS, LISTS, LISTS, LISTS, strings(), st.just("null"), VALUES]).flatmap(lambda kind: kind)
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


BLOCK_TYPES = ["text", "tool_result", "tool_use", "thinking", "image", "x"]
BLOCKS = st.one_of(
    TEXT_PART,
    objects(st.sampled_from(BLOCK_TYPES).map(lambda kind: [('"type"', f'"{kind}"'), ('"text"', '"t"')])),
    VALUES,
)
SYSTEMS = st.one_of(strings(), st.just("null"), arrays(BLOCKS), VALUES)


@st.composite
def anthropic_members(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Messages of Anthropic's kind, and mostly a system prompt, now and then double."""
    content = st.one_of(strings(), arrays(BLOCKS))
    turns = st.tuples(ROLES, content).map(lambda both: [('"role"', both[0]), ('"content"', both[1])])
    members = [('"messages"', draw(arrays(st.one_of(objects(turns), objects(member_lists()), VALUES))))]
    if draw(st.booleans()):
        members.append(('"system"', draw(SYSTEMS)))
    if draw(st.integers(0, 9)) == 0:
        members.append(draw(st.sampled_from([('"syst\\u0065m"', '"twice"'), ('"messages"', "[]")])))
    return members


def _named(kind: str) -> list[tuple[str, str]]:
    return [(f'"{kind}"', "{}")]


GEMINI_PARTS = st.one_of(
    objects(strings().map(lambda text: [('"text"', text)])),
    objects(st.sampled_from(["functionCall", "function_response", "functionResponse", "inlineData"]).map(_named)),
    VALUES,
)
GEMINI_ROLES = st.sampled_from(['"user"', '"model"', '"function"', '"us\\u0065r"', '"x"', "null", "1"])


@st.composite
def content_members(draw: st.DrawFn) -> list[tuple[str, str]]:
    """The members of a content: its parts in one of their shapes, its role, mostly; now and then one of them double."""
    members = [('"parts"', draw(st.one_of(arrays(GEMINI_PARTS), arrays(GEMINI_PARTS), GEMINI_PARTS)))]
    if draw(st.booleans()):
        members.append(('"role"', draw(GEMINI_ROLES)))
    if draw(st.integers(0, 9)) == 0:
        members.append(draw(st.sampled_from([('"p\\u0061rts"', "[]"), ('"role"', '"user"')])))
    return list(draw(st.permutations(members)))


GEMINI_CONTENTS = st.one_of(objects(content_members()), objects(content_members()), VALUES)


@st.composite
def gemini_members(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Contents, and now and then an instruction in either spelling, a cached prompt, a setting."""
    contents = st.one_of(arrays(GEMINI_CONTENTS), arrays(GEMINI_CONTENTS), GEMINI_CONTENTS)
    members = [('"contents"', draw(contents))]
    for key in ("systemInstruction", "system_instruction"):
        if draw(st.integers(0, 3)) == 0:
            members.append((f'"{key}"', draw(st.one_of(GEMINI_CONTENTS, st.just("null"), arrays(GEMINI_PARTS)))))
    for key in ("cachedContent", "cached_content", "generation_config"):
        if draw(st.integers(0, 5)) == 0:
            members.append((f'"{key}"', draw(st.sampled_from(['"c"', '""', "null", "{}"]))))
    return members
