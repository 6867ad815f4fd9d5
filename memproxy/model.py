"""The vocabulary: what memproxy talks about, as frozen values. No I/O, no behaviour beyond small derivations.

Times are timezone-aware `datetime` in UTC. Ids are 32 lower-case hex characters, time-ordered (see `new_id`).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

DEFAULT_TENANT = "default"

MemoryMode = Literal["full", "read", "write", "off"]
Speaker = Literal["user", "assistant"]
FactStatus = Literal["current", "historical", "expired", "quarantined", "forgotten"]
Separation = Literal["same", "different_question", "conflicting_answer", "unknown"]
FactType = Literal["identity", "event", "pattern"]
SourceRole = Literal["user", "assistant", "user_explicit"]  # explicit: written by the person on purpose
Lifetime = Literal["lasting", "temporary", "momentary"]
ThreadStatus = Literal["open", "resolved"]
ItemKind = Literal["turn", "fact", "summary"]
JobState = Literal["pending", "waiting", "running", "done", "dead"]
Placement = Literal["system", "user", "split"]
PartKind = Literal["stable", "recalled"]


def new_id() -> str:
    """A new row id: 48 bits of milliseconds, then 80 random bits, in hex; ids sort by the moment they were made."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


@dataclass(frozen=True, slots=True)
class Entity:
    """Whose memory it is: one person (or agent) of one tenant. Every stored row carries both."""

    name: str
    tenant: str = DEFAULT_TENANT


def speaker_of(role: SourceRole) -> Speaker:
    """Who said what a fact of this source says: what the person wrote on purpose is the person's too."""
    return "assistant" if role == "assistant" else "user"


# --- what a client sent, and what came back ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request, as far as memory reads it."""

    role: str  # as sent: system, developer, user, assistant, tool, or anything else
    text: str  # the text parts joined by newlines; "" where there is none
    name: str | None = None  # the speaker's name, where the client gave one
    calls_tools: bool = False  # an assistant message that asks for tools
    answers_tools: bool = False  # a user message that carries a tool's result, in formats without a role for those


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What memory needs to know of a chat request; the raw body stays beside it and is what goes upstream."""

    messages: tuple[Message, ...]
    system: str = ""  # instructions that stand outside the messages, in formats that keep them there
    previous: str | None = None  # the answer or conversation, kept by the upstream, that this request goes on from
    model: str | None = None
    stream: bool = False
    max_tokens: int | None = None  # the client's own output limit
    choices: int = 1  # `n`
    fields: Mapping[str, str] = field(default_factory=dict)  # top-level string fields, e.g. "user"
    extensible: bool = False  # whether messages can be put in between


@dataclass(frozen=True, slots=True)
class Addition:
    """Text that goes into a request: to the end of one message's words, or of the system prompt.

    With a `role` it is a message of its own, said by that one, which goes in front of the message at its place.
    """

    text: str
    message: int | None = None  # its place in `ChatRequest.messages`; None: the system prompt
    role: Speaker | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the tee understood of the upstream's answer."""

    text: str = ""  # the assistant's visible words (no reasoning, no tool arguments)
    finish_reason: str | None = None
    complete: bool = False  # the answer ended as its format says it ends
    calls_tools: bool = False
    error: str | None = None  # an in-band error's type, never its text
    model: str | None = None
    id: str | None = None  # by which a later request may go on from this answer (`ChatRequest.previous`)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, ready to be recorded."""

    entity: Entity
    session_name: str | None  # X-MemG-Session, or None: recognised from the history
    messages: tuple[Message, ...]  # as the client sent them (before injection), with their speakers' own words alone
    reply: Reply
    time: datetime  # when the person spoke
    request_id: str
    timezone: str | None = None  # where they spoke, as an IANA name
    learn: bool = True  # offer the new turns to extraction
    previous: str | None = None  # the answer or conversation, kept by the upstream, that the request went on from
    credential: str | None = None  # fingerprint of the caller's credential (never the credential itself)


