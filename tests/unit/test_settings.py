"""Settings: what wins over what, what a mistake is told as, and that no secret shows."""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memproxy.errors import SettingsError
from memproxy.settings import LONGEST, Duration, Key, Secret, Settings, is_loopback, zone
from memproxy.settings_sources import ALIASES, Loaded, defaults, load, paths

KEY = "sk-" + "Tt9" * 14
KEYS = [{"key_env": "K", "entities": ["*"]}]


def loaded(
    folder: Path, tree: Any = None, environ: dict[str, str] | None = None, raw: str | None = None, **flags: object
) -> Loaded:
    config = folder / "memg.json"
    config.write_text(raw if raw is not None else json.dumps(tree if tree is not None else {}))
    return load(str(config), {name.replace("__", "."): value for name, value in flags.items()}, environ or {})


def settings(folder: Path, *args: Any, **kwargs: Any) -> Settings:
    return loaded(folder, *args, **kwargs).settings


def problem(folder: Path, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(SettingsError) as failed:
        loaded(folder, *args, **kwargs)
    return str(failed.value).replace(str(folder / "memg.json"), "memg.json")


# --- precedence --------------------------------------------------------------------------------------------------


def test_a_flag_wins_over_the_environment_over_the_file_over_the_default(tmp_path: Path) -> None:
    file, environ = {"port": 1}, {"MEMG_PORT": "2"}
    assert settings(tmp_path).port == 8787
    assert settings(tmp_path, file).port == 1
    assert settings(tmp_path, file, environ).port == 2
    assert settings(tmp_path, file, environ, port=3).port == 3
    assert settings(tmp_path, file, environ, port=None).port == 2


def test_each_key_is_taken_from_its_own_best_source(tmp_path: Path) -> None:
    found = settings(
        tmp_path, {"llm": {"model": "file", "timeout": "5s"}}, {"MEMG_LLM_MODEL": "env"}, llm__base_url="http://x"
    )
    assert (found.llm.model, found.llm.timeout, found.llm.base_url) == ("env", 5.0, "http://x")


@pytest.mark.parametrize("path", list(paths()))
def test_every_setting_can_be_set_in_the_file_and_in_the_environment(tmp_path: Path, path: str) -> None:
    value: Any = defaults()
    for part in path.split("."):
        value = value[part]
    if value is None:
        value = {"int": 1, "float": 0.5}.get("int" if path.split(".")[-1] in ("dimensions", "max_tokens") else "")
    tree: Any = value
    for part in reversed(path.split(".")):
        tree = {part: tree}
    assert settings(tmp_path, tree) is not None
    if value is not None:
        text = value if isinstance(value, str) else json.dumps(value)
        found = loaded(tmp_path, {}, {"MEMG_" + path.replace(".", "_").upper(): text})
        assert found.warnings == ()
        assert found.settings == settings(tmp_path, tree)


def test_every_environment_name_means_one_setting() -> None:
    names = ["MEMG_" + path.replace(".", "_").upper() for path in paths()]
    assert len(set(names)) == len(names)
    assert not set(names) & set(ALIASES)
    assert set(ALIASES.values()) <= set(paths())


@pytest.mark.parametrize(("name", "path"), ALIASES.items())
def test_an_earlier_systems_name_is_accepted_and_gives_way_to_our_own(tmp_path: Path, name: str, path: str) -> None:
    own = "MEMG_" + path.replace(".", "_").upper()
    group, field = path.split(".")
    assert getattr(getattr(settings(tmp_path, {}, {name: "7"}), group), field) == 7
    assert getattr(getattr(settings(tmp_path, {}, {name: "7", own: "9"}), group), field) == 9


def test_lists_in_the_environment_are_json_or_comma_separated(tmp_path: Path) -> None:
    assert settings(tmp_path, {}, {"MEMG_CHORES": "^a, ^b"}).chores == ["^a", "^b"]
    assert settings(tmp_path, {}, {"MEMG_CHORES": '["^a,b"]'}).chores == ["^a,b"]
    assert settings(tmp_path, {}, {"MEMG_LLM_OPTIONS": '{"top_p": 1}'}).llm.options == {"top_p": 1}
    assert settings(tmp_path, {}, {"MEMG_DEBUG": "true", "MEMG_CLIENT_TIME": "0"}).debug is True


def test_an_empty_variable_is_none(tmp_path: Path) -> None:
    assert settings(tmp_path, {"port": 1}, {"MEMG_PORT": "", "MEMG_LLM_MODEL": " "}).port == 1


def test_the_first_candidate_that_is_there_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert load(None, {}, {}).file is None
    for name, port in (
        (tmp_path / "home/.memg/config.json", 3),
        (tmp_path / "memg.config.json", 2),
        (tmp_path / "memg.json", 1),
    ):
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_text(json.dumps({"port": port}))
        assert load(None, {}, {}).settings.port == port


def test_a_file_that_begins_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "memg.json").write_bytes(b'\xef\xbb\xbf{"port": 5}')
    assert load(str(tmp_path / "memg.json"), {}, {}).settings.port == 5


