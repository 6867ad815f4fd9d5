"""ChatGPT's account export: `conversations.json`, each conversation a tree of messages with one current branch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memproxy.importing.moments import moment
from memproxy.importing.records import Conversation, Format, Raw, Record, Said, each
from memproxy.model import Speaker

_ROLES: Mapping[str, Speaker] = {"user": "user", "assistant": "assistant"}
_SPOKEN = frozenset({"text", "multimodal_text"})  # not: code, tool output, reasoning, custom instructions


def knows(value: Any) -> bool:
    """Whether this is one conversation of such an export."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def _read(raw: Raw) -> Iterator[Record]:
    conversation = raw.value
    said, left_out = [], 0
    for node in _branch(conversation["mapping"], conversation.get("current_node")):
        message = node.get("message")
        if not isinstance(message, dict):
            continue
        spoken = _spoken(message)
        if spoken is None:
            left_out += 1
        else:
            said.append(spoken)
    key = conversation.get("conversation_id") or conversation.get("id") or ""
    yield Conversation(raw.where, str(key), tuple(said), moment(conversation.get("create_time")), left_out)


def _branch(nodes: Mapping[str, Any], current: Any) -> list[Mapping[str, Any]]:
    """The messages from the first to the current one; where that is not there, to the newest."""
    if current not in nodes:
        leaves = [name for name, node in nodes.items() if isinstance(node, dict) and not node.get("children")]
        current = max(leaves, key=lambda name: _created(nodes[name]), default=None)
    branch: list[Mapping[str, Any]] = []
    seen = set()
    while current in nodes and current not in seen:
        seen.add(current)
        node = nodes[current]
        branch.append(node)
        current = node.get("parent")
    return branch[::-1]


def _created(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    created = message.get("create_time") if isinstance(message, dict) else None
    return float(created) if isinstance(created, int | float) else 0.0


def _spoken(message: Mapping[str, Any]) -> Said | None:
    """A message as it was said; None for what nobody said, or what said nothing in words."""
    role = _ROLES.get(str((message.get("author") or {}).get("role")))
    content = message.get("content") or {}
    hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    if role is None or hidden or message.get("recipient", "all") != "all" or content.get("content_type") not in _SPOKEN:
        return None
    text = "\n".join(part for part in map(_words, content.get("parts") or ()) if part.strip())
    return Said(role, text, moment(message.get("create_time"))) if text else None


def _words(part: Any) -> str:
    """A part's words: what was typed, or what was understood of speech. Pictures have none."""
    if isinstance(part, str):
        return part
    spoken = part.get("text") if isinstance(part, dict) else None
    return spoken if isinstance(spoken, str) else ""


CHATGPT = Format("chatgpt", "ChatGPT account export", knows, each(_read))
