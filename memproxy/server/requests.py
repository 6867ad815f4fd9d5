"""Bodies of the management API, as types; what does not fit is a 400 that says where and why."""

from __future__ import annotations

import unicodedata
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from memproxy.errors import Problem
from memproxy.lifecycle.profile import ProfileChanges
from memproxy.model import FactDraft, FactStatus, FactType, Lifetime, SourceRole, ThreadStatus
from memproxy.store.contradictions import Decision

MAX_BODY = 16 * 1024 * 1024

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=10_000)]
Significance = Annotated[int, msgspec.Meta(ge=1, le=10)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Label = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
Valence = Literal["grief", "joy", "anxiety", "hope", "love", "anger", "fear", "pride", "neutral"]
S = TypeVar("S")


class FactFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The writable fields of a fact; what is left out keeps its value (or its default)."""

    text: Text | msgspec.UnsetType = msgspec.UNSET
    type: FactType | msgspec.UnsetType = msgspec.UNSET
    tag: Label | msgspec.UnsetType = msgspec.UNSET
    slot: Label | msgspec.UnsetType | None = msgspec.UNSET
    significance: Significance | msgspec.UnsetType = msgspec.UNSET
    confidence: Share | msgspec.UnsetType = msgspec.UNSET
    source_role: SourceRole | msgspec.UnsetType = msgspec.UNSET
    quote: str | msgspec.UnsetType | None = msgspec.UNSET
    status: FactStatus | msgspec.UnsetType = msgspec.UNSET
    valid_from: datetime | msgspec.UnsetType | None = msgspec.UNSET
    valid_until: datetime | msgspec.UnsetType | None = msgspec.UNSET
    reference_time: datetime | msgspec.UnsetType | None = msgspec.UNSET
    started_at: str | msgspec.UnsetType | None = msgspec.UNSET
    lifetime: Lifetime | msgspec.UnsetType = msgspec.UNSET
    pinned: bool | msgspec.UnsetType = msgspec.UNSET
    thread_status: ThreadStatus | msgspec.UnsetType | None = msgspec.UNSET
    emotional_weight: Share | msgspec.UnsetType | None = msgspec.UNSET
    emotional_valence: Valence | msgspec.UnsetType | None = msgspec.UNSET

    def given(self) -> dict[str, Any]:
        """The fields that were written, times in UTC. Raises Problem for what cannot be meant."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        given = {
            name: _utc(value) if isinstance(value, datetime) else value
            for name, value in values.items()
            if value is not msgspec.UNSET
        }
        _check_words(given)
        return given

    def draft(self) -> FactDraft:
        """A new fact with these fields. Raises Problem without a text."""
        given = self.given()
        if "text" not in given:
            raise Problem(400, "A fact needs a text", 'Send at least {"text": "…"}.')
        if given.pop("status", "current") != "current":
            raise Problem(400, "A new fact is current", "Leave status out.")
        return FactDraft(**{"confidence": 1.0, **given})


def _check_words(given: dict[str, Any]) -> None:
    """What types alone cannot say. Raises Problem."""
    for name in ("text", "quote", "tag", "slot"):
        value = given.get(name)
        if value is not None and any(unicodedata.category(c) in ("Cc", "Cs") and not c.isspace() for c in value):
            raise Problem(400, f"{name} holds control characters", "Send it without them.")
    if "text" in given:
        given["text"] = given["text"].strip()
        if not any(unicodedata.category(c)[0] in "LNS" for c in given["text"]):
            raise Problem(400, "A fact needs words", "text holds neither letters nor digits.")
    if given.get("started_at") is not None:
        try:
            given["started_at"] = date.fromisoformat(given["started_at"]).isoformat()
        except ValueError:
            raise Problem(400, "started_at is a date", "Write it as YYYY-MM-DD.") from None


