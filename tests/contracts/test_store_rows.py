"""What the function modules of the store promise: sessions, turns, facts, jobs, receipts, usage."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from memproxy.errors import StoreError
from memproxy.folding import content_key
from memproxy.interfaces import Connection
from memproxy.model import (
    BlockItem,
    ContextBlock,
    Entity,
    Fact,
    Job,
    Part,
    PartKind,
    Passage,
    Receipt,
    Speaker,
    Turn,
    new_id,
)
from memproxy.store import entities, facts, jobs, passages, placed, receipts, sessions, summaries, turns, usage
from memproxy.store.sqlite import SqliteDatabase
from memproxy.store.summaries import Summary

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ADA, BO = Entity("Ada"), Entity("Bo")


_ids = count(1)


def fact(text: str, **fields: Any) -> Fact:
    base = Fact(
        id=f"{next(_ids):032x}", text=text, type="identity", tag="other", slot=None, significance=5, confidence=0.8,
        source_role="user", quote=None, turn_id=None, status="current", valid_from=None, valid_until=None,
        recorded_at=NOW, updated_at=NOW, superseded_at=None, superseded_by=None, reference_time=None, started_at=None,
        reinforced_count=0, recall_count=0, pinned=False, thread_status=None, emotional_weight=None,
        emotional_valence=None, embedding_model=None, content_key=content_key(text),
    )  # fmt: skip
    return replace(base, **fields)


async def say(
    conn: Connection, entity: Entity, session_id: str, content: str, time: datetime = NOW, **fields: Any
) -> Turn:
    given = {"role": "user", "learn": "pending", "text_key": content_key(content), **fields}
    turn = await turns.append(conn, entity, session_id, content=content, time=time, **given)
    terms = " ".join(content.lower().split())
    await passages.add(conn, entity, [Passage("turn", turn.id, 0, 0, len(content), terms, content)])
    return turn


async def begin(conn: Connection, entity: Entity = ADA, name: str | None = None) -> str:
    await entities.ensure(conn, entity, NOW)
    return (await sessions.open_session(conn, entity, name, NOW)).id


# --- entities and sessions ---


async def test_nothing_is_stored_for_an_entity_that_is_not_there(db: SqliteDatabase) -> None:
    with pytest.raises(StoreError):
        await db.write(lambda conn: facts.insert(conn, ADA, fact("Likes otters")))
    with pytest.raises(StoreError):
        await db.write(lambda conn: jobs.enqueue(conn, ADA, "extract", None, NOW, None, NOW))
    with pytest.raises(StoreError):
        await db.write(lambda conn: turns.append(
            conn, ADA, "s", role="user", content="x", time=NOW, learn="no", text_key="k"
        ))  # fmt: skip


async def test_entities_are_listed_by_name_with_their_counts(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> None:
        for entity in (BO, ADA):
            session = await begin(conn, entity)
            await say(conn, entity, session, "hello")
        await facts.insert(conn, ADA, fact("Likes otters"))
        await entities.ensure(conn, ADA, NOW + timedelta(hours=1))

    await db.write(work)
    rows = await db.read(lambda conn: entities.list_entities(conn, "default", 10))
    assert [(row.name, row.turns, row.facts) for row in rows] == [("Ada", 1, 1), ("Bo", 1, 0)]
    assert rows[0].first_seen == NOW
    assert rows[0].last_seen == NOW + timedelta(hours=1)
    assert [r.name for r in await db.read(lambda conn: entities.list_entities(conn, "default", 10, "Ada"))] == ["Bo"]
    assert await db.read(lambda conn: entities.list_entities(conn, "other", 10)) == []
    assert (await db.read(lambda conn: entities.counts(conn, ADA)))["turns"] == 1


async def test_the_shared_entity_alone_does_not_count_as_named(db: SqliteDatabase) -> None:
    await db.write(lambda conn: entities.ensure(conn, Entity("default"), NOW))
    assert not await db.read(entities.named_seen)
    await db.write(lambda conn: entities.ensure(conn, ADA, NOW))
    assert await db.read(entities.named_seen)


async def test_a_name_means_one_session_within_its_entity(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> list[str]:
        return [await begin(conn, ADA, "trip"), await begin(conn, ADA, "trip"), await begin(conn, BO, "trip")]

    first, again, other = await db.write(work)
    assert first == again != other
    found = await db.read(lambda conn: sessions.by_name(conn, ADA, "trip"))
    assert found is not None
    assert found.id == first
    assert await db.read(lambda conn: sessions.by_name(conn, ADA, "Trip")) is None
    assert await db.read(lambda conn: sessions.get(conn, BO, first)) is None


async def test_a_session_knows_its_head_and_when_it_was_last_used(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> str:
        first, second = await begin(conn), await begin(conn)
        await sessions.touch(conn, ADA, first, "h1", NOW + timedelta(minutes=5))
        await sessions.touch(conn, ADA, first, None, NOW - timedelta(days=9))
        await sessions.touch(conn, ADA, second, None, NOW + timedelta(minutes=1))
        return first

    first = await db.write(work)
    assert await db.read(lambda conn: sessions.head(conn, ADA, first)) == "h1"
    listed = await db.read(lambda conn: sessions.list_sessions(conn, ADA, 10))
    assert listed[0].id == first
    assert listed[0].last_at == NOW + timedelta(minutes=5)
    rest = await db.read(lambda conn: sessions.list_sessions(conn, ADA, 10, after=first))
    assert len(rest) == 1


async def test_the_newest_mark_of_a_key_wins(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> tuple[str, str]:
        one, two = await begin(conn), await begin(conn)
        await sessions.put_mark(conn, ADA, "k", one, 1, "said", NOW)
        await sessions.put_mark(conn, ADA, "k", two, 4, "said", NOW + timedelta(seconds=1))
        await sessions.put_mark(conn, ADA, "other", one, 2, "tail", NOW)
        return one, two

    one, two = await db.write(work)
    found = await db.read(lambda conn: sessions.marks(conn, ADA, ["k", "other", "missing"]))
    assert {key: (mark.session_id, mark.seq, mark.kind) for key, mark in found.items()} == {
        "k": (two, 4, "said"),
        "other": (one, 2, "tail"),
    }
    assert await db.read(lambda conn: sessions.marks(conn, BO, ["k"])) == {}
    assert await db.read(lambda conn: sessions.marks(conn, ADA, [])) == {}


# --- turns ---


async def test_turns_are_numbered_in_their_session_and_come_back_as_they_were(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> list[Turn]:
        one, two = await begin(conn), await begin(conn)
        return [
            await say(conn, ADA, one, "first\n  with 空白 🙂", name="Ada"),
            await say(conn, ADA, two, "elsewhere", NOW + timedelta(seconds=1)),
            await say(conn, ADA, one, "an answer that broke", NOW, role="assistant", learn="no", complete=False),
        ]

    written = await db.write(work)
    assert [turn.seq for turn in written] == [1, 1, 2]
    for turn in written:
        assert await db.read(lambda conn, i=turn.id: turns.get(conn, ADA, i)) == turn  # type: ignore[misc]
        assert await db.read(lambda conn, i=turn.id: turns.get(conn, BO, i)) is None  # type: ignore[misc]
    session = await db.read(lambda conn: sessions.get(conn, ADA, written[0].session_id))
    assert session is not None
    assert session.turns == 2
    assert await db.read(lambda conn: turns.get_many(conn, ADA, [written[1].id, written[0].id, "no"])) == written[:2]
    last = await db.read(lambda conn: sessions.last_user_seq(conn, ADA, {turn.session_id for turn in written}))
    assert last == {written[0].session_id: 1, written[1].session_id: 1}


async def test_turns_are_listed_in_the_order_they_were_said_page_by_page(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> list[Turn]:
        session = await begin(conn)
        offsets = (3, 1, 1, 2, 0)
        return [await say(conn, ADA, session, f"t{i}", NOW + timedelta(hours=h)) for i, h in enumerate(offsets)]

    written = await db.write(work)
    expected = sorted(written, key=lambda turn: (turn.time, turn.session_id, turn.seq))

    async def page_by_page(conn: Connection) -> list[Turn]:
        listed: list[Turn] = []
        while page := await turns.list_turns(conn, ADA, limit=2, after=listed[-1].id if listed else None):
            listed += page
        return listed

    assert await db.read(page_by_page) == expected
    assert await db.read(lambda conn: turns.list_turns(conn, ADA, session_id="none")) == []


async def test_the_same_words_at_the_same_time_are_found_again(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> Turn:
        return await say(conn, ADA, await begin(conn), "hello", text_key="k")

    turn = await db.write(work)

    asked: list[tuple[str, datetime, Speaker]] = [
        ("k", NOW, "user"),
        ("k", NOW + timedelta(seconds=1), "user"),
        ("k", NOW, "assistant"),
        ("other", NOW, "user"),
        ("k", NOW, "user"),
    ]
    found = await db.read(lambda conn: turns.find(conn, ADA, turn.session_id, asked))
    assert found == [turn.id, None, None, None, turn.id]
    assert await db.read(lambda conn: turns.find(conn, BO, turn.session_id, asked[:1])) == [None]


async def test_pending_turns_wait_for_their_own_credential(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> list[Turn]:
        session = await begin(conn)
        return [
            await say(conn, ADA, session, "What about a heap?", role="assistant", learn="no"),
            await say(conn, ADA, session, "one"),
            await say(conn, ADA, session, "two", credential="c1"),
            await say(conn, ADA, session, "three", learn="no"),
            await say(conn, ADA, session, "four"),
        ]

    written = await db.write(work)
    session = written[0].session_id
    assert [t.content for t in await db.read(lambda conn: turns.pending(conn, ADA, session))] == ["one", "four"]
    assert [t.content for t in await db.read(lambda conn: turns.pending(conn, ADA, session, "c1"))] == ["two"]
    before = await db.read(lambda conn: turns.context_before(conn, ADA, session, 5))
    assert before == written[0]
    assert await db.read(lambda conn: turns.context_before(conn, ADA, session, 1)) is None
    assert await db.write(lambda conn: turns.set_learn(conn, ADA, [written[1].id], "dead")) == 1
    assert [t.content for t in await db.read(lambda conn: turns.pending(conn, ADA, session))] == ["four"]
    assert await db.write(lambda conn: turns.revive(conn, ADA, session)) == 1
    assert len(await db.read(lambda conn: turns.pending(conn, ADA, session))) == 2


async def test_a_deleted_turn_is_gone_and_its_number_is_not_used_again(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> Turn:
        session = await begin(conn)
        first = await say(conn, ADA, session, "first")
        assert not await turns.delete(conn, BO, first.id)
        assert await turns.delete(conn, ADA, first.id)
        assert not await turns.delete(conn, ADA, first.id)
        return await say(conn, ADA, session, "second")

    assert (await db.write(work)).seq == 2
    assert (await db.read(lambda conn: entities.counts(conn, ADA)))["passages"] == 1


# --- facts ---


async def test_a_fact_comes_back_with_all_its_fields(db: SqliteDatabase) -> None:
    later = NOW + timedelta(days=1)
    full = fact(
        "Sails on Tuesdays", type="pattern", tag="sport", slot="hobby", significance=9, confidence=0.25,
        source_role="assistant", quote="I sail", turn_id=new_id(), status="historical", valid_from=NOW,
        valid_until=later, superseded_at=later, superseded_by=new_id(), reference_time=NOW, started_at="2020-01-01",
        reinforced_count=3, recall_count=2, pinned=True, thread_status="open", emotional_weight=0.5,
        emotional_valence="joy",
    )  # fmt: skip

    async def work(conn: Connection) -> Fact:
        await entities.ensure(conn, ADA, NOW)
        return await facts.insert(conn, ADA, full)

    assert await db.write(work) == full
    assert await db.read(lambda conn: facts.get(conn, ADA, full.id)) == full
    assert await db.read(lambda conn: facts.get(conn, BO, full.id)) is None


async def test_of_twenty_equal_facts_stored_at_once_one_row_remains(db: SqliteDatabase) -> None:
    await db.write(lambda conn: entities.ensure(conn, ADA, NOW))
    texts = ["Likes otters", "likes  OTTERS.", "Likes otters!"] * 7
    stored = await asyncio.gather(*(db.write(lambda conn, t=t: facts.insert(conn, ADA, fact(t))) for t in texts))  # type: ignore[misc]
    assert len({row.id for row in stored}) == 1
    assert len(await db.read(lambda conn: facts.list_facts(conn, ADA))) == 1


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Owns a Kayak", "a kayak"),
        ("Owns a  kayak", "owns a kayak"),
        ("Owns a\tkayak", "A  KAYAK"),
        ("Owns\na kayak", "owns a"),
        ("Owns a \u201ckayak\u201d", 'a "kayak"'),
        ("Owns a ＫＡＹＡＫ", "kayak"),
        ("Owns a kayak", "ＫＡＹＡＫ"),
        ("Owns a k%y_k", "k%y_k"),
        ("\tOwns\na  KAYAK", "kayak"),
    ],
)
async def test_a_fact_is_found_by_part_of_its_text_whatever_case_and_blanks(
    db: SqliteDatabase, text: str, query: str
) -> None:
    async def work(conn: Connection) -> Fact:
        await entities.ensure(conn, ADA, NOW)
        await facts.insert(conn, ADA, fact("Lives in Tolm"))
        return await facts.insert(conn, ADA, fact(text))

    stored = await db.write(work)
    assert await db.read(lambda conn: facts.list_facts(conn, ADA, query=query)) == [stored]


async def test_facts_are_filtered_and_paged_newest_first(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> list[Fact]:
        await entities.ensure(conn, ADA, NOW)
        rows = [
            fact("Likes Otters", tag="animals", confidence=0.9),
            fact("Lives in Straße 5", slot="home", pinned=True),
            fact("Went to Oslo", type="event", source_role="assistant"),
            fact("Was a baker", status="historical"),
        ]
        return [await facts.insert(conn, ADA, row) for row in rows]

    otters, home, oslo, baker = await db.write(work)

    async def listed(**filters: Any) -> list[Fact]:
        return await db.read(lambda conn: facts.list_facts(conn, ADA, **filters))

    assert await listed() == [oslo, home, otters]
    assert await listed(statuses=["historical"]) == [baker]
    assert await listed(tags=["animals"]) == [otters]
    assert await listed(types=["event"]) == [oslo]
    assert await listed(slots=["home"]) == [home]
    assert await listed(min_confidence=0.85) == [otters]
    assert await listed(pinned=True) == [home]
    assert await listed(source_role="assistant") == [oslo]
    assert await listed(query="likes  otters") == [otters]
    assert await listed(query="STRASSE") == [home]
    assert await listed(query="%") == []
    assert await listed(types=[], tags=None, limit=2) == [oslo, home]
    assert await listed(limit=2, after=home.id) == [otters]
    assert [row.id for row in await db.read(lambda conn: facts.current_texts(conn, ADA))] == [
        otters.id,
        home.id,
        oslo.id,
    ]
    assert await db.read(lambda conn: facts.with_slot(conn, ADA, "home")) == [home]
    assert await db.read(lambda conn: facts.get_many(conn, ADA, [oslo.id, "no", otters.id])) == [oslo, otters]


async def test_every_change_of_a_fact_leaves_its_history(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> Fact:
        await entities.ensure(conn, ADA, NOW)
        old = await facts.insert(conn, ADA, fact("Code is FERN-1"), "told")
        await passages.add(conn, ADA, [Passage("fact", old.id, 0, 0, 14, "code fern", old.text)])
        changed = await facts.update(conn, ADA, old.id, {"text": "Code is MOSS-2", "pinned": True}, "edited", NOW)
        assert changed is not None
        assert changed.content_key == content_key("Code is MOSS-2")
        new = await facts.insert(conn, ADA, fact("Code is PINE-3"))
        await facts.supersede(conn, ADA, old.id, new.id, NOW)
        return changed

    changed = await db.write(work)
    history = await db.read(lambda conn: facts.changes(conn, ADA, changed.id))
    assert [(entry.kind, entry.reason) for entry in history] == [
        ("created", "told"), ("updated", "edited"), ("superseded", ""),
    ]  # fmt: skip
    assert history[1].before["text"] == "Code is FERN-1"
    assert history[1].after == {
        "text": "Code is MOSS-2", "pinned": True, "content_key": content_key("Code is MOSS-2"),
    }  # fmt: skip
    now = await db.read(lambda conn: facts.get(conn, ADA, changed.id))
    assert now is not None
    assert (now.status, now.superseded_at) == ("historical", NOW)
    assert (await db.read(lambda conn: entities.counts(conn, ADA)))["passages"] == 0  # the old words are not found
    assert await db.write(lambda conn: facts.update(conn, BO, changed.id, {"pinned": False}, "", NOW)) is None


async def test_a_fact_cannot_be_edited_into_a_twin_of_another(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> Fact:
        await entities.ensure(conn, ADA, NOW)
        await facts.insert(conn, ADA, fact("Likes otters"))
        return await facts.insert(conn, ADA, fact("Likes herons"))

    herons = await db.write(work)
    with pytest.raises(StoreError):
        await db.write(lambda conn: facts.update(conn, ADA, herons.id, {"text": "likes otters"}, "", NOW))
    assert await db.read(lambda conn: facts.get(conn, ADA, herons.id)) == herons


async def test_a_session_reinforces_a_fact_once(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> tuple[str, list[bool]]:
        await entities.ensure(conn, ADA, NOW)
        row = await facts.insert(conn, ADA, fact("Likes otters"))
        said_in = ("s1", "s2", "s1", None)
        return row.id, [await facts.counts_in(conn, ADA, row.id, session, NOW) for session in said_in]

    fact_id, counted = await db.write(work)
    assert counted == [True, True, False, True]
    assert await db.write(lambda conn: facts.count_recalled(conn, ADA, [fact_id], NOW)) == 1


async def test_a_forgotten_fact_leaves_indexes_and_receipts_and_can_come_back(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> tuple[Fact, Turn]:
        turn = await say(conn, ADA, await begin(conn), "I keep a ferret")
        row = await facts.insert(conn, ADA, fact("Has a ferret", turn_id=turn.id, quote="I keep a ferret"))
        await passages.add(conn, ADA, [Passage("fact", row.id, 0, 0, 12, "ferret", row.text)])
        await receipts.put(conn, receipt("r1", ("fact", row.id)))
        await receipts.put(conn, receipt("r2", ("turn", turn.id)))
        await receipts.put(conn, receipt("r3", ("fact", "another")))
        await placed.put(conn, ADA, [part("k1", ("fact", row.id)), part("k2", ("fact", "another"))])
        await facts.set_status(conn, ADA, row.id, "forgotten", "asked", NOW)
        return row, turn

    row, turn = await db.write(work)
    assert await db.read(lambda conn: facts.hidden_quotes(conn, ADA, turn.id)) == ["I keep a ferret"]
    assert (await db.read(lambda conn: entities.counts(conn, ADA)))["passages"] == 1  # the turn's
    for request_id, text in (("r1", ""), ("r2", ""), ("r3", "block of r3")):
        found = await db.read(lambda conn, r=request_id: receipts.get(conn, r))  # type: ignore[misc]
        assert found is not None
        assert found.block.text == text
    kept = await db.read(lambda conn: placed.of_keys(conn, ADA, ["k1", "k2"]))
    assert [one.key for one in kept] == ["k2"]
    back = await db.write(lambda conn: facts.set_status(conn, ADA, row.id, "current", "undo", NOW))
    assert back is not None
    assert back.text == "Has a ferret"
    assert await db.read(lambda conn: facts.hidden_quotes(conn, ADA, turn.id)) == []


async def test_an_erased_fact_leaves_only_where_it_stood(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> tuple[Fact, Turn, Turn]:
        session = await begin(conn)
        turn, other = (
            await say(conn, ADA, session, "Well, I keep a ferret."),
            await say(conn, ADA, session, "And so on"),
        )
        row = await facts.insert(conn, ADA, fact("Has a ferret", turn_id=turn.id, quote="I keep a ferret"))
        unquoted = await facts.insert(conn, ADA, fact("Goes on", turn_id=other.id))
        newer = await facts.insert(conn, ADA, fact("Has a stoat", superseded_by=row.id))
        assert not await facts.delete(conn, BO, row.id)
        assert await facts.delete(conn, ADA, row.id)
        assert await facts.delete(conn, ADA, unquoted.id)
        assert (await facts.get(conn, ADA, newer.id)) == replace(newer, superseded_by=None)
        return row, turn, other

    row, turn, other = await db.write(work)
    assert await db.read(lambda conn: facts.get(conn, ADA, row.id)) is None
    assert await db.read(lambda conn: facts.changes(conn, ADA, row.id)) == []
    assert await db.read(lambda conn: facts.hidden_spans(conn, ADA, turn.id)) == [(6, 21)]
    assert await db.read(lambda conn: facts.hidden_spans(conn, ADA, other.id)) == [(0, len("And so on"))]


# --- jobs ---


async def test_the_same_work_asked_twice_is_one_job(db: SqliteDatabase) -> None:
    soon, later = NOW + timedelta(seconds=5), NOW + timedelta(seconds=20)

    async def work(conn: Connection) -> list[Job]:
        await entities.ensure(conn, ADA, NOW)
        asked = [(soon, False), (later, False), (later + timedelta(hours=1), True), (NOW, True), (later, False)]
        return [await jobs.enqueue(conn, ADA, "extract", "s1", t, None, NOW, hasten=h) for t, h in asked]

    made = await db.write(work)
    assert len({job.id for job in made}) == 1
    assert [job.run_after for job in made] == [soon, later, later, NOW, NOW]  # once due it stays due
    for fields in (("extract", "s2", None), ("extract", "s1", "c1"), ("summarize", "s1", None)):
        kind, session, credential = fields
        other = await db.write(
            lambda conn, k=kind, s=session, c=credential: jobs.enqueue(conn, ADA, k, s, NOW, c, NOW)  # type: ignore[misc]
        )
        assert other.id != made[0].id


async def test_turns_that_arrive_while_a_job_runs_make_a_new_job(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> tuple[Job | None, Job, Job | None]:
        await entities.ensure(conn, ADA, NOW)
        await jobs.enqueue(conn, ADA, "extract", "s1", NOW, None, NOW)
        running = await jobs.claim(conn, "w", NOW, 60)
        new = await jobs.enqueue(conn, ADA, "extract", "s1", NOW, None, NOW)
        blocked = await jobs.claim(conn, "w", NOW, 60)
        return running, new, blocked

    running, new, blocked = await db.write(work)
    assert running is not None
    assert (running.state, running.attempts, new.state) == ("running", 1, "pending")
    assert new.id != running.id
    assert blocked is None  # one job of an entity at a time
    assert await db.write(lambda conn: jobs.finish(conn, running))
    after = await db.write(lambda conn: jobs.claim(conn, "w", NOW, 60))
    assert after is not None
    assert after.id == new.id


async def test_jobs_are_claimed_when_due_the_longest_due_first_and_with_their_credential(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> None:
        for entity in (ADA, BO):
            await entities.ensure(conn, entity, NOW)
        await jobs.enqueue(conn, ADA, "late", None, NOW + timedelta(seconds=9), None, NOW)
        await jobs.enqueue(conn, BO, "second", None, NOW - timedelta(seconds=1), None, NOW)
        await jobs.enqueue(conn, ADA, "first", None, NOW - timedelta(seconds=2), "c1", NOW)

    await db.write(work)
    assert await db.read(jobs.next_due) == NOW - timedelta(seconds=2)
    first = await db.write(lambda conn: jobs.claim(conn, "w", NOW, 60, {"c2"}))
    assert first is not None
    assert (first.kind, first.entity) == ("second", BO)
    assert await db.write(lambda conn: jobs.claim(conn, "w", NOW, 60)) is None
    second = await db.write(lambda conn: jobs.claim(conn, "w", NOW, 60, {"c1"}))
    assert second is not None
    assert second.kind == "first"
    assert await db.read(jobs.counts) == {"pending": 1, "running": 2}


async def test_a_job_whose_lease_ran_out_is_taken_over_and_the_old_attempt_counts_no_more(db: SqliteDatabase) -> None:
    later = NOW + timedelta(seconds=61)

    async def work(conn: Connection) -> Job | None:
        await entities.ensure(conn, ADA, NOW)
        await jobs.enqueue(conn, ADA, "extract", "s1", NOW, None, NOW)
        return await jobs.claim(conn, "w1", NOW, 60)

    old = await db.write(work)
    assert old is not None
    assert await db.write(lambda conn: jobs.claim(conn, "w2", NOW + timedelta(seconds=59), 60)) is None
    new = await db.write(lambda conn: jobs.claim(conn, "w2", later, 60))
    assert new is not None
    assert (new.id, new.attempts) == (old.id, 2)
    assert not await db.write(lambda conn: jobs.finish(conn, old))
    assert not await db.write(lambda conn: jobs.renew(conn, old, later, 60))
    assert await db.write(lambda conn: jobs.renew(conn, new, later, 60))
    assert await db.write(lambda conn: jobs.finish(conn, new))
    assert not await db.write(lambda conn: jobs.retry(conn, new, later, "late"))


async def test_failed_jobs_are_retried_postponed_buried_and_replayed(db: SqliteDatabase) -> None:
    later = NOW + timedelta(minutes=1)

    async def claim(conn: Connection) -> Job:
        job = await jobs.claim(conn, "w", later, 60)
        assert job is not None
        return job

    async def work(conn: Connection) -> None:
        await entities.ensure(conn, ADA, NOW)
        await jobs.enqueue(conn, ADA, "extract", "s1", NOW, None, NOW)
        assert await jobs.retry(conn, await claim(conn), later, "busy")
        [waiting] = await jobs.list_jobs(conn, states=["pending"])
        assert (waiting.attempts, waiting.error, waiting.run_after) == (1, "busy", later)
        same = await jobs.enqueue(conn, ADA, "extract", "s1", NOW, None, NOW)
        assert same.run_after == later  # a pause after a failure is not cut short by new turns
        assert await jobs.make_all_due(conn, NOW) == 1
        assert await jobs.postpone(conn, await claim(conn), later, "daily-limit")
        [postponed] = await jobs.list_jobs(conn, states=["waiting"])
        assert postponed.attempts == 1
        assert not await jobs.runnable(conn)
        assert await jobs.bury(conn, await claim(conn), "refused")
        [dead] = await jobs.list_jobs(conn, entity=ADA)
        assert (dead.state, dead.error) == ("dead", "refused")
        assert await jobs.list_jobs(conn, entity=BO) == []
        assert await jobs.next_due(conn) is None
        assert await jobs.replay(conn, dead.id, NOW)
        assert not await jobs.replay(conn, dead.id, NOW)
        assert await jobs.runnable(conn)
        again = await claim(conn)
        assert (again.id, again.attempts) == (dead.id, 1)
        assert await jobs.finish(conn, again)
        assert await jobs.prune(conn, datetime.now(UTC) + timedelta(days=1)) == 1

    await db.write(work)


# --- receipts, usage, summaries ---


def receipt(request_id: str, *sources: tuple[Any, str], entity: Entity = ADA, time: datetime = NOW) -> Receipt:
    items = tuple(BlockItem(kind, owner, f"words of {owner}", 0.5, "[X]", {"lexical": 1.0}) for kind, owner in sources)
    block = ContextBlock(f"block of {request_id}", 7, items)
    return Receipt(request_id, entity, "s1", f"key of {request_id}", time, block)


def part(key: str, *sources: tuple[Any, str], kind: PartKind = "recalled", used_at: datetime = NOW) -> Part:
    return Part(kind, key, receipt(key, *sources).block, used_at)


async def test_parts_of_a_conversation_come_back_as_they_were_to_their_own_entity(db: SqliteDatabase) -> None:
    stable, recalled = part("k", ("fact", "f1"), kind="stable"), part("k", ("fact", "f1"), ("turn", "t1"))
    other, nothing = part("l", ("turn", "t2")), Part("stable", "m", ContextBlock("", 0, ()), NOW)

    async def work(conn: Connection) -> None:
        await entities.ensure(conn, ADA, NOW)
        await placed.put(conn, ADA, [stable, recalled, other, nothing])
        await placed.put(conn, BO, [stable])  # nobody known by that name: nothing happens

    await db.write(work)
    found = await db.read(lambda conn: placed.of_keys(conn, ADA, ["k", "m", "x"]))
    assert {(one.kind, one.key): one for one in found} == {
        ("stable", "k"): stable,
        ("recalled", "k"): recalled,
        ("stable", "m"): nothing,
    }
    assert await db.read(lambda conn: placed.of_keys(conn, BO, ["k"])) == []
    assert await db.write(lambda conn: placed.drop(conn, ADA, "turn", "t1")) == 1
    assert await db.write(lambda conn: placed.drop(conn, ADA, "fact", "t2")) == 0
    await db.write(lambda conn: placed.remove(conn, ADA, [stable]))
    assert await db.read(lambda conn: placed.of_keys(conn, ADA, ["k", "l"])) == [other]


async def test_parts_that_no_conversation_uses_are_dropped(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> int:
        await entities.ensure(conn, ADA, NOW)
        await placed.put(conn, ADA, [part(f"k{d}", used_at=NOW - timedelta(days=d)) for d in range(5)])
        await placed.put(conn, ADA, [part("k4", used_at=NOW)])
        return await placed.prune(conn, keep_days=2.5, now=NOW)

    assert await db.write(work) == 1
    found = await db.read(lambda conn: placed.of_keys(conn, ADA, [f"k{d}" for d in range(5)]))
    assert [one.key for one in found] == ["k0", "k1", "k2", "k4"]


async def test_receipts_come_back_whole(db: SqliteDatabase) -> None:
    stored = receipt("r1", ("fact", "f1"), ("turn", "t1"))

    async def work(conn: Connection) -> None:
        await entities.ensure(conn, ADA, NOW)
        await receipts.put(conn, stored)

    await db.write(work)
    assert await db.read(lambda conn: receipts.get(conn, "r1")) == stored
    assert await db.read(lambda conn: receipts.get(conn, "r9")) is None
    assert await db.write(lambda conn: receipts.redact(conn, ADA, "turn", "t1")) == 1
    redacted = await db.read(lambda conn: receipts.get(conn, "r1"))
    assert redacted is not None
    assert [item.text for item in redacted.block.items] == ["words of f1", ""]


async def test_receipts_are_bounded_in_time_and_number(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> int:
        await entities.ensure(conn, ADA, NOW)
        for days in range(10):
            await receipts.put(conn, receipt(f"r{days}", ("fact", "f"), time=NOW - timedelta(days=days)))
        return await receipts.prune(conn, keep_days=7, keep_max=5, now=NOW)

    assert await db.write(work) == 5
    kept = [i for i in range(10) if await db.read(lambda conn, i=i: receipts.get(conn, f"r{i}"))]  # type: ignore[misc]
    assert kept == [0, 1, 2, 3, 4]


async def test_usage_adds_up_over_entities_by_day_and_purpose(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> None:
        for entity in (ADA, BO):
            await entities.ensure(conn, entity, NOW)
            await usage.add(conn, entity, "2026-11-30", "extract", calls=2, input_tokens=100, output_tokens=10)
        await usage.add(conn, ADA, "2026-11-30", "extract")
        await usage.add(conn, ADA, "2026-11-29", "extract")

    await db.write(work)
    assert await db.read(lambda conn: usage.today(conn, "2026-11-30", "extract")) == 5
    assert await db.read(lambda conn: usage.today(conn, "2026-12-01", "extract")) == 0
    rows = await db.read(lambda conn: usage.list_usage(conn, ADA))
    assert [(row.day, row.calls, row.input_tokens) for row in rows] == [("2026-11-30", 3, 100), ("2026-11-29", 1, 0)]


async def test_summaries_are_listed_by_the_end_of_their_conversation(db: SqliteDatabase) -> None:
    rows = [Summary(new_id(), None, f"talk {d}", NOW, NOW + timedelta(days=d), NOW) for d in (1, 3, 2)]

    async def work(conn: Connection) -> None:
        await entities.ensure(conn, ADA, NOW)
        for row in rows:
            await summaries.insert(conn, ADA, row)

    await db.write(work)
    listed = await db.read(lambda conn: summaries.list_summaries(conn, ADA, 2))
    assert listed == [rows[1], rows[2]]
    assert await db.read(lambda conn: summaries.get(conn, ADA, rows[0].id)) == rows[0]
    assert await db.write(lambda conn: summaries.delete(conn, ADA, rows[0].id))
    assert await db.read(lambda conn: summaries.get(conn, ADA, rows[0].id)) is None
