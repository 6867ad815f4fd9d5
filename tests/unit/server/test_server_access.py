"""Who may do what: keys, Host and Origin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memproxy.errors import SettingsError
from memproxy.server.access import Access, Caller, Headers
from memproxy.settings import Key, Settings


def headers(**said: str | list[str]) -> Headers:
    pairs = [
        (name.replace("_", "-"), values if isinstance(values, list) else [values]) for name, values in said.items()
    ]
    return Headers(
        [(name.encode(), value.encode("utf-8", "surrogateescape")) for name, values in pairs for value in values]
    )


def keyed(monkeypatch: pytest.MonkeyPatch, *keys: Key, **fields: Any) -> Access:
    for name in ("ONE", "TWO", "ADMIN"):
        monkeypatch.setenv(name, f"secret-{name.lower()}-é")
    return Access(Settings(keys=list(keys), **fields))


ALICE = Key(key_env="ONE", entities=["alice", "team-*"])
BOB = Key(key_env="TWO", entities=["bob"])
ADMIN = Key(key_env="ADMIN", admin=True)


# --- headers -----------------------------------------------------------------------------------------------------


def test_a_headers_name_is_found_in_any_case_and_the_first_value_counts() -> None:
    found = Headers([(b"X-MemG-Entity", b"a"), (b"x-memg-entity", b"b")])
    assert found.get("x-memg-entity") == "a"
    assert found.repeated("x-memg-entity")
    assert not Headers([(b"A", b"x"), (b"a", b"x")]).repeated("a")
    assert found.get("x-memg-key") is None


def test_a_value_is_text_in_utf8_and_anything_else_no_check_accepts() -> None:
    assert Headers([(b"a", "Ágnes".encode())]).get("a") == "Ágnes"
    assert Headers([(b"a", b"\xff")]).get("a") == "\udcff"


# --- keys --------------------------------------------------------------------------------------------------------


def test_without_keys_everybody_may_do_everything() -> None:
    caller = Access(Settings()).caller(headers(), own_route=True)
    assert caller is not None
    assert caller.admin
    assert caller.may_name("anybody")
    assert caller.own_entity is None


@pytest.mark.parametrize(
    "given", [None, "", "wrong", "secret-one", "secret-one-é ", "SECRET-ONE-É", "secret-one-éx", "\udcff"]
)
def test_where_keys_are_configured_a_missing_or_wrong_one_is_nobody(
    monkeypatch: pytest.MonkeyPatch, given: str | None
) -> None:
    access = keyed(monkeypatch, ALICE, BOB)
    assert access.keyed
    assert access.caller(headers(x_memg_key=given) if given is not None else headers(), own_route=True) is None


def test_a_key_names_only_its_own_entities(monkeypatch: pytest.MonkeyPatch) -> None:
    access = keyed(monkeypatch, ALICE, BOB, ADMIN)
    alice = access.caller(headers(x_memg_key="secret-one-é"), own_route=False)
    bob = access.caller(headers(x_memg_key="secret-two-é"), own_route=False)
    admin = access.caller(headers(x_memg_key="secret-admin-é"), own_route=False)
    assert alice is not None and bob is not None and admin is not None  # noqa: PT018
    assert [alice.may_name(name) for name in ("alice", "team-7", "bob", "Alice")] == [True, True, False, False]
    assert (alice.own_entity, bob.own_entity, admin.own_entity) == (None, "bob", None)
    assert (alice.admin, bob.admin, admin.admin) == (False, False, True)
    assert admin.may_name("anybody")


def test_a_bearer_token_is_a_key_on_own_routes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    access = keyed(monkeypatch, BOB)
    said = headers(authorization="bearer  secret-two-é")
    assert access.caller(said, own_route=True) == Caller(BOB)
    assert access.caller(said, own_route=False) is None
    assert access.caller(headers(authorization="Basic secret-two-é"), own_route=True) is None
    assert access.caller(headers(authorization="secret-two-é"), own_route=True) is None


def test_a_wrong_key_is_not_mended_by_a_bearer_token(monkeypatch: pytest.MonkeyPatch) -> None:
    access = keyed(monkeypatch, BOB)
    assert access.caller(headers(x_memg_key="wrong", authorization="Bearer secret-two-é"), own_route=True) is None


def test_every_key_is_compared_whatever_matched_before(monkeypatch: pytest.MonkeyPatch) -> None:
    import hmac

    compared: list[bytes] = []
    compare = hmac.compare_digest

    def counting(one: bytes, other: bytes) -> bool:
        compared.append(one)
        return compare(one, other)

    access = keyed(monkeypatch, ALICE, BOB, ADMIN)
    monkeypatch.setattr("memproxy.server.access.hmac.compare_digest", counting)
    for given in ("secret-one-é", "secret-admin-é", "wrong"):
        compared.clear()
        access.caller(headers(x_memg_key=given), own_route=True)
        assert len(compared) == 3


def test_a_key_that_cannot_be_found_is_told_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="NO_SUCH_KEY"):
        Access(Settings(keys=[Key(key_env="NO_SUCH_KEY", admin=True)]))
    (tmp_path / "key").write_text("from-a-file\n")
    access = Access(Settings(keys=[Key(key_file=str(tmp_path / "key"), admin=True)]))
    assert access.caller(headers(x_memg_key="from-a-file"), own_route=False) is not None


# --- Host and Origin ---------------------------------------------------------------------------------------------

OURS = ["127.0.0.1:8787", "localhost:8787", "LOCALHOST", "[::1]:8787", "127.0.0.1", "127.8.8.8:1"]
NOT_OURS = [
    "",
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example:8787",
    "10.0.0.1:8787",
    "[::",
    "0.0.0.0",
    "[::2]",
    ":8787",
]


@pytest.mark.parametrize("host", OURS)
def test_a_name_of_this_machine_is_not_foreign(host: str) -> None:
    access = Access(Settings())
    assert not access.foreign(headers(host=host))
    assert not access.foreign(headers(host=host, origin=f"http://{host}"))
    assert not access.foreign(headers(host=host, origin=f"HTTP://{host.upper()}/"))


@pytest.mark.parametrize("host", NOT_OURS)
def test_any_other_name_is_foreign_so_that_no_page_rebinds_its_own(host: str) -> None:
    access = Access(Settings())
    assert access.foreign(headers(host=host))
    assert access.foreign(headers(host=host, origin=f"http://{host}"))
    assert access.foreign(headers())


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "", "http://localhost:9999", "http://127.0.0.1", "http://localhost.evil.example:8787",
     "http://[", "localhost:8787", "file://", "chrome-extension://abc"],
)  # fmt: skip
def test_a_page_of_another_origin_is_foreign(origin: str) -> None:
    assert Access(Settings()).foreign(headers(host="localhost:8787", origin=origin))


def test_a_named_origin_is_allowed_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    access = Access(Settings(allowed_origins=["https://App.example/", "http://localhost:3000"]))
    for origin in ("https://app.example", "https://APP.example", "http://localhost:3000"):
        assert not access.foreign(headers(host="localhost:8787", origin=origin))
    for origin in ("http://app.example", "https://app.example:444", "https://x.app.example", "http://localhost:3001"):
        assert access.foreign(headers(host="localhost:8787", origin=origin))
    assert not access.foreign(headers(host="app.example"))


def test_behind_a_public_address_keys_decide_and_the_name_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    access = keyed(monkeypatch, ADMIN, host="0.0.0.0")
    assert not access.foreign(headers(host="memory.example"))
    assert not access.foreign(headers(host="memory.example", origin="https://memory.example"))
    assert access.foreign(headers(host="memory.example", origin="https://evil.example"))
