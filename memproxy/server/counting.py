"""Counting what became of requests, with the counters of each outcome looked up once."""

from __future__ import annotations

import functools
import logging

from prometheus_client import Counter

from memproxy.events import Metrics, Skip
from memproxy.server.outcome import Outcome

log = logging.getLogger(__name__)


class Counting:
    """The counters of requests, over those of `events`."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        # A label has few values, so this stays small: looking one up costs more than counting.
        self._requests = functools.cache(lambda route, status: metrics.requests.labels(route, str(status)))
        self._skips = functools.cache(metrics.skips.labels)

    def request(self, route: str, outcome: Outcome) -> None:
        """One request, by its route and what became of it."""
        answered: Counter = self._requests(route, outcome.status)
        answered.inc()
        if outcome.held_too_long:
            self._metrics.held_too_long.inc()
        if outcome.client_gone:
            self._metrics.client_gone.inc()
        if outcome.failure is not None:
            self._metrics.upstream_errors.labels(outcome.failure).inc()
        log.info("%s %s", route, outcome.status)

    def skip(self, reason: Skip) -> None:
        """One request without a block."""
        skipped: Counter = self._skips(reason.value)
        skipped.inc()
