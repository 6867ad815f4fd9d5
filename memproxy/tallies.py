"""What is counted at every request, in plain numbers that become Prometheus metrics when somebody reads them.

prometheus_client's own take a lock and some microseconds each time: of a request that only passes through, eight of
them were four in a hundred of the processor time. These belong to one event loop.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector


class Tally(Collector):
    """Counts, by the values of labels."""

    def __init__(self, name: str, text: str, labels: Sequence[str], registry: CollectorRegistry) -> None:
        self._about = (name, text)
        self._labels = labels
        self._counts: dict[tuple[object, ...], int] = {}
        registry.register(self)

    def count(self, *values: object) -> None:
        """One more with these values of the labels."""
        self._counts[values] = self._counts.get(values, 0) + 1

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The counts so far."""
        family = CounterMetricFamily(*self._about, labels=self._labels)
        for values, count in list(self._counts.items()):
            family.add_metric([str(value) for value in values], count)
        yield family


class Spread(Collector):
    """How often a value was how large."""

    def __init__(self, name: str, text: str, bounds: Sequence[float], registry: CollectorRegistry) -> None:
        self._about = (name, text)
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)  # of each bucket by itself; the last is of what is above all bounds
        self._sum = 0.0
        registry.register(self)

    def observe(self, value: float) -> None:
        """One more value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """The values so far, each bucket with all below it, as Prometheus has them."""
        buckets, total = [], 0
        for bound, count in zip((*map(str, map(float, self._bounds)), "+Inf"), self._counts, strict=True):
            total += count
            buckets.append((bound, total))
        yield HistogramMetricFamily(*self._about, buckets=buckets, sum_value=self._sum)
