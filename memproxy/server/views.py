"""Rows as the management API shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from memproxy.assembly.parts import DryRun
from memproxy.importing.bringing import Report
from memproxy.lifecycle.disputes import Standing
from memproxy.model import BlockItem, ContextBlock, Fact, Job, Receipt, Scored, Turn
from memproxy.recall.explaining import Weighed
from memproxy.store.contradictions import Contradiction
from memproxy.store.denied import Denial
from memproxy.store.evidence import Behind
from memproxy.store.facts import FactChange
from memproxy.store.preferences import Preferences
from memproxy.store.profile import ProfileEntry
from memproxy.store.summaries import Summary

FACT_FIELDS = (
    "id text type tag slot significance confidence source_role quote turn_id status valid_from valid_until recorded_at "
    "updated_at superseded_at superseded_by reference_time started_at lifetime expires_at reinforced_count "
    "reinforced_at recall_count recalled_at pinned thread_status emotional_weight emotional_valence engagement "
    "embedding_model"
).split()

MOST_SKIPPED = 1000  # parts of a file that are told one by one
VERIFIED_AT = 3  # times said again, from which a sure fact of anybody's counts as verified
CONFIDENT = 0.8
STATED = 0.9  # confidence from which the person's word is no longer what was extracted from it


def plain(value: object) -> Any:
    """A value as JSON holds it: times in ISO 8601 with a zone."""
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


def fact(row: Fact) -> dict[str, Any]:
    """A fact with the fields of the documented shape."""
    return {name: plain(getattr(row, name)) for name in FACT_FIELDS}


def change(row: FactChange) -> dict[str, Any]:
    """One entry of a fact's history: what was done, and the fields that it changed."""
    before, after = ({k: v for k, v in side.items() if k in FACT_FIELDS} for side in (row.before, row.after))
    return {"time": plain(row.time), "kind": row.kind, "reason": row.reason, "before": before, "after": after}


def label(row: Fact) -> str:
    """How far a fact is to be trusted, in one word: verified, confident, uncertain, or historical."""
    if row.status in ("historical", "expired"):
        return "historical"
    theirs = row.source_role in ("user", "user_explicit")
    if row.confidence >= 1.0 and (row.source_role == "user_explicit" or row.reinforced_count >= VERIFIED_AT):
        return "verified"
    return "confident" if theirs and row.confidence >= CONFIDENT and row.status == "current" else "uncertain"


def source(row: Fact) -> str:
    """Where a fact comes from: the person's word, what was extracted from it, or what was inferred."""
    if row.source_role == "assistant":
        return "inferred"
    return "user" if row.confidence >= STATED else "extracted"


def labelled(row: Fact) -> dict[str, Any]:
    """A fact as a person reads through their memory."""
    return {**fact(row), "label": label(row), "source": source(row)}


def behind(row: Behind) -> dict[str, Any]:
    """A fact with all that stands behind it."""
    return {
        **labelled(row.fact),
        "turn": turn(row.turn) if row.turn is not None else None,
        "repetitions": [{"session_id": r.session_id, "time": plain(r.time)} for r in row.repetitions],
        "supersedes": [_mention(other) for other in row.supersedes],
        "superseded_by_fact": _mention(row.superseded_by) if row.superseded_by is not None else None,
        "history": [change(entry) for entry in row.history],
    }


def _mention(row: Fact) -> dict[str, Any]:
    names = ("id", "text", "status", "valid_from", "valid_until", "superseded_at")
    return {name: plain(getattr(row, name)) for name in names}


def groups(rows: Sequence[Fact]) -> list[dict[str, Any]]:
    """Facts by their tags, the tags in alphabetical order, the facts in theirs."""
    tags = sorted({row.tag for row in rows})
    return [{"tag": tag, "items": [labelled(row) for row in rows if row.tag == tag]} for tag in tags]


def preferences(row: Preferences) -> dict[str, Any]:
    """What a person wants of their memory."""
    return {**asdict(row), "excluded_tags": list(row.excluded_tags)}


def denial(row: Denial) -> dict[str, Any]:
    """That something was denied; not what."""
    return {"id": row.id, "denied_at": plain(row.denied_at)}


def contradiction(row: Contradiction) -> dict[str, Any]:
    """A contradiction with both sides."""
    return {name: plain(value) for name, value in asdict(row).items() if name != "held_value"}


def collision(row: Standing) -> dict[str, Any]:
    """A collision with the facts of each side, and of a settled one what still says otherwise."""
    shown = {name: plain(value) for name, value in asdict(row.collision).items()}
    sides = {side: [{"id": f.id, "text": f.text} for f in facts] for side, facts in row.sides.items()}
    return {**shown, "sides": sides, "residue": [{"id": f.id, "text": f.text} for f in row.residue]}


