"""Answers of the management API, as types; times are encoded as ISO 8601 in UTC."""

from __future__ import annotations

from datetime import datetime
from typing import Generic, Literal, TypeVar

import msgspec

from memproxy.model import FactStatus
from memproxy.store.overview import DatedBy, TimelineKind

T = TypeVar("T")


class Page(msgspec.Struct, Generic[T]):
    """Part of a list."""

    items: list[T]
    next_cursor: str | None = None  # `?cursor=` for what comes after; null: nothing does


class Session(msgspec.Struct):
    """A conversation."""

    id: str
    name: str | None  # X-MemG-Session, where one was given
    started_at: datetime
    last_at: datetime
    turns: int
    title: str | None  # the first words that the person said; null where their turn is gone


class ReceiptLine(msgspec.Struct):
    """A receipt in a list."""

    request_id: str
    session_id: str | None
    time: datetime
    tokens: int
    items: int


class Mention(msgspec.Struct):
    """A fact, by its words."""

    id: str
    text: str


class Happening(msgspec.Struct):
    """Something with a date: a fact, a conversation that was summed up, or a statement that lost its place."""

    time: datetime
    kind: TimelineKind
    id: str
    text: str
    status: FactStatus | None  # of a fact
    dated_by: DatedBy  # which of its dates that is
    by: Mention | None  # of a change: what took its place, unless that is forgotten


class Day(msgspec.Struct):
    """What was stored on one day."""

    day: str
    turns: int
    facts: int


class Growth(msgspec.Struct):
    """What was stored, day by day."""

    days: list[Day]


class Found(msgspec.Struct):
    """How many facts are in a condition, and the first of them."""

    count: int
    ids: list[str]


class Duplicates(msgspec.Struct):
    """How many groups of facts say the same, and the first of them."""

    count: int
    groups: list[list[str]]


class Hygiene(msgspec.Struct):
    """In what condition a memory is."""

    duplicates: Duplicates
    stale: Found
    never_recalled: Found
    expired: Found
    quarantined: Found


class Passed(msgspec.Struct):
    """One request that passed through."""

    seq: int
    time: datetime
    request_id: str
    entity: str | None
    format: str
    route: str
    status: int
    memory: Literal["injected", "skipped"]
    reason: str | None
    items: int
    tokens: int
    ms: float
    ttfb_ms: float | None
    streamed: bool


class LiveView(msgspec.Struct):
    """Requests that passed after a number."""

    items: list[Passed]
    next: int  # `?after=` for what comes then


class PurposeUse(msgspec.Struct):
    """What models were used for on a day."""

    purpose: str
    calls: int
    input_tokens: int
    output_tokens: int


class Today(msgspec.Struct):
    """What models were used for today (UTC), by all entities together."""

    day: str
    calls: int
    calls_limit: int  # extraction.daily_calls
    input_tokens: int
    output_tokens: int
    cost: float | None  # dollars, as far as the price of the extraction model is known
    purposes: list[PurposeUse]


class Percentiles(msgspec.Struct):
    """Milliseconds that half, 95 and 99 of a hundred requests do not exceed; null of no requests."""

    p50: float | None
    p95: float | None
    p99: float | None


class Latency(msgspec.Struct):
    """How long the requests in the live view took."""

    requests: int
    memory_ms: Percentiles
    first_byte_ms: Percentiles


class SinceStart(msgspec.Struct):
    """What the counters of the metrics say, by reason."""

    injected: int
    skipped: dict[str, int]
    rejected: dict[str, int]


class Stats(msgspec.Struct):
    """The process at a glance."""

    version: str
    uptime_seconds: float
    rss_bytes: int | None  # null where the system does not tell
    store_bytes: int  # of the database with its journals
    queue: dict[str, dict[str, int]]  # unfinished jobs by kind and state
    today: Today
    since_start: SinceStart
    latency: Latency
