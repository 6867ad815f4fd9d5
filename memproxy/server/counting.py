"""Counting what became of requests."""

from __future__ import annotations

import logging

from memproxy.events import Metrics
from memproxy.server.outcome import Outcome

log = logging.getLogger(__name__)


def count(metrics: Metrics, route: str, outcome: Outcome) -> None:
    """One request, by its route and what became of it."""
    metrics.requests.count(route, outcome.status)
    if outcome.held_too_long:
        metrics.held_too_long.inc()
    if outcome.client_gone:
        metrics.client_gone.inc()
    if outcome.failure is not None:
        metrics.upstream_errors.labels(outcome.failure).inc()
    log.info("%s %s", route, outcome.status)
