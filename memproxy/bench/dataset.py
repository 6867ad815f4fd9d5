"""A data file of conversations with labelled questions, read and checked.

    {"name": …, "conversations": [{"id": …,
        "turns": [{"id", "session", "time", "speaker", "role"?, "text", "caption"?}, …],
        "questions": [{"qid", "question", "answer", "category_name", "evidence": [turn ids], "time"?}, …]}]}

Where turns carry no role (two people talking), the first participant is the user and the second the assistant.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from memproxy.errors import SettingsError


class RecordedTurn(msgspec.Struct, frozen=True):
    """One line of a recorded conversation."""

    id: str
    session: str
    time: str
    speaker: str
    text: str
    role: str | None = None
    caption: str | None = None

    @property
    def content(self) -> str:
        """The text, with what was shown beside it."""
        return f"{self.text} [shared image: {self.caption}]" if self.caption else self.text


class Question(msgspec.Struct, frozen=True):
    """A question about a conversation, and the turns that answer it."""

    qid: str
    question: str
    category_name: str = "all"
    evidence: list[str] = []
    answer: Any = None
    time: str | None = None
    evidence_sessions: list[str] = []  # where only sessions are labelled


class Recorded(msgspec.Struct, frozen=True):
    """One recorded conversation."""

    id: str
    turns: list[RecordedTurn]
    questions: list[Question]

    def is_user(self, turn: RecordedTurn) -> bool:
        """Whether a turn is the user's."""
        return turn.role == "user" if turn.role is not None else turn.speaker == self.turns[0].speaker

    @property
    def named(self) -> bool:
        """Whether the participants have names of their own, rather than roles."""
        return self.turns[0].role is None

    def exchanges(self) -> list[Exchange]:
        """The turns as a client would play them: what the user says, then what the assistant answers."""
        out: list[Exchange] = []
        for _, session in groupby(self.turns, key=lambda turn: turn.session):
            first = True
            for user, group in groupby(session, key=self.is_user):
                turns = list(group)
                if user or first:
                    out.append(Exchange([], [], first))
                    first = False
                (out[-1].said if user else out[-1].answered).extend(turns)
        return out


class Exchange(msgspec.Struct):
    """One request: the user's turns, the assistant's answer, and whether a conversation begins with it."""

    said: list[RecordedTurn]
    answered: list[RecordedTurn]
    opens: bool


class Dataset(msgspec.Struct, frozen=True):
    """A whole file."""

    name: str
    conversations: list[Recorded]


def load(file: Path) -> Dataset:
    """Read a data file. Raises SettingsError that says where it does not fit."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Dataset)
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from None
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise SettingsError(f"{file} is no file of conversations with questions: {error}") from None
