"""Front ends' own calls on the chat endpoint: titles, tags, follow-ups, search queries, probes.

They carry the chat but are nobody speaking: relayed, neither injected nor learned from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memproxy.model import ChatRequest

_SHAPES = (
    r"\A\s*#{1,4}\s*Task\s*:.*(?:<chat_history>|<context>|\bJSON\b|\btitle\b|\btags?\b|\bfollow-?up)",
    r"\A(?:(?!<chat_history>).)*+<chat_history>.*</chat_history>",
    r"\A\s*(?:please\s+)?(?:generate|create|write|provide|suggest|give|come up with)\b.{0,60}"
    r"\b(?:title|headline|emoji)\b.{0,80}\b(?:conversation|chat|dialogue|discussion|messages?|thread|prompt|query)\b",
    r"\A\s*(?:summari[sz]e|name|title)\b.{0,60}\b(?:conversation|chat|thread)\b.{0,60}\b(?:words|title)\b",
    r"\b(?:concise|short|brief)\b.{0,40}(?<!\d)\d{1,4}\s{0,3}(?:-|to|–)?\s{0,3}\d{0,4}[\s-]{0,3}words?\b.{0,40}\btitle\b",
    r"\bgenerate\b.{0,40}\b(?:search quer(?:y|ies)|follow-?up questions?|tags)\b.{0,80}"
    r"\b(?:conversation|chat|history)\b",
    r"\A\s*(?:based on the (?:chat|conversation)[^.\n]{0,20}, )?(?:please )?(?:give|reply with|provide|extract)\b"
    r"[^.\n]{0,40}\b(?:name|title)\b.{0,60}\b(?:this|the|following) (?:conversation|chat|thread)\b",
    r"\A\s*(?:based on the (?:chat|conversation)[^.\n]{0,20}, )?"
    r"give this (?:conversation|chat|thread) a (?:name|title)\b",
    r"\A\s*summari[sz]e in an? \d{1,2}-word title\b",
    r"\A\s*analy[sz]e (?:the|this) (?:given |following )?(?:short )?(?:conversation|chat)\b.{0,120}\btitle\b",
    r"\A\s*summari[sz]e the following content in a single sentence \(under \d{1,2} words\)",
    r"\A\s*quota\s*\Z",
)
# The same said in the system prompt, at its head: there it is the whole purpose of the request.
_TALK = r"(?:conversations?|chats?|threads?|dialogues?|first message|messages?)"
_SYSTEM_SHAPES = (
    rf"\A.{{0,80}}\b{_TALK} title generator\b|\A.{{0,80}}\btitle generator\b.{{0,120}}\b{_TALK}\b",
    rf"\A.{{0,80}}\b(?:generat|craft|writ|creat)\w* (?:(?!\.).){{0,60}}\btitles?\b(?:(?!\.).){{0,60}}\b{_TALK}\b",
    rf"\A.{{0,160}}\bsummari[sz]\w* (?:(?!\.).){{0,60}}\b{_TALK}\b(?:(?!\.).){{0,60}}\btitle\b",
    r"\A.{0,120}\bindicates a new conversation topic\b",
    r"\A.{0,80}\byou are an? (?:auto-?completion|query rewriting|search query generation) (?:system|engine)\b",
)
_BUILT_IN = tuple(re.compile(shape, re.IGNORECASE | re.DOTALL) for shape in _SHAPES)
_BUILT_IN_SYSTEM = tuple(re.compile(shape, re.IGNORECASE | re.DOTALL) for shape in _SYSTEM_SHAPES)
_READ = 20_000  # characters looked at: these prompts say what they are at their head
_SYSTEM_READ = 600


def is_chore(request: ChatRequest, extra: Sequence[re.Pattern[str]] = ()) -> bool:
    """Whether a request is a front end's chore or a probe (an answer of at most one token)."""
    if request.max_tokens is not None and request.max_tokens <= 1:
        return True
    said = [message for message in request.messages if message.role == "user"]
    if not said:
        return False
    newest = said[-1].text[:_READ]
    if any(pattern.search(newest) for pattern in extra):
        return True
    if len(said) == 1 and any(pattern.search(newest) for pattern in _BUILT_IN):
        return True
    systems = [request.system, *(m.text for m in request.messages if m.role in ("system", "developer"))]
    return any(pattern.search(text[:_SYSTEM_READ]) for text in systems if text for pattern in _BUILT_IN_SYSTEM)
