"""Recognising a conversation by the history that the client resends.

Every prefix of what was said has a key: a keyed hash chained over the messages. A stored conversation leaves a mark
for each of its prefixes, so a request finds its conversation by its longest known prefix, and a message is new exactly
if its own prefix is unknown. Tool traffic says nothing and is passed over. Where the upstream keeps what was said
before, the chain starts from a key of the id by which the request goes on from it (see `chains`).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memproxy.folding import fold_space
from memproxy.interfaces import Connection
from memproxy.model import Entity, Message
from memproxy.store import sessions
from memproxy.store.sessions import Mark
from memproxy.trust import cut_blocks
from memproxy.typed import typed_words

# A shorter last exchange ("ok" / "Sure!") may end many conversations; it identifies none.
MIN_TAIL_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Said:
    """One message that says something, with the key of the conversation up to and including it."""

    message: Message
    key: str
    index: int  # the message's place in the request


@dataclass(frozen=True, slots=True)
class History:
    """A request's messages as a conversation: what was there before, and what follows the last assistant message."""

    said: tuple[Said, ...]
    old: int  # how many of `said` are history: everything up to the last assistant message
    tail: str | None  # key of the last exchange alone, for clients that drop their oldest messages
    start: str = ""  # key of what the upstream keeps and the request goes on from; "" where it says all itself

    @property
    def new(self) -> tuple[Said, ...]:
        """What follows the last assistant message: the only part that can be news."""
        return self.said[self.old :]

    @property
    def turn_key(self) -> str | None:
        """The key up to the newest user message: the same through all iterations of a tool loop."""
        return next((said.key for said in reversed(self.said) if said.message.role == "user"), None)

    def extended(self, secret: bytes, entity: Entity, text: str) -> str:
        """The key of this conversation with an assistant's reply added."""
        return link(secret, entity, self.said[-1].key if self.said else self.start, "assistant", text)

    def next_tail(self, secret: bytes, entity: Entity, text: str) -> str | None:
        """The tail key that the next request will carry after this reply."""
        user = next((said.message.text for said in reversed(self.said) if said.message.role == "user"), "")
        return _tail(secret, entity, user, text)


def read_history(messages: Sequence[Message], secret: bytes, entity: Entity, previous: str | None = None) -> History:
    """Chain the keys of a request's messages; `previous` is the id of what they go on from."""
    last_assistant = max((i for i, message in enumerate(messages) if message.role == "assistant"), default=-1)
    said: list[Said] = []
    old = 0
    key = start = kept_key(secret, entity, previous) if previous else ""
    for index, message in enumerate(messages):
        if message.role in ("user", "assistant") and message.text.strip():
            key = link(secret, entity, key, message.role, message.text)
            said.append(Said(message, key, index))
        if index == last_assistant:
            old = len(said)
    return History(tuple(said), old, _history_tail(said[:old], secret, entity), start)


def _history_tail(said: Sequence[Said], secret: bytes, entity: Entity) -> str | None:
    if len(said) < 2 or said[-1].message.role != "assistant" or said[-2].message.role != "user":
        return None
    return _tail(secret, entity, said[-2].message.text, said[-1].message.text)


def _tail(secret: bytes, entity: Entity, user: str, assistant: str) -> str | None:
    if len(fold_space(user)) + len(fold_space(assistant)) < MIN_TAIL_CHARACTERS:
        return None
    return "t" + link(secret, entity, link(secret, entity, "tail", "user", user), "assistant", assistant)


def link(secret: bytes, entity: Entity, before: str, role: str, text: str) -> str:
    """The key of a conversation with one more message, from the key before it ("" at the start)."""
    message = "\0".join((entity.tenant, entity.name, before, role, fold_space(text)))
    return hmac.new(secret, message.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]


def kept_key(secret: bytes, entity: Entity, id: str) -> str:
    """The key of an answer or a conversation that the upstream keeps."""
    return link(secret, entity, "", "kept", id)


def own_words(messages: Sequence[Message], added: Collection[str] = ()) -> tuple[Message, ...]:
    """The messages without blocks of ours that a client echoed, those of the person without what a program put in.

    `added` names further elements that programs put in.
    """
    return tuple(replace(message, text=_own_words(message, added)) for message in messages)


def _own_words(message: Message, added: Collection[str]) -> str:
    text = cut_blocks(message.text)
    return typed_words(text, added) if message.role == "user" else text


async def marks_of(conn: Connection, entity: Entity, history: History) -> dict[str, Mark]:
    """The known keys among a request's, with the conversations they point to."""
    keys = [*(said.key for said in history.said), history.tail, history.start]
    return await sessions.marks(conn, entity, [key for key in keys if key])


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request belongs: a stored conversation or a new one, and which of its messages are news."""

    session_id: str | None  # None: a new conversation
    parent_id: str | None  # the conversation that a new one branched off
    news: tuple[Said, ...]  # the person's new messages, in order


def place(
    history: History,
    marks: Mapping[str, Mark],
    last_user_seq: Mapping[str, int],
    now: datetime,
    timeout: timedelta,
) -> Place:
    """Find the conversation of a request that names none.

    `marks` holds the known keys among the request's; `last_user_seq` the place of the last user turn of each
    conversation they point to. Without any assistant message a request opens a conversation, unless it begins as one
    did within the timeout: then it is a retry, or goes on where no answer came. A request that goes on from a stored
    answer has that as its history, whatever else it says.
    """
    known = max((i + 1 for i, said in enumerate(history.said) if said.key in marks), default=0)
    mark = marks[history.said[known - 1].key] if known else marks.get(history.start)
    if history.old == 0 and not history.start and (mark is None or now - mark.created_at > timeout):
        return Place(None, None, of_the_person(history.said))
    if mark is not None and known == len(history.said):
        return Place(mark.session_id, None, ())
    news = of_the_person(history.said[max(known, history.old) :])
    mark = mark or (marks.get(history.tail) if history.tail else None)
    if mark is None:
        return Place(None, None, news)
    # At the head (or at another answer to the last message, or after turns that memory was not to see) the
    # conversation goes on; further back it branches.
    if mark.seq >= last_user_seq.get(mark.session_id, 0):
        return Place(mark.session_id, None, news)
    return Place(None, mark.session_id, news)


def of_the_person(said: Sequence[Said]) -> tuple[Said, ...]:
    """What the person said of it."""
    return tuple(one for one in said if one.message.role == "user")


def place_named(
    history: History, marks: Mapping[str, Mark], session_id: str, last_user_seq: int, now: datetime, timeout: timedelta
) -> Place:
    """Which messages are news in the conversation that the client named.

    A client that resends no history may say "yes" twice and mean it twice: without any assistant message a known
    message counts as a retry only while nothing followed it.
    """
    here = {key: mark for key, mark in marks.items() if mark.session_id == session_id}
    if history.old == 0 and history.said:
        mark = here.get(history.said[-1].key)
        if mark is not None and (mark.seq < last_user_seq or now - mark.created_at > timeout):
            here = {}
    news = tuple(said for said in of_the_person(history.new) if said.key not in here)
    return Place(session_id, None, news)