# --- mistakes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tree", "parts"),
    [
        ({"prt": 1}, ["prt", "memg.json", "did you mean port?"]),
        ({"llm": {"modle": "x"}}, ["llm.modle", "memg.json", "did you mean llm.model?"]),
        ({"targets": {"opnai": "x"}}, ["targets.opnai", "did you mean targets.openai?"]),
        ({"zzzzzz": 1}, ["unknown setting zzzzzz in memg.json"]),
        ({"llm": 5}, ["llm in memg.json is a group", "object"]),
        ({"llm": None}, ["llm in memg.json is a group", "object"]),
        ({"port": "abc"}, ["port (from memg.json)", "whole number"]),
        ({"port": 70000}, ["port (from memg.json)", "65535"]),
        ({"debug": "yes"}, ["debug (from memg.json)", "true or false"]),
        ({"db": 5}, ["db (from memg.json)", "text"]),
        ({"chores": "abc"}, ["chores (from memg.json)", "a list"]),
        ({"chores": [1]}, ["chores[0] (from memg.json)", "text"]),
        ({"chores": ["("]}, ["chores (from memg.json)", "'('", "regular expression"]),
        ({"extraction": {"ignore": ["["]}}, ["extraction.ignore (from memg.json)", "regular expression"]),
        ({"memory": {"placement": "top"}}, ["memory.placement (from memg.json)", "'top'", "system, user, split"]),
        ({"llm": {"provider": "nobody"}}, ["llm.provider (from memg.json)", "openai"]),
        ({"recall": {"threshold": 2}}, ["recall.threshold (from memg.json)", "1.0"]),
        ({"session": {"timeout": "soon"}}, ["session.timeout (from memg.json)", "'soon'", '"30m"']),
        ({"session": {"timeout": -1}}, ["session.timeout (from memg.json)", '"30m"']),
        ({"session": {"timeout": True}}, ["session.timeout (from memg.json)", '"30m"']),
        ({"timezone": "Mars"}, ["timezone (from memg.json)", "'Mars'", "Europe/Vienna"]),
        ({"target": "ftp://x"}, ["target (from memg.json)", "ftp://x", "https://api.openai.com"]),
        ({"targets": {"gemini": "example.org"}}, ["targets.gemini (from memg.json)", "https://"]),
        ({"target": "http://[::"}, ["target (from memg.json)", "https://"]),
        ({"llm": {"base_url": "http://x?y=1"}}, ["llm.base_url (from memg.json)", "https://"]),
        ({"entity": ""}, ["entity (from memg.json)", "1 to 255"]),
        ({"entity": "a\nb"}, ["entity (from memg.json)", "control"]),
        ({"entity_sources": ["cookie:x"]}, ["entity_sources (from memg.json)", "cookie:x", "header:X-User-Id"]),
        ({"allowed_origins": ["*"]}, ["allowed_origins (from memg.json)", "'*'", "https://app.example"]),
        ({"allowed_origins": ["app.example"]}, ["allowed_origins (from memg.json)", "https://app.example"]),
        ({"allowed_origins": ["https://app.example/path"]}, ["allowed_origins", "https://app.example"]),
        ({"keys": [{"key_env": "K"}]}, ["keys[0] (from memg.json)", "entities", "admin"]),
        ({"keys": [{"entities": ["a"]}]}, ["keys[0] (from memg.json)", "key_env", "key_file"]),
        ({"keys": [{"key_env": "K", "key_file": "f", "admin": True}]}, ["keys[0]", "exactly one"]),
        ({"keys": [{"secret": "x"}]}, ["keys in memg.json", "secret", "key_env, key_file, entities, admin"]),
        ({"llm": {"api_key": [KEY]}}, ["llm.api_key (from memg.json)", "env:NAME"]),
        ({"receipts": {"days": 10**9}}, ["receipts.days (from memg.json)", "36500"]),
        ([], ["memg.json", "one JSON object"]),
    ],
)
def test_a_mistake_is_told_with_its_key_its_source_and_what_would_work(
    tmp_path: Path, tree: Any, parts: list[str]
) -> None:
    said = problem(tmp_path, tree)
    assert all(part in said for part in parts), said