class Words(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A statement alone."""

    text: Text

    def checked(self) -> str:
        """The statement, trimmed. Raises Problem."""
        given: dict[str, Any] = {"text": self.text}
        _check_words(given)
        return str(given["text"])


class NoteFields(FactFields, kw_only=True, forbid_unknown_fields=True):
    """What the person wants to be remembered; as a fact, but whose word it is goes without saying."""

    def note(self) -> tuple[str, dict[str, Any]]:
        """The text, and the other fields that were written. Raises Problem."""
        given = self.given()
        for name in ("source_role", "status", "confidence", "quote"):
            if name in given:
                raise Problem(
                    400, f"A note has no {name}", "It is the person's own word. POST …/facts takes all fields."
                )
        if "text" not in given:
            raise Problem(400, "A note needs a text", 'Send at least {"text": "…"}.')
        return given.pop("text"), given


class CorrectionFields(FactFields, kw_only=True, forbid_unknown_fields=True):
    """What a fact is to say, and any other field that is to change with it."""

    def correction(self) -> dict[str, Any]:
        """The fields that were written. Raises Problem."""
        given = self.given()
        if "text" not in given:
            raise Problem(400, "A correction needs a text", 'Send {"text": "…"}; PATCH changes the other fields alone.')
        if "status" in given:
            raise Problem(400, "A correction leaves the status", 'PATCH {"status": "…"} changes it.')
        return given


class PreferenceFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a person wants of their memory; what is left out stays as it is."""

    excluded_tags: Annotated[list[Label], msgspec.Meta(max_length=100)] | msgspec.UnsetType = msgspec.UNSET
    learning: bool | msgspec.UnsetType = msgspec.UNSET
    memory: bool | msgspec.UnsetType = msgspec.UNSET
    patterns: bool | msgspec.UnsetType = msgspec.UNSET

    def given(self) -> dict[str, Any]:
        """The fields that were written, tags as facts have them. Raises Problem."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        given = {name: value for name, value in values.items() if value is not msgspec.UNSET}
        if not given:
            raise Problem(400, "Nothing to change", 'Send for example {"excluded_tags": ["medical"]}.')
        if "excluded_tags" in given:
            tags = (tag.strip().casefold() for tag in given["excluded_tags"])
            given["excluded_tags"] = tuple(dict.fromkeys(tag for tag in tags if tag))
        return given


class ResolveFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """How a contradiction is decided."""

    decision: Decision
    note: Text | None = None


class HoldFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Why a contradiction is left be."""

    note: Text | None = None


class SettleFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which side of a collision is right."""

    side: Label
    note: Text | None = None


Entries = dict[Label, list[Text | dict[str, str]]]


class ProfileFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Entries of a profile, by field: the only ones, further ones, and the names of those that hold no more."""

    set: Entries = {}
    add: Entries = {}
    remove: dict[Label, list[Text]] = {}

    def changes(self) -> ProfileChanges:
        """What is to be changed. Raises Problem where that is nothing."""
        if not (self.set or self.add or self.remove):
            raise Problem(400, "Nothing to change", 'Send for example {"add": {"allergies": ["penicillin"]}}.')
        return ProfileChanges(self.set, self.add, self.remove)


class PastTurnFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One turn of a past conversation."""

    role: Literal["user", "assistant"]
    content: Annotated[str, msgspec.Meta(min_length=1)]
    time: datetime
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=255)] | None = None


class TurnsBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A past conversation, or part of one."""

    session: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
    turns: Annotated[list[PastTurnFields], msgspec.Meta(min_length=1, max_length=10_000)]
    learn: bool = True


class Segment(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Turns about one thing, and of what class they are (a support case, a diary)."""

    turns: Annotated[list[PastTurnFields], msgspec.Meta(min_length=1, max_length=1000)]
    topic: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    label: Annotated[str, msgspec.Meta(min_length=1, max_length=100)] | None = msgspec.field(name="class", default=None)


class SegmentsBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Segments to learn from at once."""

    session: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
    segments: Annotated[list[Segment], msgspec.Meta(min_length=1, max_length=100)]


def decode(body: bytes, kind: type[S]) -> S:
    """Read a body. Raises Problem 400 that names the place."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise Problem(400, "The body does not fit", str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Problem(400, "The body is no JSON", "Send one JSON object with content-type application/json.") from None


def _utc(value: datetime) -> datetime:
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise Problem(400, "A time is beyond the calendar") from None
