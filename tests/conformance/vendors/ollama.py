"""Ollama's own chat."""

from __future__ import annotations

from typing import Any

from tests.conformance.vendor import LONG_TEXT, QUESTION, TEXT, WORDS, Ask, Vendor, compact

HEAD = {"model": "gpt-oss:20b", "created_at": "2026-01-01T00:00:00.868213Z"}
FIGURES: dict[str, Any] = {
    "total_duration": 4883583458,
    "load_duration": 1334875,
    "prompt_eval_count": 26,
    "prompt_eval_duration": 342546000,
    "eval_count": 11,
    "eval_duration": 4535599000,
}
BODY = b"""{"model":"gpt-oss:20b","messages":[{"role":"system","content":"Be kind \\u2603."},
  {"role":"user","content":"%s","images":["iVBOR"]}],
 "options":{"temperature":1.0,"seed":123456789012345678901,"seed":7},
 "tools":[{"type":"function","function":{"name":"harbour","parameters":{}}}],"keep_alive":"5m","think":true%s}"""
HEADERS = (
    ("accept", "application/json"),
    ("accept-encoding", "gzip, deflate"),
    ("content-type", "application/json"),
    ("user-agent", "ollama-python/0.6.1 (x86_64 linux) Python/3.12.1"),
)


def ask(more: bytes) -> Ask:
    return Ask(b"/api/chat", HEADERS, BODY % (QUESTION.encode(), more), not more)


def line(*, done: bool = False, content: str = "", **fields: Any) -> bytes:
    message = {"role": "assistant", "content": content, **fields.pop("message", {})}
    return compact({**HEAD, "message": message, "done": done, **fields}) + b"\n"


def call(index: int, name: str, **arguments: str) -> bytes:
    function = {"index": index, "name": name, "arguments": arguments}
    return line(message={"tool_calls": [{"id": f"call_{index}", "function": function}]})


SAID = [line(content=word) for word in WORDS]
DONE = line(done=True, done_reason="stop", total_duration=4883583458)

VENDOR = Vendor(
    name="Ollama",
    plain=ask(b',"stream":false'),
    streamed=ask(b""),
    headers=(("date", "Thu, 01 Jan 2026 00:00:00 GMT"),),
    stream_type="application/x-ndjson",
    json_type="application/json; charset=utf-8",
    body=line(done=True, content=TEXT, done_reason="stop", **FIGURES).rstrip(),
    opening=[],
    words=SAID,
    closing=[DONE],
    long=[line(content=LONG_TEXT), DONE],
    tools=[call(0, "harbour", of="Petrel"), call(1, "tide"), DONE],
    tools_said=("", True),
    reasoning=[line(message={"thinking": "A kayak …"}), line(message={"thinking": " Petrel?"}), *SAID, DONE],
    usage=[*SAID, line(done=True, done_reason="stop", **FIGURES)],
    error=[compact({"error": "llama runner process has terminated: exit status 2"}) + b"\n"],
    limited={
        400: compact({"error": "json: cannot unmarshal string into Go struct field ChatRequest.think of type bool"}),
        429: compact({"error": "you've reached your hourly usage limit, please upgrade to continue"}),
    },
    limits=(("retry-after", "7"),),
    whole_without_last=False,
)
