"""`memproxy bench relay`, as short as it can be: what it reports is complete and adds up."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from memproxy.bench import past
from memproxy.bench.load import Load, quantile

NAMES = ["direct", "floor", "memory off", "memory on"]


@pytest.mark.slow
def test_every_kind_is_measured_of_every_server() -> None:
    options = ["--seconds", "0.1", "--rounds", "1", "--concurrency", "2", "--turns", "5", "--json"]
    command = [sys.executable, "-m", "memproxy", "bench", "relay", *options]
    run = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    seen = [(row["kind"], row["target"]) for row in report["rows"]]
    assert seen == [(kind, name) for kind in ("plain", "stream", "paced") for name in NAMES]
    assert all(row["requests"] >= 2 for row in report["rows"])
    for row in report["rows"]:
        assert 0 < row["first_p50_ms"] <= row["p50_ms"] <= row["p99_ms"]
        assert row["added_p50_ms"] == 0 or row["target"] != "direct"
        assert row["per_second_floor"] == 1 or row["target"] != "floor"
    assert set(report["rss_mb"]) == set(NAMES)
    assert set(report["embedder_ms"]) == {"plain", "stream", "paced"}
    assert any("RSS" in promise["what"] for promise in report["promises"])


def test_a_rival_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    command = [sys.executable, "-m", "memproxy", "bench", "relay", "--turns", "0", "--also", "portkey"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 2
    assert "MEMPROXY_BENCH_PORTKEY" in run.stderr


@pytest.mark.parametrize(
    ("values", "share", "found"), [([], 0.5, 0.0), ([3.0], 0.99, 3.0), ([4.0, 1.0, 3.0, 2.0], 0.5, 3.0)]
)
def test_quantiles(values: list[float], share: float, found: float) -> None:
    assert quantile(values, share) == found


def test_slices_add_up() -> None:
    load = Load([1.0], [2.0], 1.0)
    load.add(Load([3.0], [4.0], 0.5))
    assert (load.first, load.whole, load.seconds) == ([1.0, 3.0], [2.0, 4.0], 1.5)


def test_the_invented_past_is_long_varied_and_always_the_same() -> None:
    turns = past.turns(2000)
    assert turns == past.turns(2000)
    assert len({turn["content"] for turn in turns}) > 1500
    assert past.question(7) == past.question(7)
