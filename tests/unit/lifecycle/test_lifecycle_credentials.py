"""Borrowed credentials, and the decision which model extracts."""

from __future__ import annotations

import pytest

from memproxy.errors import SettingsError
from memproxy.lifecycle import credentials
from memproxy.lifecycle.credentials import Purse
from memproxy.lifecycle.extractor import plan_extraction
from memproxy.settings import LLM, Extraction, Key, Secret, Settings

HERE = "http://127.0.0.1:9/v1/chat/completions"
KEY = "sk-" + "Tt9" * 14
SENT = {"authorization": f"Bearer {KEY}"}


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def purse(clock: Clock) -> Purse:
    return Purse(b"secret of the store", monotonic=clock)


def test_a_credential_goes_back_to_the_very_place_it_arrived_for(purse: Purse) -> None:
    mark = purse.keep(HERE, SENT, "gpt-x")
    assert mark is not None
    endpoint = purse.endpoint(mark)
    assert endpoint is not None
    assert (endpoint.base_url, endpoint.model, endpoint.headers) == (HERE, "gpt-x", SENT)
    assert purse.fingerprints() == {mark}


def test_the_same_credential_for_another_place_is_another(purse: Purse) -> None:
    others = [
        HERE,
        "https://127.0.0.1:9/v1/chat/completions",
        "http://127.0.0.1:10/v1/chat/completions",
        "http://evil.example/v1",
    ]
    marks = [purse.keep(url, SENT, "m") for url in others]
    assert len(set(marks)) == len(others)
    for url, mark in zip(others, marks, strict=True):
        endpoint = purse.endpoint(mark or "")
        assert endpoint is not None
        assert endpoint.base_url == url


def test_another_credential_is_another_person(purse: Purse) -> None:
    marks = {
        purse.keep(HERE, sent, "m")
        for sent in (
            {"authorization": "a"},
            {"authorization": "b"},
            {"api-key": "a"},
            {"x-api-key": "a"},
            {"api-key": "a", "x-api-key": "a"},
        )
    }
    assert len(marks) == 5


def test_only_credential_headers_are_kept(purse: Purse) -> None:
    mark = purse.keep(HERE, {**SENT, "cookie": "session=1", "x-other": "2"}, "m")
    assert mark is not None
    endpoint = purse.endpoint(mark)
    assert endpoint is not None
    assert set(endpoint.headers) == {"authorization"}


@pytest.mark.parametrize("sent", [{}, {"authorization": ""}, {"cookie": "x"}])
def test_without_a_credential_there_is_nothing_to_borrow(purse: Purse, sent: dict[str, str]) -> None:
    assert purse.keep(HERE, sent, "m") is None
    assert purse.fingerprints() == set()


def test_the_model_is_the_configured_one_else_a_known_one_else_the_clients(clock: Clock) -> None:
    def model(purse: Purse, url: str, named: str | None) -> str | None:
        endpoint = purse.endpoint(purse.keep(url, SENT, named) or "")
        return endpoint.model if endpoint else None

    assert model(Purse(b"s", "mine"), "https://api.openai.com/v1", "gpt-x") == "mine"
    assert model(Purse(b"s"), "https://api.openai.com/v1", "gpt-x") == "gpt-4o-mini"
    assert model(Purse(b"s"), HERE, "gpt-x") == "gpt-x"
    assert model(Purse(b"s"), HERE, None) is None


def test_a_credential_is_dropped_after_thirty_minutes_unused(purse: Purse, clock: Clock) -> None:
    mark = purse.keep(HERE, SENT, "m")
    assert mark is not None
    clock.seconds += 30 * 60
    assert purse.endpoint(mark) is not None
    clock.seconds += 0.1
    assert purse.fingerprints() == set()
    assert purse.endpoint(mark) is None


def test_a_credential_that_comes_again_stays(purse: Purse, clock: Clock) -> None:
    mine, other = purse.keep(HERE, SENT, "m"), purse.keep(HERE, {"authorization": "other"}, "m")
    for _ in range(4):
        clock.seconds += 20 * 60
        assert purse.keep(HERE, SENT, "m") == mine
    assert purse.fingerprints() == {mine}
    assert other not in purse.fingerprints()


