"""The shapes in which research data about long conversations come: LoCoMo and LongMemEval."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memproxy.importing.messages import CONVERSATIONS
from memproxy.importing.moments import moment
from memproxy.importing.records import Conversation, Format, Raw, Record, Said, each

_SESSION = re.compile(r"session_(\d+)")


def knows_locomo(value: Any) -> bool:
    """Whether this is one sample of two people talking in dated sessions."""
    talk = value.get("conversation") if isinstance(value, dict) else None
    return isinstance(talk, dict) and any(_SESSION.fullmatch(name) for name in talk)


def _read_locomo(raw: Raw) -> Iterator[Record]:
    talk = raw.value["conversation"]
    first = talk.get("speaker_a")
    sample = raw.value.get("sample_id") or raw.where
    numbers = sorted(int(found[1]) for name in talk if (found := _SESSION.fullmatch(name)))
    for number in numbers:
        lines = talk[f"session_{number}"]
        first = first or lines[0]["speaker"]
        said = tuple(
            Said("user" if line["speaker"] == first else "assistant", _with_picture(line), None, line["speaker"])
            for line in lines
        )
        began = moment(talk.get(f"session_{number}_date_time"))
        yield Conversation(f"{raw.where} session_{number}", f"{sample}/{number}", said, began)


def _with_picture(line: dict[str, Any]) -> str:
    shown = line.get("blip_caption")
    return f"{line['text']} [shared image: {shown}]" if shown else str(line["text"])


def knows_longmemeval(value: Any) -> bool:
    """Whether this is one question with the sessions that lie behind it."""
    return isinstance(value, dict) and isinstance(value.get("haystack_sessions"), list)


def _read_longmemeval(raw: Raw) -> Iterator[Record]:
    item = raw.value
    sessions = item["haystack_sessions"]
    dates = item.get("haystack_dates") or [None] * len(sessions)
    names = item.get("haystack_session_ids") or [f"{raw.where}/{index}" for index in range(len(sessions))]
    for name, date, messages in zip(names, dates, sessions, strict=True):
        inner = Raw(f"{raw.where} {name}", {"messages": messages, "id": name, "date": date})
        yield from CONVERSATIONS.read([inner])


LOCOMO = Format("locomo", "LoCoMo samples", knows_locomo, each(_read_locomo))
LONGMEMEVAL = Format("longmemeval", "LongMemEval questions", knows_longmemeval, each(_read_longmemeval))