def test_the_source_is_the_one_that_won(tmp_path: Path) -> None:
    assert "(from MEMG_PORT)" in problem(tmp_path, {"port": 1}, {"MEMG_PORT": "abc"})
    assert "(from --port)" in problem(tmp_path, {"port": 1}, {"MEMG_PORT": "2"}, port=99999)
    assert "(from --llm-base-url)" in problem(tmp_path, {}, {}, llm__base_url="x")
    assert "(from MEMG_TIMEZONE)" in problem(tmp_path, {}, {"MEMG_TIMEZONE": "Mars"})
    assert "MEMG_LLM_OPTIONS" in problem(tmp_path, {}, {"MEMG_LLM_OPTIONS": "x"})


@pytest.mark.parametrize("raw", ["{", "", "\x00", '{"port": 1,}', "not json"])
def test_a_file_that_is_no_json_is_named(tmp_path: Path, raw: str) -> None:
    assert "memg.json is no JSON" in problem(tmp_path, raw=raw)


def test_a_file_that_is_not_there_or_not_readable_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"--config.*nowhere\.json"):
        load(str(tmp_path / "nowhere.json"), {}, {})
    (tmp_path / "memg.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(SettingsError, match="is no JSON"):
        load(str(tmp_path / "memg.json"), {}, {})


def test_an_unknown_variable_warns_and_names_the_nearest(tmp_path: Path) -> None:
    found = loaded(tmp_path, {}, {"MEMG_PROT": "1", "MEMG_QQQQQQQQQQQQQQQ": "1", "OTHER": "1"})
    assert found.warnings == (
        "MEMG_PROT is set but means nothing here; did you mean MEMG_PORT?",
        "MEMG_QQQQQQQQQQQQQQQ is set but means nothing here",
    )


# --- public addresses --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_a_public_address_without_keys_is_refused_and_told_what_to_do(tmp_path: Path, host: str) -> None:
    said = problem(tmp_path, {"host": host})
    assert all(part in said for part in ("host", "keys", "key_env", "127.0.0.1"))
    assert settings(tmp_path, {"host": host, "keys": KEYS}).loopback is False


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "::1", "[::1]", "127.9.9.9"])
def test_this_machine_needs_no_keys(tmp_path: Path, host: str) -> None:
    assert settings(tmp_path, {"host": host}).loopback
    assert is_loopback(host)


def test_a_callers_credential_is_borrowed_only_where_nobody_else_can_call(tmp_path: Path) -> None:
    assert settings(tmp_path).borrows
    assert not settings(tmp_path, {"keys": KEYS}).borrows
    assert not settings(tmp_path, {"host": "0.0.0.0", "keys": KEYS}).borrows
    assert settings(tmp_path, {"keys": KEYS, "llm": {"borrow": True}}).borrows
    assert not settings(tmp_path, {"llm": {"borrow": False}}).borrows
    assert not settings(tmp_path, {"llm": {"base_url": "http://x", "borrow": True}}).borrows
    assert not settings(tmp_path, {}, {"MEMG_LLM_API_KEY": KEY}).borrows


# --- durations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("30m", 1800), ("20s", 20), ("250ms", 0.25), ("7d", 604800), ("1.5h", 5400), ("20", 20), (20, 20), (0.5, 0.5),
     (" 5 M ", 300), ("0", 0), (0, 0)],
)  # fmt: skip
def test_a_duration_is_seconds_or_a_number_with_its_unit(said: object, seconds: float) -> None:
    assert Duration.parse(said) == seconds


@pytest.mark.parametrize(
    "said",
    [
        "",
        "m",
        "soon",
        "-5m",
        "5 weeks",
        "1e5",
        "5m5s",
        None,
        [],
        True,
        -1,
        float("nan"),
        float("inf"),
        LONGEST + 1,
        "99999999d",
    ],
)
def test_what_is_no_duration_is_refused(said: object) -> None:
    with pytest.raises(ValueError, match="no duration"):
        Duration.parse(said)


@given(st.text(max_size=12) | st.floats() | st.integers())
def test_any_value_is_a_bounded_duration_or_refused(said: object) -> None:
    try:
        seconds = Duration.parse(said)
    except ValueError:
        return
    assert 0 <= seconds <= LONGEST


