"""Answers of the management API, as types; times are encoded as ISO 8601 in UTC."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec

from memproxy.model import (
    FactStatus,
    FactType,
    ItemKind,
    JobState,
    Lifetime,
    SourceRole,
    Speaker,
    ThreadStatus,
)
from memproxy.store.collisions import CollisionStatus
from memproxy.store.contradictions import ContradictionStatus, Decision
from memproxy.store.overview import DatedBy, TimelineKind
from memproxy.store.summaries import SummaryKind

T = TypeVar("T")
Time = Annotated[datetime, msgspec.Meta(tz=True)]


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """An answer has the fields that are named here, and no others."""


class Page(Answer, Generic[T]):
    """Part of a list."""

    items: list[T]
    next_cursor: str | None  # `?cursor=` for what comes after; null: nothing does


class Session(Answer):
    """A conversation."""

    id: str
    name: str | None  # X-MemG-Session, where one was given
    started_at: Time
    last_at: Time
    turns: int
    title: str | None  # the first words that the person said; null where their turn is gone


class Closed(Answer):
    """A conversation that is over, until somebody speaks in it again."""

    id: str
    summary_asked: bool


class ReceiptLine(Answer):
    """A receipt in a list."""

    request_id: str
    session_id: str | None
    time: Time
    tokens: int
    items: int


class Mention(Answer):
    """A fact, by its words."""

    id: str
    text: str


class Happening(Answer):
    """Something with a date: a fact, a conversation that was summed up, or a statement that lost its place."""

    time: Time
    kind: TimelineKind
    id: str
    text: str
    status: FactStatus | None  # of a fact
    dated_by: DatedBy  # which of its dates that is
    by: Mention | None  # of a change: what took its place, unless that is forgotten


class Day(Answer):
    """What was stored on one day."""

    day: str
    turns: int
    facts: int


class Growth(Answer):
    """What was stored, day by day."""

    days: list[Day]


class Found(Answer):
    """How many facts are in a condition, and the first of them."""

    count: int
    ids: list[str]


class Duplicates(Answer):
    """How many groups of facts say the same, and the first of them."""

    count: int
    groups: list[list[str]]


class Hygiene(Answer):
    """In what condition a memory is."""

    duplicates: Duplicates
    stale: Found
    never_recalled: Found
    expired: Found
    quarantined: Found


class Passed(Answer):
    """One request that passed through."""

    seq: int
    time: Time
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


class LiveView(Answer):
    """Requests that passed after a number."""

    items: list[Passed]
    next: int  # `?after=` for what comes then


class PurposeUse(Answer):
    """What models were used for on a day."""

    purpose: str
    calls: int
    input_tokens: int
    output_tokens: int


class Today(Answer):
    """What models were used for today (UTC), by all entities together."""

    day: str
    calls: int
    calls_limit: int  # extraction.daily_calls
    input_tokens: int
    output_tokens: int
    cost: float | None  # dollars, as far as the price of the extraction model is known
    purposes: list[PurposeUse]


class Percentiles(Answer):
    """Milliseconds that half, 95 and 99 of a hundred requests do not exceed; null of no requests."""

    p50: float | None
    p95: float | None
    p99: float | None


class Latency(Answer):
    """How long the requests in the live view took."""

    requests: int
    memory_ms: Percentiles
    first_byte_ms: Percentiles


class SinceStart(Answer):
    """What the counters of the metrics say, by reason."""

    injected: int
    skipped: dict[str, int]
    rejected: dict[str, int]


class Stats(Answer):
    """The process at a glance."""

    version: str
    uptime_seconds: float
    rss_bytes: int | None  # null where the system does not tell
    store_bytes: int  # of the database with its journals
    queue: dict[str, dict[str, int]]  # unfinished jobs by kind and state
    today: Today
    since_start: SinceStart
    latency: Latency


# --- the process ---


class Problem(msgspec.Struct, rename={"kind": "type"}):
    """Why a request cannot be met (RFC 9457)."""

    kind: str
    title: str
    status: int
    detail: str


class Health(Answer):
    """The process answers."""

    status: Literal["ok"]
    version: str


class Reembedding(Answer):
    """Vectors being made anew by another model."""

    model: str
    of: list[str]
    unavailable: list[str]
    mode: str
    total: int
    done: int
    failing: str | None
    told: str


class Ready(Answer):
    """Whether memory works, and why not."""

    status: Literal["ready", "draining"]
    memory: Literal["ok", "degraded"]
    reasons: list[str]
    extraction: str
    reembedding: Reembedding | None


class Progress(Answer):
    """How far background work is."""

    idle: bool
    pending: int
    dead: int


class Job(Answer):
    """A unit of background work."""

    id: str
    entity: str
    kind: str
    session_id: str | None
    state: JobState
    attempts: int
    run_after: Time
    error: str | None
    created_at: Time
    updated_at: Time


class Retried(Answer):
    """How many jobs were brought back."""

    retried: int


# --- entities ---


class EntityLine(Answer):
    """An entity in a list."""

    entity: str
    turns: int
    facts: int
    first_seen: Time
    last_seen: Time


class Entity(Answer):
    """How much is stored of an entity."""

    entity: str
    turns: int
    facts: int
    sessions: int
    summaries: int
    passages: int
    vectors: int
    jobs: int
    receipts: int


class Usage(Answer):
    """What models were used for on a day."""

    day: str
    purpose: str
    calls: int
    input_tokens: int
    output_tokens: int


class Deleted(Answer):
    """How many rows of each kind were removed."""

    deleted: dict[str, int]


class Item(Answer):
    """One line of a block."""

    kind: ItemKind
    id: str
    text: str
    score: float
    section: str
    reasons: dict[str, float]


class Candidate(Answer):
    """A passage that was proposed for a message: what spoke for it, and what became of it."""

    kind: ItemKind
    id: str
    text: str
    time: Time
    role: Speaker
    verdict: str
    score: float
    bm25: float
    coverage: float
    cosine: float | None
    reasons: dict[str, float]


class Context(Answer):
    """What a message would get."""

    block: str
    tokens: int
    items: list[Item]
    reason: str | None  # why there is no block
    candidates: list[Candidate] | msgspec.UnsetType = msgspec.UNSET  # with `explain`


class Receipt(Answer):
    """What was injected into a request."""

    request_id: str
    entity: str
    session_id: str | None
    time: Time
    block: str
    tokens: int
    items: list[Item]


class Hit(Answer):
    """A passage that was found."""

    kind: ItemKind
    id: str
    text: str
    score: float
    turn_ids: list[str]


# --- facts ---


class Fact(Answer):
    """One remembered statement."""

    id: str
    text: str
    type: FactType
    tag: str
    slot: str | None
    significance: int
    confidence: float
    source_role: SourceRole
    quote: str | None
    turn_id: str | None
    status: FactStatus
    valid_from: Time | None
    valid_until: Time | None
    recorded_at: Time
    updated_at: Time
    superseded_at: Time | None
    superseded_by: str | None
    reference_time: Time | None
    started_at: str | None
    lifetime: Lifetime
    expires_at: Time | None
    reinforced_count: int
    reinforced_at: Time | None
    recall_count: int
    recalled_at: Time | None
    pinned: bool
    thread_status: ThreadStatus | None
    emotional_weight: float | None
    emotional_valence: str | None
    engagement: float | None
    embedding_model: str | None


class LabelledFact(Fact):
    """A fact as a person reads through their memory."""

    label: Literal["verified", "confident", "uncertain", "historical"]
    source: Literal["user", "extracted", "inferred"]


class Group(Answer):
    """The facts of one tag."""

    tag: str
    items: list[LabelledFact]


class Groups(Answer):
    """Facts by their tags."""

    groups: list[Group]
    next_cursor: str | None


class Turn(Answer):
    """Something said."""

    id: str
    session_id: str
    seq: int
    role: Speaker
    name: str | None
    content: str
    time: Time
    complete: bool


class Repetition(Answer):
    """A conversation in which a fact was said again."""

    session_id: str
    time: Time


class Other(Answer):
    """A fact that took another's place, or lost it."""

    id: str
    text: str
    status: FactStatus
    valid_from: Time | None
    valid_until: Time | None
    superseded_at: Time | None


