"""Plain numbers read like Prometheus's own metrics."""

from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from memproxy.tallies import Spread, Tally

BOUNDS = (0.001, 0.5, 1, 30)


def told(registry: CollectorRegistry) -> list[str]:
    return [line for line in generate_latest(registry).decode().splitlines() if "_created" not in line]


@settings(max_examples=25)
@given(st.lists(st.sampled_from([("chat", 200), ("chat", 502), ("other", 200)])))
def test_a_tally_reads_like_a_counter(seen: list[tuple[str, int]]) -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    tally = Tally("requests", "Requests.", ["route", "status"], ours)
    counter = Counter("requests", "Requests.", ["route", "status"], registry=theirs)
    for route, status in seen:
        tally.count(route, status)
        counter.labels(route, str(status)).inc()
    assert told(ours) == told(theirs)


@settings(max_examples=25)
@given(st.lists(st.sampled_from([0.0, 0.001, 0.25, 0.5, 0.75, 1.0, 30.0, 31.0])))
def test_a_spread_reads_like_a_histogram(seen: list[float]) -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    spread = Spread("seconds", "Seconds.", BOUNDS, ours)
    histogram = Histogram("seconds", "Seconds.", registry=theirs, buckets=BOUNDS)
    for value in seen:
        spread.observe(value)
        histogram.observe(value)
    assert told(ours) == told(theirs)
