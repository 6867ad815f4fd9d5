"""JSON as nobody would write it, but somebody may send it: generated texts with every spacing, escape and number."""

from __future__ import annotations

from hypothesis import strategies as st

SPACE = st.text(" \t\n\r", max_size=2)
# Every character that JSON writers treat in their own ways, and lone halves of surrogate pairs.
TEXT = st.text(st.characters() | st.sampled_from('"\\/\x00\x1f\x7f\u2028\u0085é😀\ud83d\udc4d'), max_size=12)


@st.composite
def strings(draw: st.DrawFn, values: st.SearchStrategy[str] = TEXT) -> str:
    """A JSON string, each character raw or in one of its escapes."""
    pieces = []
    for character in draw(values):
        code = ord(character)
        must = code < 0x20 or character in '"\\' or 0xD800 <= code <= 0xDFFF
        if must or draw(st.booleans()):
            units = character.encode("utf-16-be", "surrogatepass")
            pieces.append("".join(f"\\u{units[i]:02x}{units[i + 1]:02X}" for i in range(0, len(units), 2)))
        else:
            pieces.append(character)
    return '"' + "".join(pieces) + '"'


NUMBERS = st.sampled_from(
    ["0", "1.0", "-0", "1e999", "NaN", "Infinity", "0.10", "1E+2", "9" * 5000, "12345678901234567890"]
)
SCALARS = st.one_of(strings(), NUMBERS, st.sampled_from(["true", "false", "null"]))


@st.composite
def arrays(draw: st.DrawFn, items: st.SearchStrategy[str]) -> str:
    written = [draw(SPACE) + item + draw(SPACE) for item in draw(st.lists(items, max_size=4))]
    return "[" + (",".join(written) or draw(SPACE)) + "]"


@st.composite
def objects(draw: st.DrawFn, members: st.SearchStrategy[list[tuple[str, str]]]) -> str:
    written = []
    for key, value in draw(members):
        before, after, between, behind = draw(st.tuples(SPACE, SPACE, SPACE, SPACE))
        written.append(f"{before}{key}{after}:{between}{value}{behind}")
    return "{" + (",".join(written) or draw(SPACE)) + "}"


VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(arrays(inner), objects(st.lists(st.tuples(strings(), inner), max_size=3))),
    max_leaves=5,
)
