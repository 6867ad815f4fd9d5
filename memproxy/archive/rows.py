"""The lines of a memory's file: a header, a line a row, and an end that says how many there were.

Each line is one JSON object that names its kind (`row`). Fields without a value are left out. Times are UTC of fixed
width, as the store keeps them; ids are those of the rows. Keyed hashes of a store are worth nothing without its key and
are not here, but for those of what was denied, which the very same store can use again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import msgspec

from memproxy.model import FactStatus, FactType, Lifetime, SourceRole, Speaker, ThreadStatus
from memproxy.store.collisions import CollisionStatus
from memproxy.store.contradictions import ContradictionStatus, Decision
from memproxy.store.summaries import SummaryKind
from memproxy.store.turns import LearnState

NAME = "memory"
VERSION = 1

Id = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]
Time = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")]
Date = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\d$")]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


class Header(msgspec.Struct, kw_only=True, frozen=True):
    """The first line."""

    memproxy: str = NAME  # by which a file of ours is known
    version: int = VERSION  # of these lines
    schema: int  # of the store that it was taken from
    entity: str
    exported_at: Time
    embedder: str | None  # the model that its vectors were of; they are made again where it is brought


class Row(msgspec.Struct, tag_field="row", omit_defaults=True, kw_only=True, frozen=True):
    """What all lines but the first have in common."""


class EntityRow(Row, tag="entity", kw_only=True, frozen=True):
    """Since when somebody is known."""

    first_seen: Time
    last_seen: Time


class SessionRow(Row, tag="session", kw_only=True, frozen=True):
    """A conversation."""

    id: Id
    name: str | None = None
    parent_id: Id | None = None
    turns: Count  # places that were given out, those of removed turns too
    started_at: Time
    last_at: Time
    active_at: Time | None = None
    dropped_seq: Count = 0


class TurnRow(Row, tag="turn", kw_only=True, frozen=True):
    """Something said."""

    id: Id
    session_id: Id
    seq: Count
    role: Speaker
    name: str | None = None
    content: str
    time: Time
    complete: bool = True
    learn: LearnState
    timezone: str | None = None
    topic: str | None = None
    label: str | None = None
    recorded_at: Time
    hidden: tuple[tuple[Count, Count], ...] = ()  # spans of what was erased or denied: kept, never recalled


class Change(msgspec.Struct, kw_only=True, frozen=True):
    """One entry of a fact's history."""

    number: Count
    time: Time
    kind: str
    reason: str
    before: dict[str, Any]
    after: dict[str, Any]


class Repeated(msgspec.Struct, kw_only=True, frozen=True):
    """A conversation that said a fact again."""

    session_id: Id
    time: Time


class FactRow(Row, tag="fact", kw_only=True, frozen=True):
    """A fact with what happened to it, and who said it again."""

    id: Id
    text: str
    type: FactType
    tag: str
    slot: str | None = None
    slot_key: str | None = None
    significance: Annotated[int, msgspec.Meta(ge=1, le=10)]
    confidence: Share
    source_role: SourceRole
    quote: str | None = None
    turn_id: Id | None = None
    status: FactStatus
    valid_from: Time | None = None
    valid_until: Time | None = None
    recorded_at: Time
    updated_at: Time
    superseded_at: Time | None = None
    superseded_by: Id | None = None
    reference_time: Time | None = None
    said_at: Time | None = None
    started_at: Date | None = None
    lifetime: Lifetime
    expires_at: Time | None = None
    reinforced_count: Count = 0
    reinforced_at: Time | None = None
    recall_count: Count = 0
    recalled_at: Time | None = None
    pinned: bool = False
    thread_status: ThreadStatus | None = None
    emotional_weight: float | None = None
    emotional_valence: str | None = None
    engagement: float | None = None
    history: tuple[Change, ...] = ()
    repeated: tuple[Repeated, ...] = ()


class SummaryRow(Row, tag="summary", kw_only=True, frozen=True):
    """What a conversation, or a stretch of one, was about."""

    id: Id
    session_id: Id | None = None
    text: str
    started_at: Time
    ended_at: Time
    created_at: Time
    kind: SummaryKind
    first_seq: Count = 0
    last_seq: Count = 0


