"""Whose memory a request means, which conversation it is, and what memory may do with it."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.events import Skip
from memproxy.names import clean_name
from memproxy.server.access import Caller, Headers
from memproxy.server.identity import (
    Forbidden,
    Named,
    Refused,
    client_time,
    entity_name,
    memory_mode,
    read_time,
    session_name,
    split_path,
    time_zone,
)
from memproxy.server.targets import family, resolve
from memproxy.settings import Key, Settings, Targets

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
NOBODY = Named(b"/v1/x", None)
ANY = Caller()
ALICE = Caller(Key(key_env="K", entities=["alice", "team-*"]))
BOB = Caller(Key(key_env="K", entities=["bob"]))


def headers(*pairs: tuple[str, str | bytes]) -> Headers:
    return Headers([(name.encode(), value if isinstance(value, bytes) else value.encode()) for name, value in pairs])


def entity(
    *pairs: tuple[str, str | bytes],
    path: Named = NOBODY,
    fields: dict[str, str] | None = None,
    settings: Settings | None = None,
    caller: Caller = ANY,
) -> str | None:
    return entity_name(headers(*pairs), path, fields or {}, settings or Settings(), caller)


# --- the path ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "rest", "name"),
    [
        (b"/v1/chat/completions", b"/v1/chat/completions", None),
        (b"/memproxy/as/alice/v1/chat/completions", b"/v1/chat/completions", "alice"),
        (b"/memproxy/as/alice", b"/", "alice"),
        (b"/memproxy/as/alice/", b"/", "alice"),
        (b"/memproxy/as/a%2Fb/v1", b"/v1", "a/b"),
        (b"/memproxy/as/a%252Fb/v1", b"/v1", "a%2Fb"),
        (b"/memproxy/as/%C3%81gnes/v1", b"/v1", "Ágnes"),
        (b"/memproxy/as/A%CC%81gnes/v1", b"/v1", "Ágnes"),
        (b"/memproxy/as/a+b/v1", b"/v1", "a+b"),
        (b"/memproxy/as/../v1", b"/v1", ".."),
        (b"/memproxy/as/100%/v1", b"/v1", "100%"),
        (b"/memproxy/as/bo//v1//x%2Fy", b"//v1//x%2Fy", "bo"),
        (b"/memproxy/asx/alice/v1", b"/memproxy/asx/alice/v1", None),
        (b"/v1/memproxy/as/alice", b"/v1/memproxy/as/alice", None),
    ],
)
def test_the_entity_in_the_path_is_decoded_once_and_the_rest_stays_as_it_is(
    raw: bytes, rest: bytes, name: str | None
) -> None:
    assert split_path(raw) == Named(rest, name)


@pytest.mark.parametrize("segment", [b"", b"%00", b"a%0Ab", b"%FF", b"%C3", b"x" * 256, b"%7F", b"%C2%85"])
def test_a_path_that_names_nobody_valid_goes_on_without_memory(segment: bytes) -> None:
    named = split_path(b"/memproxy/as/" + segment + b"/v1/x")
    assert named == Named(b"/v1/x", None, valid=False)
    with pytest.raises(Refused) as refused:
        entity(path=named)
    assert refused.value.reason == Skip.BAD_ENTITY


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=60))
def test_any_name_comes_through_a_path_as_it_comes_through_a_header(name: str) -> None:
    named = split_path(f"/memproxy/as/{quote(name, safe='')}/v1".encode())
    assert named.path == b"/v1"
    assert named.entity == clean_name(name) == unicodedata.normalize("NFC", name)
    assert entity(("x-memg-entity", name), path=named) == named.entity


# --- who ---------------------------------------------------------------------------------------------------------


def test_the_order_is_header_or_path_then_other_sources_then_the_key_then_the_settings() -> None:
    settings = Settings(entity="configured", entity_sources=["header:X-OpenWebUI-User-Id", "body:user"])
    other = ("x-openwebui-user-id", "webui")
    assert entity(("x-memg-entity", "named"), other, fields={"user": "body"}, settings=settings) == "named"
    assert entity(other, path=Named(b"/", "path"), fields={"user": "body"}, settings=settings) == "path"
    assert entity(other, fields={"user": "body"}, settings=settings) == "webui"
    assert entity(fields={"user": "body"}, settings=settings) == "body"
    assert entity(settings=settings, caller=BOB) == "bob"
    assert entity(settings=settings) == "configured"
    assert entity() is None


def test_no_source_counts_that_is_not_configured() -> None:
    assert entity(("x-openwebui-user-id", "webui"), fields={"user": "body"}) is None


def test_header_and_path_may_say_the_same_and_not_two_things() -> None:
    assert entity(("x-memg-entity", "a"), path=Named(b"/", "a")) == "a"
    with pytest.raises(Refused) as refused:
        entity(("x-memg-entity", "a"), path=Named(b"/", "b"))
    assert refused.value.reason == Skip.ENTITY_MISMATCH


@pytest.mark.parametrize("value", ["", "a\tb", "x" * 256, b"\xff", b"\xc3", "a\x7fb", "\x85"])
def test_an_invalid_name_is_refused_and_not_cut_or_guessed(value: str | bytes) -> None:
    with pytest.raises(Refused) as refused:
        entity(("x-memg-entity", value))
    assert refused.value.reason == Skip.BAD_ENTITY
    with pytest.raises(Refused) as refused:
        session_name(headers(("x-memg-session", value)))
    assert refused.value.reason == Skip.BAD_SESSION


@pytest.mark.parametrize("value", ["a", "x" * 255, "é" * 255, "a/b", "../x", "%2F", " a ", "名前", "a\u200db", "🎸"])
def test_a_header_is_taken_literally(value: str) -> None:
    assert entity(("x-memg-entity", value)) == value
    assert session_name(headers(("x-memg-session", value))) == value


def test_names_are_compared_after_nfc_and_in_no_other_way() -> None:
    assert entity(("x-memg-entity", "A\u0301gnes")) == "Ágnes"
    assert entity(("x-memg-entity", "alice")) != entity(("x-memg-entity", "Alice"))
    assert entity(("x-memg-entity", "ｂｏ")) == "ｂｏ"
    assert entity(settings=Settings(entity="A\u0301gnes")) == "Ágnes"


def test_a_header_said_twice_differently_names_nobody() -> None:
    for name, reason in (("x-memg-entity", Skip.BAD_ENTITY), ("x-webui", Skip.BAD_ENTITY)):
        with pytest.raises(Refused) as refused:
            entity((name, "a"), (name, "b"), settings=Settings(entity_sources=["header:X-WebUI"]))
        assert refused.value.reason == reason
    assert entity(("x-memg-entity", "a"), ("X-MemG-Entity", "a")) == "a"
    with pytest.raises(Refused):
        session_name(headers(("x-memg-session", "a"), ("x-memg-session", "b")))


def test_an_invalid_name_from_another_source_is_refused() -> None:
    with pytest.raises(Refused):
        entity(fields={"user": "a\nb"}, settings=Settings(entity_sources=["body:user"]))
    assert entity(fields={"user": ""}, settings=Settings(entity_sources=["body:user"])) is None


@pytest.mark.parametrize("how", ["header", "path", "source"])
def test_a_key_cannot_be_talked_into_another_entity(how: str) -> None:
    settings = Settings(entity_sources=["body:user"])
    for name, allowed in (("alice", True), ("team-1", True), ("bob", False)):
        said = [("x-memg-entity", name)] if how == "header" else []
        path = Named(b"/", name) if how == "path" else NOBODY
        fields = {"user": name} if how == "source" else {}
        if allowed:
            assert entity(*said, path=path, fields=fields, settings=settings, caller=ALICE) == name
        else:
            with pytest.raises(Forbidden) as forbidden:
                entity(*said, path=path, fields=fields, settings=settings, caller=ALICE)
            assert forbidden.value.status == 403


def test_the_configured_entity_is_only_for_keys_that_cover_it() -> None:
    assert entity(settings=Settings(entity="alice"), caller=ALICE) == "alice"
    assert entity(settings=Settings(entity="zoe"), caller=ALICE) is None


# --- what memory may do ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "mode"),
    [
        ("full", "full"),
        ("read", "read"),
        ("write", "write"),
        ("off", "off"),
        (" READ ", "read"),
        ("", "off"),
        ("on", "off"),
        ("readd", "off"),
    ],
)
def test_an_unknown_mode_is_off(said: str, mode: str) -> None:
    assert memory_mode(headers(("x-memg-memory", said))) == mode


def test_without_a_mode_memory_is_full_and_with_two_it_is_off() -> None:
    assert memory_mode(headers()) == "full"
    assert memory_mode(headers(("x-memg-memory", "full"), ("x-memg-memory", "off"))) == "off"


# --- time --------------------------------------------------------------------------------------------------------


def test_the_time_zone_is_the_headers_else_the_settings_and_none_for_an_unknown_one() -> None:
    settings = Settings(timezone="Europe/Vienna")
    assert str(time_zone(headers(("x-memg-timezone", "Asia/Tokyo")), settings)) == "Asia/Tokyo"
    assert str(time_zone(headers(), settings)) == "Europe/Vienna"
    for name in ("Mars", "", "../x", "Europe", b"\xff"):
        assert time_zone(headers(("x-memg-timezone", name)), settings) is None


def test_a_clients_time_counts_only_where_the_setting_is_on_and_the_key_administers() -> None:
    said = headers(("x-memg-time", "2021-05-06"))
    on = Settings(client_time=True)
    assert client_time(said, Settings(), ANY) is None
    assert client_time(said, on, ANY) == "2021-05-06"
    assert client_time(said, on, ALICE) is None
    assert client_time(said, on, Caller(Key(key_env="K", admin=True))) == "2021-05-06"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2021-05-06", datetime(2021, 5, 6, tzinfo=UTC)),
        (" 2021-05-06T10:00:00Z ", datetime(2021, 5, 6, 10, tzinfo=UTC)),
        ("2021-05-06T10:00:00+02:00", datetime(2021, 5, 6, 8, tzinfo=UTC)),
        ("2021-05-06T10:00:00", datetime(2021, 5, 6, 10, tzinfo=UTC)),
        ("2026-06-10T12:05:00Z", NOW + timedelta(minutes=5)),
    ],
)
def test_a_time_is_read_in_utc(text: str, moment: datetime) -> None:
    assert read_time(text, NOW) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2021-02-30",
        "2026-06-10T12:05:01Z",
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00+14:00",
        "1e9",
    ],
)
def test_an_unreadable_or_future_time_is_none(text: str) -> None:
    with pytest.raises(ValueError):
        read_time(text, NOW)


# --- targets -----------------------------------------------------------------------------------------------------


def test_a_request_goes_to_its_formats_target_else_to_the_one_target_else_to_the_vendor() -> None:
    assert resolve(Settings(), "openai") == "https://api.openai.com"
    assert resolve(Settings(target="https://api.groq.com/openai/"), "anthropic") == "https://api.groq.com/openai"
    both = Settings(target="http://all", targets=Targets(openai="http://one/"))
    assert (resolve(both, "openai"), resolve(both, "gemini")) == ("http://one", "http://all")


def test_a_path_that_no_format_claims_is_told_by_its_signs() -> None:
    assert family("chat_completions", b"/x", headers()) == "openai"
    assert family(None, b"/v1/files", headers(("anthropic-version", "2023-06-01"))) == "anthropic"
    assert family(None, b"/v1beta/models", headers()) == "gemini"
    assert family(None, b"/v1/models", headers()) == "openai"
