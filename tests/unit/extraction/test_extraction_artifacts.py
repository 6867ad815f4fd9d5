"""Code, JSON and SQL in what was said: all of it, and no sentence that only begins like it."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.extraction.artifacts import artifacts, same_thing

PYTHON = "def tide(hour: int) -> float:\n    return 1.5 * hour\n\n\ndef main() -> None:\n    print(tide(3))"
NESTED = {"name": "boat", "hull": {"planks": [{"oak": 12, "ash": {"wide": True}}, 3]}, "crew": ["Bo"]}


def test_a_fence_is_code_with_its_language_and_name() -> None:
    text = f"Save this as `tools/tide.py`:\n```py\n{PYTHON}\n```\nand run it"
    [found] = artifacts(text)
    assert (found.kind, found.language, found.name) == ("code", "python", "tools/tide.py")
    assert text[found.start : found.end] == PYTHON
    assert found.description == "python code, tools/tide.py"
    [bare] = artifacts(f"~~~\n{PYTHON}\n~~~")
    assert (bare.language, bare.name) == ("", "tide")


def test_se5_nested_json_is_found_whole() -> None:
    for sent in (json.dumps(NESTED), json.dumps(NESTED, indent=2)):
        text = f"The config is\n{sent}\nplease check {{this}}"
        [found] = artifacts(text)
        assert json.loads(text[found.start : found.end]) == NESTED
        assert (found.kind, found.name) == ("json", "boat")


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("SELECT name, length FROM boats WHERE length > 10 ORDER BY name;", ""),
        ("select b.name\nfrom boats b\njoin crews c on c.boat = b.id\nwhere c.size > 2", ""),
        ("CREATE TABLE boats (\n    id INTEGER PRIMARY KEY,\n    name TEXT\n);", "boats"),
        ("INSERT INTO boats (name, length) VALUES ('Moss', 11), ('Fern', 9);", ""),
        ("UPDATE boats SET length = 12 WHERE name = 'Moss' AND length < 12;", ""),
        ("ALTER TABLE boats ADD COLUMN berth TEXT NOT NULL DEFAULT 'none';", "boats"),
    ],
)
def test_se5_a_statement_is_sql(statement: str, name: str) -> None:
    text = f"Run this:\n\n{statement}\n\nThen tell me."
    [found] = artifacts(text)
    assert (found.kind, found.name, text[found.start : found.end]) == ("sql", name, statement)


@pytest.mark.parametrize(
    "text",
    [
        "Select a good restaurant from the list that I sent you yesterday, please, and book it.",
        "Create a table for six people in the garden and an index of all the guests who come.",
        "Update my calendar and set a reminder for the day after the boat show in Quillhaven.",
        "Delete from your memory what I said about the harbour master, he is a nice man after all.",
        "Drop the table off at my sister's place; select something nice from her garden on the way.",
        "Insert into the story a scene with a raft, and alter the table scene so that it is funny.",
        "I think {something} like [this] is no data at all, and neither is this sentence (it has brackets).",
        "My list:\n    - milk, and bread for Jorun\n    - oats\n    - apples (red)\n    - something sweet",
        "    I indent my letters\n    because I like the look of it\n    and nobody has ever said\n    that it is code",
        "```\nok\n```",
    ],
)
def test_se5_ordinary_words_are_no_artifact(text: str) -> None:
    assert artifacts(text) == []


def test_indented_code_is_found_without_a_fence() -> None:
    text = "Like so:\n\n" + "\n".join(f"    {line}" if line else "" for line in PYTHON.split("\n")) + "\n\nDone."
    [found] = artifacts(text)
    assert text[found.start : found.end].strip().startswith("def tide")


def test_a_version_is_known_by_name_or_by_half_of_its_lines() -> None:
    longer = f"{PYTHON}\n# more"
    assert same_thing(PYTHON, longer, named_alike=False)
    assert not same_thing(PYTHON, "import os\nprint(os.name)", named_alike=False)
    assert same_thing(PYTHON, "import os", named_alike=True)


@given(st.text(alphabet="`~{}[]\"' \n\tSELECTfromab1:;,", max_size=400))
def test_any_text_is_read_and_pieces_never_overlap(text: str) -> None:
    found = artifacts(text * 3)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))