class ArtifactRow(Row, tag="artifact", kw_only=True, frozen=True):
    """Where code or data stands in a turn."""

    id: Id
    session_id: Id
    turn_id: Id
    kind: Literal["code", "json", "sql"]
    language: str
    name: str
    description: str
    start: Count
    end: Count
    superseded_by: Id | None = None


class ContradictionRow(Row, tag="contradiction", kw_only=True, frozen=True):
    """Something that was said against a fact."""

    id: Id
    fact_id: Id
    stated_id: Id
    kind: str
    status: ContradictionStatus
    decision: Decision | None = None
    note: str | None = None
    held_value: str | None = None
    repeat_count: Count = 0
    gate_path: str
    gate_similarity: float | None = None
    gate_reason: str
    created_at: Time
    updated_at: Time
    resolved_at: Time | None = None


class CollisionRow(Row, tag="collision", kw_only=True, frozen=True):
    """Facts that exclude each other."""

    id: Id
    family: str
    subject: str
    status: CollisionStatus
    kept_side: str | None = None
    note: str | None = None
    created_at: Time
    updated_at: Time
    settled_at: Time | None = None


class ProfileRow(Row, tag="profile", kw_only=True, frozen=True):
    """An entry of the profile."""

    id: Id
    field: str
    key: str
    value: str | dict[str, str]
    fact_id: Id | None = None
    recorded_at: Time
    removed_at: Time | None = None


class DeniedRow(Row, tag="denied", kw_only=True, frozen=True):
    """That something was denied: keyed hashes, of use to the store that has their key and to no other."""

    id: Id
    denied_at: Time
    key: str  # which key that is; it cannot be made from this
    words: dict[str, Count]


class PreferencesRow(Row, tag="preferences", kw_only=True, frozen=True):
    """What somebody wants of their memory."""

    excluded_tags: tuple[str, ...] = ()
    learning: bool = True
    memory: bool = True
    patterns: bool = True
    updated_at: Time


class End(Row, tag="end", kw_only=True, frozen=True):
    """The last line. Where it is missing, the file broke off."""

    rows: Count


Line: TypeAlias = (
    EntityRow
    | SessionRow
    | TurnRow
    | FactRow
    | SummaryRow
    | ArtifactRow
    | ContradictionRow
    | CollisionRow
    | ProfileRow
    | DeniedRow
    | PreferencesRow
    | End
)


class Kind(NamedTuple):
    """Where rows of a kind are kept, and which rows of which tables they cannot be without."""

    row: type[Any]
    table: str
    needs: Mapping[str, str] = {}


KINDS = (
    Kind(SessionRow, "sessions"),
    Kind(TurnRow, "turns", {"session_id": "sessions"}),
    Kind(FactRow, "facts", {"turn_id": "turns"}),
    Kind(SummaryRow, "summaries", {"session_id": "sessions"}),
    Kind(ArtifactRow, "artifacts", {"turn_id": "turns"}),
    Kind(ContradictionRow, "contradictions", {"fact_id": "facts", "stated_id": "facts"}),
    Kind(CollisionRow, "collisions"),
    Kind(ProfileRow, "profile_entries", {"fact_id": "facts"}),
    Kind(DeniedRow, "denied"),
)
TABLES = {kind.row: kind for kind in KINDS}

_decoder = msgspec.json.Decoder(Line)
_TIMES = {
    row: tuple(name for name, kind in row.__annotations__.items() if kind in ("Time", "Time | None", "Date | None"))
    for row in (EntityRow, *TABLES, PreferencesRow, Change, Repeated)
}


def decode(line: bytes) -> Line:
    """One line but the first. Raises ValueError, which says what is wrong and where."""
    row = _decoder.decode(line)
    _check_times(row)
    if isinstance(row, FactRow):
        for part in (*row.history, *row.repeated):
            _check_times(part)
    return row


def _check_times(row: Any) -> None:
    """Times that look like times and are none: the 31st of February."""
    for name in _TIMES.get(type(row), ()):
        value = getattr(row, name)
        if value is not None:
            try:
                datetime.fromisoformat(value)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
