"""A conversation is recognised by the history that its client resends, and each message is news exactly once."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memproxy.assembly.parts import open_parts
from memproxy.lifecycle.history import History, Place, link, place, place_named, read_history
from memproxy.model import Entity, Exchange, Message, Reply
from memproxy.settings_sources import load
from memproxy.store import turns
from memproxy.store.sessions import Mark
from memproxy.testing import FrozenClock

SECRET = b"secret"
BO = Entity("bo")
NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
TIMEOUT = timedelta(minutes=30)


def talk(*texts: str) -> list[Message]:
    """User and assistant in turn, the user first."""
    return [Message("assistant" if i % 2 else "user", text) for i, text in enumerate(texts)]


def read(messages: Sequence[Message], entity: Entity = BO) -> History:
    return read_history(messages, SECRET, entity)


# --- keys --------------------------------------------------------------------------------------------------------

names = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=6)
any_text = st.text(st.characters(codec=None), max_size=12)
places = st.tuples(
    names, names, st.sampled_from(["", "a" * 32, "tail"]), st.sampled_from(["user", "assistant"]), any_text
)


@given(places, places)
def test_keys_differ_wherever_entity_tenant_role_history_or_words_differ(
    one: tuple[str, str, str, str, str], other: tuple[str, str, str, str, str]
) -> None:
    def key(what: tuple[str, str, str, str, str]) -> str:
        name, tenant, before, role, text = what
        return link(SECRET, Entity(name, tenant), before, role, text)

    def meant(what: tuple[str, str, str, str, str]) -> tuple[str, ...]:
        return (
            *what[:4],
            " ".join(read([Message("user", what[4])]).said[0].message.text.split()) if what[4].strip() else "",
        )

    if one[:4] != other[:4]:
        assert key(one) != key(other)
    if key(one) == key(other):
        assert meant(one) == meant(other) or _same_form(one[4], other[4])


def _same_form(one: str, other: str) -> bool:
    from memproxy.folding import fold_space

    return fold_space(one) == fold_space(other)


@given(st.lists(st.text(" \t\n\u00a0", min_size=1, max_size=3), min_size=3, max_size=3), st.text("ab é", max_size=9))
def test_white_space_and_unicode_form_that_a_client_changes_make_no_other_key(space: list[str], text: str) -> None:
    plain = read(talk("one two", f"a {text} b", "three"))
    changed = read(talk(f"{space[0]}one{space[1]}two", f"a{space[2]}{text} b\n", "three "))
    assert [said.key for said in plain.said] == [said.key for said in changed.said]
    assert read(talk("e\u0301")).said[0].key == read(talk("é")).said[0].key


def test_keys_depend_on_the_secret_of_the_store() -> None:
    assert read_history(talk("x"), b"one", BO).said[0].key != read_history(talk("x"), b"two", BO).said[0].key


def test_what_says_nothing_is_passed_over() -> None:
    quiet = [Message("system", "Be kind"), Message("user", "  "), Message("tool", "42"), Message("robot", "beep")]
    history = read([*quiet, *talk("Hi", "Hello", "I ski")])
    assert [said.message.text for said in history.said] == ["Hi", "Hello", "I ski"]
    assert [said.message.text for said in history.new] == ["I ski"]


def test_an_assistant_message_without_words_still_ends_the_history() -> None:
    history = read([Message("user", "Look it up"), Message("assistant", "", calls_tools=True), Message("tool", "42")])
    assert history.new == ()
    assert history.turn_key == history.said[0].key


def test_the_turn_key_stays_the_same_through_a_tool_loop() -> None:
    asked = talk("Hi", "Hello", "How tall?")
    loop = [*asked, Message("assistant", "", calls_tools=True), Message("tool", "40 m")]
    assert read(loop).turn_key == read([*loop, *loop[3:]]).turn_key == read(asked).turn_key


def test_a_short_last_exchange_identifies_no_conversation() -> None:
    assert read(talk("ok", "Sure!", "x")).tail is None
    long = read(talk("I counted twelve herons today", "That makes twelve herons then", "x"))
    assert (
        long.tail == read(talk("I counted twelve herons today", "That makes twelve herons then", "y")).tail is not None
    )


# --- where a request belongs -------------------------------------------------------------------------------------


def marked(history: History, session: str, upto: int | None = None, at: datetime = NOW) -> dict[str, Mark]:
    return {said.key: Mark(said.key, session, i + 1, "said", at) for i, said in enumerate(history.said[:upto])}


def texts(found: Place) -> list[str]:
    return [said.message.text for said in found.news]


def test_an_unknown_conversation_is_a_new_one_with_only_its_newest_message_as_news() -> None:
    found = place(read(talk("a", "b", "c")), {}, {}, NOW, TIMEOUT)
    assert (found.session_id, found.parent_id, texts(found)) == (None, None, ["c"])


def test_a_known_conversation_goes_on() -> None:
    history = read(talk("a", "b", "c"))
    found = place(history, marked(history, "s", 2), {"s": 1}, NOW, TIMEOUT)
    assert (found.session_id, texts(found)) == ("s", ["c"])


def test_an_edited_message_branches_off() -> None:
    history = read(talk("a", "b", "edited"))
    found = place(history, marked(history, "s", 2), {"s": 3}, NOW, TIMEOUT)
    assert (found.session_id, found.parent_id, texts(found)) == (None, "s", ["edited"])


def test_the_same_first_message_is_a_retry_within_the_timeout_and_a_new_conversation_after_it() -> None:
    history = read(talk("a"))
    marks = marked(history, "s")
    assert place(history, marks, {"s": 1}, NOW + TIMEOUT, TIMEOUT) == Place("s", None, ())
    late = place(history, marks, {"s": 1}, NOW + TIMEOUT + timedelta(seconds=1), TIMEOUT)
    assert (late.session_id, texts(late)) == (None, ["a"])


def test_a_message_added_to_one_that_got_no_answer_is_alone_news() -> None:
    history = read([Message("user", "a"), Message("user", "b")])
    found = place(history, marked(history, "s", 1), {"s": 1}, NOW, TIMEOUT)
    assert (found.session_id, texts(found)) == ("s", ["b"])
    branched = place(history, marked(history, "s", 1), {"s": 2}, NOW, TIMEOUT)
    assert (branched.session_id, branched.parent_id, texts(branched)) == (None, "s", ["b"])


def test_a_named_conversation_takes_the_same_words_twice_once_something_followed() -> None:
    history = read(talk("yes"))
    marks = marked(history, "s")
    assert texts(place_named(history, marks, "s", 1, NOW, TIMEOUT)) == []
    assert texts(place_named(history, marks, "s", 3, NOW, TIMEOUT)) == ["yes"]
    assert texts(place_named(history, marks, "s", 1, NOW + 2 * TIMEOUT, TIMEOUT)) == ["yes"]
    assert texts(place_named(history, marks, "other", 0, NOW, TIMEOUT)) == ["yes"]


# --- whole conversations, through memory and store ---------------------------------------------------------------

SAY, REPLAY, REGENERATE, BRANCH, RESPACE, NEW_CHAT = "say", "replay", "regenerate", "branch", "respace", "new chat"
words = st.sampled_from(["yes", "I ski", "It is red", "My boat leaks", "no"])
steps = st.lists(
    st.tuples(
        st.sampled_from([SAY, SAY, SAY, REPLAY, REGENERATE, BRANCH, RESPACE, NEW_CHAT]), words, st.integers(0, 9)
    ),
    max_size=14,
)


class Client:
    """A chat client of one person: it resends the history, regenerates, edits, and opens further chats."""

    def __init__(self, named: bool = False) -> None:
        self.named = named
        self.history: list[Message] = []
        self.said: set[tuple[str, ...]] = set()  # every user message ever sent, with all that stood before it
        self.count = 0

    def requests(self, step: str, text: str, number: int) -> list[tuple[list[Message], str]]:
        """The requests of one step, each with the answer it will get."""
        self.count += 1
        if step == NEW_CHAT:
            self.history = []
            return self._ask(f"chat {self.count}: {text}")
        if step == SAY or not self.history:
            return self._ask(text if self.history else f"chat {self.count}: {text}")
        users = [i for i, message in enumerate(self.history) if message.role == "user"]
        if step == BRANCH:
            self.history = self.history[: users[number % len(users)]]
            return self._ask(f"edit {self.count}: {text}")
        if step == RESPACE:
            self.history = [Message(m.role, f" {m.text}\n".replace(" ", "  ")) for m in self.history]
            return []
        if self.named and len(users) > 1:
            # In a named conversation the first message alone, once others followed, is the same words said anew: it
            # cannot be told from a client that resends no history and says "yes" again.
            users = users[1:]
        again = self.history[: users[number % len(users)] + 1]
        answer = self.history[len(again)].text
        if step == REGENERATE:
            answer = f"another answer {self.count}"
            self.history = [*again, Message("assistant", answer)]
        return [(again, answer)]

    def _ask(self, text: str) -> list[tuple[list[Message], str]]:
        asked = [*self.history, Message("user", text)]
        self.said.add(tuple(" ".join(message.text.split()) for message in asked))
        answer = f"answer {self.count}"
        self.history = [*asked, Message("assistant", answer)]
        return [(asked, answer)]


class Said(NamedTuple):
    """One request as it is recorded."""

    messages: tuple[Message, ...]
    answer: str
    previous: str | None = None
    id: str | None = None


def replayed(requests: Sequence[tuple[list[Message], str]]) -> list[Said]:
    """The client resends the history with every request."""
    return [Said(tuple(messages), answer) for messages, answer in requests]


def chained(requests: Sequence[tuple[list[Message], str]]) -> list[Said]:
    """The same requests by a client that leaves it to the upstream to keep what was said before."""
    ids: dict[tuple[str, ...], str] = {}
    found = []
    for number, (messages, answer) in enumerate(requests):
        path = tuple(" ".join(message.text.split()) for message in messages)
        found.append(Said(tuple(messages[-1:]), answer, ids.get(path[:-1]), f"resp_{number}"))
        ids.setdefault((*path, answer), f"resp_{number}")  # a retry's answer is the one the client has already
    return found


async def _stored(requests: Sequence[Said], session: str | None = None) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "memg.json"
        config.write_text("{}")
        chosen = load(str(config), {"db": f"{folder}/m.db", "embed.provider": "off", "llm.borrow": False}, {}).settings
        async with open_parts(chosen, FrozenClock(NOW)) as parts:
            for number, said in enumerate(requests):
                reply = Reply(text=said.answer, complete=True, id=said.id)
                exchange = Exchange(BO, session, said.messages, reply, NOW, f"{number:032x}", previous=said.previous)
                await parts.memory.record(exchange)
            rows = await parts.db.read(lambda conn: turns.list_turns(conn, BO, limit=1000))
    return [" ".join(row.content.split()) for row in rows if row.role == "user"]


@pytest.mark.parametrize(
    ("session", "sent"), [(None, replayed), ("boats", replayed), (None, chained)], ids=["replayed", "named", "chained"]
)
@settings(max_examples=25, deadline=None)
@given(steps)
def test_each_message_of_a_person_is_stored_exactly_once_however_its_history_comes_back(
    session: str | None,
    sent: Callable[[Sequence[tuple[list[Message], str]]], list[Said]],
    steps: list[tuple[str, str, int]],
) -> None:
    client = Client(named=session is not None)
    requests = [request for step in steps for request in client.requests(*step)]
    stored = asyncio.run(_stored(sent(requests), session))
    assert Counter(stored) == Counter(path[-1] for path in client.said)


@settings(max_examples=10, deadline=None)
@given(st.lists(words, min_size=1, max_size=6), st.integers(1, 3))
def test_a_conversation_replayed_whole_any_number_of_times_is_stored_once(said: list[str], times: int) -> None:
    client = Client()
    requests = [request for text in said for request in client.requests(SAY, text, 0)]
    stored = asyncio.run(_stored(replayed(requests * (1 + times))))
    assert stored == [path[-1] for path in sorted(client.said, key=len)]


def test_a_client_that_drops_its_oldest_messages_says_nothing_twice() -> None:
    client = Client()
    requests = []
    for i in range(6):
        [(asked, answer)] = client.requests(SAY, f"Today I counted {i} herons by the old harbour wall", 0)
        requests.append((asked[-3:], answer))
    assert len(asyncio.run(_stored(replayed(requests * 2)))) == 6
