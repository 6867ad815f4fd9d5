"""The document of the API says what the API does: compared with the table and the page, and tried out by a fuzzer."""

from __future__ import annotations

import contextlib
import re
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import anyio
import httpx
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import load_all_checks
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

from memproxy.server.api import ROUTES
from memproxy.server.api.route import Media, Route
from tests.integration.test_ownership import everything
from tests.world import World, user

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")
TRIES = {"open": 4, "keyed": 2}  # examples of each kind (good and bad data) for every operation
# What types cannot say (a text of words, a time inside the calendar) makes data that looks good a 400.
NOT_ASKED = ("positive_data_acceptance",)


@pytest.fixture(scope="module", params=["open", "keyed"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A started server in a thread of its own, with something to find in it; its address, and the key for it."""
    keyed = request.param == "keyed"
    ready: SimpleQueue[str] = SimpleQueue()
    done = threading.Event()

    async def run() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FUZZ_KEY", "fuzz-key")
            more: dict[str, Any] = {"keys": [{"key_env": "FUZZ_KEY", "admin": True}]} if keyed else {}
            async with World.open(tmp_path_factory.mktemp("fuzz"), **more) as world:
                await world.chat("Bo", [user("I own a kayak")], {"X-MemG-Key": "fuzz-key"})
                ready.put(world.url)
                await anyio.to_thread.run_sync(done.wait)

    thread = threading.Thread(target=anyio.run, args=(run,))
    thread.start()
    yield ready.get(timeout=60), "fuzz-key" if keyed else ""
    done.set()
    thread.join()


def described(url: str, key: str) -> dict[str, Any]:
    answer = httpx.get(f"{url}/memproxy/v1/openapi.json", headers={"X-MemG-Key": key} if key else {})
    assert answer.status_code == 200
    document: dict[str, Any] = answer.json()
    return document


def test_document_table_and_page_name_the_same_routes(server: tuple[str, str]) -> None:
    document = described(*server)
    there = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    assert there == {f"{route.method} {route.path}" for route in ROUTES}
    assert there == set(re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /memproxy[^` ]*)`", PAGE))
    assert document["openapi"] == "3.1.0"


def test_every_operation_says_what_it_does_and_has_a_name_of_its_own(server: tuple[str, str]) -> None:
    operations = [one for methods in described(*server)["paths"].values() for one in methods.values()]
    assert len({one["operationId"] for one in operations}) == len(operations)
    for one in operations:
        assert re.fullmatch(r"[A-Z].*\.", one["summary"]), one
        assert all(parameter["description"] for parameter in one["parameters"])
        assert bool(one["security"]) == (bool(server[1]) and one["operationId"] != "get_health")


def test_what_is_asked_of_a_person_stands_on_the_page() -> None:
    for route in ROUTES:
        for parameter in route.query:
            assert re.search(rf"[`?&]{parameter.name}[`=]", PAGE), f"{route.path} ?{parameter.name}"


def test_every_answer_of_ours_has_a_type() -> None:
    for route in ROUTES:
        kinds = route.answer if isinstance(route.answer, tuple) else (route.answer,)
        for kind in kinds:
            assert kind is None or isinstance(kind, Media) or issubclass(_struct(kind), msgspec.Struct), route.path


def _struct(kind: Any) -> type:
    found: type = getattr(kind, "__origin__", kind)
    return found


def test_a_fuzzer_finds_nothing(server: tuple[str, str]) -> None:
    """schemathesis makes good and bad requests from the document; every answer has to be one that it allows."""
    url, key = server
    load_all_checks()
    skipped = [schemathesis.checks.CHECKS.get_one(name) for name in NOT_ASKED]
    headers = {"X-MemG-Key": key} if key else {}
    schema = schemathesis.openapi.from_dict(described(url, key))
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            tried(found.ok(), mode, url, headers, skipped, TRIES["keyed" if key else "open"])


def tried(
    operation: APIOperation[Any, Any, Any, Any],
    mode: schemathesis.GenerationMode,
    url: str,
    headers: dict[str, str],
    skipped: list[Any],
    tries: int,
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strategy = operation.as_strategy(generation_mode=mode)

    @settings(
        max_examples=tries,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def once(case: Any) -> None:
        for name in ("wait", "timeout"):
            if name in (case.query or {}):
                case.query[name] = 0
        case.call_and_validate(base_url=url, headers=headers, excluded_checks=skipped)

    with contextlib.suppress(Unsatisfiable):  # where nothing can be wrong: no parameter but ids, no body
        once()


async def test_what_is_answered_of_a_full_memory_is_of_the_types_that_are_declared(world: World) -> None:
    """The fuzzer meets memories with little in them; here every route that reads has something to tell."""
    ids = await everything(world, "Bo")
    asked = await world.chat("Bo", [user("Where is my kayak?")])
    await world.client.patch(
        world.of("Bo", "/profile"), json={"add": {"allergies": ["latex"], "pets": [{"name": "Moss"}]}}
    )
    await world.client.patch(world.of("Bo", f"/facts/{ids['fact']}"), json={"emotional_weight": 0.8})
    ids["request_id"] = asked.headers["x-memg-request-id"]
    empty = set()
    for route in ROUTES:
        kinds = [kind for kind in _kinds(route) if not isinstance(kind, Media)]
        if not route.reads or not kinds:
            continue
        for more in ({}, {"group": "tag", "sources": "true", "explain": "true", "status": "open,held,resolved"}):
            known = {one.name for one in route.query}
            if "contradictions" not in route.path:
                more = {name: value for name, value in more.items() if name != "status"}
            query = {name: value for name, value in {"query": "kayak", **more}.items() if name in known}
            response = await world.client.get(world.url + route.path.format(entity="Bo", **ids), params=query)
            assert response.status_code == 200, (route.path, response.text)
            assert any(_is(response.content, kind) for kind in kinds), (route.path, response.text)
            if response.json().get("items") == []:
                empty.add(route.path)
    assert not empty, "nothing to tell"


def _kinds(route: Route) -> tuple[Any, ...]:
    found = route.answer if isinstance(route.answer, tuple) else (route.answer,)
    return tuple(kind for kind in found if kind is not None)


def _is(body: bytes, kind: Any) -> bool:
    try:
        msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError:
        return False
    return True
