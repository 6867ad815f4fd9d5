"""Who asks what in which conversation, as one request says it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from memproxy.lifecycle.history import History, Said, of_the_person, own_words
from memproxy.model import ChatRequest, Entity, MemoryMode, Message
from memproxy.store.sessions import Thread


@dataclass(frozen=True, slots=True)
class Conversation:
    """Who speaks in which conversation, as one request says it."""

    entity: Entity
    session_name: str | None
    mode: MemoryMode
    time: datetime  # when it is said
    timezone: str
    recovers: bool = False  # what was said before is put back where the request brings only its newest message


@dataclass(frozen=True, slots=True)
class Heard:
    """A request as it was sent, and with nothing in its messages but what their speakers said."""

    sent: ChatRequest
    said: ChatRequest


def hear(request: ChatRequest, added: Collection[str] = ()) -> Heard:
    """Hear what was said in a request; `added` as for `own_words`."""
    return Heard(request, replace(request, messages=own_words(request.messages, added)))


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, and where it stands."""

    conversation: Conversation
    request: ChatRequest  # as it was sent
    request_id: str
    history: History
    thread: Thread

    @property
    def new(self) -> tuple[Said, ...]:
        """The person's new words; none in a tool loop."""
        return of_the_person(self.history.new)

    @property
    def opening(self) -> bool:
        """Whether it begins a conversation, as far as it says itself."""
        return self.history.old == 0 and not self.history.start

    @property
    def query(self) -> tuple[Said, ...]:
        """What recall goes by: the new words; where a program alone spoke in the person's turn, the last they typed."""
        newest = self.request.messages[-1] if self.request.messages else None
        if newest is None or newest.role != "user" or newest.answers_tools:
            return self.new
        return self.new or of_the_person(self.history.said)[-1:]

    @property
    def before(self) -> list[Message]:
        """What the request carries of the conversation before that."""
        first = self.query[0].index if self.query else 0
        return [said.message for said in self.history.said if said.index < first]

    @property
    def turns(self) -> list[tuple[str, int | None]]:
        """The keys of the person's turns, each with the place of what is recalled for it (see `Addition`).

        What goes into a message stays in a conversation that the upstream keeps, and would pile up there.
        """
        if self.history.start:
            return [(self.thread.turn, None)]
        return [(said.key, said.index) for said in of_the_person(self.history.said)]