@pytest.mark.parametrize(
    "name", ["Europe", "../../etc/passwd", "", "a\0b", "/etc/passwd", "Foo/Bar", "x" * 5000, "é", "\ud800"]
)
def test_what_is_no_time_zone_is_none(name: str) -> None:
    assert zone(name) is None


# --- secrets -----------------------------------------------------------------------------------------------------


def test_no_form_of_the_settings_shows_a_key(tmp_path: Path) -> None:
    found = loaded(tmp_path, {}, {"MEMG_LLM_API_KEY": KEY})
    secret = found.settings.llm.api_key
    assert secret is not None
    assert secret.reveal() == KEY
    shown = [
        repr(found),
        str(found),
        f"{secret} {secret!r}",
        str(secret),
        str(msgspec.structs.asdict(found.settings.llm)),
    ]
    assert all(KEY not in text for text in shown)
    with pytest.raises(TypeError) as failed:
        json.dumps(msgspec.structs.asdict(found.settings.llm))
    assert KEY not in str(failed.value)
    with pytest.raises(TypeError) as failed:
        msgspec.json.encode(found.settings)
    assert KEY not in str(failed.value)


def test_a_key_written_into_a_file_is_refused_without_being_shown(tmp_path: Path) -> None:
    config = tmp_path / "memg.json"
    config.write_text(json.dumps({"llm": {"api_key": KEY}}))
    with pytest.raises(SettingsError) as failed:
        load(str(config), {}, {})
    shown = "".join(traceback.format_exception(failed.value))
    assert KEY not in shown
    assert "env:NAME" in str(failed.value)


@pytest.mark.parametrize(
    "environ", [{"MEMG_LLM_API_KEY": KEY, "MEMG_PORT": "abc"}, {"MEMG_KEYS": f'[{{"key_env": "{KEY}"'}]
)
def test_no_error_of_other_settings_shows_a_key(tmp_path: Path, environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as failed:
        loaded(tmp_path, {}, environ)
    assert KEY not in "".join(traceback.format_exception(failed.value))


def test_a_password_in_a_url_is_not_shown(tmp_path: Path) -> None:
    assert "s3cret" not in problem(tmp_path, {"target": "https://bo:s3cret@host?key=s3cret"})


def test_a_key_is_found_in_a_variable_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    (tmp_path / "key").write_text(f"{KEY}\n")
    assert Secret("env:MY_KEY").reveal() == KEY
    assert Secret(f"file:{tmp_path}/key").reveal() == KEY
    assert Secret(f"{KEY}\n").reveal() == KEY
    assert settings(tmp_path, {"llm": {"api_key": "env:MY_KEY"}}).llm.api_key == Secret("env:MY_KEY")
    assert Key(key_env="MY_KEY", admin=True).secret() == KEY
    assert Key(key_file=f"{tmp_path}/key", admin=True).secret() == KEY


def test_a_missing_empty_or_unreadable_key_says_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPTY_KEY", "  ")
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for said, part in (
        ("env:NO_SUCH_KEY", "NO_SUCH_KEY"),
        ("env:EMPTY_KEY", "EMPTY_KEY"),
        (f"file:{tmp_path}/none", "none"),
        (f"file:{tmp_path}/empty", "is empty"),
        (f"file:{tmp_path}/binary", "is no text"),
        (f"file:{tmp_path}", "cannot be read"),
    ):
        with pytest.raises(SettingsError, match=part):
            Secret(said).reveal()


# --- keys --------------------------------------------------------------------------------------------------------


def test_a_key_names_entities_by_pattern() -> None:
    key = Key(key_env="K", entities=["alice", "team-*", "A\u0301gnes"])
    assert all(key.allows(name) for name in ("alice", "team-", "team-1", "Ágnes"))
    assert not any(key.allows(name) for name in ("Alice", "alice2", "team", "bob", ""))
    assert Key(key_env="K", admin=True).allows("anybody")


def test_the_example_holds_every_setting_at_its_default() -> None:
    example = Path(__file__).parents[2] / "memg.example.json"
    assert load(str(example), {}, {}).settings == Settings()
    assert _leaves(json.loads(example.read_text())) == set(paths())


def _leaves(tree: dict[str, Any], prefix: str = "") -> set[str]:
    groups = {path.partition(".")[0] for path in paths() if "." in path}
    return {
        leaf
        for name, value in tree.items()
        for leaf in (_leaves(value, f"{name}.") if not prefix and name in groups else {prefix + name})
    }