class Change(Answer):
    """One entry of a fact's history: the fields that changed, as they were and as they became."""

    time: Time
    kind: str
    reason: str
    before: dict[str, Any]
    after: dict[str, Any]


class Behind(LabelledFact):
    """A fact with all that stands behind it."""

    turn: Turn | None
    repetitions: list[Repetition]
    supersedes: list[Other]
    superseded_by_fact: Other | None
    history: list[Change]


class Denied(Answer):
    """That something was denied; not what."""

    id: str
    denied_at: Time


class Denial(Denied):
    """Something that is denied now, and how much was erased."""

    deleted: dict[str, int]


# --- disputes, profile, preferences ---


class Contradiction(Answer):
    """Two statements of which one may be right."""

    id: str
    fact_id: str
    stated_id: str
    kind: str
    status: ContradictionStatus
    decision: Decision | None
    note: str | None
    repeat_count: int
    gate_path: str
    gate_similarity: float | None
    gate_reason: str
    created_at: Time
    updated_at: Time
    resolved_at: Time | None
    stored: str
    stated: str
    slot: str | None


class Counts(Answer):
    """How many contradictions there are of each status."""

    open: int
    held: int
    resolved: int


class Collision(Answer):
    """Facts that exclude each other."""

    id: str
    family: str
    subject: str
    status: CollisionStatus
    kept_side: str | None
    note: str | None
    created_at: Time
    updated_at: Time
    settled_at: Time | None
    sides: dict[str, list[Mention]]
    residue: list[Mention]


class ProfileEntry(Answer):
    """One entry of a profile."""

    id: str
    field: str
    key: str
    value: str | dict[str, str]
    fact_id: str | None
    recorded_at: Time
    removed_at: Time | None


class Profile(Answer):
    """What is known of a person in structured form."""

    fields: dict[str, list[ProfileEntry]]


class Preferences(Answer):
    """What a person wants of their memory."""

    excluded_tags: list[str]
    learning: bool
    memory: bool
    patterns: bool


# --- turns ---


class Ids(Answer):
    """The ids of what was stored, in order."""

    ids: list[str]


class Learned(Answer):
    """What was learned, as far as it is done."""

    ids: list[str]
    facts: list[Fact]
    done: bool


class Summary(Answer):
    """What a conversation, or a stretch of one, was about."""

    id: str
    kind: SummaryKind
    session_id: str | None
    text: str
    first_seq: int
    last_seq: int
    started_at: Time
    ended_at: Time
    created_at: Time


# --- files ---


class NewRows(Answer):
    """What was not there before."""

    turns: int
    facts: int
    others: int


class Skipped(Answer):
    """A part of a file that could not be used."""

    where: str
    reason: str


class Imported(Answer, rename={"since": "from"}):
    """What a file held and what became of it."""

    dry_run: bool
    formats: list[str]
    conversations: int
    turns: int
    facts: int
    others: dict[str, int]
    left_out: int
    empty: int
    since: Time | None
    until: Time | None
    skipped: list[Skipped]  # the first of them
    skipped_total: int
    new: NewRows | msgspec.UnsetType = msgspec.UNSET  # not of a dry run