# --- what is stored ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said, verbatim but for masked secrets."""

    id: str
    session_id: str
    seq: int  # 1, 2, 3 … inside its session
    role: Speaker
    name: str | None
    content: str
    time: datetime
    complete: bool = True  # False: the answer broke off
    timezone: str | None = None  # where it was said, as an IANA name; None: the configured one
    topic: str | None = None  # what an imported segment is about, and of what class: told to whoever learns from it
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation of an entity."""

    id: str
    name: str | None  # X-MemG-Session, where the client named it
    started_at: datetime
    last_at: datetime
    turns: int


@dataclass(frozen=True, slots=True)
class FactDraft:
    """A fact as proposed by an extraction reply or an API call, before it is reconciled with what is stored."""

    text: str
    type: FactType = "identity"
    tag: str = "other"
    slot: str | None = None
    significance: int = 5  # 1-10
    confidence: float = 0.8  # 0-1
    source_role: SourceRole = "user"
    quote: str | None = None  # the person's words that say it
    turn_id: str | None = None  # the turn the quote stands in
    reference_time: datetime | None = None  # when it was said, or when the event happened
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    started_at: str | None = None  # ISO date: since when
    thread_status: ThreadStatus | None = None
    emotional_weight: float | None = None  # 0-1
    emotional_valence: str | None = None
    lifetime: Lifetime = "lasting"
    volatile: bool = False  # changes all the time (when somebody sleeps): a new value contradicts nothing
    pinned: bool = False
    said_at: datetime | None = None  # when the person said it; None: now, or at its reference time where that is past
    stated: bool = False  # the person (or an operator) wrote it themselves, through API or CLI


@dataclass(frozen=True, slots=True)
class Fact:
    """One remembered statement, bi-temporal: valid time is the world's, recorded/superseded time is our belief's."""

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
    valid_from: datetime | None
    valid_until: datetime | None
    recorded_at: datetime
    updated_at: datetime
    superseded_at: datetime | None
    superseded_by: str | None
    reference_time: datetime | None
    started_at: str | None
    reinforced_count: int
    recall_count: int
    pinned: bool
    thread_status: ThreadStatus | None
    emotional_weight: float | None
    emotional_valence: str | None
    embedding_model: str | None
    content_key: str  # equal keys say the same thing up to case, punctuation and white space
    slot_key: str | None = None  # the slot, where it has one value at a time: no two current facts share it
    lifetime: Lifetime = "lasting"
    expires_at: datetime | None = None  # when it stops being current unless it is said again; never while pinned
    reinforced_at: datetime | None = None
    recalled_at: datetime | None = None
    said_at: datetime | None = None  # when it was last said, whenever it was learned
    engagement: float | None = None  # 0-1: how much was said about it when it came up

    @property
    def never_true(self) -> bool:
        """Whether it was put wrongly, or not decided for: no moment at which it held."""
        return self.valid_until is not None and self.valid_until == self.valid_from


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the merge gate says of two near statements: could one stand for both, and if not, what keeps them apart."""

    separation: Separation
    path: str  # who decided: model, rules
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a turn, fact or summary as it is indexed: the unit that is searched, scored and shown."""

    kind: ItemKind
    owner_id: str  # the turn, fact or summary it is a piece of
    ordinal: int  # 0, 1, 2 … inside its owner
    start: int  # character span inside the owner's text
    end: int
    terms: str  # what is searched lexically: stemmed terms, separated by spaces
    text: str  # what is embedded and shown: the span itself


class Candidate(NamedTuple):
    """A passage that the indexes propose for a query, with what ranking needs to know of it.

    A named tuple and no dataclass: hundreds are made for every request, and these are made four times as fast.
    """

    passage_id: int
    kind: ItemKind
    owner_id: str
    ordinal: int
    text: str
    terms: str
    session_id: str | None  # of the turn (or of a fact's turn); None for facts without one
    seq: int  # the turn's place in its session; 0 for others
    role: Speaker
    speaker: str | None  # the name used in the conversation, where there was one
    time: datetime
    confidence: float  # 1.0 for turns
    turn_id: str | None = None  # the turn a fact was taken from; the turn itself for turns
    cosine: float | None = None  # None: no vector (yet), or not among the nearest

    def at(self, cosine: float | None) -> Candidate:
        """The same passage, as near to the query as that."""
        return Candidate._make((*self[:-1], cosine))


class Scored(NamedTuple):
    """A candidate with its final score and the parts the score is made of. A named tuple as a candidate is one."""

    candidate: Candidate
    score: float
    reasons: Mapping[str, float]
    cosine: float | None = None  # how near it is to the query; None as for a candidate


@dataclass(frozen=True, slots=True)
class BlockItem:
    """One line of an injected block and where it came from."""

    kind: ItemKind
    id: str  # turn, fact or summary
    text: str  # as injected
    score: float
    section: str
    reasons: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """The text that goes into the prompt, marker lines included, and what it is made of."""

    text: str
    tokens: int
    items: tuple[BlockItem, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a block that stands in a conversation: put in again byte for byte when its turn is history."""

    kind: PartKind
    key: str  # of the conversation (stable), or of the conversation up to one user turn (recalled)
    block: ContextBlock  # without text: it was decided that nothing stands there
    used_at: datetime


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was injected into one request. Personal data: scoped, bounded, erased with its sources."""

    request_id: str
    entity: Entity
    session_id: str | None
    turn_key: str | None  # hash of the conversation up to the newest user turn: a tool loop finds its block by it
    time: datetime
    block: ContextBlock


@dataclass(frozen=True, slots=True)
class Job:
    """A unit of background work: learn from the new turns of one session."""

    id: str
    entity: Entity
    kind: str
    session_id: str | None
    state: JobState
    attempts: int
    run_after: datetime
    error: str | None  # a reason word, never content
    credential: str | None
    created_at: datetime
    updated_at: datetime


# --- embeddings --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """What a store must remember of the model that made a vector."""

    model: str
    dimensions: int
    floor: float  # cosine at which unrelated texts of this model typically sit; below it nothing is evidence
    duplicate: float  # cosine from which two short statements may be the same one
