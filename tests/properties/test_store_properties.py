"""Universal promises of the store."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TypeVar

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memproxy.interfaces import Connection
from memproxy.model import Entity, Passage
from memproxy.store import entities, facts, index, passages, search, sessions, turns, vectors
from memproxy.store.rows import column, to_text, to_time
from memproxy.store.sqlite import SqliteDatabase
from tests.contracts.test_store_rows import fact

T = TypeVar("T")
NOW = datetime(2026, 11, 30, tzinfo=UTC)
moments = st.datetimes(timezones=st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))).filter(
    lambda moment: datetime(2, 1, 1, tzinfo=UTC) < moment < datetime(9998, 1, 1, tzinfo=UTC)
)
any_text = st.text(st.characters(codec=None), max_size=80)  # lone surrogates and NUL among it


def in_a_store(work: Callable[[Connection], Awaitable[T]]) -> T:
    async def run() -> T:
        with tempfile.TemporaryDirectory() as folder:
            db = await SqliteDatabase.open(Path(folder) / "memory.db", readers=1)
            try:
                return await db.write(work)
            finally:
                await db.close()

    return asyncio.run(run())


@given(st.lists(moments, min_size=2, max_size=2))
def test_times_sort_as_text_as_they_do_as_moments(pair: list[datetime]) -> None:
    assert (pair[0] < pair[1]) == (to_text(pair[0]) < to_text(pair[1]))
    assert to_time(to_text(pair[0])) == pair[0]


@given(any_text)
def test_any_text_becomes_storable_without_moving_a_character(text: str) -> None:
    stored = column(text)
    assert len(stored) == len(text)
    stored.encode()
    assert all(a == b or b == "\ufffd" for a, b in zip(text, stored, strict=True))


@given(st.lists(any_text, max_size=5), any_text)
def test_the_index_form_of_terms_depends_on_the_entity_and_shows_no_word(words: list[str], name: str) -> None:
    made = index.tokens(Entity(name), " ".join(words))
    assert all(len(token) == 16 and set(token) <= set("0123456789abcdef") for token in made.split())
    assert made == index.tokens(Entity(name), " ".join(reversed(words)))
    if made:
        assert not set(made.split()) & set(index.tokens(Entity(name + "'"), " ".join(words)).split())


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=64).filter(lambda v: max(map(abs, v)) > 1e-3))
def test_stored_vectors_have_unit_length_and_keep_their_direction(values: list[float]) -> None:
    given_vector = np.array(values, dtype=np.float32)
    stored = vectors.from_blob(vectors.to_blob(given_vector))
    assert abs(float(np.linalg.norm(stored)) - 1.0) < 1e-5
    assert float(stored @ given_vector) / float(np.linalg.norm(given_vector)) > 0.9999


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(any_text, any_text), min_size=1, max_size=5), st.data())
def test_turns_facts_and_spans_survive_the_round_trip(rows: list[tuple[str, str]], data: st.DataObject) -> None:
    spans = [sorted((data.draw(st.integers(0, len(a))), data.draw(st.integers(0, len(a))))) for a, _ in rows]

    async def work(conn: Connection) -> None:
        entity = Entity("Ada")
        await entities.ensure(conn, entity, NOW)
        session = await sessions.open_session(conn, entity, None, NOW)
        for (content, name), (start, end) in zip(rows, spans, strict=True):
            turn = await turns.append(
                conn, entity, session.id, role="user", name=name, content=content, time=NOW, learn="no", text_key="k"
            )
            back = await turns.get(conn, entity, turn.id)
            assert back is not None
            assert (back.content, back.name) == (column(content), column(name))
            row = fact(content, quote=name)
            assert (await facts.insert(conn, entity, row)).content_key == row.content_key
            await passages.add(conn, entity, [Passage("turn", turn.id, 0, start, end, "word", content[start:end])])
        found = await search.propose(conn, entity, terms=["word"], vector=None, model=None, limit=9)
        assert [c.text for c in reversed(found.candidates)] == [
            column(content)[start:end] for (content, _), (start, end) in zip(rows, spans, strict=True)
        ]

    in_a_store(work)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.lists(st.sampled_from("uvwxyz"), max_size=6)), max_size=12), st.data()
)
def test_indexes_agree_with_the_rows_after_any_adds_and_removals(
    added: list[tuple[str, list[str]]], data: st.DataObject
) -> None:
    removed = data.draw(st.sets(st.integers(0, max(0, len(added) - 1))))

    async def work(conn: Connection) -> None:
        for name in "ab":
            await entities.ensure(conn, Entity(name), NOW)
        for n, (name, words) in enumerate(added):
            entity = Entity(name)
            await passages.add(conn, entity, [Passage("summary", f"{n}", 0, 0, 1, " ".join(words), "x")])
        for n in removed & set(range(len(added))):
            await passages.remove(conn, Entity(added[n][0]), "summary", f"{n}")
        for name in "ab":
            left = [set(w) for n, (owner, w) in enumerate(added) if owner == name and n not in removed]
            expected = {letter: sum(letter in words for words in left) for letter in "uvwxyz"}
            assert await index.frequencies(conn, Entity(name), "uvwxyz") == expected
            assert (await entities.counts(conn, Entity(name)))["passages"] == len(left)

    in_a_store(work)