def profile_entry(row: ProfileEntry) -> dict[str, Any]:
    """One entry of a profile."""
    return {name: plain(value) for name, value in asdict(row).items()}


def profile(fields: Mapping[str, Sequence[ProfileEntry]]) -> dict[str, Any]:
    """The entries that hold, by field."""
    return {"fields": {name: [profile_entry(row) for row in rows] for name, rows in fields.items()}}


def turn(row: Turn) -> dict[str, Any]:
    """A turn."""
    return {
        "id": row.id,
        "session_id": row.session_id,
        "seq": row.seq,
        "role": row.role,
        "name": row.name,
        "content": row.content,
        "time": plain(row.time),
        "complete": row.complete,
    }


def summary(row: Summary) -> dict[str, Any]:
    """A summary."""
    return {
        "id": row.id,
        "kind": row.kind,
        "session_id": row.session_id,
        "text": row.text,
        "first_seq": row.first_seq,
        "last_seq": row.last_seq,
        "started_at": plain(row.started_at),
        "ended_at": plain(row.ended_at),
        "created_at": plain(row.created_at),
    }


def item(row: BlockItem) -> dict[str, Any]:
    """One line of a block."""
    return {
        "kind": row.kind,
        "id": row.id,
        "text": row.text,
        "score": round(row.score, 6),
        "section": row.section,
        "reasons": {name: round(value, 6) for name, value in row.reasons.items()},
    }


def block(row: ContextBlock | None) -> dict[str, Any]:
    """A block and what it is made of."""
    if row is None:
        return {"block": "", "tokens": 0, "items": []}
    return {"block": row.text, "tokens": row.tokens, "items": [item(entry) for entry in row.items]}


def dry_run(row: DryRun) -> dict[str, Any]:
    """What a message would get; where it was asked for, with all that was weighed."""
    shown: dict[str, Any] = {**block(row.block), "reason": row.skip}
    if row.weighed is not None:
        shown["candidates"] = [candidate(one, row.block) for one in row.weighed]
    return shown


def scored(row: Scored) -> dict[str, Any]:
    """A passage that was found."""
    of = row.candidate
    turn_ids = [of.turn_id] if of.turn_id else []
    return {"kind": of.kind, "id": of.owner_id, "text": of.text, "score": round(row.score, 6), "turn_ids": turn_ids}


def candidate(row: Weighed, block: ContextBlock | None) -> dict[str, Any]:
    """A passage that was proposed for a message: what spoke for it, and what became of it.

    What was found and does not stand in the block had no room there, or something beside it says the same.
    """
    of = row.candidate
    shown = {(entry.kind, entry.id) for entry in block.items} if block is not None else set()
    verdict = "shown" if row.verdict == "found" and (of.kind, of.owner_id) in shown else row.verdict
    return {
        "kind": of.kind,
        "id": of.owner_id,
        "text": of.text,
        "time": plain(of.time),
        "role": of.role,
        "verdict": verdict,
        "score": round(row.score, 6),
        "bm25": round(row.bm25, 6),
        "coverage": round(row.coverage, 6),
        "cosine": None if row.cosine is None else round(row.cosine, 6),
        "reasons": {name: round(value, 6) for name, value in row.reasons.items()},
    }


def imported(row: Report, dry: bool) -> dict[str, Any]:
    """What a file held and what became of it."""
    new = {} if dry else {"new": {"turns": row.new_turns, "facts": row.new_facts, "others": row.new_others}}
    return {
        "dry_run": dry,
        "formats": row.formats,
        "conversations": row.conversations,
        "turns": row.turns,
        "facts": row.statements,
        "others": row.others,
        **new,
        "left_out": row.left_out,
        "empty": row.empty,
        "from": plain(row.earliest),
        "until": plain(row.latest),
        "skipped": [{"where": part.where, "reason": part.reason} for part in row.broken[:MOST_SKIPPED]],
        "skipped_total": len(row.broken),
    }


def receipt(row: Receipt) -> dict[str, Any]:
    """What was injected into one request."""
    return {
        "request_id": row.request_id,
        "entity": row.entity.name,
        "session_id": row.session_id,
        "time": plain(row.time),
        **block(row.block),
    }


def job(row: Job) -> dict[str, Any]:
    """A job, without its credential's fingerprint."""
    shown = {name: plain(value) for name, value in asdict(row).items() if name not in ("entity", "credential")}
    return {**shown, "entity": row.entity.name}