def test_a_fingerprint_means_the_same_after_a_restart_and_nothing_to_another_store() -> None:
    one, again, other = (Purse(secret).keep(HERE, SENT, "m") for secret in (b"a", b"a", b"b"))
    assert one == again != other


def test_a_job_whose_credential_is_gone_finds_it_when_it_comes_again(clock: Clock) -> None:
    mark = Purse(b"a").keep(HERE, SENT, "m")
    assert mark is not None
    restarted = Purse(b"a", monotonic=clock)
    assert restarted.endpoint(mark) is None
    restarted.keep(HERE, SENT, "m")
    assert restarted.endpoint(mark) is not None


def test_no_more_are_kept_than_fit(purse: Purse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "MAX_KEPT", 3)
    marks = [purse.keep(HERE, {"authorization": str(i)}, "m") for i in range(5)]
    assert purse.fingerprints() == set(marks[2:])


def test_neither_fingerprint_nor_endpoint_shows_the_credential(purse: Purse) -> None:
    mark = purse.keep(HERE, {"authorization": f"Bearer {KEY}\udcff"}, "m")
    assert mark is not None
    assert len(mark) == 32
    assert KEY not in mark + repr(purse) + repr(purse.endpoint(mark))


# --- the plan ----------------------------------------------------------------------------------------------------


def test_a_key_of_our_own_comes_first() -> None:
    plan = plan_extraction(Settings(llm=LLM(api_key=Secret(KEY), base_url="http://x/v1", model="m")), b"s")
    assert plan.own is not None
    assert (plan.own.base_url, plan.own.model, plan.own.headers) == (
        "http://x/v1",
        "m",
        {"authorization": f"Bearer {KEY}"},
    )
    assert (plan.off, plan.purse, plan.credentials()) == (None, None, set())
    assert plan.learns_with(None)
    assert plan.endpoint(None) is plan.endpoint("whoever") is plan.own
    assert plan.description == "m at http://x/v1"
    assert KEY not in repr(plan)


def test_a_key_without_an_address_is_for_the_vendor() -> None:
    plan = plan_extraction(Settings(llm=LLM(api_key=Secret(KEY))), b"s")
    assert plan.description == "gpt-4o-mini at https://api.openai.com/v1"


def test_on_this_machine_without_keys_the_callers_credential_is_borrowed() -> None:
    plan = plan_extraction(Settings(), b"s")
    assert plan.purse is not None
    mark = plan.purse.keep(HERE, SENT, "m")
    assert plan.credentials() == {mark}
    assert plan.learns_with(mark)
    assert not plan.learns_with(None)
    assert plan.endpoint(None) is None
    assert plan.endpoint("unknown") is None
    assert plan.endpoint(mark) is not None
    assert "caller's own credential" in plan.description


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        (Settings(llm=LLM(base_url="http://x/v1")), "MEMG_LLM_API_KEY"),
        (Settings(llm=LLM(base_url="http://x/v1", borrow=True)), "MEMG_LLM_API_KEY"),
        (Settings(llm=LLM(borrow=False)), "MEMG_LLM_API_KEY"),
        (Settings(keys=[Key(key_env="K", admin=True)]), "MEMG_LLM_API_KEY"),
        (Settings(extraction=Extraction(daily_calls=0)), "extraction.daily_calls"),
        (Settings(llm=LLM(api_key=Secret(KEY)), extraction=Extraction(daily_calls=0)), "extraction.daily_calls"),
    ],
)
def test_extraction_that_is_off_says_why(settings: Settings, part: str) -> None:
    plan = plan_extraction(settings, b"s")
    assert plan.off is not None
    assert part in plan.off
    assert plan.description == plan.off
    assert not plan.learns_with("x")
    assert plan.endpoint("x") is None


def test_a_key_that_is_named_and_missing_is_an_error_at_the_start() -> None:
    with pytest.raises(SettingsError, match="NO_SUCH_KEY"):
        plan_extraction(Settings(llm=LLM(api_key=Secret("env:NO_SUCH_KEY"))), b"s")
