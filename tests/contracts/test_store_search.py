"""What the indexes propose: the same by vec0 and by exact scan, an entity's own only, and never what is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memproxy.errors import StoreError
from memproxy.folding import content_key
from memproxy.interfaces import Connection, Vectors
from memproxy.model import Candidate, Entity, Passage, Turn
from memproxy.store import entities, facts, index, meta, passages, reembedding, search, sessions, turns, vectors
from memproxy.store.driver import Driver, possible_drivers
from memproxy.store.search import Proposal
from memproxy.store.sqlite import SqliteDatabase
from tests.contracts.test_store_rows import fact

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ADA, BO = Entity("Ada"), Entity("Bo")
MODEL = "toy"
SIZE = 16


def direction(seed: int) -> Vectors:
    made: Vectors = np.random.default_rng(seed).normal(size=SIZE).astype(np.float32)
    return made


async def fill(
    conn: Connection, entity: Entity, texts: Sequence[str], *, first_seed: int | None = None
) -> tuple[list[Turn], list[int]]:
    """One session of user turns, a passage each; with `first_seed` a vector each."""
    await entities.ensure(conn, entity, NOW)
    session = await sessions.open_session(conn, entity, None, NOW)
    said, ids = [], []
    for text in texts:
        turn = await turns.append(
            conn, entity, session.id, role="user", name="Ada L.", content=text, time=NOW, learn="no", text_key=text
        )
        ids += await passages.add(conn, entity, [Passage("turn", turn.id, 0, 0, len(text), text.lower(), text)])
        said.append(turn)
    if first_seed is not None:
        await vectors.add_vectors(conn, entity, MODEL, [(i, direction(first_seed + n)) for n, i in enumerate(ids)])
    return said, ids


async def ask(
    db: SqliteDatabase, entity: Entity, terms: Sequence[str] = (), vector: Vectors | None = None, limit: int = 10
) -> Proposal:
    return await db.read(
        lambda conn: search.propose(conn, entity, terms=terms, vector=vector, model=MODEL, limit=limit)
    )


def texts(candidates: Sequence[Candidate]) -> list[str]:
    return [candidate.text for candidate in candidates]


async def test_a_candidate_carries_what_ranking_needs(db: SqliteDatabase) -> None:
    [turn], [passage] = await db.write(lambda conn: fill(conn, ADA, ["Owns a kayak"], first_seed=1))
    found = await ask(db, ADA, ["kayak", "zebra"], direction(1))
    assert (found.passages, found.average_length) == (1, 3.0)
    assert found.document_frequencies == {"kayak": 1, "zebra": 0}
    [candidate] = found.candidates
    assert candidate.cosine == pytest.approx(1.0)
    assert candidate == Candidate(
        passage, "turn", turn.id, 0, "Owns a kayak", "owns a kayak", turn.session_id, 1, "user", "Ada L.", NOW, 1.0,
        turn.id, candidate.cosine,
    )  # fmt: skip


async def test_an_entity_without_memories_gets_an_empty_proposal(db: SqliteDatabase) -> None:
    found = await ask(db, ADA, ["kayak"], direction(1))
    assert found == Proposal((), 0, {"kayak": 0}, 0.0)


async def test_each_entity_finds_its_own_by_words_by_vector_and_by_both(db: SqliteDatabase) -> None:
    await db.write(lambda conn: fill(conn, ADA, ["Lives in Tolm"], first_seed=1))
    await db.write(lambda conn: fill(conn, BO, ["Lives in Brask"], first_seed=1))
    for entity, own in ((ADA, "Lives in Tolm"), (BO, "Lives in Brask")):
        for terms, vector in ((["lives"], None), ([], direction(1)), (["lives", "tolm", "brask"], direction(1))):
            assert texts((await ask(db, entity, terms, vector)).candidates) == [own]
    same_name = Entity("Ada", tenant="elsewhere")
    assert (await ask(db, same_name, ["lives"], direction(1))).candidates == ()


async def test_the_rarest_words_come_first_then_the_newest(db: SqliteDatabase) -> None:
    await db.write(lambda conn: fill(conn, ADA, ["red boat", *[f"red car {i}" for i in range(8)], "blue tram"]))
    found = await ask(db, ADA, ["red", "boat"], limit=3)
    assert texts(found.candidates) == ["red boat", "red car 7", "red car 6"]
    assert found.document_frequencies == {"red": 9, "boat": 1}


async def test_of_words_that_are_everywhere_the_number_is_known_and_the_newest_are_found(
    db: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_MOST_POSTINGS", 5)
    await db.write(lambda conn: fill(conn, ADA, ["red boat", *[f"red car {i}" for i in range(8)], "a boat", "a tram"]))

    async def posted(*terms: str) -> tuple[dict[str, int], list[str]]:
        found = await db.read(lambda conn: index.postings(conn, ADA, terms))
        return dict(found.frequencies), sorted(found.ids)

    assert await posted("boat", "red", "tram", "zebra") == (
        {"boat": 2, "red": 9, "tram": 1, "zebra": 0},
        ["boat", "tram"],  # the rarest, as long as there is room
    )
    assert await posted("red", "zebra") == ({"red": 9, "zebra": 0}, ["red"])
    assert texts((await ask(db, ADA, ["red"], limit=3)).candidates) == ["red car 7", "red car 6", "red car 5"]


async def test_the_nearest_are_the_same_however_many_are_read_at_a_time(
    db: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, ids = await db.write(lambda conn: fill(conn, ADA, [f"t{i}" for i in range(7)], first_seed=0))

    async def nearest() -> dict[int, float]:
        return await db.read(lambda conn: vectors.nearest(conn, ADA, direction(3), MODEL, 4))

    found = await nearest()
    assert next(iter(found)) == ids[3]
    for step in (1, 3, 7):
        monkeypatch.setattr(vectors, "_SCAN_STEP", step)
        assert await nearest() == pytest.approx(found, abs=1e-6)


async def test_terms_of_any_script_are_found_and_nothing_is_query_syntax(db: SqliteDatabase) -> None:
    said = ["迁移 移后 lib qrx", "ágnes őze", "हिन्दी", "3.11", "won't", 'and or not near "x" *']
    await db.write(lambda conn: fill(conn, ADA, said))
    for term, text in (("移后", said[0]), ("őze", said[1]), ("हिन्दी", said[2]), ("3.11", said[3]), ("won't", said[4])):
        assert texts((await ask(db, ADA, [term])).candidates) == [text]
    for term in ('"', "*", "near", "and", '"x"', "tokens:x", "-", "(", ""):
        await ask(db, ADA, [term])


async def test_cosines_are_known_for_every_candidate_that_has_a_vector(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> None:
        await fill(conn, ADA, [f"filler {i}" for i in range(20)], first_seed=100)
        await fill(conn, ADA, ["kayak"], first_seed=500)
        await fill(conn, ADA, ["kayak without vector"])

    await db.write(work)
    found = await ask(db, ADA, ["kayak"], direction(100), limit=2)
    by_text = {candidate.text: candidate.cosine for candidate in found.candidates}
    expected = float(np.dot(direction(500), direction(100)))
    expected /= float(np.linalg.norm(direction(500)) * np.linalg.norm(direction(100)))
    assert by_text["filler 0"] == pytest.approx(1.0)
    assert by_text["kayak"] == pytest.approx(expected, abs=1e-6)
    assert by_text["kayak without vector"] is None


async def test_vectors_of_another_model_are_not_compared(db: SqliteDatabase) -> None:
    await db.write(lambda conn: fill(conn, ADA, ["kayak"], first_seed=1))

    async def by(model: str, vector: Vectors) -> Proposal:
        return await db.read(
            lambda conn: search.propose(conn, ADA, terms=["kayak"], vector=vector, model=model, limit=5)
        )

    assert [c.cosine for c in (await by("another", direction(1))).candidates] == [None]
    assert [c.cosine for c in (await by(MODEL, np.ones(4, dtype=np.float32))).candidates] == [None]


async def test_another_models_vectors_take_their_place_once_all_are_there(db: SqliteDatabase) -> None:
    _, ids = await db.write(lambda conn: fill(conn, ADA, ["one", "two"], first_seed=1))
    larger = [(ids[0], np.ones(24, dtype=np.float32)), (ids[1], np.eye(1, 24, dtype=np.float32)[0])]

    async def by(model: str, vector: Vectors) -> list[str]:
        found = await db.read(lambda conn: search.propose(conn, ADA, terms=[], vector=vector, model=model, limit=5))
        return texts(found.candidates)

    assert await db.write(lambda conn: search.add_vectors(conn, ADA, "new", larger)) == 0  # not one by one
    assert await db.read(lambda conn: reembedding.somebody(conn, [MODEL])) == ADA
    await db.write(lambda conn: reembedding.stage(conn, ADA, "new", larger[:1]))
    assert not await db.write(lambda conn: reembedding.switch(conn, ADA, "new"))
    assert await by(MODEL, direction(1)) == ["one", "two"]
    [waiting] = await db.read(lambda conn: reembedding.unstaged(conn, ADA, "new", 0, 9))
    assert (waiting.text, waiting.model) == ("two", "new")
    await db.write(lambda conn: reembedding.stage(conn, ADA, "new", larger[1:]))
    assert await by("new", larger[0][1]) == []
    assert await db.write(lambda conn: reembedding.switch(conn, ADA, "new"))
    assert await by("new", larger[0][1]) == ["one", "two"]
    assert await db.read(lambda conn: vectors.model_of(conn, ADA)) == "new"
    assert await db.read(reembedding.models) == {"new": 2}
    assert await db.read(lambda conn: reembedding.somebody(conn, [MODEL])) is None
    assert await db.read(lambda conn: reembedding.staged(conn, "new")) == 0


async def test_a_change_of_the_model_can_be_taken_back_and_made_again(db: SqliteDatabase) -> None:
    _, ids = await db.write(lambda conn: fill(conn, ADA, ["one", "two"], first_seed=1))
    await db.write(lambda conn: fill(conn, BO, ["his"], first_seed=9))
    for model, seed in (("new", 21), (MODEL, 41), ("new", 61)):
        made = [(passage_id, direction(seed + n)) for n, passage_id in enumerate(ids)]

        async def change(conn: Connection, model: str = model, made: Sequence[tuple[int, Vectors]] = made) -> bool:
            await reembedding.stage(conn, ADA, model, made)
            return await reembedding.switch(conn, ADA, model)

        assert await db.write(change)
        for n, name in enumerate(("one", "two")):
            found = await db.read(lambda conn: vectors.nearest(conn, ADA, direction(seed + n), model, 1))  # noqa: B023
            assert found == {ids[n]: pytest.approx(1.0, abs=1e-5)}, name
        assert (await ask(db, BO, vector=direction(9))).candidates[0].cosine == pytest.approx(1.0, abs=1e-5)
    await db.write(vectors.drop_unused_indexes)
    assert texts((await ask(db, BO, vector=direction(9))).candidates) == ["his"]


async def test_a_passage_without_a_vector_gets_one_of_the_model_its_entity_is_searched_by(db: SqliteDatabase) -> None:
    await db.write(lambda conn: fill(conn, ADA, ["old"], first_seed=1))
    await db.write(lambda conn: fill(conn, ADA, ["hers"]))
    await db.write(lambda conn: fill(conn, BO, ["his"]))

    async def waiting(*others: str) -> list[tuple[str, str]]:
        found = await db.read(lambda conn: search.unembedded(conn, "new", 9, others))
        return [(passage.text, passage.model) for passage in found]

    assert await waiting() == [("his", "new")]
    assert await waiting(MODEL) == [("his", "new"), ("hers", MODEL)]
    [left] = await db.read(lambda conn: reembedding.unstaged(conn, ADA, "new", 1, 9))
    assert left.text == "hers"


async def test_what_waits_of_a_removed_passage_goes_with_it(db: SqliteDatabase) -> None:
    [turn], ids = await db.write(lambda conn: fill(conn, ADA, ["one"], first_seed=1))
    await db.write(lambda conn: reembedding.stage(conn, ADA, "new", [(ids[0], direction(2)), (999, direction(3))]))
    assert await db.read(lambda conn: reembedding.staged(conn, "new")) == 1
    await db.write(lambda conn: turns.delete(conn, ADA, turn.id))
    assert await db.read(lambda conn: reembedding.staged(conn, "new")) == 0


async def test_unembedded_passages_say_what_their_embedding_is_made_of(db: SqliteDatabase) -> None:
    [turn], [passage] = await db.write(lambda conn: fill(conn, ADA, ["Owns a kayak"]))
    [waiting] = await db.read(lambda conn: search.unembedded(conn, MODEL, 9))
    assert waiting == search.Unembedded(ADA, passage, "turn", "Owns a kayak", "Ada L.", "user", turn.time, MODEL)


@pytest.mark.parametrize("bad", [np.zeros(SIZE), np.full(SIZE, np.nan), np.full(SIZE, np.inf)])
async def test_vectors_that_mean_nothing_are_refused(db: SqliteDatabase, bad: Vectors) -> None:
    _, ids = await db.write(lambda conn: fill(conn, ADA, ["kayak"]))
    with pytest.raises(StoreError):
        await db.write(lambda conn: search.add_vectors(conn, ADA, MODEL, [(ids[0], bad.astype(np.float32))]))
    mixed = [(ids[0], direction(1)), (ids[0] + 1, np.ones(3, dtype=np.float32))]
    with pytest.raises(StoreError):
        await db.write(lambda conn: search.add_vectors(conn, ADA, MODEL, mixed))
    assert (await db.read(lambda conn: entities.counts(conn, ADA)))["vectors"] == 0


async def test_a_vector_that_comes_late_meets_no_other_passage(db: SqliteDatabase) -> None:
    [turn], [old] = await db.write(lambda conn: fill(conn, ADA, ["old"]))
    await db.write(lambda conn: turns.delete(conn, ADA, turn.id))
    _, [new] = await db.write(lambda conn: fill(conn, BO, ["new"]))
    assert new != old
    assert await db.write(lambda conn: search.add_vectors(conn, ADA, MODEL, [(old, direction(1))])) == 0
    assert await db.write(lambda conn: search.add_vectors(conn, ADA, MODEL, [(new, direction(1))])) == 0
    assert (await db.read(lambda conn: entities.counts(conn, BO)))["vectors"] == 0


async def test_deleted_and_hidden_things_are_found_by_no_way(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> None:
        said, _ = await fill(conn, ADA, ["kayak one", "kayak two"], first_seed=1)
        row = await facts.insert(conn, ADA, fact("Owns a kayak"))
        [passage] = await passages.add(conn, ADA, [Passage("fact", row.id, 0, 0, 12, "owns kayak", row.text)])
        await vectors.add_vectors(conn, ADA, MODEL, [(passage, direction(1))])
        before = await search.propose(conn, ADA, terms=["kayak"], vector=direction(1), model=MODEL, limit=9)
        assert len(before.candidates) == 3
        assert (await facts.get(conn, ADA, row.id)).embedding_model == MODEL  # type: ignore[union-attr]
        await turns.delete(conn, ADA, said[0].id)
        await facts.set_status(conn, ADA, row.id, "quarantined", "instruction", NOW)

    await db.write(work)
    found = await ask(db, ADA, ["kayak"], direction(1))
    assert texts(found.candidates) == ["kayak two"]
    assert (found.passages, found.document_frequencies, found.average_length) == (1, {"kayak": 1}, 2.0)
    nearest = await db.read(lambda conn: vectors.nearest(conn, ADA, direction(1), MODEL, 9))
    assert list(nearest) == [found.candidates[0].passage_id]


async def test_superseded_facts_are_proposed_only_when_asked_for(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> None:
        await entities.ensure(conn, ADA, NOW)
        for n, text in enumerate(["Lives in Tolm", "Lives in Brask"]):
            row = await facts.insert(conn, ADA, fact(text, confidence=0.5))
            [passage] = await passages.add(conn, ADA, [Passage("fact", row.id, 0, 0, len(text), "live", text)])
            await vectors.add_vectors(conn, ADA, MODEL, [(passage, direction(n))])
        old = await facts.by_content_key(conn, ADA, content_key("lives in tolm"))
        assert old is not None
        await facts.supersede(conn, ADA, old.id, None, NOW)

    await db.write(work)
    current = await ask(db, ADA, ["live"], direction(0))
    assert [(c.text, c.confidence, c.session_id, c.seq) for c in current.candidates] == [
        ("Lives in Brask", 0.5, None, 0)
    ]
    both = await db.read(
        lambda conn: search.propose(
            conn, ADA, terms=["live"], vector=None, model=None, limit=9, statuses=("current", "historical")
        )
    )
    assert len(both.candidates) == 2


async def test_filters_leave_the_number_of_nearest_whole(db: SqliteDatabase) -> None:
    async def work(conn: Connection) -> None:
        await fill(conn, ADA, [f"t{i}" for i in range(30)], first_seed=0)
        row = await facts.insert(conn, ADA, fact("Far away"))
        [passage] = await passages.add(conn, ADA, [Passage("fact", row.id, 0, 0, 8, "far", row.text)])
        await vectors.add_vectors(conn, ADA, MODEL, [(passage, -direction(0))])  # the farthest of all

    await db.write(work)
    found = await db.read(
        lambda conn: search.propose(conn, ADA, terms=[], vector=direction(0), model=MODEL, limit=2, kinds=("fact",))
    )
    assert texts(found.candidates) == ["Far away"]


async def test_neighbours_are_the_turns_before_and_after(db: SqliteDatabase) -> None:
    said, _ = await db.write(lambda conn: fill(conn, ADA, list("abcdef"), first_seed=1))
    session = said[0].session_id
    near = await db.read(lambda conn: search.neighbours(conn, ADA, [(session, 1), (session, 4)]))
    assert texts(near) == ["b", "c", "e"]
    assert await db.read(lambda conn: search.neighbours(conn, BO, [(session, 1)])) == []
    assert await db.read(lambda conn: search.neighbours(conn, ADA, [])) == []


async def test_indexes_can_be_dropped_and_made_again_from_the_rows(db: SqliteDatabase) -> None:
    await db.write(lambda conn: fill(conn, ADA, [f"kayak {i}" for i in range(30)], first_seed=0))
    await db.write(lambda conn: fill(conn, BO, ["kayak"], first_seed=0))
    before = await ask(db, ADA, ["kayak", "7"], direction(3))
    await db.write(index.rebuild_indexes)
    assert await ask(db, ADA, ["kayak", "7"], direction(3)) == before


async def test_every_flavour_proposes_the_same(tmp_path: Path) -> None:
    proposals = []
    for number, driver in enumerate(possible_drivers()):
        database = await SqliteDatabase.open(tmp_path / f"{number}.db", driver=driver)
        await database.write(lambda conn: fill(conn, ADA, [f"kayak {i % 7}" for i in range(300)], first_seed=0))
        await database.write(lambda conn: fill(conn, BO, ["kayak"] * 50, first_seed=0))
        proposals.append([await ask(database, ADA, ["3"], direction(1000 + q), limit=40) for q in range(10)])
        await database.close()
    for other in proposals[1:]:
        for one, two in zip(proposals[0], other, strict=True):
            assert [c.passage_id for c in one.candidates] == [c.passage_id for c in two.candidates]
            for a, b in zip(one.candidates, two.candidates, strict=True):
                assert a.cosine == pytest.approx(b.cosine, abs=1e-5)


async def test_a_program_without_the_extension_may_change_a_store_made_with_it(tmp_path: Path) -> None:
    with_extension = next((d for d in possible_drivers() if d.extension), None)
    without = next(d for d in possible_drivers() if not d.extension)
    if with_extension is None:
        pytest.skip("no vector extension here")
    path = tmp_path / "memory.db"

    async def using(driver: Driver, vector: Vectors, new: str | None = None, seed: int = 0) -> list[str]:
        database = await SqliteDatabase.open(path, driver=driver)
        if new is not None:
            await database.write(lambda conn: fill(conn, ADA, [new], first_seed=seed))
        found = texts((await ask(database, ADA, vector=vector, limit=1)).candidates)
        assert await database.read(meta.integrity) == []
        await database.close()
        return found

    assert await using(with_extension, direction(1), "first", 1) == ["first"]
    assert await using(without, direction(2), "second", 2) == ["second"]
    assert await using(with_extension, direction(2)) == ["second"]
    assert await using(with_extension, direction(3), "third", 3) == ["third"]
