"""OpenAI's Responses."""

from __future__ import annotations

from itertools import count
from typing import Any

from tests.conformance.vendor import LONG_TEXT, QUESTION, TEXT, WORDS, Ask, Vendor, event, pretty
from tests.conformance.vendors import chat_completions

RESPONSE = {
    "id": "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b",
    "object": "response",
    "created_at": 1767225600,
    "status": "in_progress",
    "background": False,
    "error": None,
    "incomplete_details": None,
    "instructions": "Be kind.",
    "max_output_tokens": None,
    "model": "gpt-5.1-2025-11-13",
    "output": [],
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None},
    "store": False,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
    "usage": None,
    "user": None,
    "metadata": {},
}
USAGE = {
    "input_tokens": 37,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 11,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 48,
}
CACHED = {**USAGE, "input_tokens": 2048, "input_tokens_details": {"cached_tokens": 1920}, "total_tokens": 2059}
BODY = b"""{"model":"gpt-5.1","instructions":"Be kind \\u2603.","store":false, "temperature":1.0,
 "include":["reasoning.encrypted_content"],"input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAABo"},
  {"role":"user","content":[{"type":"input_text","text":"%s"},
   {"type":"input_image","image_url":"data:image/png;base64,iVBOR"}]}],
 "prompt_cache_key":"k","metadata":{"a":"1","a":"2"}, "seed":123456789012345678901234567890,"stream":%s}"""


def ask(streaming: bool) -> Ask:
    body = BODY % (QUESTION.encode(), b"true" if streaming else b"false")
    return Ask(b"/v1/responses", chat_completions.HEADERS, body, streaming)


def message(text: str, item_id: str = "msg_67ccd3", status: str = "completed") -> dict[str, Any]:
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
    content = [part] if status == "completed" else []
    return {"id": item_id, "type": "message", "status": status, "content": content, "role": "assistant"}


def done(*output: dict[str, Any], usage: dict[str, Any] = USAGE) -> dict[str, Any]:
    return {**RESPONSE, "status": "completed", "output": list(output), "usage": usage}


def numbered(*values: dict[str, Any]) -> list[bytes]:
    """Events in a row, with their numbers."""
    numbers = count()
    return [event({"type": value["type"], "sequence_number": next(numbers), **value}) for value in values]


def begins() -> list[dict[str, Any]]:
    return [
        {"type": "response.created", "response": RESPONSE},
        {"type": "response.in_progress", "response": RESPONSE},
    ]


def says(words: list[str], at: int = 0) -> list[dict[str, Any]]:
    """A message of these words, from its beginning to its end."""
    text = "".join(words)
    where = {"item_id": "msg_67ccd3", "output_index": at, "content_index": 0}
    empty = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
    begun = message("", status="in_progress")
    said = {"logprobs": [], "obfuscation": "Zk3"}
    return [
        {"type": "response.output_item.added", "output_index": at, "item": begun},
        {"type": "response.content_part.added", **where, "part": empty},
        *({"type": "response.output_text.delta", **where, "delta": word, **said} for word in words),
        {"type": "response.output_text.done", **where, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **where, "part": {**empty, "text": text}},
        {"type": "response.output_item.done", "output_index": at, "item": message(text)},
    ]


def calls(at: int, name: str, *arguments: str) -> list[dict[str, Any]]:
    """A call of a function, its arguments in pieces."""
    item = {"id": f"fc_{at}", "type": "function_call", "name": name, "call_id": f"call_{at}"}
    where = {"item_id": f"fc_{at}", "output_index": at}
    whole = "".join(arguments)
    return [
        {"type": "response.output_item.added", **where, "item": {**item, "status": "in_progress", "arguments": ""}},
        *({"type": "response.function_call_arguments.delta", **where, "delta": piece} for piece in arguments),
        {"type": "response.function_call_arguments.done", **where, "arguments": whole},
        {"type": "response.output_item.done", **where, "item": {**item, "status": "completed", "arguments": whole}},
    ]


def thinks() -> list[dict[str, Any]]:
    item = {"id": "rs_67ccd2", "type": "reasoning", "encrypted_content": "gAAAAABo", "summary": []}
    where = {"item_id": "rs_67ccd2", "output_index": 0, "summary_index": 0}
    part = {"type": "summary_text", "text": "A kayak …"}
    return [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.reasoning_summary_part.added", **where, "part": {**part, "text": ""}},
        {"type": "response.reasoning_summary_text.delta", **where, "delta": "A kayak …"},
        {"type": "response.reasoning_summary_text.done", **where, "text": "A kayak …"},
        {"type": "response.reasoning_summary_part.done", **where, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": {**item, "summary": [part]}},
    ]


def ends(*output: dict[str, Any], usage: dict[str, Any] = USAGE) -> dict[str, Any]:
    return {"type": "response.completed", "response": done(*output, usage=usage)}


STREAM = numbered(*begins(), *says(list(WORDS)), ends(message(TEXT)))
FAILED = {**RESPONSE, "status": "failed", "error": {"code": "server_error", "message": "The model is overloaded."}}

VENDOR = Vendor(
    name="Responses",
    plain=ask(False),
    streamed=ask(True),
    headers=chat_completions.VENDOR.headers,
    stream_type="text/event-stream; charset=utf-8",
    body=pretty(done(message(TEXT))),
    opening=STREAM[:4],
    words=STREAM[4 : 4 + len(WORDS)],
    closing=STREAM[4 + len(WORDS) :],
    long=numbered(*begins(), *says([LONG_TEXT]), ends(message(LONG_TEXT))),
    tools=numbered(*begins(), *calls(0, "harbour", '{"of":', '"Petrel"}'), *calls(1, "tide", "{}"), ends()),
    tools_said=("", True),
    reasoning=numbered(*begins(), *thinks(), *says(list(WORDS), at=1), ends(message(TEXT))),
    usage=numbered(*begins(), *says(list(WORDS)), ends(message(TEXT), usage=CACHED)),
    error=numbered(
        {"type": "error", "code": "server_error", "message": "The model is overloaded.", "param": None},
        {"type": "response.failed", "response": FAILED},
    ),
    limited=chat_completions.VENDOR.limited,
    limits=chat_completions.VENDOR.limits,
    whole_without_last=False,
    noise=[b": keep-alive\n\n", b"retry: 3000\n\n", b"id: 7\n\n"],
)
