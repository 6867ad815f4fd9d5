"""What a person says of one fact: it is so, it is otherwise, keep it in view, it is settled, bring it back.

Each works inside the caller's transaction, keeps the fact's id, and leaves an entry with its reason in the history.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from memproxy.errors import Problem
from memproxy.extraction.lifetimes import counted
from memproxy.extraction.reconcile import AHEAD, Policy
from memproxy.folding import content_key
from memproxy.interfaces import Connection
from memproxy.lifecycle.indexing import reindex_fact, reindex_turn
from memproxy.lifecycle.learning import supersede
from memproxy.lifecycle.profile import note
from memproxy.lifecycle.removals import CORRECTED, drop_derived, forget
from memproxy.model import Entity, Fact, FactDraft, FactStatus, new_id
from memproxy.store import contradictions, profile, receipts, turns
from memproxy.store import facts as fact_rows
from memproxy.trust import looks_like_instruction

RESTORE = "Bring it back first: POST …/restore, or memproxy facts restore."
REVIVE = 'PATCH {"status": "current"} makes it hold.'


async def existing(conn: Connection, entity: Entity, fact_id: str, *, forgotten: bool = False) -> Fact:
    """The fact. Raises Problem 404 where the entity has none, or (unless those count) has forgotten it."""
    fact = await fact_rows.get(conn, entity, fact_id)
    if fact is None or (fact.status == "forgotten" and not forgotten):
        raise Problem(404, "No such fact", "" if fact is None else f"It is forgotten. {RESTORE}")
    return fact


async def edit(
    conn: Connection, entity: Entity, fact_id: str, changes: Mapping[str, Any], policy: Policy, now: datetime
) -> Fact:
    """Change fields of a fact; a new text corrects it, `pinned` pins or unpins it, status `current` brings it back.

    Raises Problem 404 where the entity has no such fact, 409 where another one says the same already.
    """
    given = dict(changes)
    pinned = given.pop("pinned", None)
    fact = await existing(conn, entity, fact_id, forgotten=given.get("status") == "current")
    if given.get("status") == "forgotten":
        if len(changes) > 1:
            raise Problem(400, "Forgetting a fact changes nothing else of it", "Leave out the other fields.")
        await forget(conn, entity, fact, now)
        return await existing(conn, entity, fact_id, forgotten=True)
    if given.get("status") in ("historical", "expired") and fact.valid_until is None:
        given = {"superseded_at": now, "valid_until": max(now, fact.valid_from or now), **given}
    if given.get("status") == "current":
        given = {"superseded_at": None, "superseded_by": None, "valid_until": None, "said_at": now, **given}
        if fact.expires_at is not None and fact.expires_at <= now:  # its time had come; it stands anew
            given["expires_at"] = policy.lifetimes.end(_as_draft(replace(fact, **given)), now)
    if "text" in given and given["text"] != fact.text:
        fact = await correct(conn, entity, fact, given, policy, now)
    elif given:
        fact = await _change(conn, entity, fact, given, policy, "edited", now)
    if pinned is not None:
        fact = await (pin(conn, entity, fact, now) if pinned else unpin(conn, entity, fact, policy, now))
    return fact


async def correct(
    conn: Connection, entity: Entity, fact: Fact, changes: Mapping[str, Any], policy: Policy, now: datetime
) -> Fact:
    """Let a fact say what the person says it should (`changes["text"]`, and any other field).

    It keeps its id and since when it holds, is the person's own word from now on, and stands on no quote any more. What
    it said before stays as a historical row that was true at no time.
    """
    text = changes["text"]
    if text == fact.text:
        given = {"confidence": 1.0, "source_role": "user_explicit", **changes}
        return await _change(conn, entity, fact, given, policy, CORRECTED, now)
    begin = fact.valid_from or fact.recorded_at
    # What was forgotten or held back stays so.
    kept: FactStatus = fact.status if fact.status in ("forgotten", "quarantined") else "historical"
    past = replace(
        fact,
        id=new_id(),
        status=kept,
        superseded_at=now,
        superseded_by=fact.id,
        valid_from=begin,
        valid_until=begin,
        expires_at=None,
        pinned=False,
        thread_status=None,
    )
    told = {
        "status": fact.status if fact.status in ("historical", "expired") else "current",
        "confidence": 1.0,
        "source_role": "user_explicit",
        "recorded_at": now,
        "said_at": now,
        **changes,
        "content_key": content_key(text),
        "quote": None,
        "turn_id": None,
    }
    if looks_like_instruction(text):
        told["status"] = "quarantined"
    # The row changes before the copy is stored, so that its new text and its old one never collide on a unique key.
    changed = await _change(conn, entity, fact, told, policy, CORRECTED, now)
    await fact_rows.insert(conn, entity, past, CORRECTED)
    await contradictions.lapse(conn, entity, fact.id, now)
    await drop_derived(conn, entity, past)
    await _follow(conn, entity, past)
    return await _enter(conn, entity, changed, policy, now)


async def confirm(conn: Connection, entity: Entity, fact: Fact, now: datetime) -> Fact:
    """The person says that a fact is so: it is sure, theirs, said once more, and lasts (unless it has an end of its
    own). One that had expired is current again. Raises Problem 409 where it holds no more, or is held back.
    """
    if fact.status not in ("current", "expired"):
        raise Problem(409, f"A fact that is {fact.status} cannot be confirmed", REVIVE)
    ends = fact.status == "current" and fact.valid_until is not None and fact.valid_until > now
    lasting: dict[str, Any] = {} if ends else {"lifetime": "lasting", "expires_at": None}
    if fact.status == "expired":
        await _check_alone(conn, entity, fact)
        lasting |= {"status": "current", "valid_until": None}
        await _make_way(conn, entity, fact, replace(fact, **lasting), now)
    said = counted(replace(fact, **lasting), now)
    changes = {**said, **lasting, "confidence": 1.0, "said_at": now}
    if fact.source_role == "assistant":
        changes["source_role"] = "user"
    changed = await _write(conn, entity, fact, changes, "confirmed", now, "reinforced")
    if changed.status != fact.status:
        await reindex_fact(conn, entity, changed)
    return changed


async def pin(conn: Connection, entity: Entity, fact: Fact, now: datetime) -> Fact:
    """Keep a fact in view whatever is asked, and for good: nothing else of it changes, so it can be undone.

    Raises Problem 409 where it does not hold.
    """
    if fact.pinned:
        return fact
    if fact.status != "current":
        raise Problem(409, f"A fact that is {fact.status} cannot be pinned", REVIVE)
    return await _write(conn, entity, fact, {"pinned": True, "expires_at": None}, "pinned", now)


async def unpin(conn: Connection, entity: Entity, fact: Fact, policy: Policy, now: datetime) -> Fact:
    """Let a fact be one like others again, with at least the time to live that it had left when it was pinned."""
    if not fact.pinned:
        return fact
    end = policy.lifetimes.end(_as_draft(fact), fact.reinforced_at or fact.recorded_at)
    if end is not None and fact.status == "current":
        left = await _left_when_pinned(conn, entity, fact)
        again = now + left if left is not None else policy.lifetimes.end(_as_draft(fact), now)
        end = max(end, again) if again is not None else end
    return await _write(conn, entity, fact, {"pinned": False, "expires_at": end}, "unpinned", now)


async def resolve(conn: Connection, entity: Entity, fact: Fact, now: datetime) -> Fact:
    """An open thread is settled. Raises Problem 409 where the fact is none."""
    if fact.thread_status is None:
        raise Problem(409, "That fact is no open thread", "See GET …/threads, or memproxy facts threads.")
    if fact.thread_status != "open":
        return fact
    return await _write(conn, entity, fact, {"thread_status": "resolved"}, "resolved by the person", now)


async def restore(conn: Connection, entity: Entity, fact_id: str, policy: Policy, now: datetime) -> Fact:
    """Undo forgetting: the fact is what it was before.

    Raises Problem 404 where the entity has no such fact, 409 where it is not forgotten, or another took its place.
    """
    fact = await existing(conn, entity, fact_id, forgotten=True)
    if fact.status != "forgotten":
        raise Problem(409, "That fact is not forgotten", f"It is {fact.status}.")
    changes = await fact_rows.changes(conn, entity, fact_id)
    status = next((c.before["status"] for c in reversed(changes) if c.after.get("status") == "forgotten"), "current")
    return await _change(conn, entity, fact, {"status": status}, policy, "restored", now)


async def _change(
    conn: Connection,
    entity: Entity,
    fact: Fact,
    changes: Mapping[str, Any],
    policy: Policy,
    reason: str,
    now: datetime,
) -> Fact:
    """Write fields, and let all follow that hangs on them: attribute, end, indexes, receipts, other facts."""
    given = dict(changes)
    if "slot" in given:
        given["slot"] = policy.slots.canonical(given["slot"])
    after = replace(fact, **given)
    _check_interval(after)
    ahead = after.reference_time is not None and after.reference_time > now + AHEAD
    after = replace(after, slot_key=None if ahead else policy.slots.key(after.slot, after.text))
    given["slot_key"] = after.slot_key
    if "lifetime" in given and not after.pinned:
        given["expires_at"] = policy.lifetimes.end(_as_draft(after), now)
    if after.status == "current":
        await _check_alone(conn, entity, after)
        await _make_way(conn, entity, fact, after, now)
    changed = await _write(conn, entity, fact, given, reason, now)
    if _is_found_by(changed) != _is_found_by(fact):
        changed = replace(changed, embedding_model=None)
        await reindex_fact(conn, entity, changed)
    await _follow(conn, entity, fact)
    return changed


async def _enter(conn: Connection, entity: Entity, fact: Fact, policy: Policy, now: datetime) -> Fact:
    """Let the profile say what a corrected fact says now, and no more what it said before."""
    for entry in await profile.current(conn, entity):
        if entry.fact_id == fact.id:
            await profile.remove(conn, entity, entry.field, entry.key, now)
    if fact.status == "current":
        await note(conn, entity, fact, policy.packs, now)
    return fact if fact.pinned else await existing(conn, entity, fact.id, forgotten=True)


async def _write(
    conn: Connection,
    entity: Entity,
    fact: Fact,
    changes: Mapping[str, Any],
    reason: str,
    now: datetime,
    kind: str = "updated",
) -> Fact:
    """Change fields of a fact that is there; as it is now."""
    changed = await fact_rows.update(conn, entity, fact.id, changes, reason, now, kind)
    if changed is None:
        raise Problem(404, "No such fact")
    return changed


def _is_found_by(fact: Fact) -> tuple[object, ...]:
    """What the indexes hold of a fact."""
    return fact.text, fact.status, fact.reference_time or fact.recorded_at


async def _follow(conn: Connection, entity: Entity, was: Fact) -> None:
    """What was shown of a fact is not shown again as it was; its turn is read as its facts now allow."""
    await receipts.redact(conn, entity, "fact", was.id)
    turn = await turns.get(conn, entity, was.turn_id) if was.turn_id else None
    if turn is not None:
        await reindex_turn(conn, entity, turn)


async def _check_alone(conn: Connection, entity: Entity, fact: Fact) -> None:
    """Raises Problem 409 where another current fact says already what this one is to say."""
    for other in await fact_rows.with_content_key(conn, entity, content_key(fact.text)):
        if other.status == "current" and other.id != fact.id:
            raise Problem(409, "Another fact says that already", f"It is {other.id}.")


def _check_interval(fact: Fact) -> None:
    """Raises Problem 400 where a fact is to end before it began."""
    if fact.valid_from is not None and fact.valid_until is not None and fact.valid_until < fact.valid_from:
        raise Problem(400, "A fact cannot end before it begins", "See valid_from and valid_until.")


async def _make_way(conn: Connection, entity: Entity, was: Fact, fact: Fact, now: datetime) -> None:
    """A single-valued attribute that a fact is to fill is free for it: what fills it becomes history.

    But undoing takes nothing back that was said since: raises Problem 409 where the fact had been forgotten.
    """
    if fact.slot is None or fact.slot_key is None:
        return
    for other in await fact_rows.with_slot(conn, entity, fact.slot):
        if other.id == fact.id or other.slot_key != fact.slot_key:
            continue
        if was.status == "forgotten":
            raise Problem(409, "Another value has taken its place", f"It is {other.id}: forget or correct that one.")
        await supersede(conn, entity, other.id, replace(fact, valid_from=now), now)


async def _left_when_pinned(conn: Connection, entity: Entity, fact: Fact) -> Any:
    """How long a pinned fact still had to live when it was pinned; None where it had no end, or always was pinned."""
    for change in reversed(await fact_rows.changes(conn, entity, fact.id)):
        if change.after.get("pinned"):
            end = change.before.get("expires_at")
            return datetime.fromisoformat(end) - change.time if end else None
    return None


def _as_draft(fact: Fact) -> FactDraft:
    """A fact as far as its time to live goes by it."""
    return FactDraft(
        fact.text, tag=fact.tag, significance=fact.significance, lifetime=fact.lifetime, valid_until=fact.valid_until
    )
