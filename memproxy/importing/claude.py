"""Claude's account export: `conversations.json`, each conversation a list of messages that name their parents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memproxy.importing.moments import moment
from memproxy.importing.records import Conversation, Format, Raw, Record, Said, each
from memproxy.model import Speaker

_SENDERS: Mapping[str, Speaker] = {"human": "user", "assistant": "assistant"}


def knows(value: Any) -> bool:
    """Whether this is one conversation of such an export."""
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def _read(raw: Raw) -> Iterator[Record]:
    conversation = raw.value
    branch = _branch(conversation["chat_messages"])
    said = [spoken for message in branch if (spoken := _spoken(message)) is not None]
    began = moment(conversation.get("created_at"))
    yield Conversation(raw.where, str(conversation.get("uuid") or ""), tuple(said), began, len(branch) - len(said))


def _branch(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The messages that lead to the last one; all of them where they name no parents."""
    by_id = {message["uuid"]: message for message in messages if message.get("uuid")}
    if not any(message.get("parent_message_uuid") in by_id for message in messages):
        return list(messages)
    branch: list[Mapping[str, Any]] = []
    seen = set()
    current: Mapping[str, Any] | None = messages[-1]
    while current is not None and current.get("uuid") not in seen:
        seen.add(current.get("uuid"))
        branch.append(current)
        current = by_id.get(current.get("parent_message_uuid"))
    return branch[::-1]


def _spoken(message: Mapping[str, Any]) -> Said | None:
    """A message as it was said; what a file attached to it held was not."""
    role = _SENDERS.get(str(message.get("sender")))
    parts = [part.get("text") for part in message.get("content") or () if part.get("type") == "text"]
    text = "\n".join(part for part in parts if isinstance(part, str) and part.strip()) or message.get("text") or ""
    if role is None or not text.strip():
        return None
    return Said(role, text, moment(message.get("created_at")))


CLAUDE = Format("claude", "Claude account export", knows, each(_read))
