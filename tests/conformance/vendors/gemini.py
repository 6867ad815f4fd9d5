"""Google's Gemini, in both of its streams: server-sent events, and a JSON array for those who ask for none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.conformance.vendor import LONG_TEXT, QUESTION, TEXT, WORDS, Ask, Vendor, pretty

MODEL = b"/v1beta/models/gemini-2.5-flash"
BODY = b"""{
  "contents": [{"role": "user", "parts": [{"text": "%s"}, {"inlineData": {"mimeType": "image/png", "data": "iVBOR"}}]}],
  "system_instruction": {"parts": [{"text": "Be kind \\u2603."}]},
  "generationConfig": {"temperature": 1.0, "seed": 123456789012345678901234567890, "seed": 7},
  "tools": [{"functionDeclarations": [{"name": "harbour"}]}], "x": [[[2.50]]]
}
"""
HEADERS = (
    ("accept", "*/*"),
    ("accept-encoding", "gzip, deflate"),
    ("user-agent", "google-genai-sdk/1.55.0 gl-python/3.12.1"),
    ("x-goog-api-client", "google-genai-sdk/1.55.0 gl-python/3.12.1"),
    ("x-goog-api-key", "AIza-client"),
    ("content-type", "application/json"),
)
USAGE = {
    "promptTokenCount": 8,
    "candidatesTokenCount": 11,
    "totalTokenCount": 19,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 8}],
}


def ask(method: bytes) -> Ask:
    return Ask(MODEL + method, HEADERS, BODY % QUESTION.encode(), method.startswith(b":stream"))


def chunk(*parts: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    ending = {} if reason is None else {"finishReason": reason}
    candidate = {"content": {"parts": list(parts), "role": "model"}, **ending, "index": 0}
    return {
        "candidates": [candidate],
        "usageMetadata": USAGE,
        "modelVersion": "gemini-2.5-flash",
        "responseId": "mAitaLmkHPPlz7IPvtfUqQ4",
    }


def words(text: str) -> dict[str, Any]:
    return {"text": text}


def refusal(code: int, status: str, message: str, *details: dict[str, Any]) -> dict[str, Any]:
    more = {"details": list(details)} if details else {}
    return {"error": {"code": code, "message": message, "status": status, **more}}


WAIT = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}
LIMITED = refusal(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", WAIT)
REFUSED = refusal(400, "INVALID_ARGUMENT", 'Invalid JSON payload received. Unknown name "x": Cannot find field.')
OVERLOADED = refusal(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
END = chunk(words(""), reason="STOP")
SAID = [chunk(words(word)) for word in WORDS]
CALLS = [
    chunk({"functionCall": {"name": "harbour", "args": {"of": "Petrel"}}, "thoughtSignature": "CikBVKhc7nMEk"}),
    chunk({"functionCall": {"name": "tide", "args": {}}}, reason="STOP"),
]
THOUGHTS = [chunk({"text": "A kayak …", "thought": True}), chunk({"text": "", "thoughtSignature": "CikBVKhc7nMEk"})]
FIGURES = {"usageMetadata": {**USAGE, "cachedContentTokenCount": 4}, "modelVersion": "gemini-2.5-flash"}


def events(chunks: Sequence[dict[str, Any]]) -> list[bytes]:
    """A frame each. (Google ends lines with CRLF: that is a mode of its own.)"""
    return [b"data: " + json.dumps(one, ensure_ascii=False).encode() + b"\n\n" for one in chunks]


def array(chunks: Sequence[dict[str, Any]]) -> list[bytes]:
    """A frame each, and one for the end."""
    written = [json.dumps(one, ensure_ascii=False, indent=2).encode() for one in chunks]
    return [b"[" + written[0], *(b"\n,\r\n" + one for one in written[1:]), b"\n]\n"]


HEAD = (
    ("Vary", "Origin"),
    ("Vary", "X-Origin"),
    ("Vary", "Referer"),
    ("date", "Thu, 01 Jan 2026 00:00:00 GMT"),
    ("Server", "scaffolding on HTTPServer2"),
    ("X-XSS-protection", "0"),
    ("X-Frame-Options", "SAMEORIGIN"),
    ("x-content-type-options", "nosniff"),
    ("server-timing", "gfet4t7; dur=581"),
    ("alt-svc", 'h3=":443"; ma=2592000,h3-29=":443"; ma=2592000'),
)

VENDOR = Vendor(
    name="Gemini",
    plain=ask(b":generateContent"),
    streamed=ask(b":streamGenerateContent?alt=sse"),
    headers=HEAD,
    stream_type="text/event-stream",
    json_type="application/json; charset=UTF-8",
    body=pretty(chunk(words(TEXT), reason="STOP")),
    opening=[],
    words=events(SAID),
    closing=events([END]),
    long=events([chunk(words(LONG_TEXT), reason="STOP")]),
    tools=events([*SAID, *CALLS]),
    tools_said=(TEXT, True),
    reasoning=events([*THOUGHTS, *SAID, END]),
    usage=events([*SAID, END, FIGURES]),
    error=events([OVERLOADED]),
    limited={400: pretty(REFUSED), 429: pretty(LIMITED)},
    limits=(("retry-after", "7"),),
    whole_without_last=False,
    noise=[b": ping\n\n", b"retry: 3000\n\n", b"id: 7\n\n"],
)

ALL = array([*SAID, END])

ARRAY = Vendor(
    name="Gemini, JSON array",
    plain=None,
    streamed=ask(b":streamGenerateContent?key=AIza-client"),
    headers=HEAD,
    stream_type="application/json; charset=UTF-8",
    json_type="application/json; charset=UTF-8",
    body=b"".join(ALL),
    opening=[],
    words=ALL[: len(WORDS)],
    closing=ALL[len(WORDS) :],
    long=array([chunk(words(LONG_TEXT), reason="STOP")]),
    tools=array([*SAID, *CALLS]),
    tools_said=(TEXT, True),
    reasoning=array([*THOUGHTS, *SAID, END]),
    usage=array([*SAID, END, FIGURES]),
    error=array([END, OVERLOADED])[1:],
    limited={400: pretty([REFUSED]), 429: pretty([LIMITED])},
    limits=(("retry-after", "7"),),
)
