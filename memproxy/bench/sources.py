"""Where labelled questions come from: three shapes of data, read into one (`dataset.py`).

- A file of conversations with questions, as `dataset.py` describes it (LoCoMo and BEAM are easily written so).
- A file in the shape of LongMemEval: a list of questions, each with the sessions that it is asked over.
- A folder of one's own exported chats: each `*.json` a chat, `{"messages": [{"role", "content", "time"?}, …]}` or the
  list alone; and `questions.json`: `[{"question", "evidence": ["chat:3", …], "answer"?, "category"?, "time"?}, …]`,
  where `chat:3` is the third message of `chat.json`, and a bare `chat` the whole of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from memproxy.bench.dataset import Dataset, Question, Recorded, RecordedTurn, load
from memproxy.errors import SettingsError

QUESTIONS = "questions.json"
_DATE_SHAPES = ("%Y/%m/%d (%a) %H:%M", "%Y/%m/%d %H:%M", "%Y/%m/%d")


class _Said(msgspec.Struct, frozen=True):
    role: str
    content: str
    time: str | None = None
    has_answer: bool = False


class _Haystack(msgspec.Struct, frozen=True):
    """One question of LongMemEval, with its sessions."""

    question_id: str
    question: str
    haystack_sessions: list[list[_Said]]
    haystack_dates: list[str]
    question_type: str = "all"
    answer: Any = None
    question_date: str | None = None
    haystack_session_ids: list[str] = []
    answer_session_ids: list[str] = []


class _Asked(msgspec.Struct, frozen=True):
    """A question about one's own chats."""

    question: str
    evidence: list[str]
    answer: Any = None
    category: str = "all"
    time: str | None = None


class _Chat(msgspec.Struct, frozen=True):
    messages: list[_Said]


def read(path: Path) -> Dataset:
    """Read data of any of the three shapes. Raises SettingsError that says where it does not fit."""
    if path.is_dir():
        return _own_chats(path)
    try:
        with path.open("rb") as file:
            begins = file.read(64).lstrip()[:1]
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from None
    return _haystacks(path) if begins == b"[" else load(path)


def _haystacks(path: Path) -> Dataset:
    asked = _decoded(path, list[_Haystack])
    return Dataset(path.stem, [_haystack(one) for one in asked])


def _haystack(asked: _Haystack) -> Recorded:
    names = asked.haystack_session_ids or [str(n) for n in range(len(asked.haystack_sessions))]
    turns: list[RecordedTurn] = []
    evidence: list[str] = []
    # One session may stand in a haystack twice, so a turn is known by the session's place.
    for place, (name, date, said) in enumerate(zip(names, asked.haystack_dates, asked.haystack_sessions, strict=True)):
        for number, message in enumerate(said, 1):
            id = f"{place}:{number}"
            turns.append(RecordedTurn(id, name, _iso(date), message.role, message.content, message.role))
            if message.has_answer:
                evidence.append(id)
    question = Question(
        asked.question_id,
        asked.question,
        "abstention" if asked.question_id.endswith("_abs") else asked.question_type,
        evidence,
        asked.answer,
        _iso(asked.question_date) if asked.question_date else None,
        [name for name in asked.answer_session_ids if name in names],
    )
    return Recorded(asked.question_id, turns, [question])


def _iso(date: str) -> str:
    for shape in _DATE_SHAPES:
        try:
            return datetime.strptime(date, shape).replace(tzinfo=UTC).isoformat()
        except ValueError:
            continue
    return date


def _own_chats(folder: Path) -> Dataset:
    files = sorted(file for file in folder.glob("*.json") if file.name != QUESTIONS)
    if not files:
        raise SettingsError(f"{folder} holds no chats: each is a .json file with its messages")
    turns = [turn for file in files for turn in _chat(file)]
    ids = [turn.id for turn in turns]
    asked = _decoded(folder / QUESTIONS, list[_Asked])
    questions = [
        Question(str(n), one.question, one.category, _named(one.evidence, ids), one.answer, one.time)
        for n, one in enumerate(asked, 1)
    ]
    return Dataset(folder.name, [Recorded(folder.name, turns, questions)])


def _chat(file: Path) -> list[RecordedTurn]:
    said = _decoded(file, _Chat | list[_Said])
    messages = said.messages if isinstance(said, _Chat) else said
    written = datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat()
    return [
        RecordedTurn(
            f"{file.stem}:{n}", file.stem, message.time or written, message.role, message.content, message.role
        )
        for n, message in enumerate(messages, 1)
        if message.role in ("user", "assistant") and message.content
    ]


def _named(evidence: Sequence[str], ids: Sequence[str]) -> list[str]:
    """The turns that are meant: by number, or all of a chat."""
    found = [id for id in ids for named in evidence if id == named or id.rpartition(":")[0] == named]
    missing = [named for named in evidence if not any(id == named or id.startswith(f"{named}:") for id in ids)]
    if missing:
        raise SettingsError(f"{QUESTIONS}: no message is called {missing[0]}; write chat:3 for the third of chat.json")
    return found


def _decoded(path: Path, kind: Any) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from None
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise SettingsError(f"{path} is not of the expected shape: {error}") from None
