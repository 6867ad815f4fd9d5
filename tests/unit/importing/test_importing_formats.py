"""Files of the past, in the shapes that other programs write, also the odd ones."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memproxy.errors import SettingsError
from memproxy.importing.bringing import session_of, turns_of
from memproxy.importing.formats import FORMATS, named, recognised, records
from memproxy.importing.moments import moment
from memproxy.importing.reading import parsed, values
from memproxy.importing.records import Broken, Conversation, Raw, Record, Statement


def read(value: Any) -> list[Record]:
    return list(records(parsed("file.json", json.dumps(value).encode())))


def lines(*texts: str) -> list[Record]:
    return list(records(parsed("file.jsonl", "\n".join(texts).encode())))


def words(record: Record) -> list[tuple[str, str]]:
    assert isinstance(record, Conversation), record
    return [(said.role, said.text) for said in record.said]


# --- ChatGPT ----------------------------------------------------------------------------------------------------------


def node(parent: str | None, role: str, *parts: Any, kind: str = "text", at: float | None = 1.7e9, **more: Any) -> Any:
    message = {
        "author": {"role": role},
        "create_time": at,
        "content": {"content_type": kind, "parts": list(parts)},
        "metadata": {},
        "recipient": "all",
        **more,
    }
    return {"parent": parent, "children": [], "message": message}


def chatgpt(nodes: dict[str, Any], current: str | None, **more: Any) -> dict[str, Any]:
    for name, each in nodes.items():
        if each.get("parent") in nodes:
            nodes[each["parent"]]["children"].append(name)
    return {
        "title": "",
        "create_time": 1.7e9,
        "mapping": nodes,
        "current_node": current,
        "conversation_id": "c-1",
        **more,
    }


def test_chatgpt_the_current_branch_is_read_and_what_was_edited_away_is_not() -> None:
    nodes = {
        "root": {"parent": None, "children": [], "message": None},
        "q1": node("root", "user", "I keep hens"),
        "a1": node("q1", "assistant", "How many?"),
        "q2": node("root", "user", "I keep ducks"),
        "a2": node("q2", "assistant", "Lovely."),
    }
    [record] = read([chatgpt(nodes, "a2")])
    assert words(record) == [("user", "I keep ducks"), ("assistant", "Lovely.")]
    assert isinstance(record, Conversation)
    assert record.key == "c-1"
    assert record.said[0].time == datetime.fromtimestamp(1.7e9, UTC)


@pytest.mark.parametrize("current", [None, "gone"])
def test_chatgpt_without_a_current_message_the_newest_leads(current: str | None) -> None:
    nodes = {
        "q": node(None, "user", "Hi", at=1.0),
        "old": node("q", "assistant", "Old", at=2.0),
        "new": node("q", "assistant", "New", at=3.0),
    }
    [record] = read([chatgpt(nodes, current)])
    assert words(record)[-1] == ("assistant", "New")


def test_chatgpt_what_nobody_said_is_left_out_and_counted() -> None:
    nodes = {
        "a": node(None, "system", "You are kind"),
        "b": node("a", "user", "My profile", kind="user_editable_context"),
        "c": node("b", "user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
        "d": node("c", "user", {"content_type": "image_asset_pointer", "asset_pointer": "file://x"}, "Look at my boat"),
        "e": node("d", "assistant", "search('boats')", recipient="browser"),
        "f": node("e", "tool", "results"),
        "g": node("f", "assistant", "thinking", kind="thoughts"),
        "h": node("g", "user", {"content_type": "image_asset_pointer"}),
        "i": node("h", "user", {"content_type": "audio_transcription", "text": "And my canoe"}),
    }
    [record] = read([chatgpt(nodes, "i")])
    assert words(record) == [("user", "Look at my boat"), ("user", "And my canoe")]
    assert isinstance(record, Conversation)
    assert record.left_out == 7


def test_chatgpt_a_tree_that_bites_its_tail_ends() -> None:
    nodes = {"a": node("b", "user", "One"), "b": node("a", "assistant", "Two")}
    [record] = read([chatgpt(nodes, "a")])
    assert len(words(record)) == 2


# --- Claude -----------------------------------------------------------------------------------------------------------


def test_claude_the_branch_of_the_last_message_is_read() -> None:
    def message(id: str, sender: str, text: str, parent: str | None) -> dict[str, Any]:
        return {
            "uuid": id,
            "sender": sender,
            "text": text,
            "content": [{"type": "text", "text": text}, {"type": "tool_use", "name": "x"}],
            "created_at": "2025-01-02T03:04:05.678901Z",
            "parent_message_uuid": parent,
            "attachments": [{"extracted_content": "a whole book"}],
        }

    told = [
        message("1", "human", "I grow figs", "0"),
        message("2", "assistant", "Where?", "1"),
        message("3", "human", "On a roof", "2"),
        message("4", "human", "In a garden", "2"),
    ]
    [record] = read([{"uuid": "u", "name": "", "created_at": "2025-01-02T03:04:05Z", "chat_messages": told}])
    assert words(record) == [("user", "I grow figs"), ("assistant", "Where?"), ("user", "In a garden")]


def test_claude_old_exports_without_parents_are_read_in_order() -> None:
    told = [{"sender": "human", "text": "One"}, {"sender": "assistant", "text": ""}, {"sender": "human", "text": "Two"}]
    [record] = read([{"uuid": "u", "chat_messages": told}])
    assert words(record) == [("user", "One"), ("user", "Two")]
    assert isinstance(record, Conversation)
    assert record.left_out == 1


# --- messages ---------------------------------------------------------------------------------------------------------


def test_messages_a_conversation_a_line_or_in_a_list() -> None:
    chat = {
        "id": "t-9",
        "created_at": "2024-05-06T07:08:09+02:00",
        "messages": [
            {"role": "system", "content": "Be kind"},
            {"role": "user", "content": [{"type": "text", "text": "I ski"}, {"type": "image_url", "image_url": {}}]},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "content": "x"},
            {"role": "assistant", "content": "Nice."},
        ],
    }
    for found in (read([chat]), lines(json.dumps(chat), json.dumps(chat))[:1]):
        assert words(found[0]) == [("user", "I ski"), ("assistant", "Nice.")]
        assert isinstance(found[0], Conversation)
        assert (found[0].key, found[0].time) == ("t-9", datetime(2024, 5, 6, 5, 8, 9, tzinfo=UTC))


def test_lines_of_one_session_are_one_conversation_and_a_bad_line_is_named() -> None:
    found = lines(
        '{"role":"user","content":"One","session_id":"a","time":"2024-01-01"}',
        '{"role":"assistant","content":"Two","session_id":"a"}',
        '{"role":"user","content":"cut of',
        '{"role":"user","content":"Three","session_id":"b","time":"2024-01-02"}',
        '{"role":"user","content":7,"session_id":"b"}',
    )
    spoken = [record for record in found if isinstance(record, Conversation)]
    broken = [record.where for record in found if isinstance(record, Broken)]
    assert [(record.key, len(record.said)) for record in spoken] == [("a", 2), ("b", 1)]
    assert broken == ["file.jsonl line 3", "file.jsonl line 5"]


# --- research data ----------------------------------------------------------------------------------------------------


def test_locomo_sessions_are_dated_and_the_first_speaker_is_the_user() -> None:
    talk = {
        "speaker_a": "Ilse",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Bo", "dia_id": "D1:1", "text": "Hi"},
            {"speaker": "Ilse", "dia_id": "D1:2", "text": "My hens", "blip_caption": "three hens"},
        ],
        "session_10_date_time": "9:00 am on 1 June, 2023",
        "session_10": [{"speaker": "Ilse", "dia_id": "D10:1", "text": "Later"}],
    }
    first, tenth = read([{"sample_id": "conv-1", "conversation": talk}])
    assert words(first) == [("assistant", "Hi"), ("user", "My hens [shared image: three hens]")]
    assert isinstance(first, Conversation)
    assert first.time == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert isinstance(tenth, Conversation)
    assert tenth.key == "conv-1/10"


def test_longmemeval_haystacks_are_sessions() -> None:
    item = {
        "question_id": "q",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "I row", "has_answer": True}],
            [{"role": "user", "content": "I swim"}],
        ],
    }
    first, second = read([item])
    assert isinstance(first, Conversation)
    assert isinstance(second, Conversation)
    assert (first.key, first.time) == ("s1", datetime(2023, 5, 20, 2, 21, tzinfo=UTC))
    assert second.key == "s2"


# --- other memories ---------------------------------------------------------------------------------------------------

MEMORIES = [
    ("mem0", {"results": [{"id": "1", "memory": "Likes figs", "created_at": "2024-07-01T00:00:00-07:00"}]}),
    ("mem0", [{"id": "1", "memory": "Likes figs", "created_at": "2024-07-01T07:00:00Z"}]),
    (
        "openmemory",
        {"memories": [{"content": "Likes figs", "created_at": 1719817200, "state": "active", "categories": []}]},
    ),
    ("zep", {"edges": [{"fact": "Likes figs", "name": "LIKES", "created_at": "2024-07-01T07:00:00Z"}]}),
]


@pytest.mark.parametrize(("name", "value"), MEMORIES)
def test_statements_of_other_memories_keep_their_dates(name: str, value: Any) -> None:
    [record] = read(value)
    assert isinstance(record, Statement)
    assert (record.text, record.time) == ("Likes figs", datetime(2024, 7, 1, 7, 0, tzinfo=UTC))
    assert recognised(value[0] if isinstance(value, list) else value) is named(name)


def test_what_was_deleted_elsewhere_does_not_come_back() -> None:
    gone = [{"content": f"Likes {state}", "state": state} for state in ("deleted", "archived")]
    assert read({"memories": gone}) == []


def test_a_fact_that_held_once_comes_with_its_end() -> None:
    edge = {"fact": "Lives in Tolm", "valid_at": "2020-01-01", "invalid_at": "2021-06-01", "created_at": "2020-01-02"}
    [record] = read({"edges": [edge]})
    assert isinstance(record, Statement)
    assert record.valid_from == datetime(2020, 1, 1, tzinfo=UTC)
    assert record.valid_until == datetime(2021, 6, 1, tzinfo=UTC)


# --- files ------------------------------------------------------------------------------------------------------------


def archive(**members: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        for name, data in members.items():
            made.writestr(name, data)
    return held.getvalue()


CHAT = json.dumps([{"messages": [{"role": "user", "content": "I ski", "time": "2024-01-01"}]}]).encode()


def test_archives_and_folders_are_read_through(tmp_path: Path) -> None:
    packed = archive(
        **{
            "a/conversations.json": CHAT,
            "user.json": b'{"id": "u"}',
            "odd.json": b"7",
            "chat.html": b"<p>",
            "x.json": b"{",
        }
    )
    (tmp_path / "export.zip").write_bytes(packed)
    (tmp_path / "more.JSONL").write_bytes(b"\xef\xbb\xbf" + CHAT)
    found = list(records(values(tmp_path)))
    assert [words(record) for record in found if isinstance(record, Conversation)] == [[("user", "I ski")]] * 2
    assert [record.where for record in found if isinstance(record, Broken)] == ["odd.json", "x.json"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b'{"messages": [', "no JSON: Expecting value at line 1, column 15"),
        (b'{\n"messages": [\n', "no JSON"),
        (b"[" * 100_000, "no JSON: nested too deeply"),
        (b"42", "of no known format"),
        (b'{"hello": "world"}', "of no known format"),
        (b'{"mapping": {"a": 7}, "current_node": "a"}', "not shaped as expected"),
        (b'{"messages": [{"role": "user", "content": "x", "time": "next Tuesday"}]}', "not shaped as expected"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_reason(data: bytes, why: str) -> None:
    [record] = records(parsed("file.json", data))
    assert isinstance(record, Broken)
    assert record.where.startswith("file.json")
    assert record.reason.startswith(why)


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@given(places=st.sets(st.integers(0, 600), min_size=1, max_size=12), flip=st.integers(1, 255))
@settings(max_examples=25, deadline=None)
def test_no_damage_to_an_archive_is_a_fault(
    packing: int, places: set[int], flip: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever bytes of it are not what they were: what can still be read is, the rest is named."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", packing) as made:
        made.writestr("one.json", CHAT * 3)
        made.writestr("two.json", CHAT)
    data = bytearray(held.getvalue())
    for place in places:
        data[place % len(data)] ^= flip
    file = tmp_path_factory.getbasetemp() / "damaged.zip"
    file.write_bytes(data)
    with contextlib.suppress(SettingsError):  # an archive whose list of contents cannot be read
        list(records(values(file)))


def test_a_damaged_file_in_an_archive_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    data = bytearray(archive(**{"one.json": CHAT, "two.json": CHAT}))
    data[data.index(CHAT) + 5] ^= 1
    (tmp_path / "export.zip").write_bytes(data)
    broken, read = records(values(tmp_path / "export.zip"))
    assert isinstance(broken, Broken)
    assert (broken.where, isinstance(read, Conversation)) == ("one.json", True)


@pytest.mark.parametrize("name", ["gone.json", "empty"])
def test_a_path_without_anything_to_read_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SettingsError, match=name):
        list(values(tmp_path / name))


def test_an_unknown_format_names_those_that_are_known() -> None:
    with pytest.raises(SettingsError, match="chatgpt, claude"):
        named("whatsapp")


keys = st.sampled_from(
    "mapping message author role content parts chat_messages sender text messages memory results edges fact memories "
    "state created_at time haystack_sessions conversation session_1 current_node a".split()
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=12,
)


@given(json_values)
@settings(max_examples=150, deadline=None)
def test_no_value_makes_any_format_raise(value: Any) -> None:
    for form in (None, *FORMATS):
        for record in records([Raw("x", value)], form):
            assert isinstance(record, Conversation | Statement | Broken)


# --- times and names --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        (1.7e9, "2023-11-14T22:13:20+00:00"),
        (1_700_000_000_000, "2023-11-14T22:13:20+00:00"),
        ("1700000000", "2023-11-14T22:13:20+00:00"),
        ("20231114", "2023-11-14T00:00:00+00:00"),
        ("2023-11-14", "2023-11-14T00:00:00+00:00"),
        ("2023-11-14 22:13:20", "2023-11-14T22:13:20+00:00"),
        ("2023-11-14T23:13:20+01:00", "2023-11-14T22:13:20+00:00"),
        (0, "1970-01-01T00:00:00+00:00"),
    ],
)
def test_times_are_read_in_any_of_their_forms(value: Any, iso: str) -> None:
    found = moment(value)
    assert found is not None
    assert found.isoformat() == iso


@pytest.mark.parametrize("value", [True, [], {}, "soon", float("nan"), "inf", 1e300, 10**400, "0000-00-00"])
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="no time"):
        moment(value)


def test_messages_without_times_follow_one_another() -> None:
    [record] = read([{"created_at": "2024-01-01", "messages": [{"role": "user", "content": "ok"}] * 3}])
    assert isinstance(record, Conversation)
    times = [turn.time for turn in turns_of(record, None)]
    assert times == sorted(set(times))
    assert times[0] == datetime(2024, 1, 1, tzinfo=UTC)


def test_a_conversation_without_any_date_needs_one() -> None:
    [record] = read([{"messages": [{"role": "user", "content": "I ski"}]}])
    assert isinstance(record, Conversation)
    with pytest.raises(ValueError, match="--date"):
        turns_of(record, None)
    assert turns_of(record, datetime(2024, 1, 1, tzinfo=UTC))[0].time.year == 2024


@pytest.mark.parametrize("key", ["", "a\nb", "x" * 300])
def test_a_conversation_that_has_no_name_to_use_is_named_by_what_it_says(key: str) -> None:
    [one] = read([{"id": key, "messages": [{"role": "user", "content": "I ski"}]}])
    [other] = read([{"id": key, "messages": [{"role": "user", "content": "I row"}]}])
    assert isinstance(one, Conversation)
    assert isinstance(other, Conversation)
    assert session_of(one) == session_of(one) != session_of(other)
